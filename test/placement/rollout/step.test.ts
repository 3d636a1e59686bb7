/** The next step of a rollout: vectors, and what holds of every fleet. */
import t from 'tap'
import { type ClusterFacts, type ContentState, type RolloutFacts, step } from '../../../src/placement/rollout/step.ts'
import { clustersOf, type RolloutStrategy, readStrategy } from '../../../src/placement/rollout/strategy.ts'
import * as fc from '../../support/fastCheck.ts'
import { factsOf, NOW_MS, VECTORS } from './vectors.ts'

const keyOf = (name: string) => `imw1/${name}`

function strategyOf(value: unknown): RolloutStrategy {
  const { strategy, problems } = readStrategy(value)
  if (!strategy) throw new Error(JSON.stringify(problems))
  return strategy
}

t.test('vectors', t => {
  for (const { name, strategy, clusters, expect, ...facts } of VECTORS) {
    const nowMs = facts.now === undefined ? NOW_MS : Date.parse(facts.now)
    const found = step({
      strategy: strategyOf(strategy),
      target: facts.target ?? 2,
      from: facts.from ?? 1,
      clusters: factsOf(clusters, nowMs),
      nowMs,
      paused: facts.paused ?? false,
      approvals: new Set(facts.approvals),
      urgent: facts.urgent ?? false,
    })
    t.equal(found.verdict, expect.verdict, `${name}: verdict`)
    if (expect.start) t.strictSame(found.start, expect.start.map(keyOf), `${name}: who begins`)
    if (expect.reason !== undefined) t.equal(found.reason, expect.reason, `${name}: reason`)
    if (expect.message !== undefined) t.ok(found.message.includes(expect.message), `${name}: ${found.message}`)
    if (expect.recheckInS !== undefined)
      t.equal(((found.recheckAtMs ?? Number.NaN) - nowMs) / 1000, expect.recheckInS, `${name}: looks again`)
    for (const [cluster, state] of Object.entries(expect.states ?? {})) {
      const { state: is, reason } = found.states.get(keyOf(cluster))!
      t.strictSame(typeof state === 'string' ? is : [is, reason], state, `${name}: ${cluster}`)
    }
    t.equal(found.states.size, Object.keys(clusters).length, `${name}: a state for each cluster`)
  }
  t.end()
})

/** A cluster that will be healthy, broken or silent with a revision, after so many steps. */
interface Nature {
  readonly group: string
  readonly after: number
  readonly ends: 'healthy' | 'failed' | 'never'
  readonly awayAt: readonly number[]
  /** Silent while it is away, and not paused. */
  readonly isSilent: boolean
}

const nature = (): fc.Arbitrary<Nature> =>
  fc.record({
    group: fc.constantFrom('a', 'b', 'none'),
    after: fc.nat(3),
    ends: fc.constantFrom('healthy', 'healthy', 'healthy', 'failed', 'never'),
    awayAt: fc.array(fc.nat(20), { maxLength: 4 }),
    isSilent: fc.boolean(),
  })
const share = () =>
  fc.oneof(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 100 }).map(p => `${p}%`),
  )
const strategies = () =>
  fc
    .record({
      type: fc.constantFrom('Progressive', 'ProgressivePerGroup'),
      maxConcurrency: share(),
      maxFailures: fc.oneof(
        fc.nat(3),
        fc.nat(100).map(p => `${p}%`),
      ),
      minSuccessTime: fc.constantFrom('0', '2m'),
      mandatory: fc.boolean(),
    })
    .map(({ type, mandatory, ...config }) => ({
      type,
      [type === 'Progressive' ? 'progressive' : 'progressivePerGroup']: {
        ...config,
        progressDeadline: '10m',
        ...(mandatory && { mandatoryDecisionGroups: [{ groupName: 'b' }] }),
      },
      decisionGroups: ['a', 'b'].map(groupName => ({
        groupName,
        locationSelector: { matchLabels: { group: groupName } },
      })),
    }))

/** A fleet that answers, played step by step, a minute each. */
function* play(value: unknown, natures: readonly Nature[], target = 2, before: readonly ClusterFacts[] = []) {
  const strategy = strategyOf(value)
  const began = new Map<string, number>()
  let clusters: ClusterFacts[] = natures.map(({ group }, i) => ({
    key: `c${i}`,
    name: `c${i}`,
    inventory: 'imw1',
    labels: { group },
    revision: 1,
    content: 'healthy',
    contentSinceMs: 0,
    away: false,
    ...before[i],
  }))
  for (let round = 0; round < 400; round++) {
    const nowMs = NOW_MS + round * 60_000
    clusters = clusters.map((cluster, i): ClusterFacts => {
      const { after, ends, awayAt, isSilent } = natures[i]!
      const content: ContentState =
        cluster.revision !== target
          ? cluster.content
          : ends === 'never' || round - began.get(cluster.key)! < after
            ? 'progressing'
            : ends
      const contentSinceMs = content === cluster.content ? cluster.contentSinceMs : nowMs
      const away = awayAt.includes(round)
      return { ...cluster, away, isSilent: away && isSilent, content, contentSinceMs }
    })
    const facts: RolloutFacts = { strategy, target, from: 1, clusters, nowMs, paused: false, approvals: new Set() }
    const taken = step(facts)
    yield { round, facts, taken }
    if (taken.verdict === 'done' || taken.verdict === 'failed') {
      if (natures.every(({ awayAt }) => awayAt.every(at => at < round))) return
    }
    clusters = clusters.map(cluster => {
      const { state, contentSinceMs, beganMs } = taken.states.get(cluster.key)!
      const kept = { ...cluster, contentSinceMs, beganMs, wasDone: cluster.wasDone || state === 'Done' }
      if (!taken.start.includes(cluster.key)) return kept
      began.set(cluster.key, round)
      return { ...kept, revision: target, content: 'unknown' as const, wasDone: false }
    })
  }
}

