/** YAML that would stop the server for minutes, take all its memory, or become what JSON cannot say. */
import t from 'tap'
import { yamlFindings } from '../../../src/apimachinery/repeatedKeys.ts'
import { parseYaml, type YamlRemarks } from '../../../src/apiserver/endpoints/body.ts'

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
  const remarks: YamlRemarks = {}
  parseYaml('a: 1\nb:\n  c: 1\n  d: {x: 1, x: 2}\n  c: 2\na: 2\n', 'ConfigMap', remarks)
  t.same(yamlFindings(remarks.repeatedKeys ?? []), [
    'line 4: key "x" already set in map',
    'line 5: key "c" already set in map',
    'line 6: key "a" already set in map',
  ])
  parseYaml('base: &b {a: 1}\none: {<<: *b, a: 2}\ntwo: {<<: *b}\n', 'ConfigMap', remarks)
  t.same(remarks.repeatedKeys, [])
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

t.test('everything comes out as JSON could say it', async t => {
  const text =
    'a: 2020-01-01T00:00:00Z\nb: !!binary "Zm8="\nc: 22:22\nd: yes\ne: 0o7\nf: 1_000\ng: !!set {x, y}\nh: 1.5\ni: ~'
  t.strictSame(JSON.parse(JSON.stringify(parseYaml(text))), parseYaml(text))
  t.match(parseYaml(text), { a: '2020-01-01T00:00:00Z', b: 'Zm8=', c: '22:22', d: true, f: 1000, h: 1.5, i: null })
  refused('a: .nan', /unsupported value: NaN/)
  refused('a: -.inf', /unsupported value: -Infinity/)
})

t.test('JSON is YAML, and read as JSON', async t => {
  t.strictSame(parseYaml('{"a": "2020-01-01", "b": [1, null]}'), { a: '2020-01-01', b: [1, null] })
  t.strictSame(parseYaml('{a: yes, "b": no}'), { a: true, b: false }, 'what only looks like it is YAML')
})
