import t from 'tap'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { applyDefaults } from '../../../src/apimachinery/structural/defaults.ts'

function defaulted(value: object, schema: Schema): object {
  applyDefaults(value, schema)
  return value
}

t.test('defaults fill from the outside in', async t => {
  const schema: Schema = {
    type: 'object',
    properties: {
      a: { type: 'integer', default: 1 },
      b: { type: 'object', default: {}, properties: { c: { type: 'string', default: 'x' } } },
      list: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer', default: 80 } } } },
      map: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { on: { type: 'boolean', default: false } } },
      },
      absent: { type: 'object', properties: { d: { type: 'string', default: 'y' } } },
    },
  }
  t.same(defaulted({}, schema), { a: 1, b: { c: 'x' } }, 'an absent parent without a default stays absent')
  t.same(defaulted({ a: 0, b: { c: '' }, list: [{}, { port: 1 }], map: { k: {} } }, schema), {
    a: 0,
    b: { c: '' },
    list: [{ port: 80 }, { port: 1 }],
    map: { k: { on: false } },
  })
})

t.test('null takes the default exactly where null is not allowed', async t => {
  const schema: Schema = {
    type: 'object',
    properties: {
      strict: { type: 'string', default: 'x' },
      lax: { type: 'string', default: 'x', nullable: true },
      list: { type: 'array', items: { type: 'string', default: 'z' } },
    },
  }
  t.same(defaulted({ strict: null, lax: null, list: [null, 'a'] }, schema), {
    strict: 'x',
    lax: null,
    list: ['z', 'a'],
  })
})

t.test('objects never share a default', async t => {
  const schema: Schema = {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'string' }, default: ['x'] } },
  }
  const first = defaulted({}, schema) as { a: string[] }
  first.a.push('y')
  t.same(defaulted({}, schema), { a: ['x'] })
})

t.test('a cyclic schema ends with the object, and its defaults are still found', async t => {
  const node: Schema = { type: 'object', properties: {} }
  node.properties = { next: node, leaf: { type: 'object', properties: { v: { type: 'integer', default: 7 } } } }
  const other: Schema = { type: 'object', properties: { back: node } }
  node.properties.other = other
  t.same(defaulted({ next: { other: { back: { leaf: {} } } } }, node), {
    next: { other: { back: { leaf: { v: 7 } } } },
  })
})
