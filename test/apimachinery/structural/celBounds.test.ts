// CEL expressions that would fill the memory or take for ever: each ends with an error in words before it builds anything.
import t from 'tap'
import { celEnvironment } from '../../../src/apimachinery/structural/celFunctions.ts'
import { FUNCTION_PRICES } from '../../../src/apimachinery/structural/celPrices.ts'
import { celBudget, compileCel } from '../../../src/apimachinery/structural/celProgram.ts'
import { toCel } from '../../../src/apimachinery/structural/celValues.ts'
import { patternSize } from '../../../src/apimachinery/structural/userPatterns.ts'
import { admissionEnvironment } from '../../../src/apiserver/admission/admissionCel.ts'

const COST = 10_000_000
function run(source: string, self: unknown = null, all = COST): { value?: unknown; error?: string; cost: number } {
  const budget = celBudget(all)
  const program = compileCel(source, undefined)
  try {
    const value = program.evaluate({ self: toCel(self, undefined), oldSelf: null }, budget)
    return { value, cost: COST - budget.left }
  } catch (error) {
    return { error: (error as Error).message, cost: COST - budget.left }
  }
}
const LIMIT = /operation cancelled: actual cost limit exceeded/
const BUDGET = /running out of cost budget/
const TEXT = /would be a text of \d+ characters; at most 8388608 are allowed/
const LARGE = 'x'.repeat(900_000)
const NUMBERS = Array.from({ length: 1000 }, (_, i) => i)
/** A list of lists of lists …: some values in memory, 2^levels of them for who walks through. */
const tree = (levels: number): string => `[[0]]${'.map(a, [a, a])'.repeat(levels)}`
/** Evaluates `body` a million times, if nobody ends it. */
const loop = (body: string): string => `self.l.all(a, self.l.all(b, ${body} || true))`

t.test('what doubles, again and again, ends', async t => {
  const doubled = `[self]${'.map(a, a + a)'.repeat(8)}`
  t.match(run(`${doubled}.all(a, a.replace('z', 'y').size() > 0)`, LARGE).error, LIMIT)
  t.match(run(`[self]${'.map(a, a + a)'.repeat(40)}.size() > 0`, [1]).error, LIMIT, 'lists')
  t.match(run(`[bytes(self)]${'.map(a, a + a)'.repeat(40)}.size() > 0`, LARGE).error, LIMIT, 'bytes')
  t.match(run(`[self]${'.map(a, a + a)'.repeat(40)}.size() > 0`, 'x').error, LIMIT, 'a short string too')
})

t.test('a result that is too large is not made', async t => {
  const cases: [source: string, self: unknown, error: RegExp][] = [
    ["self.replace('x', self)", LARGE, TEXT],
    ["self.replace('', self)", LARGE, TEXT],
    ["self.replace('x', self, 100)", LARGE, TEXT],
    ['self.map(a, self[0]).join("")', Array(20).fill(LARGE), TEXT],
    ["['a', 'b', 'c', 'd', 'e', 'f', 'g'].join(self + self)", LARGE, TEXT],
    ["'%s%s%s%s%s%s%s%s%s%s'.format([self,self,self,self,self,self,self,self,self,self])", LARGE, TEXT],
    ["'%x'.format([self + self])", LARGE, TEXT],
    ['self + self + self + self + self + self + self + self + self + self', LARGE, LIMIT],
    ['bytes(self + self + self) + bytes(self)', LARGE, LIMIT],
    ['url("/" + self)', 'ü'.repeat(1_000_000), TEXT],
    ['bytes(self).hex()', 'x'.repeat(4_500_000), TEXT],
    ['bytes(self).base64()', 'x'.repeat(4_500_000), TEXT],
    ['bytes(self)', 'ü'.repeat(4_500_000), TEXT],
    ['bytes(self).json()', `[${'[],'.repeat(300_000)}1]`, TEXT],
    ["self.split('')", 'x'.repeat(2_200_000), /list of 2200000 elements; at most 2097152 are allowed/],
    ["self.findAll('.')", 'xy'.repeat(2_000_000), LIMIT],
  ]
  for (const [source, self, error] of cases) t.match(run(source, self).error, error, source)
})

