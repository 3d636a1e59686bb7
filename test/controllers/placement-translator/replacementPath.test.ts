// Paths of Customizers: what they reach, what they refuse, and that a refused path changes nothing.
import fc from 'fast-check'
import t from 'tap'
import {
  parseReplacementPath,
  ReplacementPathError,
  replaceAt,
} from '../../../src/controllers/placement-translator/replacementPath.ts'

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
