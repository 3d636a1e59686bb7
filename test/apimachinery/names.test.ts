import t from 'tap'
import { formatFieldError } from '../../src/apimachinery/fieldErrors.ts'
import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  generateName,
  labelValue,
  pathSegment,
  qualifiedName,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../src/apimachinery/names.ts'
import type { ObjectMeta } from '../../src/apimachinery/object.ts'

const messages = (meta: ObjectMeta, namespaced = false) =>
  validateObjectMeta(meta, { namespaced }).map(formatFieldError)

t.test('names that the API takes and refuses', async t => {
  for (const good of ['a', 'a-1', 'x'.repeat(63)]) t.same(dns1123Label(good), [], good)
  for (const bad of ['', 'A', '-a', 'a-', 'a_b', 'x'.repeat(64)]) t.ok(dns1123Label(bad).length > 0, bad)
  for (const good of ['a.b', 'x'.repeat(253)]) t.same(dns1123Subdomain(good), [], good)
  for (const bad of ['.a', 'a..b', 'a.', 'x'.repeat(254)]) t.ok(dns1123Subdomain(bad).length > 0, bad)
  t.same(dns1035Label('a1'), [])
  t.ok(dns1035Label('1a').length > 0)
  t.same(pathSegment('system:node'), [])
  t.same(pathSegment('..'), ["may not be '..'"])
  t.same(pathSegment('a/b%c'), ["may not contain '/'", "may not contain '%'"])
  for (const good of ['a', 'A.b_c-d', 'example.com/Name']) t.same(qualifiedName(good), [], good)
  for (const bad of ['', '/a', 'a/', 'A_/a', 'a/b/c', '-a', 'x'.repeat(64)]) t.ok(qualifiedName(bad).length > 0, bad)
  for (const good of ['', 'A_1']) t.same(labelValue(good), [], good)
  for (const bad of ['a b', '.a', 'x'.repeat(64)]) t.ok(labelValue(bad).length > 0, bad)
})

t.test('a bad name is explained in the words of kube-apiserver', async t => {
  t.same(messages({ name: 'Foos.acme.example.com' }), [
    `metadata.name: Invalid value: "Foos.acme.example.com": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  ])
  t.same(messages({}), ['metadata.name: Required value: name or generateName is required'])
  t.same(messages({ name: 'a', namespace: 'b' }), ['metadata.namespace: Forbidden: not allowed on this type'])
  t.same(messages({ name: 'a' }, true), ['metadata.namespace: Required value'])
  t.same(messages({ name: 'a-x', generateName: 'a-' }), [], 'a generateName may end with a dash')
})

t.test('annotations of 256 KiB are the most', async t => {
  t.same(messages({ name: 'a', annotations: { k: 'x'.repeat(256 * 1024 - 1) } }), [])
  t.same(messages({ name: 'a', annotations: { k: 'x'.repeat(256 * 1024) } }), [
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ])
})

t.test('owners need a name and a uid, and one of them at most controls', async t => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }
  t.same(messages({ name: 'a', ownerReferences: [owner] }), [])
  t.match(messages({ name: 'a', ownerReferences: [{ ...owner, uid: '' }] }), [
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ])
  t.match(messages({ name: 'a', ownerReferences: [owner, { ...owner, name: 'q' }] }), [
    /Only one reference can have Controller set to true. Found "true" in references for Pod\/p and Pod\/q/,
  ])
})

t.test('an update may not change identity, nor add finalizers to what is on its way out', async t => {
  const old: ObjectMeta = { name: 'a', uid: '1', creationTimestamp: 'T', finalizers: ['x/y'] }
  const change = (meta: ObjectMeta, from = old) => validateObjectMetaUpdate(meta, from).map(formatFieldError)
  t.same(change({ name: 'a' }), [], 'what only the server sets may be left out')
  t.same(change({ ...old, name: 'b' }), ['metadata.name: Invalid value: "b": field is immutable'])
  t.same(change({ ...old, uid: '2' }), ['metadata.uid: Invalid value: "2": field is immutable'])
  const leaving = { ...old, deletionTimestamp: 'T' }
  t.same(change({ ...leaving, finalizers: [] }, leaving), [])
  t.same(change({ ...leaving, finalizers: ['x/y', 'z/b', 'z/a'] }, leaving), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"z/a", "z/b"}',
  ])
})

t.test('a generated name keeps its base and never exceeds 63 characters', async t => {
  t.match(generateName('web-', Math.random), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  t.equal(generateName('x'.repeat(80), () => 0.999).length, 63)
  t.not(
    generateName('a', () => 0),
    generateName('a', () => 0.5),
  )
})
