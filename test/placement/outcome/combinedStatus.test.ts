// Report on a workload in several clusters: a wait for a rollout waits for the last of them, and not for ever.

import t from 'tap'
import type { GroupResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { combinedStatus, figuresOf, isCombined, type Share } from '../../../src/placement/outcome/combinedStatus.ts'
import * as fc from '../../support/fastCheck.ts'

const apps = (resource: string): GroupResource => ({ group: 'apps', resource })
const NOW = '2026-01-02T03:04:05Z'
const EARLIER = '2026-01-01T00:00:00Z'

type Status = Record<string, unknown>

const workload = (kind: string, replicas: number | undefined, status?: unknown): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web', namespace: 'shop', uid: 'u', generation: 4 },
  spec: { ...(replicas !== undefined && { replicas }) },
  ...(status !== undefined && { status }),
})

/** A cluster's status of its copy, which is of generation 7 there, for generation 4 here. */
function share(kind: string, cluster: string, replicas: number | undefined, status: Status | undefined): Share {
  const resource = apps(`${kind.toLowerCase()}s`)
  const figures = status && figuresOf(resource, workload(kind, replicas, status))
  return { cluster, figures, produced: { here: 4, there: 7 } }
}

const combined = (kind: string, object: KubeObject, shares: Share[], now = NOW): Status =>
  combinedStatus(apps(`${kind.toLowerCase()}s`), object, shares, now)

const count = (status: Status, name: string): number => (status[name] as number | undefined) ?? 0

/** Condition of `kubectl rollout status` on a Deployment. */
function isRolledOut(generation: number, replicas: number, status: Status): boolean {
  if (generation > count(status, 'observedGeneration')) return false
  const [all, updated, available] = ['replicas', 'updatedReplicas', 'availableReplicas'].map(name =>
    count(status, name),
  )
  return updated! >= replicas && all! <= updated! && available! >= updated!
}

/** Its condition on a DaemonSet. */
function isSpread(generation: number, status: Status): boolean {
  if (generation > count(status, 'observedGeneration')) return false
  const wanted = count(status, 'desiredNumberScheduled')
  return count(status, 'updatedNumberScheduled') >= wanted && count(status, 'numberAvailable') >= wanted
}

/** Its condition on a StatefulSet. */
function isReplaced(generation: number, replicas: number, status: Status): boolean {
  if (generation > count(status, 'observedGeneration')) return false
  return count(status, 'readyReplicas') >= replicas && status.updateRevision === status.currentRevision
}

const few = fc.integer({ min: 0, max: 6 })
const observed = fc.constantFrom(undefined, 6, 7, 8)
const some = <T>(each: fc.Arbitrary<T>) =>
  fc.array(fc.option(each, { nil: undefined, freq: 6 }), { minLength: 2, maxLength: 5 })
const said = (fields: Status): Status => Object.fromEntries(Object.entries(fields).filter(([, value]) => value))

t.test('a Deployment is rolled out when it is in every cluster, whatever each asks for', async t => {
  const drawn = fc.tuple(fc.integer({ min: 1, max: 5 }), few, few, few, observed)
  const ready = fc.integer({ min: 1, max: 5 }).map(size => [size, size, 0, size, 7] as const)
  const cluster = fc.oneof(drawn, ready).map(([replicas, updated, old, available, observedGeneration]) => {
    const counts = { replicas: updated + old, updatedReplicas: updated, availableReplicas: available }
    return { replicas, status: said({ ...counts, observedGeneration }) }
  })
  let over = 0
  const property = fc.property(fc.integer({ min: 1, max: 5 }), some(cluster), (replicas, clusters) => {
    const shares = clusters.map((at, i) => share('Deployment', `c${i}`, at?.replicas, at?.status))
    const status = combined('Deployment', workload('Deployment', replicas), shares)
    const everywhere = clusters.every(at => at !== undefined && isRolledOut(7, at.replicas, at.status))
    if (everywhere) over++
    return isRolledOut(4, replicas, status) === everywhere
  })
  fc.assert(property, { numRuns: 10_000 })
  const done = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, observedGeneration: 7 }
  const all = ['a', 'b', 'c'].map(at => share('Deployment', at, 2, done))
  t.ok(isRolledOut(4, 2, combined('Deployment', workload('Deployment', 2), all)), 'and it does end')
  t.ok(over > 0, `${over} of the drawn ones were over`)
})

t.test('so are a DaemonSet and a StatefulSet', async t => {
  const nodes = fc.tuple(few, few, few, observed).map(([wanted, updated, available, observedGeneration]) =>
    said({
      desiredNumberScheduled: wanted,
      updatedNumberScheduled: Math.min(updated, wanted),
      numberAvailable: Math.min(available, wanted),
      observedGeneration,
    }),
  )
  const spread = fc.property(some(nodes), clusters => {
    const shares = clusters.map((status, i) => share('DaemonSet', `c${i}`, undefined, status))
    const status = combined('DaemonSet', workload('DaemonSet', undefined), shares)
    return isSpread(4, status) === clusters.every(each => each !== undefined && isSpread(7, each))
  })
  fc.assert(spread, { numRuns: 10_000 })
  const revision = fc.constantFrom('r1', 'r2')
  const set = fc
    .tuple(few, revision, revision, observed)
    .map(([ready, currentRevision, updateRevision, generation]) =>
      said({ replicas: ready, readyReplicas: ready, currentRevision, updateRevision, observedGeneration: generation }),
    )
  const replaced = fc.property(fc.integer({ min: 1, max: 4 }), some(set), (replicas, clusters) => {
    const shares = clusters.map((status, i) => share('StatefulSet', `c${i}`, replicas, status))
    const status = combined('StatefulSet', workload('StatefulSet', replicas), shares)
    return (
      isReplaced(4, replicas, status) === clusters.every(each => each !== undefined && isReplaced(7, replicas, each))
    )
  })
  fc.assert(replaced, { numRuns: 10_000 })
  t.pass()
})

