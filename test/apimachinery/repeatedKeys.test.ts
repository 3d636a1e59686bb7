/** Keys that a text repeats are found where they are, and only there. */
import t from 'tap'
import { repeatedJsonKeys, repeatsKeys, strictFindings } from '../../src/apimachinery/repeatedKeys.ts'
import * as fc from '../support/fastCheck.ts'

t.test('text without repetitions has none, however its strings look', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      return !repeatsKeys(text, JSON.parse(text)) && repeatedJsonKeys(text).length === 0
    }),
    { numRuns: 300 },
  )
})

t.test('a key that is added again is found, with its path and line', async t => {
  const text = `{
  "metadata": {"name": "a\\":{", "name": "b"},
  "list": [1, {"x": {"y": null, "z": [],
    "y": true}}], "other": "x"
}`
  t.ok(repeatsKeys(text, JSON.parse(text)))
  t.same(repeatedJsonKeys(text), [
    { path: 'metadata.name', key: 'name', line: 2 },
    { path: 'list[1].x.y', key: 'y', line: 4 },
  ])
})

t.test('unknown and repeated fields are told in the order of the text; what is unknown only as that', async t => {
  const text = '{"a": {"u": {"k": 1, "k": 2}, "u": 1, "v": 1, "k": 1, "k": 2, "k": 3}, "a": 1, "w": [{"n": 1}]}'
  t.same(strictFindings(text, ['a.u', 'a.v', 'w[0].n', 'elsewhere']), [
    'unknown field "a.u"',
    'unknown field "a.v"',
    'duplicate field "a.k"',
    'duplicate field "a"',
    'unknown field "w[0].n"',
    'unknown field "elsewhere"',
  ])
  t.same(strictFindings('{"u": 1, "u": {"k": 1, "k": 2}}', ['u']), ['unknown field "u"'])
})

t.test('a request made to be slow is not', async t => {
  const long = `{"${'k'.repeat(300_000)}":{${'"x":{"y":1,"y":2},'.repeat(30_000)}"x":1}}`
  t.ok(repeatsKeys(long, JSON.parse(long)))
  t.equal(repeatedJsonKeys(long).length, 1, 'paths that long are put together once, not for each repetition')
  const many = `{${Array.from({ length: 500 }, (_, i) => `"a${i}":1,"a${i}":2`).join(',')}}`
  t.equal(repeatedJsonKeys(many).length, 100)
})
