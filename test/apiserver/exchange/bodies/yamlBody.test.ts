/** YAML that would stop the server for minutes, take all its memory, or become what JSON cannot say. */
import t from 'tap'
import { yamlFindings } from '../../../../src/apimachinery/repeatedKeys.ts'
import { type BodyRemarks, parseBody, parseYaml } from '../../../../src/apiserver/exchange/bodies/body.ts'

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')
const refused = (text: string, why: RegExp): void => {
  t.throws(() => parseYaml(text, 'ConfigMap'), { reason: 'BadRequest', message: why }, text.slice(0, 30))
}

t.test('keys within keys, which once took six minutes for 2000 characters', async () => {
  refused('? '.repeat(100), /only scalars can be keys/)
  refused('? '.repeat(1000), /only scalars can be keys|call stack/)
  refused('{a: b}: c', /only scalars can be keys/)
})

t.test('a map of very many members is read in time', async t => {
  const value = parseYaml(lines(100_000, i => `k${i}: v`)) as Record<string, string>
  t.equal(Object.keys(value).length, 100_000)
})

t.test('of a key that is said twice the last one counts', async t => {
  t.same(parseYaml('a: 1\nb: {c: 1, c: 2}\na: 3'), { a: 3, b: { c: 2 } })
  t.same(parseYaml('one: &x {a: 1, b: 1}\ntwo: {<<: *x, a: 2, a: 3}'), { one: { a: 1, b: 1 }, two: { a: 3, b: 1 } })
})

t.test('and it is told, with its line', async t => {
  const remarks: BodyRemarks = {}
  parseYaml('a: 1\nb:\n  c: 1\n  d: {x: 1, x: 2}\n  c: 2\na: 2\n', 'ConfigMap', remarks)
  t.same(yamlFindings(remarks.repeatedKeys ?? []), [
    'line 4: key "x" already set in map',
    'line 5: key "c" already set in map',
    'line 6: key "a" already set in map',
  ])
  parseYaml('base: &b {a: 1}\none: {b: 2, <<: *b}\ntwo: {<<: *b}\n', 'ConfigMap', remarks)
  t.same(remarks.repeatedKeys, [])
  parseYaml('base: &b {a: 1}\none:\n  <<: *b\n  a: 2\n', 'ConfigMap', remarks)
  t.same(yamlFindings(remarks.repeatedKeys ?? []), ['line 4: key "a" already set in map'], 'what is merged counts too')
})

t.test('errors without end are not collected', async () => refused('}'.repeat(1_000_000), /Unexpected flow-map-end/))

t.test('aliases may not multiply', async t => {
  const letters = [...'abcdefghij']
  const bomb = letters.map((name, i) => `${name}: &${name} [${`${i === 0 ? 'x' : `*${letters[i - 1]}`}, `.repeat(9)}]`)
  refused(bomb.join('\n'), /excessive aliasing/)
  const large = `a: &a\n${lines(5000, i => `  k${i}: v`)}\n`
  refused(`${large}b:\n${lines(900, () => '- *a')}`, /excessive aliasing/)
  refused(`${large}b:\n${lines(900, () => '- {<<: *a}')}`, /excessive aliasing/)
  refused(`a: &a x\nb:\n${lines(2000, () => '- *a')}`, /excessive aliasing/)
  refused('a: &a {b: *a}', /contains itself/)
  refused('a: *nope', /unknown anchor/)
  t.strictSame(parseYaml('a: &a {x: 1}\nb: *a\nc: {<<: *a, z: 2}'), { a: { x: 1 }, b: { x: 1 }, c: { x: 1, z: 2 } })
})

t.test('depth, of the text and of what aliases make of it', async () => {
  refused('['.repeat(3000), /nested more than 500 levels|call stack/)
  refused(`${'- '.repeat(600)}x`, /nested more than 500 levels/)
  const half = (inner: string): string => `${'['.repeat(400)}${inner}${']'.repeat(400)}`
  refused(`a: &a ${half('x')}\nb: ${half('*a')}`, /nested more than 500 levels/)
})

t.test('depth of JSON, whatever it is made of', async t => {
  const nested = (open: string, close: string, levels: number, inner: string): string =>
    open.repeat(levels) + inner + close.repeat(levels)
  const read = (text: string): unknown => parseBody(Buffer.from(text), 'application/json', 'ConfigMap')
  const deep = { reason: 'BadRequest', message: /nested more than 500 levels/ }
  t.throws(() => read(nested('[', ']', 502, '')), deep)
  t.throws(() => read(nested('{"a":', '}', 502, '1')), deep)
  t.throws(() => read(nested('{"a":', '}', 251, nested('[', ']', 251, ''))), deep)
  t.ok(read(nested('{"a":', '}', 250, nested('[', ']', 250, ''))))
  t.ok(read(JSON.stringify({ a: '{['.repeat(1000) })), 'what stands in texts opens nothing')
  t.ok(read(JSON.stringify(Array(2000).fill([]))))
})