t.test('lists that stand in lists many times are not written out or walked through', async t => {
  const large = tree(40)
  const cases: [source: string, error: RegExp][] = [
    [`${large} == ${large}`, LIMIT],
    [`${large} != ${large}`, LIMIT],
    [`${large} in [${large}]`, LIMIT],
    [`sets.contains([${large}], [${large}])`, LIMIT],
    [`sets.intersects([${large}], [${large}])`, LIMIT],
    [`sets.equivalent([${large}], [${large}])`, LIMIT],
    [`'%s'.format([${large}])`, LIMIT],
    [`{'a': ${large}} == {'a': ${large}}`, LIMIT],
    [`{'a': 1}[dyn(${large})]`, /no key/],
    [`{dyn(${large}): 1}`, /no key/],
    [`dyn(${large}) in {'a': 1}`, /no key/],
    [`[1].transformMap(i, v, ${large})`, /^$/],
    [`[${large}, ${large}].isSorted()`, /no such overload/],
    [`[${large}, ${large}].max()`, /no such overload/],
    [`[${large}, ${large}].min()`, /no such overload/],
    [`[${large}, ${large}].sum()`, /no such overload/],
    [`['a', 'b'].sum()`, /no such overload/],
  ]
  for (const [source, error] of cases) t.match(run(source).error ?? '', error, source.slice(-60))
})

t.test('what is looked at is paid for, in every loop', async t => {
  const map = Object.fromEntries(NUMBERS.map(i => [`k${i}`, i]))
  const self = { l: NUMBERS, s: LARGE, m: map, n: map, d: '1'.repeat(900), t: 'a.'.repeat(10_000) }
  const bodies = [
    "self.s.contains('z')",
    "self.s.indexOf('z') > 0",
    "self.s.lastIndexOf('z', 0) > 0",
    "self.s.startsWith(self.s + 'z')",
    "self.s.matches('(y|z)*b')",
    "matches(self.s, 'z')",
    "self.s.find('z') == ''",
    "self.s.findAll('z', 1) == []",
    "self.s.replace('z', '') == ''",
    "self.s.lowerAscii() == ''",
    "self.s.upperAscii() == ''",
    "self.s.trim() == ''",
    "strings.quote(self.s) == ''",
    "self.s.charAt(800000) == ''",
    "self.s.substring(1) == ''",
    "self.s.split('z') == []",
    'self.s < self.s + string(a)',
    "self.s == self.s.replace('x', 'y')",
    "self.s in ['a', 'b', self.s.replace('x', 'y')]",
    'self.s in self.m',
    'size(self.s) > 0',
    'size(self.m) > 0',
    'self.m.exists(k, true)',
    'self.m == self.n',
    'self.l == self.l + []',
    'self.l.indexOf(-1) == 0',
    'self.l.lastIndexOf(-1) == 0',
    '-1 in self.l',
    'sets.contains(self.l, [-1])',
    'self.l.sum() == 0',
    'self.l.max() == 0',
    'self.l.isSorted()',
    'self.l + self.l == []',
    'self.l.distinct() == []',
    'self.l.sort() == []',
    'self.l.sortBy(c, -c) == []',
    'self.l.reverse() == []',
    'self.l.slice(0, 100) == []',
    '[self.l, self.l].flatten() == []',
    'lists.range(1000) == []',
    '[1, 2, 3, 4, 5, 6, 7, 8, 9].transformMapEntry(i, v, {v: i}) == {}',
    'self.l.map(c, c) == []',
    "'%s'.format([self.l]) == ''",
    "bytes(self.s) == b'x'",
    'isIP(self.s)',
    'isCIDR(self.s)',
    'isURL(self.s)',
    'isQuantity(self.d)',
    'isSemver(self.d)',
    'format.dns1123Subdomain().validate(self.t).hasValue()',
    "timestamp('2020-01-01T00:00:00Z').getHours('Europe/Berlin') > 0",
    'self.l.transformList(i, v, v) == []',
    '[1,2,3,4,5,6,7,8,9,0].map(c, [1,2,3,4,5,6,7,8,9,0]) == []',
    'a + b + a + b + a + b + a + b + a + b > 0',
    'b.nope == 1',
  ]
  for (const body of bodies) t.match(run(loop(body), self, 200_000).error, BUDGET, body)
})

