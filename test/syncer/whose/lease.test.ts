/** One live syncer for each cluster: others stand by, take over from one that is silent, and none writes without knowing. */
import t, { type Test } from 'tap'
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { CLUSTER_RECORD, STANDBY_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { ClusterLease } from '../../../src/syncer/whose/lease.ts'
import { FakeClock, SetClock, until } from '../../client/support/fakeClock.ts'
import { startCenter } from '../../support/center.ts'
import { Faults } from '../support/faults.ts'
import { CONFIGS, configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { pairIn, sent } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const KEY = 'leases.coordination.k8s.io kube-system/orrery-syncer'
const DURATION_MS = 15_000
const ALONE_MS = 600_000
const center = await startCenter(t, { expectsTrouble: true })

function holder(t: Test, cluster: SpaceClient, name: string, logger = silentLogger) {
  const clock = new SetClock()
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  const lost = Promise.withResolvers<void>()
  const { signal } = stopping
  const onLost = (): void => lost.resolve()
  let rolledBack = 0
  const onRolledBack = (): number => ++rolledBack
  const told = { onLost, onRolledBack }
  const lease = new ClusterLease({
    cluster,
    holder: name,
    durationMs: DURATION_MS,
    logger,
    clock,
    signal,
    ...told,
    random: () => 0.5,
  })
  return { lease, clock, lost: lost.promise, rolledBack: () => rolledBack, end: () => stopping.abort() }
}
const heldBy =
  (name: string) =>
  ({ spec }: KubeObject): boolean =>
    isRecord(spec) && spec.holderIdentity === name

t.test('a silent holder loses the Lease, writes nothing from then on, and hears of it', async t => {
  const p = await pairIn(center, t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  const [first, second] = [holder(t, p.cluster, 'first'), holder(t, p.cluster, 'second')]
  t.ok(await first.lease.acquire())
  const writer = first.lease.fenced(p.cluster)
  await writer.create(MAPS, configMap('early'))
  const waiting = second.lease.acquire()
  // It was renewed meanwhile: the count begins anew.
  for (const ms of [10_000, 10_000]) {
    await second.clock.advance(ms)
    await center.settled()
    const before = center.world.get(p.clusterId, KEY)?.metadata.resourceVersion
    await first.clock.advance(1)
    t.ok(await first.lease.acquire())
    await center.world.present(p.clusterId, KEY, ({ metadata }) => metadata.resourceVersion !== before)
    t.ok(heldBy('first')(await p.cluster.get(LEASES, CLUSTER_RECORD)))
  }
  const taking = center.world.present(p.clusterId, KEY, heldBy('second'))
  for (let step = 0; step < 10; step++) {
    await second.clock.advance(DURATION_MS / 5)
    await center.settled()
  }
  t.ok(await waiting)
  const taken = await taking
  t.match(taken.spec, { leaseDurationSeconds: 15, leaseTransitions: 1 })
  await first.clock.advance(DURATION_MS)
  await t.rejects(writer.create(MAPS, configMap('late')), { message: 'another syncer serves the cluster by now' })
  await first.lost
  t.notOk(center.world.get(p.clusterId, 'configmaps app/late'))
})

for (const [how, setMs] of [
  ['back', -3_600_000],
  ['forward', 3_600_000],
] as const)
  t.test(`a holder whose clock was set ${how} does not write on a Lease that is over`, async t => {
    const p = await pairIn(center, t)
    await p.cluster.create(NAMESPACES, namespace('app'))
    const [first, second] = [holder(t, p.cluster, 'first'), holder(t, p.cluster, 'second')]
    t.ok(await first.lease.acquire())
    const waiting = second.lease.acquire()
    for (let step = 0; step < 10; step++) {
      await second.clock.advance(DURATION_MS / 5)
      await center.settled()
    }
    t.ok(await waiting, 'it was frozen for so long')
    await first.clock.advance(DURATION_MS)
    first.clock.setMs = setMs
    const writer = first.lease.fenced(p.cluster)
    await t.rejects(writer.create(MAPS, configMap('late')), { message: 'another syncer serves the cluster by now' })
  })

t.test('a holder that slept, of which only the time of day knows, asks before it writes', async t => {
  const p = await pairIn(center, t)
  const { lease, clock } = holder(t, p.toCluster.cluster(p.cluster), 'first')
  t.ok(await lease.acquire())
  clock.setMs = DURATION_MS
  p.toCluster.down = true
  await t.rejects(lease.fenced(p.cluster).create(MAPS, configMap('blind')), 'not on a guess')
  p.toCluster.down = false
})

t.test('who stands by takes over neither early nor late because its clock was set', async t => {
  const p = await pairIn(center, t)
  const [first, second] = [holder(t, p.cluster, 'first'), holder(t, p.cluster, 'second')]
  t.ok(await first.lease.acquire())
  const waiting = second.lease.acquire()
  let isTaken = false
  const taken = waiting.then(() => (isTaken = true))
  const wait = async (steps: number): Promise<void> => {
    for (let step = 0; step < steps; step++) {
      await second.clock.advance(DURATION_MS / 5)
      await center.settled()
    }
  }
  await wait(1)
  second.clock.setMs = 3_600_000
  await wait(3)
  t.ok(heldBy('first')(await p.cluster.get(LEASES, CLUSTER_RECORD)), 'it has not been silent for long')
  second.clock.setMs = -3_600_000
  // a request may take longer than a step: none of them is an hour
  while (!isTaken) await wait(1)
  t.ok(await taken)
})

t.test('a holder that could not renew in time asks again, and goes on when nobody took over', async t => {
  const p = await pairIn(center, t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  const { lease, clock } = holder(t, p.toCluster.cluster(p.cluster), 'first')
  t.ok(await lease.acquire())
  p.toCluster.down = true
  await clock.advance(DURATION_MS * 3)
  const writer = lease.fenced(p.cluster)
  await t.rejects(writer.create(MAPS, configMap('blind')), 'not on a guess')
  p.toCluster.down = false
  await writer.create(MAPS, configMap('sure'))
  t.notOk(center.world.get(p.clusterId, 'configmaps app/blind'))
})

t.test('a renewal is one request, and one more when somebody changed the Lease', async t => {
  const p = await pairIn(center, t)
  const asked: string[] = []
  const counted: SpaceClient = {
    ...p.cluster,
    get: (...args) => {
      asked.push('get')
      return p.cluster.get(...args)
    },
    update: (...args) => {
      asked.push('update')
      return p.cluster.update(...args)
    },
  }
  const { lease, clock, rolledBack } = holder(t, counted, 'first')
  t.ok(await lease.acquire())
  const renew = async (...wanted: string[]) => {
    asked.length = 0
    await clock.advance(DURATION_MS)
    await lease.fenced(p.cluster).patch(LEASES, CLUSTER_RECORD, 'merge', { metadata: { labels: { a: 'b' } } })
    t.same(asked, wanted)
  }
  await renew('update')
  // Our own test changed it, which the holder did not.
  await renew('update', 'get', 'update')
  t.equal(rolledBack(), 0, 'a label is nobody’s renewal')
  await p.cluster.patch(LEASES, CLUSTER_RECORD, 'merge', { spec: { holderIdentity: 'second' } })
  await clock.advance(DURATION_MS)
  await t.rejects(lease.fenced(p.cluster).delete(LEASES, CLUSTER_RECORD), /another syncer serves the cluster by now/)
})

t.test(
  'a Lease that is not as it was left tells that the cluster is as it was before; a lost answer does not',
  async t => {
    const p = await pairIn(center, t)
    const { lease, clock, rolledBack } = holder(t, p.toCluster.cluster(p.cluster), 'first')
    const renew = async () => {
      await clock.advance(1000)
      t.ok(await lease.acquire())
    }
    t.ok(await lease.acquire())
    const old = await p.cluster.get(LEASES, CLUSTER_RECORD)
    await renew()
    p.toCluster.coming.push('fine', 'lost')
    await clock.advance(1000)
    await t.rejects(lease.acquire(), 'it is renewed, and the holder does not know')
    await renew()
    t.equal(rolledBack(), 0)
    await p.cluster.patch(LEASES, CLUSTER_RECORD, 'merge', { spec: old.spec })
    await renew()
    t.equal(rolledBack(), 1)
    await renew()
    t.equal(rolledBack(), 1, 'once')
    await p.cluster.delete(LEASES, CLUSTER_RECORD)
    await renew()
    t.equal(rolledBack(), 2, 'it may be from before the first Lease')
  },
)

t.test('a cluster that lets it keep no Lease is served without one, and that is said once', async t => {
  const p = await pairIn(center, t)
  for (const error of [
    new StatusError('NotFound', 'the server could not find the requested resource'),
    statusError.forbidden(LEASES, 'orrery-syncer', 'RBAC says no'),
  ]) {
    const refuse = <T>(call: () => Promise<T>, group: string): Promise<T> =>
      group === LEASES.group ? Promise.reject(error) : call()
    const cluster: SpaceClient = {
      ...p.cluster,
      get: (resource, ref) => refuse(() => p.cluster.get(resource, ref), resource.group),
      create: (resource, object, options) => refuse(() => p.cluster.create(resource, object, options), resource.group),
    }
    const { logger, lines } = recordingLogger()
    const { lease, clock } = holder(t, cluster, 'first', logger)
    t.ok(await lease.acquire())
    await clock.advance(DURATION_MS * 3)
    await lease.fenced(cluster).list(MAPS)
    t.match(lines, [
      { level: 'warn', message: /lets the syncer keep no Lease .* see to it that no second one serves it/ },
    ])
  }
})

t.test('a holder that nobody waits for sends little while it has nothing to write', async t => {
  const p = await pairIn(center, t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  const asked: string[] = []
  let heard: string | undefined
  let underway = 0
  let answered = ''
  const cluster: SpaceClient = {
    ...p.cluster,
    list: (...args) => {
      asked.push('list')
      return p.cluster.list(...args)
    },
    async *watch(...args) {
      asked.push('watch')
      for await (const batch of p.cluster.watch(...args)) {
        yield batch
        const last = batch.at(-1)!
        if (last.type !== 'BOOKMARK') heard = last.object.metadata.resourceVersion
      }
    },
    update: async (...args) => {
      asked.push('update')
      underway++
      try {
        const made = await p.cluster.update(...args)
        answered = made.metadata.resourceVersion ?? ''
        return made
      } finally {
        // once the caller has handled the answer
        setImmediate(() => underway--)
      }
    },
  }
  const [first, second] = [holder(t, cluster, 'first'), holder(t, p.cluster, 'second')]
  const version = (): string | undefined => center.world.get(p.clusterId, KEY)?.metadata.resourceVersion
  /** Its watch has delivered all events, and nothing is under way. */
  const hears = async () => {
    await center.settled()
    // what was answered just now may not be known to our own watch yet
    const isHeard = (): boolean => heard === version() && Number(heard) >= Number(answered)
    await until(() => underway === 0 && isHeard(), 'the watch told the last change')
  }
  const renews = async () => {
    const before = version()
    while (version() === before) {
      await first.clock.advance(DURATION_MS / 3)
      // no time passes while it waits for the answer
      await until(() => underway === 0, 'the answer came')
      await center.settled()
    }
    await hears()
  }
  const passes = async (ms: number) => {
    asked.length = 0
    for (let left = ms; left > 0; left -= DURATION_MS / 3) await first.clock.advance(DURATION_MS / 3)
  }
  t.ok(await first.lease.acquire())
  const keeping = first.lease.keep()
  await until(() => asked.length === 2, 'it watches')
  await center.settled()
  await passes(ALONE_MS - DURATION_MS)
  t.same(asked, [])
  await renews()
  t.match(asked, ['update'], 'the cluster may be another')

  // Somebody may have taken over; and once more, so that what was written is known to have been.
  await passes(DURATION_MS)
  await first.lease.fenced(cluster).create(MAPS, configMap('a'))
  t.same(asked, ['update'])
  await hears()
  await renews()
  t.match(asked, ['update', 'update'])
  await passes(ALONE_MS - DURATION_MS)
  t.same(asked, [])

  // It answers whoever comes, however long it was silent, and for as long as they wait.
  const waiting = second.lease.acquire()
  const isAwaited = ({ metadata }: KubeObject): boolean => metadata.annotations?.[STANDBY_ANNOTATION] !== undefined
  await center.world.present(p.clusterId, KEY, isAwaited)
  await hears()
  let isOver = false
  void waiting.then(() => {
    isOver = true
  })
  for (let step = 0; step < 10; step++) {
    await second.clock.advance(DURATION_MS / 3)
    await renews()
  }
  t.notOk(isOver)
  t.ok(heldBy('first')(await p.cluster.get(LEASES, CLUSTER_RECORD)))
  second.end()
  t.notOk(await waiting)
  for (let step = 0; step < 30; step++) {
    await first.clock.advance(DURATION_MS / 3)
    await center.settled()
  }
  await hears()
  await passes(DURATION_MS * 5)
  t.same(asked, [], 'nobody waits any more')

  // A cluster that is as it was at an earlier moment is noticed, and so is another holder.
  const { spec } = await p.cluster.get(LEASES, CLUSTER_RECORD)
  await first.lease.fenced(cluster).create(MAPS, configMap('b'))
  await hears()
  await p.cluster.patch(LEASES, CLUSTER_RECORD, 'merge', { spec })
  await hears()
  while (first.rolledBack() === 0) {
    await first.clock.advance(DURATION_MS / 3)
    await center.settled()
  }
  await p.cluster.patch(LEASES, CLUSTER_RECORD, 'merge', { spec: { holderIdentity: 'second' } })
  await first.lost
  await keeping
})

t.test('a holder that may not watch the Lease renews it all the time', async t => {
  const p = await pairIn(center, t)
  let renewals = 0
  const cluster: SpaceClient = {
    ...p.cluster,
    list: (resource, options) =>
      resource.group === LEASES.group
        ? Promise.reject(statusError.forbidden(LEASES, 'orrery-syncer', 'RBAC says no'))
        : p.cluster.list(resource, options),
    update: (...args) => {
      renewals++
      return p.cluster.update(...args)
    },
  }
  const { lease, clock, end } = holder(t, cluster, 'first')
  t.ok(await lease.acquire())
  const keeping = lease.keep()
  // with a watch this would be one renewal at most every five minutes
  const mostSteps = (ALONE_MS * 3) / (DURATION_MS / 3)
  for (let step = 0; renewals < 6 && step < mostSteps; step++) {
    await center.settled()
    await clock.advance(DURATION_MS / 3)
  }
  t.equal(renewals, 6)
  end()
  await clock.advance(0)
  await keeping
})

t.test('of two syncers one serves; when it ends the other one does', async t => {
  const p = await pairIn(center, t)
  const { logger, lines } = recordingLogger()
  const [clock, standbyClock] = [new FakeClock(), new FakeClock()]
  const lease = (name: string) => ({ lease: { holder: name, durationMs: DURATION_MS } })
  const first = p.start(undefined, clock, { ...lease('first'), stateDir: `${p.dir}/first` })
  await center.world.present(p.clusterId, KEY, heldBy('first'))
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  // Its first word would end the first one's session.
  const toCenter = new Faults()
  toCenter.coming.push('fine')
  const second = p.start(logger, standbyClock, {
    ...lease('second'),
    stateDir: `${p.dir}/second`,
    center: toCenter.center(center.client),
  })
  let isServing = false
  void second.synced.then(() => {
    isServing = true
  })
  await p.settled()
  t.notOk(isServing)
  t.match(lines, [{ level: 'info', message: 'another syncer serves the cluster; standing by until it ends' }])
  t.equal(toCenter.coming.length, 0, 'it looks at its mailbox, and begins no session')
  await first.stop()
  t.notOk(center.world.get(p.clusterId, KEY), 'it lets go')
  await p.mailbox.create(MAPS, sent('b'))
  await standbyClock.advance(DURATION_MS / 5)
  await center.world.present(p.clusterId, 'configmaps app/b')
  await second.synced
})

t.test('a standby takes no cluster up again that the one before it has left', async t => {
  const p = await pairIn(center, t)
  const [clock, standbyClock] = [new FakeClock(), new FakeClock()]
  const lease = (name: string) => ({ lease: { holder: name, durationMs: DURATION_MS } })
  const first = p.start(undefined, clock, lease('first'))
  await center.world.present(p.clusterId, KEY, heldBy('first'))
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  p.start(undefined, standbyClock, lease('second'))
  await p.settled()
  const leave = { metadata: { annotations: { 'edge.kubestellar.io/leave': 'Orphan' } } }
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', leave)
  const note = `configmaps ${CLUSTER_RECORD.namespace}/${CLUSTER_RECORD.name}`
  await center.world.absent(p.clusterId, note)
  await p.settled()
  t.notOk(center.world.get(p.clusterId, note), 'nor does it note the mailbox again')
  await first.stop()
})
