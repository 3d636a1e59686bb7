import t from 'tap'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { pruneUnknown } from '../../../src/apimachinery/structural/prune.ts'

const text: Schema = { type: 'string' }
const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...rest,
})
const embedded: Schema = object({ spec: object({ a: text }) }, { 'x-kubernetes-embedded-resource': true })
const schema: Schema = object({
  spec: object({
    known: text,
    map: { type: 'object', additionalProperties: object({ a: text }) },
    list: { type: 'array', items: object({ a: text }) },
    open: object({ a: object({ b: text }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
    anything: {},
    port: { 'x-kubernetes-int-or-string': true },
    embedded,
    nullable: { type: 'string', nullable: true },
    closed: { type: 'object' },
  }),
})
const root = (spec: unknown) => ({ apiVersion: 'a/v1', kind: 'W', metadata: { name: 'x' }, spec })

t.test('unknown fields go, and their paths are told in document order', async t => {
  const value = root({
    foo: 1,
    list: [{ a: 'x' }, { bar: 1 }],
    map: { k: { a: 'x', b: 1 } },
    known: 'x',
    closed: { q: 1 },
  })
  t.same(pruneUnknown(value, schema), ['spec.foo', 'spec.list[1].bar', 'spec.map.k.b', 'spec.closed.q'])
  t.same(value.spec, { list: [{ a: 'x' }, {}], map: { k: { a: 'x' } }, known: 'x', closed: {} })
  t.same(pruneUnknown(value, schema), [], 'nothing is left to remove')
})

t.test('what a schema keeps open stays, but what it names inside is still pruned', async t => {
  const value = root({ open: { x: { y: 1 }, a: { b: 'x', c: 1 } }, anything: { deep: [{ x: null }] }, port: 'http' })
  t.same(pruneUnknown(value, schema), ['spec.open.a.c'])
  t.same(value.spec, { open: { x: { y: 1 }, a: { b: 'x' } }, anything: { deep: [{ x: null }] }, port: 'http' })
})

t.test('metadata is known everywhere that a resource stands', async t => {
  const value = {
    apiVersion: 'a/v1',
    kind: 'W',
    metadata: { name: 'x', labels: { any: 'thing' }, foo: 1, managedFields: [{ fieldsV1: { 'f:spec': {} } }] },
    spec: { embedded: { apiVersion: 'v1', kind: 'P', metadata: { name: 'y', bar: 1 }, spec: { a: 'x', b: 1 } } },
  }
  t.same(pruneUnknown(value, schema), ['metadata.foo', 'spec.embedded.metadata.bar', 'spec.embedded.spec.b'])
  t.match(value, {
    metadata: { labels: { any: 'thing' }, managedFields: [{ fieldsV1: { 'f:spec': {} } }] },
    spec: { embedded: { apiVersion: 'v1', kind: 'P' } },
  })
  const restricted = object({ metadata: object({ name: { type: 'string', maxLength: 3 } }) })
  t.same(pruneUnknown(root(undefined), restricted), ['spec'])
  t.same(pruneUnknown({ metadata: { labels: { a: 'b' } } }, restricted), [], 'restricting the name hides no field')
})

t.test('a null stands for absence unless the schema allows it', async t => {
  const value = {
    metadata: { name: 'x', creationTimestamp: null },
    spec: { known: null, nullable: null, anything: null },
  }
  t.same(pruneUnknown(value, schema), [])
  t.same(value, { metadata: { name: 'x' }, spec: { nullable: null } })
})

t.test('without a schema everything stays', async t => {
  const value = root({ x: null })
  t.same(pruneUnknown(value, undefined), [])
  t.same(value.spec, { x: null })
})
