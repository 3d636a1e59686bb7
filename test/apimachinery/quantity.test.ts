import t from 'tap'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  mustParseQuantity,
  parseQuantity,
  quantityProblem,
  quantityValue,
  subtractQuantities,
} from '../../src/apimachinery/quantity.ts'
import * as fc from '../support/fastCheck.ts'

t.test('canonical forms are those of kube-apiserver', async t => {
  const cases: Record<string, string> = {
    '1.5Gi': '1536Mi',
    '0.5': '500m',
    '1000m': '1',
    '1e3': '1e3',
    '1024Mi': '1Gi',
    '1500': '1500',
    '0.1Ki': '102400m',
    '0.9765625Ki': '1k',
    '2000': '2k',
    '1e4': '10e3',
    '5e-1': '500e-3',
    '-1.5': '-1500m',
    '1.0001k': '1000100m',
    '.5': '500m',
    '0Gi': '0',
    '-0.5Gi': '-512Mi',
    '10Ei': '9223372036854775807',
    '123456789012345678901': '123456789012345678901',
    '0.0000000001': '1n',
  }
  for (const [text, canonical] of Object.entries(cases)) t.equal(canonicalQuantity(text), canonical, text)
  for (const bad of ['', 'a', '1 ', '1KiB', '1e3Ki', '1.2.3', '--1', '1K', '.'])
    t.equal(parseQuantity(bad), undefined, bad)
  t.throws(() => mustParseQuantity('x'), { message: /quantities must match the regular expression/ })
})

const texts = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.nat({ max: 10 ** 9 }),
    fc.option(fc.nat({ max: 9999 }), { nil: undefined }),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3', 'E6'),
  )
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`)

t.test('what is known without reading it is what reading it comes to', async t => {
  const whole = fc.oneof(fc.nat({ max: 1100 }), fc.maxSafeNat()).map(String)
  const short = fc
    .tuple(
      fc.nat({ max: 1100 }),
      fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'),
    )
    .map(([number, suffix]) => `${number}${suffix}`)
  fc.assert(
    fc.property(fc.oneof(whole, short, texts), text => {
      // a sign in front is not among what is known
      const read = mustParseQuantity(`+${text}`.replace('+-', '-'))
      t.same(parseQuantity(text), read)
      t.equal(canonicalQuantity(text), formatQuantity(read))
    }),
  )
})

t.test('the canonical form names the same number and is stable', async t => {
  fc.assert(
    fc.property(texts, text => {
      const quantity = mustParseQuantity(text)
      const canonical = formatQuantity(quantity)
      return (
        compareQuantities(mustParseQuantity(canonical), quantity) === 0 && canonicalQuantity(canonical) === canonical
      )
    }),
    { numRuns: 500 },
  )
  t.pass('holds')
})

t.test('sums are exact, where floating point is not', async t => {
  const sum = addQuantities(mustParseQuantity('0.1'), mustParseQuantity('0.2'))
  t.equal(formatQuantity(sum), '300m')
  t.equal(formatQuantity(addQuantities(mustParseQuantity('1Gi'), mustParseQuantity('1Mi'))), '1025Mi')
  t.equal(formatQuantity(subtractQuantities(mustParseQuantity('1'), mustParseQuantity('1m'))), '999m')
  t.equal(quantityValue(mustParseQuantity('1001m')), 2n, 'counts round up')
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      const [x, y] = [mustParseQuantity(a), mustParseQuantity(b)]
      return compareQuantities(subtractQuantities(addQuantities(x, y), y), x) === 0
    }),
  )
})

t.test('a text that is too long is none, and says so', async t => {
  const digits = (count: number): string => '9'.repeat(count)
  t.ok(parseQuantity(digits(256)))
  t.equal(parseQuantity(digits(257)), undefined)
  t.equal(quantityProblem(digits(257)), 'quantities may have at most 256 characters')
  t.match(quantityProblem('x'), /must match the regular expression/)
})
