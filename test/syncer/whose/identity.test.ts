/**
 * A syncer deletes what its predecessor placed and its mailbox does not hold. So before it touches anything it makes sure that
 * it was given a mailbox, and the cluster that is served from it.
 */
import t, { type Test } from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { LOGICAL_CLUSTERS, STORE_ANNOTATION } from '../../../src/apimachinery/resources.ts'
import type { Client, SpaceClient } from '../../../src/client/client.ts'
import { DiscoveryError } from '../../../src/client/discoveryError.ts'
import { CLUSTER_RECORD, DOWNSYNCED, OVERWRITE, STANDBY_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { type Syncer, startSyncer } from '../../../src/syncer/syncer.ts'
import { unready } from '../../../src/syncer/tells/syncerStatus.ts'
import { adopt } from '../../../src/syncer/whose/clusterRecord.ts'
import { mailboxOf, requireOtherServer } from '../../../src/syncer/whose/places.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { startCenter } from '../../support/center.ts'
import { temporaryDir } from '../../support/server.ts'
import { timeBy } from '../../support/time.ts'
import { asCluster, CONFIGS, configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'
import { virtualClock } from '../support/virtualClock.ts'

const RECORD = `configmaps ${CLUSTER_RECORD.namespace}/${CLUSTER_RECORD.name}`
const AT_A = { namespace: 'app', name: 'a' }
const center = await startCenter(t, { expectsTrouble: true })

/** A cluster that holds an object of its mailbox, and whose syncer has ended. */
async function served(test: Test): Promise<Pair> {
  const p = await pairIn(center, test)
  const syncer = p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await syncer.stop()
  return p
}

/** A syncer that was started with what does not belong together. */
function misled(test: Test, given: { space: string; cluster: SpaceClient; stateDir?: string; uid?: string }): Syncer {
  const syncer = startSyncer({
    center: center.client,
    space: given.space,
    cluster: given.cluster,
    stateDir: given.stateDir ?? temporaryDir(test),
    ...(given.uid !== undefined && { syncTargetUid: given.uid }),
    quietMs: 1e9,
    logger: recordingLogger().logger,
    ...timeBy(virtualClock(0)),
  })
  test.teardown(() => syncer.stop())
  return syncer
}

/** Expected note of a pair's cluster about itself. */
async function noteOf(p: Pair): Promise<object> {
  const [store, cluster] = await Promise.all([
    center.client.in('root').get(LOGICAL_CLUSTERS, { name: 'cluster' }),
    p.cluster.get(NAMESPACES, { name: 'kube-system' }),
  ])
  return { mailbox: p.mailboxName, store: store.metadata.uid, space: p.mailboxId, cluster: cluster.metadata.uid }
}

/** As somebody may edit the note. */
async function forgetSpace(p: Pair): Promise<void> {
  await p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { data: { space: null } })
}

/** Everything that a space holds, as text. */
async function contentOf(id: string): Promise<string> {
  await center.settled()
  return JSON.stringify([...center.world.objects(id)].sort())
}

t.test('the first syncer writes into the cluster from which mailbox it is served', async t => {
  const p = await served(t)
  const record = await p.cluster.get(MAPS, CLUSTER_RECORD)
  t.same(record.data, await noteOf(p))
})

t.test("a note that was restored into another cluster is not that one's", async t => {
  const [p, copy] = [await served(t), await pairIn(center, t)]
  const { data } = await p.cluster.get(MAPS, CLUSTER_RECORD)
  await copy.cluster.create(MAPS, { ...configMap(CLUSTER_RECORD.name, {}, CLUSTER_RECORD), data })
  await copy.cluster.create(NAMESPACES, namespace('app'))
  const mark = { labels: PROJECTED, annotations: { [DOWNSYNCED]: 'ConfigMap/app/copied' } }
  await copy.cluster.create(MAPS, configMap('copied', {}, mark))
  const before = await contentOf(copy.clusterId)
  // With the state it need not wait for the center, and does not believe the note either.
  p.toCenter.down = true
  const restored = startSyncer({
    center: p.toCenter.center(center.client),
    space: p.mailboxId,
    cluster: copy.cluster,
    stateDir: p.dir,
    logger: recordingLogger().logger,
    ...timeBy(virtualClock(0)),
  })
  t.teardown(() => restored.stop())
  const reason = await restored.refused
  t.match(reason, 'ConfigMap kube-system/orrery-syncer was written in another cluster, whose Namespace kube-system has')
  t.match(reason, 'nothing was touched')
  t.match(reason, 'orrery syncer adopt')
  t.equal(await contentOf(copy.clusterId), before)
  await adopt(copy.cluster, await mailboxOf(p.mailbox))
  misled(t, { space: p.mailboxId, cluster: copy.cluster })
  await center.world.absent(copy.clusterId, 'configmaps app/copied')
})

t.test('a mailbox of the same name in another center is another mailbox', async t => {
  const p = await served(t)
  await p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { data: { store: 'of-another-center' } })
  const before = await contentOf(p.clusterId)
  const reason = await misled(t, { space: p.mailboxId, cluster: p.cluster }).refused
  t.match(reason, `served from the mailbox ${p.mailboxName} of the center with store of-another-center, and the center`)
  t.match(reason, 'nothing was touched')
  t.equal(await contentOf(p.clusterId), before)
})