t.test('each of very many matches is paid for', async t => {
  t.match(run("self.findAll('x').size() > 0", LARGE).error, LIMIT)
  t.equal(run("self.findAll('x').size()", 'x'.repeat(100_000)).value, 100_000n)
})

t.test('text that is no number is refused before it is read', async t => {
  t.match(run('duration(self) == duration("1s")', '1'.repeat(2000)).error, /Invalid duration string: 1{64}$/)
  t.match(run('duration(self) == duration("1s")', '1'.repeat(900)).error, /Invalid duration/)
  t.equal(run('duration(self) == duration("5400s")', '1h30m').value, true)
  t.equal(run('duration(self) == duration("-1.5h")', '-1h30m').value, true)
  for (const source of ['quantity(self) == quantity("1")', 'isQuantity(self)', 'semver(self) == semver("1.0.0")']) {
    t.match(run(source, '1'.repeat(1_000_000)).error, /is no number or version; at most 1024 are read/, source)
  }
})

t.test('regular expressions are bounded with their repetitions written out', async t => {
  t.equal(patternSize('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'), 1 + 1 + 61 + 1 + 1 + 1)
  t.equal(patternSize('((a{10}){20}){5}b'), 1001)
  t.equal(patternSize('[]a{3}]\\{9\\}x{2}'), 1 + 1 + 1 + 1 + 2)
  t.equal(patternSize(String.raw`\Q[(\Ea{9}\Q]x\E{3}\Q`), 2 + 9 + 1 + 3, 'brackets in a quotation are no brackets')
  t.equal(patternSize('['.repeat(1_000_000)), 1, 'in linear time: the test would not end otherwise')
  t.equal(patternSize('a{1}(b{,2}[^]x]\\Q\\E)'), 1 + 1 + 4 + 1, 'what is no repetition is characters')
  t.match(run("'a'.matches(self)", String.raw`\Q[\E${'a{1000}'.repeat(100)}\Q]\E`).error, /is too large/)
  t.match(run(`'a'.matches('${'(a{1000})'.repeat(100)}')`).error, /regular expression is too large/)
  t.match(run("'a'.matches(self)", 'a'.repeat(20_000)).error, /regular expression is too large: with its repetitions/)
  const long = run("'a'.matches(self)", 'a'.repeat(100_000)).error
  t.match(long, /regular expression is too large: it has 100000 characters of at most 65536/)
  t.match(
    run('self.l.all(a, "a".matches(self.s + string(a)) || true)', { l: NUMBERS, s: 'a?'.repeat(2000) }).error,
    LIMIT,
  )
})

t.test('what is too large for a regular expression is paid for, too, as often as a rule asks', async t => {
  const source = 'self.l.all(a, self.l.all(b, "a".matches(self.s) || true))'
  t.match(run(source, { l: NUMBERS, s: 'a'.repeat(60_000) }).error, LIMIT)
})

t.test('looking for a match is paid for by what the engine does, not by what the pattern looks like', async t => {
  const large = '[a-z0-9]{1000}'.repeat(10)
  t.match(run(`self.matches('${large}')`, LARGE).error, LIMIT)
  t.match(run(`self.find('${large}') == ''`, LARGE).error, LIMIT)
  t.match(run("self.findAll('x*y|x').size() > 0", LARGE).error, LIMIT, 'each search goes to the end and comes back')
  t.match(run("self.findAll('x*y|x').size() > 0", 'x'.repeat(5000)).error, LIMIT, 'in short texts too')
  t.match(run("self.matches('(x|y)*x[xy]{200}z?$')", `${'xxyxyyyxyx'.repeat(90_000)}`).error, LIMIT)
  const usual = run("self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')", 'a'.repeat(63))
  t.equal(usual.value, true)
  const again = run("self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')", 'a'.repeat(63))
  t.ok(again.cost < 200, `${again.cost} once it is known`)
})

t.test('what takes longer than its price ends when its time is over', async t => {
  let asked = 0
  const budget = celBudget(COST, () => ++asked > 3)
  const program = compileCel('self.all(a, self.all(b, a + b >= 0))', undefined)
  const self = toCel(NUMBERS, undefined)
  t.throws(() => program.evaluate({ self, oldSelf: null }, budget), { name: 'CelCallCostError' })
  t.equal(asked, 4)
  t.ok(budget.left > COST - 30_000, 'long before its units are')
  t.throws(
    () => program.evaluate({ self, oldSelf: null }, budget),
    { name: 'CelBudgetError' },
    'and the next one at once',
  )
  t.equal(asked, 5)
})

