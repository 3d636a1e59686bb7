/** The functions and macros of Kubernetes' CEL that rules may use: each expression holds for the value below. */
import t from 'tap'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { CelCompileError, celBudget, compileCel } from '../../../src/apimachinery/structural/celProgram.ts'
import { toCel } from '../../../src/apimachinery/structural/celValues.ts'

const value = {
  s: 'Hello, wOrld',
  l: [3, 1, 2],
  ls: ['b', 'a', 'b'],
  m: { a: 'x', b: 'y' },
  d: '1h',
  o: { k: 1 },
}
const text: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }
const schema: Schema = {
  type: 'object',
  properties: {
    s: text,
    l: { type: 'array', items: integer },
    ls: { type: 'array', items: text },
    m: { type: 'object', additionalProperties: text },
    d: { type: 'string', format: 'duration' },
    o: { type: 'object', properties: { k: integer, absent: integer } },
  },
}
const evaluate = (source: string): unknown =>
  compileCel(source, schema).evaluate({ self: toCel(value, schema), oldSelf: null }, celBudget(100_000))

const TRUE = [
  `self.s.lowerAscii() == 'hello, world'`,
  `self.s.upperAscii() == 'HELLO, WORLD'`,
  `self.s.indexOf('o') == 4`,
  `self.s.lastIndexOf('o') == 4`,
  `self.s.indexOf('l', 5) == 10`,
  `self.s.substring(1, 3) == 'el'`,
  `self.s.substring(7) == 'wOrld'`,
  `self.s.trim() == self.s`,
  `self.s.split(', ') == ['Hello', 'wOrld']`,
  `self.s.split(',', 1) == [self.s]`,
  `self.ls.join('-') == 'b-a-b'`,
  `self.ls.join() == 'bab'`,
  `self.s.charAt(0) == 'H'`,
  `self.s.replace('o','0') == 'Hell0, wOrld'`,
  `'%s has %d of %.2f'.format(['a', 3, 1.5]) == 'a has 3 of 1.50'`,
  `self.s.reverse() == 'dlrOw ,olleH'`,
  `self.l.isSorted() == false`,
  `self.l.sum() == 6`,
  `self.l.min() == 1`,
  `self.ls.max() == 'b'`,
  `self.ls.indexOf('a') == 1`,
  `self.ls.lastIndexOf('b') == 2`,
  `[1,2,3].sum() == 6 && [1.5].sum() == 1.5`,
  `[duration('1h'), duration('1m')].sum() == duration('61m')`,
  `self.l.all(x, x > 0) && self.l.exists_one(x, x == 1)`,
  `self.l.map(x, x > 1, x * 2) == [6, 4]`,
  `self.m.all(k, v, v != '')`,
  `self.l.all(i, v, i >= 0 && v > 0)`,
  `self.l.transformList(i, v, v + i) == [3,2,4]`,
  `self.m.transformMap(k, v, v + 'z')['a'] == 'xz'`,
  `self.m.exists(k, v, v == 'y')`,
  `cel.bind(a, self.s, a + a).size() == 24`,
  `self.o.?absent.orValue(5) == 5`,
  `self.o.?k.hasValue()`,
  `self.?o.absent.or(optional.of(1)).value() == 1`,
  `optional.none().hasValue() == false`,
  `optional.ofNonZeroValue(0).hasValue() == false`,
  `self.m[?'zz'].orValue('q') == 'q'`,
  `self.o.?k.optMap(k, k + 1).value() == 2`,
  `self.o.?k.optFlatMap(k, optional.of(k)).value() == 1`,
  `sets.contains([1,2,3],[1,2])`,
  `sets.equivalent([1,1],[1])`,
  `sets.intersects([1],[2]) == false`,
  `quantity('1Gi').isGreaterThan(quantity('500Mi'))`,
  `quantity('10').add(20).asInteger() == 30`,
  `quantity('10').sub(20).sign() == -1`,
  `quantity('1.5').asApproximateFloat() == 1.5`,
  `isQuantity('1.3x') == false`,
  `quantity('1k') == quantity('1000')`,
  `ip('1.2.3.4').family() == 4`,
  `ip('::1').isLoopback()`,
  `ip('10.0.0.1').isGlobalUnicast()`,
  `ip('169.254.1.1').isLinkLocalUnicast()`,
  `ip('224.0.0.1').isLinkLocalMulticast()`,
  `ip.isCanonical('127.0.0.1')`,
  `ip.isCanonical('2001:DB8::1') == false`,
  `string(ip('1.2.3.4')) == '1.2.3.4'`,
  `ip('2001:db8::1') == ip('2001:DB8:0:0::1')`,
  `isIP('x') == false`,
  `cidr('10.0.0.0/8').containsIP('10.1.2.3')`,
  `cidr('10.0.0.0/8').containsIP(ip('11.1.2.3')) == false`,
  `cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')`,
  `cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))`,
  `cidr('10.0.0.0/8').ip() == ip('10.0.0.0')`,
  `cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')`,
  `cidr('10.0.0.0/8').prefixLength() == 8`,
  `string(cidr('10.0.0.0/8')) == '10.0.0.0/8'`,
  `isCIDR('10.0.0.0/8')`,
  `url('https://a.b:80/c?d=e').getHost() == 'a.b:80'`,
  `url('https://a.b:80/c?d=e').getQuery()['d'] == ['e']`,
  `isURL('/abs') && !isURL('rel')`,
  `url('https://a.b') == url('https://a.b')`,
  `format.dns1123Label().validate('A').hasValue()`,
  `!format.dns1123Label().validate('a').hasValue()`,
  `format.named('dns1123Label').hasValue()`,
  `format.uri().validate('http://x').hasValue() == false`,
  `format.labelValue().validate('a b').hasValue()`,
  `format.qualifiedName().validate('a/b').hasValue() == false`,
  `self.s.find('[A-Z]') == 'H'`,
  `self.s.findAll('[A-Z]') == ['H','O']`,
  `self.s.findAll('[a-z]', 2) == ['e','l']`,
  `self.d == duration('60m') && self.d.getHours() == 1`,
  `timestamp('2020-01-01T00:00:00Z').getFullYear() == 2020`,
  `isSemver('1.2.3') && semver('1.2.3').isLessThan(semver('1.3.0'))`,
  `semver('v1.2', true).major() == 1`,
  `semver('1.2.3').compareTo(semver('1.2.3')) == 0`,
  `type(self.s) == string`,
  `int('7') == 7 && double(1) == 1.0 && string(1) == '1' && bool('true')`,
  `has(self.o.k) && !has(self.o.absent)`,
  `dyn(1) == 1.0`,
  `b'a' + b'b' == b'ab'`,
  `size(self.m) == 2 && 'a' in self.m`,
  `self.s.matches('^H.*d$')`,
  `matches(self.s, 'x') == false`,
  `1u + 2u == 3u`,
  `[1, 2] + [3] == [1, 2, 3]`,
  `format.named('uuid').value().validate('x').value() == ['does not match the UUID format']`,
  `string(ip('1:0:0:2::3')) == '1:0:0:2::3' && string(ip('::')) == '::' && string(ip('1::')) == '1::'`,
  `isIP('::ffff:1.2.3.4') == false && isIP('fe80::1%eth0') == false`,
  `semver('1.0.0-alpha.1').isLessThan(semver('1.0.0'))`,
  `'%s %x %X %o %b %e %%'.format([[1, 'a'], 255, 'z', 8, 5, 1.5]) == '[1, a] ff 7A 10 101 1.500000e+00 %'`,
  `self.l.exists(i, v, i == 1 && v == 1) && self.m.transformList(k, v, k + v) == ['ax', 'by']`,
  `self.l.transformList(i, v, v > 1, v) == [3, 2]`,
  `self.o.?absent.optMap(k, k + 1).hasValue() == false`,
]

t.test('what holds', async t => {
  for (const source of TRUE) t.equal(evaluate(source), true, source)
})

t.test('what fails when it is evaluated', async t => {
  for (const source of [
    "ip('x') == ip('x')",
    "cidr('10.0.0.0/33').prefixLength() == 1",
    "quantity('x') == quantity('x')",
    "semver('1').major() == 1",
    "'%d'.format(['x']) == ''",
    "'%s %s'.format(['x']) == ''",
    "url('x').getHost() == ''",
    '[].min() == 1',
  ]) {
    t.throws(() => evaluate(source), source)
  }
})

t.test('what does not compile', async t => {
  for (const source of ['self.nope', 'sets.nope([1])', 'unknown(1)', 'self.l.all(x)', 'format.nope()']) {
    t.throws(() => compileCel(source, schema), CelCompileError, source)
  }
})
