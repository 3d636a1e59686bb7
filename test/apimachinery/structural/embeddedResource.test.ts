/** Embedded resources: the words are those that kube-apiserver 1.20.2 answered with. */
import t from 'tap'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import { embeddedErrors } from '../../../src/apimachinery/structural/embeddedResource.ts'

const errors = (value: Record<string, unknown>) => embeddedErrors(value, 'e').map(formatFieldError)

t.test('an object of some kind, that may still get its name', async t => {
  t.same(errors({ apiVersion: 'v1', kind: 'A' }), [])
  t.same(
    errors({ apiVersion: 'a.b/v1', kind: 'A', metadata: { name: 'any thing', namespace: 'ns', labels: { a: 'b' } } }),
    [],
  )
})

t.test('what is wrong with it', async t => {
  t.same(errors({}), ['e.apiVersion: Required value', 'e.kind: Required value'])
  t.same(errors({ apiVersion: 1, kind: 2 }), [
    'e.apiVersion: Invalid value: 1: must be a string',
    'e.kind: Invalid value: 2: must be a string',
  ])
  t.match(errors({ apiVersion: 'a/b/c', kind: 'x y' }), [
    'e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    /^e\.kind: Invalid value: "x y": may have mixed case, but should otherwise match: a DNS-1035 label must consist/,
  ])
  const metadata = { namespace: 'N/s', labels: { 'a b': 'c d' }, annotations: { 'x y': 'z' }, generation: -1 }
  t.match(errors({ apiVersion: 'v1', kind: 'A', metadata }), [
    /^e\.metadata\.namespace: Invalid value: "N\/s": a lowercase RFC 1123 label/,
    'e.metadata.generation: Invalid value: -1: must be greater than or equal to 0',
    /^e\.metadata\.labels: Invalid value: "a b": name part/,
    /^e\.metadata\.labels: Invalid value: "c d": a valid label/,
    /^e\.metadata\.annotations: Invalid value: "x y": name part/,
  ])
  t.match(errors({ apiVersion: 'v1', kind: 'A', metadata: 'x' }), [
    /^e\.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta$/,
  ])
  t.match(errors({ apiVersion: 'v1', kind: 'A', metadata: { labels: { a: 1 } } }), [/cannot unmarshal number/])
})
