import t from 'tap'
import { escapeFieldValue } from '../../src/apimachinery/fieldSelectors.ts'
import {
  type LabelRequirement,
  labelSelectorFromObject,
  parseFieldSelector,
  parseLabelSelector,
  validateLabelSelector,
} from '../../src/apimachinery/selectors.ts'
import * as fc from '../support/fastCheck.ts'

const keys = fc.constantFrom('a', 'b', 'app.kubernetes.io/name', 'in', 'notin')
const values = fc.constantFrom('', 'x', 'y', '10', '9', '3')
const labels = fc.dictionary(keys, fc.oneof(values, fc.constant('-3')), { maxKeys: 4 })
const requirements: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key: keys,
    operator: fc.constantFrom('=' as const, '==' as const, '!=' as const),
    values: fc.tuple(values),
  }),
  fc.record({
    key: keys,
    operator: fc.constantFrom('gt' as const, 'lt' as const),
    values: fc.tuple(fc.constantFrom('10', '9')),
  }),
  fc.record({
    key: keys,
    operator: fc.constantFrom('in' as const, 'notin' as const),
    values: fc.uniqueArray(values, { minLength: 1 }),
  }),
  fc.record({ key: keys, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
)

/** The definition, word by word; shares nothing with the implementation. */
function naive(r: LabelRequirement, given: Record<string, string>): boolean {
  const value = given[r.key]
  if (r.operator === 'exists') return value !== undefined
  if (r.operator === '!') return value === undefined
  if (r.operator === '!=' || r.operator === 'notin') return value === undefined || !r.values.includes(value)
  if (value === undefined) return false
  if (r.operator === 'gt') return /^-?\d+$/.test(value) && Number(value) > Number(r.values[0])
  if (r.operator === 'lt') return /^-?\d+$/.test(value) && Number(value) < Number(r.values[0])
  return r.values.includes(value)
}

function written(r: LabelRequirement): string {
  if (r.operator === 'exists') return r.key
  if (r.operator === '!') return `! ${r.key}`
  if (r.operator === 'in' || r.operator === 'notin') return `${r.key} ${r.operator} ( ${r.values.join(' , ')} )`
  const symbol = { gt: '>', lt: '<', '=': '=', '==': '==', '!=': '!=' }[r.operator]
  return `${r.key} ${symbol} ${r.values[0]}`
}

t.test('a label selector selects what its definition says, and so does its text', async t => {
  fc.assert(
    fc.property(fc.array(requirements, { maxLength: 4 }), labels, (all, given) => {
      const selector = parseLabelSelector(all.map(written).join(','))
      const expected = all.every(r => naive(r, given))
      return selector.matches(given) === expected && parseLabelSelector(selector.toString()).matches(given) === expected
    }),
    { numRuns: 500 },
  )
  t.equal(parseLabelSelector('').isEverything, true)
  t.equal(parseLabelSelector('').matches(undefined), true)
  t.equal(parseLabelSelector('toString').matches({}), false, 'inherited members of objects are no labels')
})

t.test('a bad label selector is refused in the words of kube-apiserver', async t => {
  const cases: Record<string, string> = {
    'a b': "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    'a=b c': "found 'c', expected: ',' or 'end of string'",
    '!a=b': "found '=', expected: ',' or 'end of string'",
    'a in b': "unable to parse requirement: found 'b' expected: '('",
    'a in (b': "unable to parse requirement: found '', expected: ',' or ')'",
    ',a': "found ',', expected: !, identifier, or 'end of string'",
    'a,': "found '', expected: identifier after ','",
    'a=>b': "unable to parse requirement: found '>', expected: identifier",
    'a!': "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt",
    '=': "found '=', expected: !, identifier, or 'end of string'",
  }
  for (const [text, message] of Object.entries(cases)) {
    t.throws(() => parseLabelSelector(text), { reason: 'BadRequest', message }, text)
  }
  t.throws(() => parseLabelSelector('a=$x'), { message: /values\[0\]\[a\]: Invalid value: "\$x": a valid label must/ })
  t.throws(() => parseLabelSelector('a>x'), { message: /for 'Gt', 'Lt' operators, the value must be an integer/ })
  t.same(parseLabelSelector('a in ()').requirements[0]?.values, [''], 'empty parentheses hold the empty value')
  t.same(parseLabelSelector('a in (,x)').requirements[0]?.values, ['', 'x'])
})

t.test('the object form: absent selects nothing, empty everything', async t => {
  t.equal(labelSelectorFromObject(undefined).matches({ a: 'x' }), false)
  t.equal(labelSelectorFromObject({}).isEverything, true)
  const selector = labelSelectorFromObject({
    matchLabels: { app: 'web' },
    matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['db'] }],
  })
  t.equal(selector.matches({ app: 'web' }), true)
  t.equal(selector.matches({ app: 'web', tier: 'db' }), false)
  t.throws(() => labelSelectorFromObject({ matchExpressions: [{ key: 'a', operator: 'Near' }] }), {
    message: '"Near" is not a valid label selector operator',
  })
  t.match(validateLabelSelector({ matchExpressions: [{ key: 'a', operator: 'In' }] }, 'spec.selector'), [
    { type: 'Required', field: 'spec.selector.matchExpressions[0].values' },
  ])
})

t.test('field selectors keep escaped commas, equal signs and backslashes in values', async t => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.boolean(), (value, other, negated) => {
      const selector = parseFieldSelector(`spec.x${negated ? '!=' : '='}${escapeFieldValue(value)}`)
      if (!negated && selector.exact('spec.x') !== value) return false
      const again = parseFieldSelector(selector.toString())
      return [value, other].every(given =>
        [selector, again].every(s => s.matches({ 'spec.x': given }) === ((given === value) !== negated)),
      )
    }),
    { numRuns: 300 },
  )
  t.equal(parseFieldSelector('metadata.name!=a').matches({}), true, 'an absent field is empty')
  t.equal(parseFieldSelector(',').isEverything, true)
})

t.test('a bad field selector is refused in the words of kube-apiserver', async t => {
  const cases: Record<string, string> = {
    'metadata.name': "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    'metadata.name=a=b': 'invalid field selector: unescaped character in value: 61',
    'metadata.name=a\\x': 'invalid field selector: invalid escape sequence: \\x',
  }
  for (const [text, message] of Object.entries(cases)) {
    t.throws(() => parseFieldSelector(text), { reason: 'BadRequest', message }, text)
  }
})
