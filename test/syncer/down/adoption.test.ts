/** Earlier objects of the cluster: their owners, those that may be taken over, and those that are left alone. */
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { equalJson } from '../../../src/apimachinery/values.ts'
import { ADOPT, DOWNSYNCED, OVERWRITE } from '../../../src/placement/words/placement.ts'
import { ownMark, SYNCER_MANAGER } from '../../../src/syncer/objects/marks.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, configMap, DEPLOYMENTS, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'
import { toldOutcomes } from '../support/toldOutcomes.ts'

const AT_A = { namespace: 'app', name: 'a' }

const center = await startCenter(t, { expectsTrouble: true })

/** Refusals of a SyncerConfig. */
const refuses =
  (count: number) =>
  ({ status }: KubeObject): boolean =>
    isRecord(status) && (isRecord(status.refused) ? status.refused.count : 0) === count

const pair = (test: Test): Promise<Pair> => pairIn(center, test)

/** Seconds of the syncer's clock: far more than it takes, as the disk is as slow as the machine is busy. */
const PATIENCE = 3000

t.test('somebody deletes one of two objects that were there before: the placed one comes within seconds', async t => {
  const p = await pair(t)
  const { world } = center
  const clock = new FakeClock()
  const names = ['a', 'b']
  await p.cluster.create(NAMESPACES, namespace('app'))
  for (const name of names) await p.cluster.create(MAPS, configMap(name, { own: 'x' }))
  for (const name of names) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  const passes = async (seconds: number, isOver = () => false): Promise<void> => {
    for (let second = 0; second < seconds && !isOver(); second++) {
      await clock.advance(1000)
      await p.settled()
    }
  }
  p.start(undefined, clock)
  const config = () => world.get(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one')
  await passes(PATIENCE, () => refuses(2)(config() ?? configMap('none')))
  t.ok(refuses(2)(config() ?? configMap('none')))
  await p.cluster.delete(MAPS, AT_A)
  await world.absent(p.clusterId, 'configmaps app/a')
  await passes(15)
  // no more of the syncer's time passes until it is there
  const there = await world.present(p.clusterId, 'configmaps app/a')
  t.match(there, { data: { x: '1' } })
  t.same(world.get(p.clusterId, 'configmaps app/b')?.data, { own: 'x' }, 'the other one stays')
})

t.test('a pause leaves the verdict on objects that were there before, and holds what the mailbox changes', async t => {
  const objectsByNamespace = [{ namespace: 'app', names: ['a', 'b', 'mine'] }]
  const wants = { group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace }
  const p = await pairIn(center, t, { namespacedObjects: [wants] })
  const { world } = center
  const clock = new FakeClock()
  const told = toldOutcomes(p)
  await p.cluster.create(NAMESPACES, namespace('app'))
  for (const name of ['a', 'b', 'mine']) await p.cluster.create(MAPS, configMap(name, { own: 'x' }))
  for (const name of ['a', 'b']) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  await p.mailbox.create(MAPS, sent('mine', { x: '1' }, { annotations: { [OVERWRITE]: 'false' } }))
  const passes = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1000)
      await p.settled()
    }
  }
  const states = async () => {
    const { exceptions } = await told.until(() => true)
    return Object.fromEntries([...exceptions.values()].map(({ name, state }) => [name, state]))
  }
  p.start(undefined, clock, { center: told.center })
  const status = () => world.get(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one')?.status
  const reach = async (wanted: Record<string, string>) => {
    for (let i = 0; i < PATIENCE && !equalJson(await states(), wanted); i++) await passes(1)
    return await states()
  }
  const refused = { a: 'refused', b: 'refused' }
  t.same(await reach(refused), refused, 'the third is left alone, which is no exception')
  const paused = { metadata: { annotations: { 'edge.kubestellar.io/paused': 'true' } } }
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', paused)
  for (let i = 0; i < PATIENCE && !JSON.stringify(status()).includes('"paused":true'); i++) await passes(1)
  t.match(status(), { paused: true })
  await passes(30)
  t.same(await states(), { a: 'refused', b: 'refused' })
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'b' }, 'merge', { data: { x: '2' } })
  const held = { a: 'refused', b: 'held' }
  t.same(await reach(held), held)
})