t.test('everything comes out as JSON could say it', async t => {
  const text =
    'a: 2020-01-01T00:00:00Z\nb: !!binary "Zm8="\nc: 22:22\nd: yes\ne: 0o7\nf: 1_000\ng: !!set {x, y}\nh: 1.5\ni: ~'
  t.strictSame(JSON.parse(JSON.stringify(parseYaml(text))), parseYaml(text))
  t.match(parseYaml(text), { a: '2020-01-01T00:00:00Z', b: 'fo', c: '22:22', d: true, e: 7, f: 1000, h: 1.5, i: null })
  refused('a: .nan', /unsupported value: NaN/)
  refused('a: -.inf', /unsupported value: -Inf/)
})

t.test('JSON is YAML, and read as JSON', async t => {
  t.strictSame(parseYaml('{"a": "2020-01-01", "b": [1, null]}'), { a: '2020-01-01', b: [1, null] })
  t.strictSame(parseYaml('{a: yes, "b": no}'), { a: true, b: false }, 'what only looks like it is YAML')
})

t.test('words are numbers where Go reads a number, and texts where it does not', async t => {
  const value = (text: string): unknown => (parseYaml(`v: ${text}`) as { v: unknown }).v
  const numbers = { '0o10': 8, '0O17': 15, '-0o17': -15, '010': 8, '08': 8, '0X1F': 31, '0B11': 3, '1_000': 1000 }
  for (const [text, number] of Object.entries({ ...numbers, '1e3': 1000, '.5': 0.5, '5.': 5, '1e1_0': 1e10 }))
    t.equal(value(text), number, text)
  for (const text of ['.', '-.', 'e3', 'E1', '1e', '0x', '1e400', '-1e400', '_1', '12:30:45', '1.2.3', '0b2'])
    t.equal(value(text), text, text)
  t.equal(value('"5"'), '5')
  t.equal(value('!!int "3"'), 3)
  t.equal(value('!!float 3'), 3)
  t.equal(value('!!binary aGVsbG8='), 'hello')
  refused('v: !!int 1.5', /yaml: cannot decode !!float `1.5` as a !!int/)
  refused('v: !!binary x', /yaml: !!binary value contains invalid base64 data/)
})

t.test('keys of maps become texts as Go writes them', async t => {
  const keys = '{1: a, 1.5: a, yes: a, .inf: a, 1e-7: a, 16777217.0: a, 1000000: a, __proto__: a}'
  t.same(Object.keys(parseYaml(keys) as object), [
    ...['1', '1000000', '1.5', 'true', '.inf', '1e-07', '1.6777216e+07', '__proto__'],
  ])
  refused('{null: a}', /unsupported map key/)
})

t.test('a merge counts where it stands', async t => {
  t.same(parseYaml('{a: 1, <<: {a: 2, b: 3}}'), { a: 2, b: 3 })
  t.same(parseYaml('{<<: {a: 2, b: 3}, a: 1}'), { a: 1, b: 3 })
  t.same(parseYaml('{<<: [{a: 1, b: 1}, {a: 2, c: 2}]}'), { a: 1, b: 1, c: 2 })
  t.same(parseYaml('{"<<": {a: 1}}'), { '<<': { a: 1 } })
  refused('<<: 5', /map merge requires map or sequence of maps as the value/)
})

t.test('of several documents the first one counts', async t => {
  t.same(parseYaml('a: 1\n---\nb: 2\n'), { a: 1 })
  t.same(parseYaml('a: 1\n...\nb'), { a: 1 })
  t.equal(parseYaml(''), null)
})

t.test('a number beyond all numbers is refused, not made null', async t => {
  const body = (text: string): unknown => parseBody(Buffer.from(text), 'application/json', 'Widget')
  const message = /json: cannot unmarshal number -?1e400 into Go value of type float64/
  t.throws(() => body('{"a": [1, 1e400]}'), { code: 400, message })
  t.throws(() => body('{"a": -1e400}'), { code: 400, message })
  t.same(body('{"a": 1e300, "b": "1e400", "c": 1e-400}'), { a: 1e300, b: '1e400', c: 0 })
  const long = ' '.repeat(5000)
  t.throws(() => body(`${long}{"a": [1, 1e400]}`), { code: 400, message }, 'in a long text, too')
  t.same(body(`${long}{"a": 1e300, "b": "1e400"}`), { a: 1e300, b: '1e400' })
})
