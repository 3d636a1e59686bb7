/** The stages of a rollout before it begins. */
import t from 'tap'
import { planOf } from '../../../src/placement/rollout/plan.ts'
import { step } from '../../../src/placement/rollout/step.ts'
import { readStrategy } from '../../../src/placement/rollout/strategy.ts'

const cluster = (name: string, tier = '', away = false) => ({
  key: `imw1/${name}`,
  name,
  labels: tier === '' ? {} : { tier },
  away,
})
const CLUSTERS = [
  cluster('e'),
  cluster('d', 'prod'),
  cluster('c', 'prod', true),
  cluster('b', 'prod'),
  cluster('a', 'canary'),
]
const group = (groupName: string, more: object = {}) => ({
  groupName,
  locationSelector: { matchLabels: { tier: groupName } },
  ...more,
})
const strategyOf = (value: object) => readStrategy(value).strategy!
const WINDOW = { days: ['Mon'], from: '09:00', to: '16:00', timeZone: 'Etc/UTC' }
const decisionGroups = [group('canary'), group('prod', { approval: true, windows: [WINDOW] }), group('lab')]

t.test('group by group, and clusters in none come last', async t => {
  const strategy = strategyOf({
    type: 'ProgressivePerGroup',
    progressivePerGroup: { maxConcurrency: '50%', maxFailures: '50%' },
    decisionGroups,
  })
  const plan = planOf(strategy, CLUSTERS)
  t.strictSame(
    plan.map(({ atOnce, mayFail, groups }) => [
      atOnce,
      mayFail,
      groups.map(({ name, clusters }) => [name, clusters.map(one => one.name)]),
    ]),
    [
      [1, 1, [['canary', ['a']]]],
      [1, 1, [['prod', ['b', 'c', 'd']]]],
      [0, 0, [['lab', []]]],
      [1, 1, [['', ['e']]]],
    ],
    'percentages count clusters that are there, and an empty group is seen',
  )
  t.match(plan[1]?.groups, [{ approval: true, windows: ['Mon 09:00-16:00 Etc/UTC'] }])
  t.match(plan[0]?.groups, [{ approval: false, windows: [] }])
})

t.test('mandatory groups come first and may not fail; the others are one stage', async t => {
  const strategy = strategyOf({
    type: 'Progressive',
    progressive: { maxConcurrency: 3, maxFailures: 2, mandatoryDecisionGroups: [{ groupName: 'prod' }] },
    decisionGroups,
  })
  t.match(planOf(strategy, CLUSTERS), [
    { atOnce: 2, mayFail: 0, groups: [{ name: 'prod' }] },
    { atOnce: 2, mayFail: 2, groups: [{ name: 'canary' }, { name: 'lab' }, { name: '' }] },
  ])
})

t.test('clusters begin as planned', async t => {
  const progressive = { maxConcurrency: 1 }
  const strategy = strategyOf({ type: 'Progressive', progressive, decisionGroups: [group('prod'), group('canary')] })
  const planned = planOf(strategy, CLUSTERS).flatMap(({ groups }) => groups.flatMap(({ clusters }) => clusters))
  const begun: string[] = []
  const facts = { strategy, target: 2, from: 1, nowMs: 1, paused: false, approvals: new Set<string>() }
  for (;;) {
    const clusters = CLUSTERS.map(one => ({
      ...one,
      inventory: 'imw1',
      revision: begun.includes(one.key) ? 2 : 1,
      content: 'healthy' as const,
      contentSinceMs: 0,
    }))
    const { start } = step({ ...facts, clusters })
    if (start.length === 0) break
    begun.push(...start)
  }
  t.strictSame(
    begun,
    planned.filter(({ away }) => !away).map(({ key }) => key),
  )
})
