// Schemas that make much work of small objects: each ends with an error in words, or was made linear.
import t from 'tap'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { applyDefaults, MAX_DEFAULTED } from '../../../src/apimachinery/structural/defaults.ts'
import { stringFormats } from '../../../src/apimachinery/structural/formats.ts'
import { compileValidator } from '../../../src/apimachinery/structural/validate.ts'

const text: Schema = { type: 'string' }
const list = (items: Schema): Schema => ({ type: 'object', properties: { l: { type: 'array', items } } })
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const ENDED = /was not checked to its end, as comparing the object with its schema takes too long: give it fewer/

t.test('what multiplies elements by branches, names or patterns ends, and says where', t => {
  const properties = Object.fromEntries(many(2000, i => [`p${i}`, text]))
  const nested = many(24, i => i).reduce<Schema>(schema => ({ anyOf: [schema, schema] }), { minLength: 5 })
  const cases: [name: string, items: Schema, values: unknown[]][] = [
    ['anyOf', { ...text, anyOf: many(2000, i => ({ enum: [`z${i}`] })) }, many(20_000, () => 'x')],
    ['the last of anyOf', { ...text, anyOf: many(2000, i => ({ minLength: 2000 - i })) }, many(2000, () => 'x')],
    ['oneOf', { ...text, oneOf: many(2000, i => ({ enum: [`z${i}`] })) }, many(20_000, () => 'x')],
    ['allOf', { ...text, allOf: many(2000, i => ({ not: { enum: [`z${i}`] } })) }, many(20_000, () => 'x')],
    ['branches in branches', { ...text, ...nested }, ['x']],
    ['objects in enums', { ...list(text), anyOf: many(1000, i => ({ enum: [{ i }] })) }, many(900, i => ({ [i]: 1 }))],
    ['required', { type: 'object', properties: {}, required: many(5000, i => `v${i}`) }, many(20_000, () => ({}))],
    ['properties', { type: 'object', properties }, many(20_000, () => ({}))],
    ['wrong types', text, many(1_000_000, () => 1)],
    ['enums', { ...text, enum: many(20_000, i => `v${i}`) }, many(20_000, () => 'x')],
    ['patterns', { ...text, pattern: '[a-z]{1000}'.repeat(10) }, many(20, () => 'a'.repeat(50_000))],
    [
      'elements twice',
      { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
      many(9, () => many(9e4, i => `${i >> 1}`)),
    ],
  ]
  for (const [name, items, values] of cases) {
    const errors = compileValidator(list(items))({ l: values })
    const last = errors.at(-1)
    t.match(last?.detail, ENDED, name)
    t.match(last?.field, /^l(\[\d+\])?/, `${name}: ${last?.field}`)
    t.ok(errors.length < 20_000, `${name} tells ${errors.length} errors`)
  }
  t.end()
})

t.test('large objects under usual schemas are checked to the end', t => {
  const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }
  const items: Schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { ...text, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
      port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      ports: { type: 'array', items: port },
    },
    oneOf: [{ required: ['port'] }, { required: ['ports'] }],
  }
  const values = many(20_000, i => (i % 2 ? { name: `n-${i}`, port: i } : { name: `n-${i}`, ports: [80, 443] }))
  t.same(compileValidator(list(items))({ l: values }), [])
  t.end()
})

t.test('a pattern that was stored when patterns had no bound lets nothing pass, and says so', t => {
  const errors = compileValidator({ ...text, pattern: 'a{1000}'.repeat(100) })('a', 'spec')
  t.match(errors, [{ type: 'Invalid', field: 'spec', detail: /regular expression is too large/ }])
  t.end()
})

t.test('what an update leaves as it was is compared once, not once for each level', t => {
  let reads = 0
  const leaf = new Proxy(
    { a: 'x' },
    {
      ownKeys(target) {
        reads++
        return Reflect.ownKeys(target)
      },
    },
  )
  let schema: Schema = { type: 'object', properties: { a: text }, minProperties: 2 }
  let value: unknown = leaf
  let old: unknown = { a: 'x' }
  for (let i = 0; i < 40; i++) {
    schema = { type: 'object', properties: { a: schema }, minProperties: 2 }
    value = { a: value }
    old = { a: old }
  }
  const root: Schema = { type: 'object', properties: { spec: schema, kind: text } }
  t.same(compileValidator(root)({ kind: 'A', spec: value }, '', { kind: 'B', spec: old }), [])
  t.ok(reads < 20, `${reads} times`)
  t.end()
})

t.test('defaults add no more than a request can carry', t => {
  const properties = Object.fromEntries(many(500, i => [`p${i}`, { ...text, default: 'x'.repeat(1000) }]))
  const schema = list({ type: 'object', properties })
  const object = { l: many(100_000, () => ({})) }
  t.equal(applyDefaults(object, schema), false)
  t.ok(JSON.stringify(object).length < MAX_DEFAULTED * 1.2)
  t.equal(applyDefaults({ l: [{}, {}] }, schema), true)
  t.end()
})

t.test('a long number is no duration, and that is seen at once', t => {
  // by trying from each digit on this took minutes
  t.equal(stringFormats.duration!('1'.repeat(1_000_000)), false)
  t.equal(stringFormats.duration!(`${'1 '.repeat(100_000)}2 hours`), true)
  t.equal(stringFormats.duration!('it takes 12 minutes'), true)
  t.end()
})
