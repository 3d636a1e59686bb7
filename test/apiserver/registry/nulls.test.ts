/** Nulls in what clients send of typed kinds: nothing in a struct, the value for nothing in maps and lists. */
import t from 'tap'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { dropNulls } from '../../../src/apiserver/registry/nulls.ts'

const text: Schema = { type: 'string' }
const schema: Schema = {
  type: 'object',
  properties: {
    name: text,
    struct: { type: 'object', properties: { list: { type: 'array', items: text }, count: { type: 'integer' } } },
    labels: { type: 'object', additionalProperties: text },
    limits: { type: 'object', additionalProperties: { format: 'quantity', 'x-kubernetes-int-or-string': true } },
    extra: { type: 'object', additionalProperties: { type: 'array', items: text } },
    times: { type: 'object', additionalProperties: { type: 'string', format: 'date-time' } },
    nested: { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } },
    items: { type: 'array', items: { type: 'object', properties: { a: text } } },
    numbers: { type: 'array', items: { type: 'integer' } },
    raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}
const without = (value: object): object => {
  const copy = structuredClone(value)
  dropNulls(copy, schema)
  return copy
}

t.test('a null member of a struct, of whatever type, is the same as none', t => {
  const nothing = Object.fromEntries(Object.keys(schema.properties!).map(name => [name, null]))
  t.strictSame(without({ ...nothing, unknown: null }), {})
  t.strictSame(without({ struct: { list: null, count: null } }), { struct: {} })
  t.end()
})

t.test('keys of maps stay, with the value that their type has for nothing', t => {
  t.strictSame(without({ labels: { a: null, b: 'c' } }), { labels: { a: '', b: 'c' } })
  t.strictSame(without({ limits: { cpu: null } }), { limits: { cpu: '0' } })
  t.strictSame(without({ extra: { a: null, b: [null] } }), { extra: { a: [], b: [''] } })
  t.strictSame(without({ nested: { a: null, b: { a: null } } }), { nested: { a: {}, b: {} } })
  t.strictSame(without({ times: { a: null } }), { times: {} }, 'a time has nothing but null')
  t.end()
})

t.test('items of lists keep their places', t => {
  t.strictSame(without({ items: [null, { a: null }], numbers: [1, null] }), { items: [{}, {}], numbers: [1, 0] })
  t.end()
})

t.test('what the schema leaves open is not touched', t => {
  t.strictSame(without({ raw: { a: null, b: [null] } }), { raw: { a: null, b: [null] } })
  t.end()
})