t.test(
  'what was in the cluster before is refused and told, and taken over on request; a child of ours stays',
  async t => {
    const p = await pair(t)
    const { world } = center
    await p.cluster.create(NAMESPACES, namespace('app'))
    const before = await p.cluster.create(MAPS, configMap('a', { own: 'x' }))
    const inherited = { [DOWNSYNCED]: ownMark(configMap('parent')) }
    await p.cluster.create(MAPS, configMap('child', {}, { labels: PROJECTED, annotations: inherited }))
    const { logger, lines } = recordingLogger()
    p.start(logger)
    await p.mailbox.create(MAPS, sent('a', { x: '1' }))
    const told = await world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', refuses(1))
    t.match(told.status, {
      refused: {
        count: 1,
        reasons: { AlreadyInCluster: 1 },
        objects: [{ group: '', resource: 'configmaps', namespace: 'app', name: 'a', reason: 'AlreadyInCluster' }],
      },
    })
    await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '2' } })
    await p.settled()
    t.same(await p.cluster.get(MAPS, AT_A), before, 'not even a label')
    t.same(
      lines.filter(({ level }) => level === 'warn').map(({ message }) => message),
      [
        'refused: configmaps app/a was in the cluster before, and no syncer made it; annotate its source with ' +
          'edge.kubestellar.io/adopt: "true" to take it over, or ask who administers the ' +
          'inventory for a PlacementGrant with spec.adoptExisting (or for a syncer with --adopt-existing)',
      ],
    )
    await p.mailbox.patch(MAPS, AT_A, 'merge', { metadata: { annotations: { [ADOPT]: 'true' } } })
    const applied = await world.present(
      p.clusterId,
      'configmaps app/a',
      ({ data }) => isRecord(data) && data.x === '2' && data.own === 'x',
    )
    t.notOk(applied.metadata.annotations?.[DOWNSYNCED])
    t.notOk(applied.metadata.annotations?.[ADOPT])
    await world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', refuses(0))
    await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '3' }, metadata: { annotations: { [ADOPT]: null } } })
    await world.present(p.clusterId, 'configmaps app/a', ({ data }) => isRecord(data) && data.x === '3')
    await p.mailbox.delete(MAPS, AT_A)
    const handedBack = await world.present(
      p.clusterId,
      'configmaps app/a',
      ({ metadata }) => !JSON.stringify(metadata).includes('kubestellar'),
    )
    t.same(handedBack.data, { own: 'x' }, 'it loses what the center said of it')
    t.equal(handedBack.metadata.uid, before.metadata.uid)
    t.ok(world.get(p.clusterId, 'configmaps app/child'))
  },
)

t.test('whoever takes the mark off what a syncer made does not keep it in the cluster', async t => {
  const p = await pair(t)
  const { world } = center
  const key = (name: string): string => `configmaps app/${name}`
  const unmark = (name: string) =>
    p.cluster.patch(MAPS, { ...AT_A, name }, 'merge', { metadata: { annotations: { [DOWNSYNCED]: null } } })
  const isMarked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[DOWNSYNCED] !== undefined
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.cluster.create(MAPS, configMap('b', { own: 'x' }))
  const first = p.start()
  // it holds nothing beside its marks
  await p.mailbox.create(MAPS, sent('a'))
  await p.mailbox.create(MAPS, sent('b', { x: '1' }, { annotations: { [ADOPT]: 'true' } }))
  const { metadata } = await world.present(p.clusterId, key('a'), isMarked)
  await world.present(p.clusterId, key('b'), ({ data }) => isRecord(data) && data.x === '1')
  const unmarked = await unmark('a')
  await world.present(p.clusterId, key('a'), isMarked)
  t.notOk(isMarked(unmarked))
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '2' } })
  await world.present(p.clusterId, key('a'), object => isRecord(object.data) && object.data.x === '2')
  await p.settled()
  await first.stop()
  await unmark('a')
  const second = p.start()
  await world.present(p.clusterId, key('a'), isMarked)
  await p.settled()
  await second.stop()
  await unmark('a')
  for (const name of ['a', 'b']) await p.mailbox.delete(MAPS, { ...AT_A, name })
  t.equal((await p.cluster.get(MAPS, AT_A)).metadata.uid, metadata.uid)
  p.start()
  await world.absent(p.clusterId, key('a'))
  const left = await world.present(
    p.clusterId,
    key('b'),
    object => isRecord(object.data) && object.data.x === undefined,
  )
  t.same(left.data, { own: 'x' }, 'what was there before stays')
})

