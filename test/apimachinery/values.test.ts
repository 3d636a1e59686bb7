// Copies and comparisons of JSON values, against slow ways of saying the same.

import t from 'tap'
import { cloneJson, equalJson, sameMeaning } from '../../src/apimachinery/values.ts'
import * as fc from '../support/fastCheck.ts'

type Members = Record<string, unknown>

/** Few names and leaves, so that two values are often nearly the same; names that prototypes have are among them. */
const leaf = fc.constantFrom<unknown>(null, true, false, 0, 1, -2.5, '', 'a', 'b')
const name = fc.constantFrom('a', 'b', 'c', '', '7', '__proto__', 'constructor', 'toString', 'hasOwnProperty')
const { value } = fc.letrec<{ value: unknown; list: unknown[]; object: object }>(tie => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  // a member may be `undefined`: then it does not exist
  object: fc.array(fc.tuple(name, fc.oneof(fc.constant(undefined), tie('value'))), { maxLength: 4 }).map(fromEntries),
}))

function fromEntries(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries)
}

const isMembers = (of: unknown): of is Members => typeof of === 'object' && of !== null && !Array.isArray(of)

/** The same with every object changed by `change`, the innermost first. */
function rebuilt(of: unknown, change: (entries: [string, unknown][]) => [string, unknown][]): unknown {
  if (Array.isArray(of)) return of.map(item => rebuilt(item, change))
  if (!isMembers(of)) return of
  return fromEntries(change(Object.entries(of).map(([key, member]) => [key, rebuilt(member, change)])))
}

const turned = (of: unknown) => rebuilt(of, entries => entries.reverse())
/** With members that mean nothing under the names that are free. */
const padded = (of: unknown) =>
  rebuilt(of, entries => [...Object.entries({ x: null, y: [], z: { in: {} }, w: undefined }), ...entries])

const pair = fc.oneof(
  fc.tuple(value, value),
  value.map(one => [one, turned(one)] as const),
  value.map(one => [one, padded(one)] as const),
)

/** A text that two values share exactly when they are equal. */
function canonical(of: unknown): string {
  if (Array.isArray(of)) return `[${of.map(canonical).join()}]`
  if (!isMembers(of)) return JSON.stringify(of)
  const members = Object.keys(of).filter(key => of[key] !== undefined)
  return `{${members
    .sort()
    .map(key => `${JSON.stringify(key)}:${canonical(of[key])}`)
    .join()}}`
}

/** Without what means nothing; `null` where nothing is left. */
function settled(of: unknown): unknown {
  if (Array.isArray(of)) return of.length === 0 ? null : of.map(settled)
  if (!isMembers(of)) return of ?? null
  const kept = Object.entries(of)
    .map(([key, member]) => [key, settled(member)] as const)
    .filter(([, member]) => member !== null)
  return kept.length === 0 ? null : fromEntries(kept)
}

/** Every list and object of a value. */
function structures(of: unknown): object[] {
  if (typeof of !== 'object' || of === null) return []
  return [of, ...Object.values(of).flatMap(structures)]
}

t.test('a copy says the same in the same order, and shares nothing', async () => {
  fc.assert(
    fc.property(value, original => {
      const before = JSON.stringify(original)
      const copy = cloneJson(original)
      if (JSON.stringify(copy) !== before) return false
      const shared = new Set(structures(original))
      if (structures(copy).some(each => shared.has(each))) return false
      for (const each of structures(copy)) {
        if (Array.isArray(each)) each.push('changed')
        else (each as Members).a = 'changed'
      }
      return JSON.stringify(original) === before
    }),
  )
})

t.test('a copy has no members that do not exist', async t => {
  t.same(Object.keys(cloneJson({ a: undefined, b: { c: undefined } })), ['b'])
  t.strictSame(cloneJson({ b: { c: undefined } }), { b: {} })
})

t.test('__proto__ is copied as the member that it is', async t => {
  const copy = cloneJson(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}'))
  t.equal(JSON.stringify(copy), '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}')
  t.equal(Object.getPrototypeOf(copy), Object.prototype)
  t.equal(copy.polluted, undefined)
  t.equal(({} as Members).polluted, undefined)
})

t.test('what is no structure is its own copy', async t => {
  for (const each of [null, undefined, 0, '', 'a', false]) t.equal(cloneJson(each), each)
})

t.test('values that are four times as deep as a body may be are copied and compared', async t => {
  const deep = (leaf: string) => {
    let inside: unknown = leaf
    for (let i = 0; i < 1000; i++) inside = { a: [inside] }
    return inside
  }
  t.ok(equalJson(cloneJson(deep('x')), deep('x')))
  t.notOk(equalJson(deep('x'), deep('y')))
  t.ok(sameMeaning(deep('x'), deep('x')))
  t.notOk(sameMeaning(deep('x'), deep('y')))
})

t.test('values are equal when they say the same, in whatever order', async () => {
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const equal = canonical(a) === canonical(b)
      return equalJson(a, b) === equal && equalJson(b, a) === equal
    }),
    { numRuns: 1000 },
  )
  fc.assert(fc.property(value, each => equalJson(each, cloneJson(each)) && equalJson(each, turned(each))))
})

t.test('what a prototype has equals no member', async t => {
  const own = (text: string): unknown => JSON.parse(text)
  t.notOk(equalJson(own('{"__proto__":{}}'), {}))
  t.notOk(equalJson(own('{"__proto__":{}}'), { a: {} }))
  t.notOk(equalJson({ constructor: {} }, {}))
  t.ok(equalJson(own('{"__proto__":{"a":1}}'), own('{"__proto__":{"a":1}}')))
  t.ok(equalJson({ a: undefined }, {}))
  t.notOk(equalJson({ a: null }, {}))
  t.notOk(equalJson([], {}))
  t.notOk(equalJson([1, 2], [2, 1]))
})

t.test('values mean the same when they are equal without what means nothing', async () => {
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const same = canonical(settled(a)) === canonical(settled(b))
      return sameMeaning(a, b) === same && sameMeaning(b, a) === same
    }),
    { numRuns: 1000 },
  )
})

t.test('equal values mean the same; a member that means nothing changes no meaning', async () => {
  fc.assert(fc.property(pair, ([a, b]) => !equalJson(a, b) || sameMeaning(a, b)))
  fc.assert(fc.property(value, each => sameMeaning(each, padded(each)) && sameMeaning(padded(each), each)))
})

t.test('what has the same meaning as one value has it as all that mean the same', async () => {
  const three = value.chain(a => fc.tuple(fc.constant(a), fc.constantFrom(padded(a), turned(a), {}, null, []), value))
  fc.assert(fc.property(three, ([a, b, c]) => !sameMeaning(a, b) || sameMeaning(b, c) === sameMeaning(a, c)))
})

t.test('absent, null and empty mean the same; zero, no text and false do not', async t => {
  for (const nothing of [undefined, null, [], {}, { a: null }, { a: { b: [] } }]) {
    for (const other of [undefined, null, [], {}, { a: null }, { a: { b: [] } }]) t.ok(sameMeaning(nothing, other))
    for (const something of [0, '', false, [null], { a: 0 }]) t.notOk(sameMeaning(nothing, something))
  }
  t.ok(sameMeaning([{}], [null]), 'an element stays where it is, whatever it means')
})