t.test('never more clusters are on their way than asked, and there is always an end', t => {
  fc.assert(
    fc.property(strategies(), fc.array(nature(), { minLength: 1, maxLength: 9 }), (value, natures) => {
      let last: string | undefined
      for (const { facts, taken } of play(value, natures)) {
        const there = facts.clusters.filter(({ key }) => taken.states.get(key)!.reason !== 'ClusterAway')
        const isOnItsWay = ({ key, revision }: ClusterFacts) =>
          revision === 2 && ['Running', 'Waiting'].includes(taken.states.get(key)!.state)
        const busy = there.filter(isOnItsWay).length
        const ofGroup = (key: string) => {
          const { group } = taken.states.get(key)!
          return there.filter(one => taken.states.get(one.key)!.group === group).length
        }
        for (const key of taken.start) {
          const total = facts.strategy.type === 'Progressive' ? there.length : ofGroup(key)
          if (busy + taken.start.length > Math.max(1, clustersOf(facts.strategy.maxConcurrency!, total))) return false
        }
        last = taken.verdict
      }
      return last === 'done' || last === 'failed'
    }),
  )
  t.end()
})

t.test('who is away or has the target never begins, and nothing begins after a failure', t => {
  fc.assert(
    fc.property(strategies(), fc.array(nature(), { minLength: 1, maxLength: 9 }), (value, natures) => {
      for (const { facts, taken } of play(value, natures)) {
        if (new Set(taken.start).size !== taken.start.length) return false
        for (const key of taken.start) {
          const { away, revision } = facts.clusters.find(one => one.key === key)!
          if (away || revision === 2 || taken.verdict === 'failed') return false
        }
      }
      return true
    }),
  )
  t.end()
})

t.test('a newer edit in the midst of a rollout ends, whatever was left halfway', t => {
  fc.assert(
    fc.property(strategies(), fc.array(nature(), { minLength: 1, maxLength: 9 }), fc.nat(12), (value, natures, at) => {
      let left: readonly ClusterFacts[] = []
      for (const { round, facts } of play(value, natures)) {
        left = facts.clusters
        if (round === at) break
      }
      const mended = natures.map(one => ({ ...one, ends: 'healthy' as const }))
      const before = left.map(one => ({ ...one, wasDone: false }))
      let last: string | undefined
      for (const { taken } of play(value, mended, 3, before)) last = taken.verdict
      return last === 'done'
    }),
  )
  t.end()
})

t.test('time alone takes nothing back: who is done stays done, who failed in time does not come later', t => {
  fc.assert(
    fc.property(
      strategies(),
      fc.array(nature(), { minLength: 1, maxLength: 9 }),
      fc.nat(40),
      fc.nat(90),
      (value, natures, at, minutes) => {
        for (const { round, facts, taken } of play(value, natures)) {
          if (round < at) continue
          const later = step({ ...facts, nowMs: facts.nowMs + minutes * 60_000 })
          for (const [key, { state }] of taken.states) {
            const then = later.states.get(key)!.state
            if (state === 'Done' && then !== 'Done') return false
            if (state === 'Failed' && then !== 'Failed') return false
            if (state === 'Stuck' && then !== 'Stuck') return false
          }
          return taken.verdict !== 'failed' || later.verdict === 'failed'
        }
        return true
      },
    ),
  )
  t.end()
})

t.test('a clock that is set back, and goes on from there, makes no wait shorter and none endless', t => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(4), (backS, soakedMin) => {
      const strategy = strategyOf({ type: 'Progressive', progressive: { maxConcurrency: 1, minSuccessTime: '5m' } })
      const at = (nowMs: number, cluster: ClusterFacts) =>
        step({ strategy, target: 2, from: 1, clusters: [cluster], nowMs, paused: false, approvals: new Set() })
      let cluster: ClusterFacts = {
        ...factsOf({ a: { has: [2, 'healthy', soakedMin * 60, soakedMin * 60] } }, NOW_MS)[0]!,
      }
      const nowMs = NOW_MS - backS * 1000
      for (let s = 0; s <= 300; s += 10) {
        const { states, verdict } = at(nowMs + s * 1000, cluster)
        const { contentSinceMs, beganMs } = states.get(cluster.key)!
        cluster = { ...cluster, contentSinceMs, beganMs }
        const soakedS = soakedMin * 60 + s
        if (verdict === 'done') return soakedS >= 300
      }
      return false
    }),
  )
  t.end()
})

t.test('a cluster that was done and scales has its whole deadline, step by step', t => {
  const strategy = strategyOf({ type: 'Progressive', progressive: { maxConcurrency: 1, progressDeadline: '10m' } })
  const [scaling] = factsOf({ a: { has: [2, 'progressing', 0, 7200], wasDone: true } }, NOW_MS)
  let cluster: ClusterFacts = scaling!
  for (const [minutes, state] of [
    [0, 'Running'],
    [1, 'Running'],
    [9, 'Running'],
    [10, 'Stuck'],
  ] as const) {
    const nowMs = NOW_MS + minutes * 60_000
    const { states } = step({
      strategy,
      target: 2,
      from: 1,
      clusters: [cluster],
      nowMs,
      paused: false,
      approvals: new Set(),
    })
    const { state: is, contentSinceMs, beganMs } = states.get(cluster.key)!
    t.equal(is, state, `after ${minutes} minutes`)
    cluster = { ...cluster, contentSinceMs, beganMs, wasDone: is === 'Done' }
  }
  t.end()
})