t.test('what was taken over loses the word of the center also after a restart, and keeps what it needs', async t => {
  const p = await pairIn(center, t, {
    namespacedObjects: [
      {
        group: 'apps',
        resource: 'deployments',
        apiVersion: 'v1',
        objectsByNamespace: [{ namespace: 'app', names: ['*'] }],
      },
    ],
  })
  const { world } = center
  const web = (labels: object, image: string, more: object = {}): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'app', name: 'web', labels: { ...labels } },
    spec: {
      ...more,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
    },
  })
  const at = { namespace: 'app', name: 'web' }
  const key = 'deployments.apps app/web'
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.cluster.create(DEPLOYMENTS, web({ own: 'x' }, 'old'))
  await p.mailbox.create(DEPLOYMENTS, web({ ...PROJECTED, team: 'y' }, 'new', { replicas: 3 }))
  const first = p.start(undefined, undefined, { adoptExisting: true })
  await world.present(p.clusterId, key, object => JSON.stringify(object.spec).includes('"new"'))
  await p.settled()
  await first.stop()
  await p.mailbox.delete(DEPLOYMENTS, at)
  p.start()
  const left = await world.present(
    p.clusterId,
    key,
    ({ metadata }) => !JSON.stringify([metadata.labels, metadata.managedFields]).includes('kubestellar'),
  )
  t.same(left.metadata.labels, { own: 'x' })
  t.match(left.spec, { replicas: 3, template: { spec: { containers: [{ image: 'new' }] } } })
})

t.test('a whole cluster may be taken over, and what a syncer has taken over before needs no asking', async t => {
  const p = await pair(t)
  const { world } = center
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.cluster.create(MAPS, configMap('a', { own: 'x' }))
  await p.cluster.create(MAPS, configMap('b', { own: 'x' }))
  await p.cluster.patch(MAPS, { ...AT_A, name: 'b' }, 'apply', configMap('b', { x: '0' }, { labels: PROJECTED }), {
    fieldManager: SYNCER_MANAGER,
    force: true,
  })
  for (const name of ['a', 'b']) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  const is = (x: string) => (object: KubeObject) =>
    isRecord(object.data) && object.data.x === x && object.data.own === 'x'
  const first = p.start()
  await world.present(p.clusterId, 'configmaps app/b', is('1'))
  await world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', refuses(1))
  await first.stop()
  p.start(undefined, undefined, { adoptExisting: true })
  await world.present(p.clusterId, 'configmaps app/a', is('1'))
  await world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', refuses(0))
})

