// Worst-case costs of these rules by apiextensions-apiserver v1.36: the factor by which so many copies exceed the limit.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { validateSchema } from '../../../src/apimachinery/crd/validateSchema.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'

interface Recorded {
  rule: string
  copies: number
  factor: string
}

const recorded = JSON.parse(readFileSync(new URL('upstreamCosts.json', import.meta.url), 'utf8')) as Recorded[]
const text = (maxLength?: number): Schema => ({ type: 'string', ...(maxLength !== undefined && { maxLength }) })
const list = (items: Schema, maxItems?: number): Schema => ({ type: 'array', items, ...(maxItems && { maxItems }) })
const number: Schema = { type: 'integer' }
const properties: Record<string, Schema> = {
  s: text(),
  m: text(1000),
  n: text(100),
  e: { type: 'string', enum: ['abc', 'abcdef'] },
  d: { type: 'string', format: 'date-time' },
  du: { type: 'string', format: 'duration' },
  by: { type: 'string', format: 'byte', maxLength: 1000 },
  i: number,
  b: { type: 'boolean' },
  l: list(text()),
  lm: list(text(100), 100),
  li: list(number, 1000),
  lu: list(number),
  lo: list({ type: 'object', required: ['name'], properties: { name: text(63), v: number } }, 50),
  mp: { type: 'object', maxProperties: 50, additionalProperties: text(50) },
  mu: { type: 'object', additionalProperties: text() },
  ll: list(list(text(30), 30), 30),
}

/** In its form for users. */
function factorOf(rule: string, copies: number, self: Schema = { type: 'object', properties }): string {
  const items: Schema = { ...self, 'x-kubernetes-validations': [{ rule, message: 'no' }] }
  const errors = atOnce(validateSchema({ type: 'object', properties: { a: list(items, copies) } }, 'schema', false))
  if (errors.length === 0) return 'ok'
  return (
    /estimated rule cost exceeds budget by factor of (more than 100x|[\d.]+x)/.exec(errors[0]!.detail)?.[1] ??
    errors[0]!.detail
  )
}

t.test('rules cost what they cost upstream', t => {
  t.ok(recorded.length > 90)
  for (const { rule, copies, factor } of recorded) {
    t.equal(factorOf(rule, copies), factor, rule)
    if (copies >= 10) t.equal(factorOf(rule, copies / 10), 'ok', `${rule}, a tenth of it`)
  }
  t.end()
})

t.test('a text of which nothing is known is as large as self in a loop', t => {
  const cases: [self: Schema, rule: string, copies: number, factor: string][] = [
    [text(100), "self.split(',').all(x, x.matches('a'))", 1000, '1.8x'],
    [text(100), "self.split(',').all(x, x.contains('a'))", 1000, '1.8x'],
    [list(text(10), 20), "self.map(y, y.split(',')).all(x, x.size() > 1)", 100_000, '5.5x'],
    [list(text(10), 20), "self[0].split(',').all(x, x.contains('a'))", 100_000, '2.5x'],
    [{ ...text(), enum: ['a', 'abcdef'] }, "self.split(',').all(x, x.contains('a'))", 1_000_000, '3.4x'],
  ]
  for (const [self, rule, copies, factor] of cases) t.equal(factorOf(rule, copies, self), factor, rule)
  t.end()
})

// apiextensions-apiserver v1.36.4 judged the same: the cost of one value, then by how many values of a place it is multiplied.
t.test(
  'a rule below a list or map without a bound counts as often as its value fits into a request, however deep',
  t => {
    const self = (times: number) => Array.from({ length: times }, () => 'self == self').join(' || ')
    const rule = (text: string, schema: Schema): Schema => ({
      ...schema,
      'x-kubernetes-validations': [{ rule: text, message: 'no' }],
    })
    const map = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })
    const object: Schema = {
      type: 'object',
      required: ['name', 'port', 'with'],
      properties: { name: text(10), port: number, with: { type: 'string', default: 'x' } },
    }
    const open: ((leaf: Schema) => Schema)[] = [
      leaf => list(leaf),
      leaf => list(list(leaf)),
      leaf => list(list(leaf), 10),
      leaf => list(list(leaf, 10)),
      leaf => list(map(leaf)),
      leaf => map({ type: 'object', properties: { b: list(leaf, 5) } }),
    ]
    const leaves: [leaf: Schema, factor: string][] = [
      [rule(self(8), { type: 'integer' }), '2.5x'],
      [rule(self(8), { type: 'boolean' }), '1.006632x'],
      [rule(self(8), { type: 'string', format: 'duration' }), '3.8x'],
      [rule(self(8), { type: 'string', format: 'date-time' }), 'ok'],
      [rule('self.name.matches("a")', object), 'ok'],
      [rule(self(200), object), '5.7x'],
    ]
    const judged = (schema: Schema): string => {
      const [error] = atOnce(validateSchema({ type: 'object', properties: { a: schema } }, 'schema', false))
      return error === undefined ? 'ok' : (/by factor of (\S+)/.exec(error.detail)?.[1] ?? error.detail)
    }
    for (const [leaf, factor] of leaves)
      for (const wrap of open) t.equal(judged(wrap(leaf)), factor, JSON.stringify(leaf))
    t.equal(
      judged(list(list(rule(self(8), { type: 'integer' }), 100), 10_000)),
      '1.6x',
      'a product where all have bounds',
    )
    t.end()
  },
)
