import t from 'tap'
import { typeErrors } from '../../../src/apimachinery/go/typeErrors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { pruneUnknown } from '../../../src/apimachinery/structural/prune.ts'
import { isTidy } from '../../../src/apimachinery/structural/tidy.ts'
import { cloneJson, equalJson, setMember } from '../../../src/apimachinery/values.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { dropEmpty, dropEmptyMetadata } from '../../../src/apiserver/registry/emptyFields.ts'
import { dropNulls } from '../../../src/apiserver/registry/nulls.ts'
import * as fc from '../../support/fastCheck.ts'

const { types } = loadCatalog()

function schemaOf(kind: string): Schema {
  const found = types.find(type => type.kind === kind && type.version === 'v1' && type.schema !== undefined)
  if (found?.schema === undefined) throw new Error(`no ${kind}`)
  return found.schema
}

/** Whether the long way leaves the object as it is, and finds nothing to tell. */
function isLeftAlone(object: KubeObject, schema: Schema, { keepsEmpty }: { keepsEmpty: boolean }): boolean {
  const copy = cloneJson(object)
  dropNulls(copy, schema)
  const unknown = pruneUnknown(copy, schema)
  if (unknown.length > 0 || typeErrors(copy, schema) !== undefined) return false
  if (!keepsEmpty) dropEmpty(copy, schema)
  dropEmptyMetadata(copy.metadata)
  return equalJson(copy, object)
}

const usual = {
  ConfigMap: { data: { key: 'value', empty: '' }, binaryData: { b: 'AAAA' }, immutable: true },
  Secret: { type: 'Opaque', data: { password: 'czNjcjN0' } },
  ServiceAccount: { automountServiceAccountToken: true, secrets: [{ name: 'a' }] },
  Deployment: {
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'web:1',
              args: ['', 'b'],
              ports: [{ containerPort: 80 }],
              resources: { limits: { cpu: '100m', memory: '1Gi' } },
              livenessProbe: { httpGet: { path: '/', port: 80 } },
            },
          ],
        },
      },
    },
  },
}
const metadata = {
  name: 'web',
  namespace: 'default',
  labels: { app: 'web', blank: '' },
  creationTimestamp: '2026-01-01T00:00:00Z',
  managedFields: [
    {
      manager: 'a',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:key': {} } },
    },
  ],
}
const objectOf = (kind: string, rest: object): KubeObject =>
  cloneJson({ apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1', kind, metadata, ...rest }) as KubeObject

t.test('what people usually send is tidy', async t => {
  for (const [kind, rest] of Object.entries(usual)) t.ok(isTidy(objectOf(kind, rest), schemaOf(kind), false), kind)
})

t.test('each thing that has to be put right or told is seen', async t => {
  const cases: Record<string, object> = {
    'a null': { data: null },
    'a null in a map': { data: { a: null } },
    'an unknown field': { dat: { a: 'b' } },
    'an unknown field of metadata': { metadata: { ...metadata, nam: 'x' } },
    'a wrong type': { data: { a: 1 } },
    'a list for a map': { data: ['a'] },
    'text that is no base64': { binaryData: { a: '*' } },
    'an empty map': { data: {} },
    'false where it goes': { immutable: false },
    'an empty text in metadata': { metadata: { ...metadata, generateName: '' } },
    'no labels': { metadata: { ...metadata, labels: {} } },
    'a time that is none': { metadata: { ...metadata, creationTimestamp: 'yesterday' } },
  }
  for (const [what, rest] of Object.entries(cases))
    t.notOk(isTidy(objectOf('ConfigMap', { ...usual.ConfigMap, ...rest }), schemaOf('ConfigMap'), false), what)
})

t.test('kinds that tell empty values from absent ones keep them, but in metadata', async t => {
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { paused: { type: 'boolean' }, list: { type: 'array' } } } },
  }
  const spec = { paused: false, list: [] }
  t.ok(isTidy({ metadata: { name: 'a' }, spec }, schema, true))
  t.notOk(isTidy({ metadata: { name: 'a' }, spec }, schema, false))
  t.notOk(isTidy({ metadata: { name: 'a', labels: {} }, spec }, schema, true))
  t.notOk(isTidy({ metadata: { name: '' }, spec }, schema, true))
})

/** Somewhere in the object something else. */
function changed(object: KubeObject, path: readonly number[], value: unknown, name: string): KubeObject {
  let place: Record<string, unknown> = object
  for (const step of path) {
    const inner = Object.values(place).filter(each => typeof each === 'object' && each !== null)
    if (inner.length === 0) break
    place = inner[step % inner.length] as Record<string, unknown>
  }
  const names = Object.keys(place)
  setMember(place, names.length > 0 && name === '' ? names[path.length % names.length]! : name, value)
  return object
}

const values = fc.constantFrom<unknown>(null, '', 0, false, true, 'text', 1, 1.5, 2 ** 40, {}, [], [null], { a: '' })
const names = fc.constantFrom('', '', '', 'extra', 'labels', 'spec', '__proto__')

t.test('of what is tidy the long way would change and tell nothing', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(usual) as (keyof typeof usual)[])),
      fc.array(fc.tuple(fc.array(fc.nat(9), { maxLength: 7 }), values, names), { maxLength: 3 }),
      fc.boolean(),
      (kind, changes, keepsEmpty) => {
        let object = objectOf(kind, usual[kind])
        for (const [path, value, name] of changes) object = changed(object, path, cloneJson(value), name)
        const schema = schemaOf(kind)
        return !isTidy(object, schema, keepsEmpty) || isLeftAlone(object, schema, { keepsEmpty })
      },
    ),
    { numRuns: 3000 },
  )
})