t.test('where all ask for the same, counts are the least of any cluster, and excesses the most', async t => {
  const shares = [
    share('Deployment', 'florin', 5, {
      replicas: 5,
      updatedReplicas: 4,
      readyReplicas: 3,
      availableReplicas: 2,
      unavailableReplicas: 3,
      observedGeneration: 7,
    }),
    share('Deployment', 'guilder', 5, {
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
      observedGeneration: 8,
    }),
  ]
  t.same(combined('Deployment', workload('Deployment', 5), shares), {
    observedGeneration: 4,
    replicas: 5,
    updatedReplicas: 4,
    readyReplicas: 3,
    availableReplicas: 2,
    unavailableReplicas: 3,
  })
  const sets = [3, 1].map((ready, i) =>
    share('ReplicaSet', `c${i}`, 3, { replicas: 3, readyReplicas: ready, observedGeneration: 7 }),
  )
  t.same(combined('ReplicaSet', workload('ReplicaSet', 3), sets), {
    observedGeneration: 4,
    replicas: 3,
    readyReplicas: 1,
  })
})

t.test('a generation is observed when all have observed it; until then it is the one before', async t => {
  const before = workload('Deployment', 1, { observedGeneration: 3 })
  const shares = [
    share('Deployment', 'a', 1, { observedGeneration: 7 }),
    share('Deployment', 'b', 1, { observedGeneration: 6 }),
  ]
  t.equal(combined('Deployment', before, shares).observedGeneration, 3)
  const unknown = { ...share('Deployment', 'b', 1, { observedGeneration: 9 }), produced: undefined }
  t.equal(combined('Deployment', before, [shares[0]!, unknown]).observedGeneration, 3, 'nobody knows what it is about')
  const silent = share('Deployment', 'c', 1, undefined)
  t.equal(combined('Deployment', before, [shares[0]!, silent]).observedGeneration, undefined)
})

t.test('conditions say the worst, where it is, and since when', async t => {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
  })
  const well = [
    condition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'),
    condition('Progressing', 'True', 'NewReplicaSetAvailable', 'ReplicaSet "web-1" has successfully progressed.'),
  ]
  const late = condition(
    'Progressing',
    'False',
    'ProgressDeadlineExceeded',
    'ReplicaSet "web-2" has timed out progressing.',
  )
  const failing = condition('ReplicaFailure', 'True', 'FailedCreate', 'quota exceeded')
  const told = (...each: (readonly object[] | undefined)[]) =>
    each.map((conditions, i) => share('Deployment', ['florin', 'guilder', 'kyat'][i]!, 1, conditions && { conditions }))
  const of = (object: KubeObject, shares: Share[], now = NOW) =>
    combined('Deployment', object, shares, now).conditions as Status[]
  const object = workload('Deployment', 1)
  const all = of(object, told(well, well, well), EARLIER)
  t.match(all, [
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'In all 3 clusters.' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: 'In all 3 clusters.' },
  ])
  const then = workload('Deployment', 1, { conditions: all })
  t.same(of(then, told(well, well, well)), all, 'what says the same keeps its times')
  const worse = of(then, told(well, [well[0]!, late, failing], [well[0]!, late]))
  t.match(worse, [
    { type: 'Available', lastTransitionTime: EARLIER },
    { status: 'False', reason: 'ProgressDeadlineExceeded', lastTransitionTime: NOW, lastUpdateTime: NOW },
    { type: 'ReplicaFailure', status: 'True', message: 'In guilder of 3 clusters: quota exceeded' },
  ])
  t.equal(worse[1]!.message, 'In guilder and 1 more of 3 clusters: ReplicaSet "web-2" has timed out progressing.')
  t.match(of(then, told(well, well, undefined))[0], {
    status: 'Unknown',
    reason: 'NotReported',
    message: /^In kyat of 3/,
  })
  const underWay = [well[0]!, condition('Progressing', 'True', 'ReplicaSetUpdated', 'is progressing')]
  t.match(of(then, told(well, underWay, well))[1], {
    reason: 'ReplicaSetUpdated',
    message: 'In guilder of 3 clusters.',
  })
})

t.test('what clusters send that is no status of that kind does no harm', async t => {
  const odd: unknown[] = [
    { replicas: 'many', updatedReplicas: Number.POSITIVE_INFINITY, conditions: 'none' },
    { replicas: -5, conditions: [null, 1, { type: 1 }, { type: 'Available' }], observedGeneration: '7' },
    [],
    'text',
  ]
  for (const status of odd) {
    const shares = [
      share('Deployment', 'a', 1, status as Status),
      share('Deployment', 'b', 1, { replicas: 1, updatedReplicas: 1 }),
    ]
    const made = combined('Deployment', workload('Deployment', 1), shares)
    t.notOk(isRolledOut(4, 1, made), JSON.stringify(made))
  }
  t.ok(isCombined(apps('deployments')))
  t.notOk(isCombined({ group: 'batch', resource: 'jobs' }))
})