t.test("no map is made with a key that others' could be mistaken for", async t => {
  const told = /has a backslash; such keys are not accepted: use another character/
  t.throws(() => compileCel(String.raw`{'k:{\\"a': 1} == self`, undefined), { message: told })
  t.match(run('{self: 1}', 'k:{\\"a').error, told)
  t.match(run("{'a': 1, 'b' + self: 1}", '\\').error, told)
  t.equal(run(String.raw`'C:\\x' in self`, { a: 1 }).value, false, 'who only looks for one does not find it')
  t.same(run(String.raw`{'{"a\\"': 1}.size()`).value, 1n, 'a quote before it tells it from what text can begin with')
})

t.test('macros inside one another are not written out without end', async t => {
  const lists = `[1]${'.transformList(i, v, v)'.repeat(40)}.size() > 0`
  const options = `optional.of(1)${'.optMap(v, v)'.repeat(40)}.hasValue()`
  for (const source of [lists, options]) {
    t.throws(() => compileCel(source, undefined), { name: 'CelCompileError', message: /macros written out/ }, source)
  }
  t.equal(run('[1, 2].transformList(i, v, v + i).transformList(i, v, v * 2)[1]').value, 6n)
})

t.test('errors do not repeat large values', async t => {
  const { error = '' } = run('{"a": 1}[self]', LARGE)
  t.match(error, /^no such key: xxx/)
  t.ok(error.length < 6000)
})

t.test('types are told only so deep, as the library keeps every one for ever', async t => {
  t.equal(compileCel('[[[[[[[[1]]]]]]]]', undefined).type, 'list<list<list<list<dyn>>>>')
  let deep: unknown = 'x'
  for (let i = 0; i < 400; i++) deep = i % 3 === 0 ? { a: deep } : [deep]
  t.equal(
    run('self.a == self.b && [self.a] + [self.b] == [self.b, self.a]', { a: deep, b: structuredClone(deep) }).value,
    true,
  )
})

t.test('every function has a price', async t => {
  const macros = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'has', 'bind', 'or', 'orValue'])
  for (const environment of [celEnvironment(), admissionEnvironment({ object: 'dyn' })]) {
    const names = new Set(environment.getDefinitions().functions.map(({ name }) => name))
    t.same(
      [...names].filter(name => !macros.has(name) && !FUNCTION_PRICES.has(name)),
      [],
    )
  }
})

t.test('what sensible rules cost is far from the limit', async t => {
  const container = { name: 'web', image: 'registry.example/team/web:1.2.3', ports: [{ containerPort: 80 }] }
  const self = { replicas: 3, containers: Array(20).fill(container), labels: { app: 'web', tier: 'front' } }
  const rule = `self.replicas <= 5 && self.labels.all(k, k.matches('^[a-z]+$')) &&
    self.containers.all(c, c.image.startsWith('registry.example/') && c.ports.exists(p, p.containerPort < 1024)) &&
    self.containers.map(c, c.name).join(',').size() < 1000`
  const { value, cost } = run(rule, self)
  t.equal(value, true)
  t.ok(cost < 2000, `${cost}`)
})

t.test('text functions go by characters and change ASCII alone', async t => {
  const equal: [source: string, value: string][] = [
    ["'abc'.replace('', '-')", '-a-b-c-'],
    ["'a😀c'.replace('', '-', 2)", '-a-😀c'],
    ["'abc'.replace('b', '', 0)", 'abc'],
    ["'aXbXc'.replace('X', '$&', 1)", 'a$&bXc'],
    ["'a😀c'.charAt(1)", '😀'],
    ["'abc'.charAt(3)", ''],
    ["'ÄbcI'.lowerAscii()", 'Äbci'],
    ["'straße'.upperAscii()", 'STRAßE'],
  ]
  for (const [source, value] of equal) t.equal(run(source).value, value, source)
  t.match(run("'abc'.charAt(4)").error, /index out of range: 4/)
  t.match(run("'abc'.charAt(-1)").error, /index out of range: -1/)
})