t.test("the cluster's own Service kubernetes is never touched, whatever is asked", async t => {
  const service = { group: '', version: 'v1', resource: 'services' }
  const at = { namespace: 'default', name: 'kubernetes' }
  const spec = {
    namespaceScope: { namespaces: ['default'], resources: [{ group: '', resource: 'services', apiVersion: 'v1' }] },
    upsync: [{ apiGroup: '', resources: ['*'], namespaces: ['default'], names: ['*'] }],
  }
  const p = await pairIn(center, t, spec)
  // Copies that may be there: somebody labelled both, and once they were carried.
  const mark = (note: string) => ({
    labels: PROJECTED,
    annotations: { [DOWNSYNCED]: 'Service/default/kubernetes', note },
  })
  await p.mailbox.patch(service, at, 'merge', { metadata: mark('of the mailbox') })
  await p.cluster.patch(service, at, 'merge', { metadata: mark('of the cluster') })
  const before = await p.cluster.get(service, at)
  p.start()
  const web = { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 80 }] } }
  await p.mailbox.create(service, { ...web, metadata: { namespace: 'default', name: 'down', labels: PROJECTED } })
  await p.cluster.create(service, { ...web, metadata: { namespace: 'default', name: 'up' } })
  await center.world.present(p.clusterId, 'services default/down')
  await center.world.present(p.mailboxId, 'services default/up')
  await p.mailbox.delete(service, at)
  await p.settled()
  t.same(await p.cluster.get(service, at), before)
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { namespaceScope: null, upsync: null } })
  await center.world.absent(p.clusterId, 'services default/down')
  await p.settled()
  t.same(await p.cluster.get(service, at), before)
  t.notOk((await p.mailbox.get(service, at)).metadata.annotations?.note, 'nor does it come up')
})

t.test('what somebody else makes in the same moment is theirs', async t => {
  const p = await pair(t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  p.toCluster.meanwhile.push(() => p.cluster.create(MAPS, configMap('a', { own: 'x' })))
  p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await center.world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', refuses(1))
  await p.mailbox.delete(MAPS, AT_A)
  await p.settled()
  t.same(center.world.get(p.clusterId, 'configmaps app/a')?.data, { own: 'x' })
})

t.test('downsync-overwrite false: what was in the cluster before bears no mark of ours, then or later', async t => {
  const p = await pairIn(center, t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  const before = await p.cluster.create(MAPS, configMap('a', { own: 'x' }))
  p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }, { annotations: { [OVERWRITE]: 'false' } }))
  await p.mailbox.create(MAPS, sent('b', { x: '1' }))
  await center.world.present(p.clusterId, 'configmaps app/b')
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '2' } })
  await p.settled()
  await p.mailbox.delete(MAPS, AT_A)
  await p.settled()
  const now = await p.cluster.get(MAPS, AT_A)
  t.equal(now.metadata.resourceVersion, before.metadata.resourceVersion)
})

t.test(
  'downsync-overwrite false: made when absent, then left alone; without the annotation it is followed again',
  async t => {
    const p = await pair(t)
    const { world } = center
    p.start()
    await p.mailbox.create(MAPS, sent('a', { x: '1' }, { annotations: { [OVERWRITE]: 'false' } }))
    await world.present(p.clusterId, 'configmaps app/a')
    await p.cluster.patch(MAPS, AT_A, 'merge', { data: { x: 'local' } })
    await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '2' } })
    await p.settled()
    t.same(world.get(p.clusterId, 'configmaps app/a')?.data, { x: 'local' })
    await p.mailbox.patch(MAPS, AT_A, 'merge', { metadata: { annotations: { [OVERWRITE]: null } } })
    const resumed = await world.present(p.clusterId, 'configmaps app/a', ({ data }) => isRecord(data) && data.x === '2')
    await p.settled()
    t.notOk(
      world.get(p.clusterId, 'configmaps app/a')?.metadata.annotations?.[OVERWRITE],
      JSON.stringify(resumed.metadata.annotations),
    )
    await p.mailbox.patch(MAPS, AT_A, 'merge', { metadata: { annotations: { [OVERWRITE]: 'false' } } })
    await world.present(
      p.clusterId,
      'configmaps app/a',
      ({ metadata }) => metadata.annotations?.[OVERWRITE] === 'false',
    )
    await p.mailbox.delete(MAPS, AT_A)
    await p.settled()
    t.ok(world.get(p.clusterId, 'configmaps app/a'), 'hands off means no deletion either')
  },
)