t.test('a note without the cluster is completed, and one without store or space is refused', async t => {
  const p = await served(t)
  await p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { data: { cluster: null } })
  const note = await noteOf(p)
  const syncer = p.start()
  await center.world.present(p.clusterId, RECORD, ({ data }) => isRecord(data) && data.cluster !== undefined)
  t.same((await p.cluster.get(MAPS, CLUSTER_RECORD)).data, note)
  await syncer.stop()
  for (const data of [{ store: null }, { space: null }]) {
    await p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { data })
    const reason = await misled(t, { space: p.mailboxId, cluster: p.cluster }).refused
    t.match(reason, "kube-system/orrery-syncer of the cluster lacks the id of the store or of the mailbox's space")
    t.match(reason, /nothing was touched.*"orrery syncer adopt"/)
    await adopt(p.cluster, await mailboxOf(p.mailbox))
  }
})

t.test("another Orrery server's own spaces are no cluster, for adopt neither", async t => {
  const p = await pairIn(center, t)
  for (const space of ['root', 'root:espw']) {
    const before = await contentOf(space)
    const other = asCluster(center.client.in(space))
    const reason = await misled(t, { space: p.mailboxId, cluster: other }).refused
    t.match(reason, `leads to the space ${space} of an Orrery server, which is no cluster; nothing was touched`)
    await t.rejects(requireOtherServer(p.mailbox, other), { message: /which is no cluster/ })
    t.equal(await contentOf(space), before)
  }
})

t.test('a plain cluster is claimed although one of its aggregated APIs has no server', async t => {
  const p = await pairIn(center, t)
  const discover = async (): Promise<never> => {
    const served = (await p.cluster.discover()).filter(({ group }) => group !== LOGICAL_CLUSTERS.group)
    const error = new StatusError('ServiceUnavailable', 'no endpoints')
    throw new DiscoveryError(served, [{ group: 'metrics.k8s.io', version: 'v1beta1', error }])
  }
  const get: SpaceClient['get'] = (resource, ref) =>
    resource.group === LOGICAL_CLUSTERS.group
      ? Promise.reject(new StatusError('NotFound', 'the server could not find the requested resource'))
      : p.cluster.get(resource, ref)
  await p.mailbox.create(MAPS, sent('a'))
  const syncer = misled(t, { space: p.mailboxId, cluster: { ...p.cluster, discover, get } })
  await center.world.present(p.clusterId, 'configmaps app/a')
  t.same((await p.cluster.get(MAPS, CLUSTER_RECORD)).data, await noteOf(p))
  await syncer.stop()
})

t.test('a cluster that is served from another space: the syncer ends before the center hears of it', async t => {
  const [p, other] = [await served(t), await pairIn(center, t)]
  // The center would answer nothing.
  other.toCenter.down = true
  const before = await contentOf(p.clusterId)
  const reason = await other.start(undefined, undefined, { cluster: p.cluster }).refused
  t.match(
    reason,
    `the cluster is served from the mailbox ${p.mailboxName}, whose space is ${p.mailboxId}, and the center's`,
  )
  t.match(reason, `leads to the space ${other.mailboxId}; nothing was touched`)
  t.match(reason, 'orrery syncer adopt')
  t.equal(await contentOf(p.clusterId), before)
})

