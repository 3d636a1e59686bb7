import t from 'tap'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { WorkBudget } from '../../../src/apimachinery/workBudget.ts'
import { aggregatedRules as gather, hasAggregationRule } from '../../../src/apiserver/auth/aggregation.ts'
import { countSteps } from '../../support/countSteps.ts'
import { role } from './support.ts'

const aggregatedRules = (...of: Parameters<typeof gather>) => atOnce(gather(...of))
const rule = (name: string) => ({ apiGroups: [''], resources: [name], verbs: ['get'] })
const gathers = (...labels: string[]) => ({
  aggregationRule: { clusterRoleSelectors: labels.map(label => ({ matchLabels: { [label]: '1' } })) },
})

t.test('rules are gathered through other aggregated roles, each once, by role name', async t => {
  const all = [
    role('z', [rule('z'), rule('shared')], { labels: { a: '1' } }),
    role('b', [rule('ignored')], { labels: { a: '1' }, ...gathers('b') }),
    role('c', [rule('c'), rule('shared')], { labels: { b: '1' } }),
    role('other', [rule('other')]),
  ]
  const top = role('top', [], gathers('a'))
  t.same(aggregatedRules(top, [...all, top]), [rule('c'), rule('shared'), rule('z')])
  t.ok(hasAggregationRule(top))
  t.notOk(hasAggregationRule(all[0]))
})

t.test('roles that gather each other end', async t => {
  const a = role('a', [], { labels: { a: '1' }, ...gathers('b') })
  const b = role('b', [], { labels: { b: '1' }, ...gathers('a', 'x') })
  const x = role('x', [rule('x')], { labels: { x: '1' } })
  for (const one of [a, b]) t.same(aggregatedRules(one, [a, b, x]), [rule('x')])
})

t.test('a malformed selector selects nothing', async t => {
  const expression = { matchExpressions: [{ key: 'a', operator: 'Maybe' }] }
  const top = role('top', [], { aggregationRule: { clusterRoleSelectors: [expression] } })
  t.same(aggregatedRules(top, [top, role('z', [rule('z')], { labels: { a: '1' } })]), [])
})

t.test('what is gathered ends with the budget, and is never more than the parts grant', async t => {
  const parts = Array.from({ length: 1_000 }, (_, i) => role(`p${1_000 + i}`, [rule(`r${i}`)], { labels: { a: '1' } }))
  const top = role('top', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: '1' } }] } })
  const all = aggregatedRules(top, parts)
  t.equal(all.length, 1_000)
  const budget = new WorkBudget(5_000, () => new Error('over'))
  const some = aggregatedRules(top, parts, budget)
  t.ok(some.length > 100 && some.length < 1_000)
  t.same(some, all.slice(0, some.length))
  t.same(aggregatedRules(top, parts, budget), [], 'it is one budget for all roles of a space')
})

t.test('others have their turn between any two roles that are looked at', async t => {
  const parts = Array.from({ length: 100 }, (_, i) => role(`p${i}`, [rule(`r${i}`)], { labels: { a: '1' } }))
  const { result, steps } = countSteps(gather(role('top', [], gathers('a')), parts))
  t.equal(result.length, 100)
  t.ok(steps >= 100, `${steps} rests`)
})
