// Paths of Customizers: what they reach, what they refuse, and that a refused path changes nothing.

import t from 'tap'
import { atOnce } from '../../../../src/apimachinery/steps.ts'
import { WorkBudget } from '../../../../src/apimachinery/workBudget.ts'
import {
  findPlaces,
  MAX_PLACES,
  parseReplacementPath,
  putAt,
  type ReplacementPath,
  ReplacementPathError,
} from '../../../../src/controllers/placement/copies/replacementPath.ts'
import * as fc from '../../../support/fastCheck.ts'

const budget = (units = 500_000) => new WorkBudget(units, () => new Error('too much work'))
/** The count of places. */
function replaceAt(root: Record<string, unknown>, path: ReplacementPath, value: unknown): number {
  const places = atOnce(findPlaces(root, path, budget()))
  putAt(places, value)
  return places.length
}
const tree = () => ({ a: { b: [{ c: 1 }, { c: 2 }, { c: 3 }], 'd.e': { c: 4 } }, c: 5 })
const after = (path: string, value: unknown = 'X') => {
  const root = tree()
  const count = replaceAt(root, parseReplacementPath(path), value)
  return { count, root: root as unknown }
}

const cases: [path: string, root: unknown][] = [
  ['$.c', { ...tree(), c: 'X' }],
  ['$.new', { ...tree(), new: 'X' }],
  ["$['c','new']", { ...tree(), c: 'X', new: 'X' }],
  ['$["a"]["d.e"].c', { ...tree(), a: { ...tree().a, 'd.e': { c: 'X' } } }],
  ["$['a']['d\\x2ee'].c", { ...tree(), a: { ...tree().a, 'd.e': { c: 'X' } } }],
  ['$.a.b.1.c', { ...tree(), a: { ...tree().a, b: [{ c: 1 }, { c: 'X' }, { c: 3 }] } }],
  ['$.a.b[0,2].c', { ...tree(), a: { ...tree().a, b: [{ c: 'X' }, { c: 2 }, { c: 'X' }] } }],
  ['$.a.b[1:].c', { ...tree(), a: { ...tree().a, b: [{ c: 1 }, { c: 'X' }, { c: 'X' }] } }],
  ['$.a.b[0:3:2].c', { ...tree(), a: { ...tree().a, b: [{ c: 'X' }, { c: 2 }, { c: 'X' }] } }],
  ['$.a.b[*].c', { ...tree(), a: { ...tree().a, b: [{ c: 'X' }, { c: 'X' }, { c: 'X' }] } }],
  ['$.a.*', { ...tree(), a: { b: 'X', 'd.e': 'X' } }],
  ["$..['c']", { a: { b: [{ c: 'X' }, { c: 'X' }, { c: 'X' }], 'd.e': { c: 'X' } }, c: 'X' }],
  ['$..*', { a: 'X', c: 'X' }],
]
for (const [path, wanted] of cases) t.test(`${path} reaches its places`, async t => t.same(after(path).root, wanted))

t.test('what is not there is not made, but for the last key of a map on a definite path', async t => {
  for (const path of ['$.a.nowhere.c', '$.a.b[7]', '$.a.b.7', '$.a.b[3].c', '$.*.nowhere', '$.c.d', "$.a.b['0x']"]) {
    t.same(after(path), { count: 0, root: tree() }, path)
  }
})

t.test('each place has a value of its own', async t => {
  const root = { a: {}, b: {} } as unknown as Record<string, { v: string[] }>
  replaceAt(root, parseReplacementPath('$.*'), { v: [] })
  root.a!.v.push('x')
  t.same(root.b, { v: [] })
})

t.test('__proto__ is an ordinary key', async t => {
  const root: Record<string, unknown> = {}
  replaceAt(root, parseReplacementPath("$['__proto__']"), { polluted: true })
  t.ok(Object.hasOwn(root, '__proto__'))
  t.notOk('polluted' in {})
})

t.test('text outside the subset is refused with a place', async t => {
  const bad = [
    '',
    'a',
    '$a',
    '$.',
    '$..name',
    '$..',
    '$[',
    '$[-1]',
    "$['a",
    '$[?(@.a)]',
    '$.a b',
    '$[1:2:0]',
    "$['a' 'b']",
    '$[]',
  ]
  for (const path of bad)
    t.throws(() => parseReplacementPath(path), { name: 'ReplacementPathError', message: /at character/ }, path)
  t.throws(() => replaceAt({}, parseReplacementPath('$'), 1), ReplacementPathError, 'the whole object')
})

t.test('any text either parses or is refused; any definite path reads back what it put', async () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\$[.*[\]'a-c0-9,:$]*$/), text => {
      try {
        parseReplacementPath(text)
      } catch (error) {
        if (!(error instanceof ReplacementPathError)) throw error
      }
    }),
  )
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), (key, value) => {
      const root: Record<string, unknown> = {}
      const quoted = key.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
      replaceAt(root, parseReplacementPath(`$['${quoted}']`), value)
      return Object.hasOwn(root, key) && JSON.stringify(root[key]) === JSON.stringify(value)
    }),
  )
})

t.test('places are counted, and every node that is looked at', async t => {
  const root = { a: Array.from({ length: MAX_PLACES + 1 }, () => ({ b: 1 })) }
  const find = (path: string, units?: number) => atOnce(findPlaces(root, parseReplacementPath(path), budget(units)))
  t.throws(() => find('$.a[*].b'), { name: 'ReplacementPathError', message: /more than 10000 places/ })
  t.equal(find(`$.a[0:${MAX_PLACES}].b`).length, MAX_PLACES)
  t.throws(() => find("$..*..*..['x']", 150_000), { message: 'too much work' })
  t.throws(() => find(`$.a[*]['${Array(20).fill('x').join("','")}']`), { message: 'too much work' })
  t.equal(find('$.a[0].b', 50).length, 1, 'what is not looked at costs nothing')
  t.throws(() => parseReplacementPath(`$${'.a'.repeat(3000)}`), { message: 'it has 6001 characters, of at most 4096' })
})

t.test('a path is followed into any depth', async t => {
  let root: Record<string, unknown> = { c: 1 }
  for (let i = 0; i < 20_000; i++) root = { a: root }
  t.equal(atOnce(findPlaces(root, parseReplacementPath("$..['c']"), budget())).length, 1)
})