t.test('a mailbox that was made anew under its name is another mailbox, until the cluster is handed over', async t => {
  const p = await served(t)
  await p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { data: { space: 'abcdefgh01234567' } })
  const path = `root:${p.mailboxName}`
  const reason = await misled(t, { space: path, cluster: p.cluster }).refused
  t.match(
    reason,
    `from the mailbox ${p.mailboxName} in space abcdefgh01234567, and the center's kubeconfig leads to the`,
  )
  t.match(reason, `mailbox ${p.mailboxName} in space ${p.mailboxId}; nothing was touched`)
  await adopt(p.cluster, await mailboxOf(p.mailbox))
  const syncer = misled(t, { space: path, cluster: p.cluster })
  await syncer.synced
})

t.test('a space that is no mailbox: the syncer ends and has touched neither side', async t => {
  const p = await served(t)
  await forgetSpace(p)
  const before = await contentOf(p.clusterId)
  for (const space of ['root', await center.space(`plain-${p.mailboxName}`)]) {
    const center = await contentOf(space)
    const reason = await misled(t, { space, cluster: p.cluster }).refused
    t.match(reason, /leads to the space root.*, which is no mailbox; nothing was touched/)
    t.equal(await contentOf(space), center)
  }
  t.equal(await contentOf(p.clusterId), before)
})

t.test("another cluster's mailbox: the syncer ends, also with the state of the right one", async t => {
  const [p, other] = [await served(t), await served(t)]
  await forgetSpace(p)
  const [before, mailbox] = [await contentOf(p.clusterId), await contentOf(other.mailboxId)]
  for (const stateDir of [p.dir, other.dir]) {
    const reason = await misled(t, { space: other.mailboxId, cluster: p.cluster, stateDir }).refused
    t.match(reason, `served from the mailbox ${p.mailboxName}`)
    t.match(reason, `leads to the mailbox ${other.mailboxName}; nothing was touched`)
    t.match(reason, 'orrery syncer adopt')
  }
  t.equal(await contentOf(p.clusterId), before)
  t.equal(await contentOf(other.mailboxId), mailbox)
})

t.test('the mailbox of another SyncTarget than the one that was named', async t => {
  const p = await pairIn(center, t)
  const before = await contentOf(p.clusterId)
  const reason = await misled(t, { space: p.mailboxId, cluster: p.cluster, uid: 'another' }).refused
  t.match(reason, /--sync-target-uid says another; nothing was touched/)
  t.equal(await contentOf(p.clusterId), before)
})

t.test('a record that cannot be read stops the syncer, too', async t => {
  const p = await pairIn(center, t)
  await p.cluster.create(MAPS, { ...configMap(CLUSTER_RECORD.name, {}, CLUSTER_RECORD), data: { mailbox: '?' } })
  const reason = await misled(t, { space: p.mailboxId, cluster: p.cluster }).refused
  t.match(
    reason,
    'ConfigMap kube-system/orrery-syncer of the cluster says "?", which is no mailbox: somebody edited it',
  )
})

t.test('a space of the center is no cluster, whatever it holds', async t => {
  const p = await pairIn(center, t)
  for (const space of ['root', p.clusterId, p.mailboxId, 'root:wmw1']) {
    const id = center.client.in(space)
    const before = await contentOf(space)
    const reason = await misled(t, { space: p.mailboxId, cluster: id }).refused
    t.match(reason, /the cluster's kubeconfig leads to the space root.* of the center itself; nothing was touched/)
    t.equal(await contentOf(space), before)
  }
})

/** A center whose every answer would begin a session, and its number of requests. */
function sessions(real: Client): { center: Client; asked: () => number } {
  let asked = 0
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (name === 'in') return counted(Reflect.apply(value, target, args))
          asked++
          return Reflect.apply(value, target, args)
        }
      },
    })
  return { center: counted(real), asked: () => asked }
}

for (const knowsStore of [true, false])
  t.test(
    `a syncer whose cluster is the center ends before its session begins; it tells its store: ${knowsStore}`,
    async t => {
      const p = await pairIn(center, t)
      for (const space of ['root', p.clusterId, p.mailboxId]) {
        const real = center.client.in(space)
        // As a release that tells no store answers, and whatever the address is.
        const get: SpaceClient['get'] = async (resource, ref) => {
          const object = await real.get(resource, ref)
          if (knowsStore || resource.group !== LOGICAL_CLUSTERS.group) return object
          const { [STORE_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {}
          return { ...object, metadata: { ...object.metadata, annotations } }
        }
        const cluster = { ...asCluster(real), get }
        const { center: counted, asked } = sessions(center.client)
        const looking = center.client.in(p.mailboxId)
        const before = await contentOf(space)
        const lease = { holder: 'second', durationMs: 15_000 }
        const reason = await p.start(undefined, undefined, { center: counted, looking, cluster, lease }).refused
        t.match(reason, knowsStore ? /of the center itself; nothing was touched/ : /nothing was touched/)
        t.equal(asked(), 0, 'no session began')
        t.equal(await contentOf(space), before)
      }
    },
  )

t.test('a space that does not say which one it is is no plain cluster', async t => {
  const p = await pairIn(center, t)
  const real = asCluster(center.client.in(p.clusterId))
  const get: SpaceClient['get'] = (resource, ref) =>
    resource.group === LOGICAL_CLUSTERS.group
      ? Promise.reject(new StatusError('Forbidden', 'may not get logicalclusters'))
      : real.get(resource, ref)
  await t.rejects(requireOtherServer(p.mailbox, { ...real, get }), { message: /leads to a server with spaces/ })
  const discover = async () => (await real.discover()).filter(({ group }) => group !== LOGICAL_CLUSTERS.group)
  await t.resolves(requireOtherServer(p.mailbox, { ...real, get, discover }), 'a plain cluster may forbid it')
})

t.test('whoever would stand by looks at its mailbox first', async t => {
  const [p, other] = [await pairIn(center, t), await served(t)]
  const lease = (holder: string) => ({ lease: { holder, durationMs: 15_000 } })
  await p.mailbox.create(MAPS, sent('a'))
  p.start(undefined, undefined, lease('first'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  const plain = await center.space(`plain-${p.mailboxName}`)
  for (const space of ['root', plain, `root:${other.mailboxName}`]) {
    const log = recordingLogger()
    const { center: counted, asked } = sessions(center.client)
    const stateDir = temporaryDir(t)
    const looking = center.client.in(space)
    const more = { center: counted, looking, space, stateDir, ...lease('second') }
    const reason = await p.start(log.logger, new FakeClock(), more).refused
    t.match(reason, /nothing was touched/)
    t.equal(asked(), 0, 'the syncer that serves goes on')
    t.notMatch(JSON.stringify(log.lines), /standing by/)
  }
})

t.test('a center that is away keeps nobody from standing by', async t => {
  // before the pair: its syncers end before their folder goes
  const stateDir = temporaryDir(t)
  const p = await pairIn(center, t)
  const lease = (holder: string) => ({ lease: { holder, durationMs: 15_000 } })
  await p.mailbox.create(MAPS, sent('a'))
  p.start(undefined, undefined, lease('first'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  const refused = async (): Promise<never> => {
    throw new StatusError('Unauthorized', 'the credential is revoked')
  }
  const looking = { ...asCluster(p.mailbox), get: refused }
  const syncer = p.start(undefined, undefined, { looking, stateDir, ...lease('second') })
  const said = center.world.present(
    p.clusterId,
    'leases.coordination.k8s.io kube-system/orrery-syncer',
    ({ metadata }) => metadata.annotations?.[STANDBY_ANNOTATION] !== undefined,
  )
  await said
  t.match(syncer.status(), { state: 'standing by', center: 'refused' })
  t.match(unready(syncer.status()), [/refuses/], 'whoever watches over it sees that it would not take over')
})

t.test('a cluster whose note is gone belongs to the mailbox that holds what is there', async t => {
  const [p, other] = [await served(t), await served(t)]
  await p.cluster.delete(MAPS, CLUSTER_RECORD)
  await center.world.absent(p.clusterId, RECORD)
  await other.mailbox.delete(MAPS, AT_A)
  const before = await contentOf(p.clusterId)
  const reason = await misled(t, { space: other.mailboxId, cluster: p.cluster }).refused
  t.match(
    reason,
    `holds what a syncer placed there, such as ConfigMap/app/a, and the mailbox ${other.mailboxName} does not`,
  )
  t.equal(await contentOf(p.clusterId), before)
  p.start()
  const again = await center.world.present(p.clusterId, RECORD)
  t.same(again.data, await noteOf(p))
})

t.test('what a syncer leaves in its cluster for good does not make the cluster another one', async t => {
  const p = await pairIn(center, t)
  const syncer = p.start()
  await p.mailbox.create(MAPS, sent('a', {}, { annotations: { [OVERWRITE]: 'false' } }))
  await p.mailbox.create(MAPS, sent('b'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await center.world.present(p.clusterId, 'configmaps app/b')
  await p.cluster.patch(MAPS, { ...AT_A, name: 'b' }, 'merge', { metadata: { finalizers: ['example.com/slow'] } })
  await p.mailbox.delete(MAPS, AT_A)
  await p.mailbox.delete(MAPS, { ...AT_A, name: 'b' })
  await center.world.present(
    p.clusterId,
    'configmaps app/b',
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
  )
  await p.settled()
  await syncer.stop()
  await p.cluster.delete(MAPS, CLUSTER_RECORD)
  await center.world.absent(p.clusterId, RECORD)
  const again = misled(t, { space: p.mailboxId, cluster: p.cluster })
  const outcome = await Promise.race([again.refused, center.world.present(p.clusterId, RECORD)])
  t.match(outcome, { data: { mailbox: p.mailboxName } })
  t.ok(center.world.get(p.clusterId, 'configmaps app/a'))
  await p.cluster.patch(MAPS, { ...AT_A, name: 'b' }, 'merge', { metadata: { finalizers: null } })
})

t.test(
  'a running syncer ends when its cluster is handed over, and writes the note again when it is deleted',
  async t => {
    const [p, other] = [await served(t), await pairIn(center, t)]
    const syncer = p.start()
    await syncer.synced
    await p.mailbox.create(MAPS, sent('b'))
    await center.world.present(p.clusterId, 'configmaps app/b')
    const { uid } = (await p.cluster.get(MAPS, CLUSTER_RECORD)).metadata
    await p.cluster.delete(MAPS, CLUSTER_RECORD)
    const again = await center.world.present(p.clusterId, RECORD, ({ metadata }) => metadata.uid !== uid)
    t.same(again.data, await noteOf(p))
    await adopt(p.cluster, await mailboxOf(other.mailbox))
    const reason = await syncer.refused
    t.match(reason, `the cluster is served from the mailbox ${other.mailboxName} from now on`)
    t.match(reason, 'it ends, and leaves what it placed as it is')
    t.notMatch(reason, 'nothing was touched', 'it served the cluster until now')
    await p.mailbox.delete(MAPS, AT_A)
    await p.settled()
    t.ok(center.world.get(p.clusterId, 'configmaps app/a'), 'nothing more is touched')
  },
)

t.test("a running syncer ends when the note becomes another cluster's, as one that begins does", async t => {
  const p = await served(t)
  const syncer = p.start()
  await syncer.synced
  const note = (data: object) => p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { data })
  await note({ cluster: null })
  await p.mailbox.create(MAPS, sent('b'))
  await center.world.present(p.clusterId, 'configmaps app/b')
  await note({ cluster: 'another' })
  const reason = await syncer.refused
  t.match(reason, 'was written in another cluster, whose Namespace kube-system has uid another')
  t.match(reason, 'it ends, and leaves what it placed as it is')
  await p.mailbox.delete(MAPS, AT_A)
  await p.settled()
  t.ok(center.world.get(p.clusterId, 'configmaps app/a'), 'nothing more is touched')
  t.match(await misled(t, { space: p.mailboxId, cluster: p.cluster }).refused, 'was written in another cluster')
  await adopt(p.cluster, await mailboxOf(p.mailbox))
  p.start()
  await center.world.absent(p.clusterId, 'configmaps app/a')
})

t.test('the note of a running syncer is written again although something is just leaving its mailbox', async t => {
  const p = await served(t)
  const syncer = p.start()
  await syncer.synced
  await p.settled()
  // It stays in the cluster as a stranger would: no deletion arrives while the center is away.
  p.toCenter.down = true
  p.toCenter.cut()
  await p.mailbox.delete(MAPS, AT_A)
  const { uid } = (await p.cluster.get(MAPS, CLUSTER_RECORD)).metadata
  await p.cluster.delete(MAPS, CLUSTER_RECORD)
  const again = center.world.present(p.clusterId, RECORD, ({ metadata }) => metadata.uid !== uid)
  t.match(await Promise.race([syncer.refused, again]), { data: { mailbox: p.mailboxName } })
  p.toCenter.down = false
  await center.world.absent(p.clusterId, 'configmaps app/a')
})

t.test('a cluster that was handed over becomes what its new mailbox says', async t => {
  const [p, other] = [await served(t), await pairIn(center, t)]
  const before = await noteOf(p)
  t.same(await adopt(p.cluster, await mailboxOf(other.mailbox)), before)
  await other.mailbox.create(MAPS, sent('b'))
  const syncer = misled(t, { space: other.mailboxId, cluster: p.cluster })
  await center.world.present(p.clusterId, 'configmaps app/b')
  await center.world.absent(p.clusterId, 'configmaps app/a')
  await syncer.stop()
})

t.test('the record is never carried, nor taken away, in either direction', async t => {
  const names = [CLUSTER_RECORD.name]
  const { namespace } = CLUSTER_RECORD
  const p = await pairIn(center, t, {
    namespacedObjects: [
      { group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace: [{ namespace, names }] },
      { group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace: [{ namespace: 'app', names: ['a'] }] },
    ],
  })
  const record: KubeObject = configMap(CLUSTER_RECORD.name, { mailbox: 'stolen' }, { ...CLUSTER_RECORD })
  await p.mailbox.create(MAPS, { ...record, metadata: { ...record.metadata, labels: PROJECTED } })
  p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await p.settled()
  t.same((await p.cluster.get(MAPS, CLUSTER_RECORD)).data, await noteOf(p))
  await p.mailbox.delete(MAPS, CLUSTER_RECORD)
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['*'], names: ['*'] }]
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { upsync } })
  await p.cluster.create(MAPS, configMap('born'))
  await center.world.present(p.mailboxId, 'configmaps app/born')
  await p.settled()
  t.notOk(center.world.get(p.mailboxId, `configmaps ${namespace}/${CLUSTER_RECORD.name}`))
  t.same((await p.cluster.get(MAPS, CLUSTER_RECORD)).data, await noteOf(p))
})

t.test('while the center is away a syncer ends, too, when its cluster is handed over', async t => {
  const [p, other] = [await served(t), await pairIn(center, t)]
  p.toCenter.down = true
  const syncer = p.start()
  await syncer.synced
  await p.cluster.delete(MAPS, AT_A)
  await center.world.present(p.clusterId, 'configmaps app/a')
  await adopt(p.cluster, await mailboxOf(other.mailbox))
  t.match(await syncer.refused, `the cluster is served from the mailbox ${other.mailboxName}`)
  await p.cluster.delete(MAPS, AT_A)
  await p.settled()
  t.notOk(center.world.get(p.clusterId, 'configmaps app/a'), 'nothing more is touched')
})

t.test('while the center is away a syncer serves its cluster from its state, and believes no other state', async t => {
  const [p, other] = [await served(t), await served(t)]
  p.toCenter.down = true
  const syncer = p.start()
  await syncer.synced
  await p.cluster.delete(MAPS, AT_A)
  await center.world.present(p.clusterId, 'configmaps app/a')
  await syncer.stop()
  const before = await contentOf(p.clusterId)
  const stranger = startSyncer({
    center: p.toCenter.center(center.client),
    space: other.mailboxId,
    cluster: p.cluster,
    stateDir: other.dir,
    logger: recordingLogger().logger,
    ...timeBy(virtualClock(0)),
  })
  t.teardown(() => stranger.stop())
  t.equal(await contentOf(p.clusterId), before)
  p.toCenter.down = false
  t.match(await stranger.refused, 'nothing was touched')
  t.equal(await contentOf(p.clusterId), before)
})

t.test('a kubeconfig that may not ask which mailbox it leads to is told of with its flag and the remedy', async t => {
  const refuses = (): never => {
    throw new StatusError('Forbidden', 'logicalclusters.core.kcp.io "cluster" is forbidden: User "bob" cannot get it')
  }
  const words =
    'cannot get it; a syncer has to know where its kubeconfig leads (--from-kubeconfig); is this the file that ' +
    '"kubectl kubestellar prep-for-syncer" or "prep-for-cluster" made for this cluster?'
  await t.rejects(mailboxOf({ get: refuses } as unknown as SpaceClient), { reason: 'Forbidden', message: words })
})
