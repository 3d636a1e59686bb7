/** What users of a syncer rely on, one promise each, against real API servers in this process. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { ADOPT, DOWNSYNCED, OVERWRITE, UPSYNCED } from '../../src/apimachinery/placement.ts'
import { FIELD_MANAGER, ownMark } from '../../src/syncer/ownership.ts'
import { FakeClock } from '../client/support/fakeClock.ts'
import { startCenter } from '../support/center.ts'
import { CONFIGS, configMap, DEPLOYMENTS, MAPS, NAMESPACES, namespace, WORKSPACES } from './support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from './support/pair.ts'
import { recordingLogger } from './support/recordingLogger.ts'

const AT_A = { namespace: 'app', name: 'a' }
const center = await startCenter(t, { expectsTrouble: true })
/** Of a SyncerConfig. */
const refuses =
  (count: number) =>
  ({ status }: KubeObject): boolean =>
    isRecord(status) && (isRecord(status.refused) ? status.refused.count : 0) === count
/** What the syncer that ended saved, with another head. */
async function edited({ dir }: Pair, edit: (text: string) => string): Promise<void> {
  const level = new Level(join(dir, 'mailbox'))
  await level.put('state', edit((await level.get('state'))!))
  await level.close()
}
const pair = (test: Test): Promise<Pair> => pairIn(center, test)

t.test('an object appears, follows its changes, is repaired, and goes; fields of others stay', async t => {
  const p = await pair(t)
  const { world } = center
  p.start()
  await p.mailbox.create(
    MAPS,
    sent('a', { x: '1', y: '1' }, { annotations: { 'edge.kubestellar.io/projected-keys': '{}' } }),
  )
  const made = await world.present(p.clusterId, 'configmaps app/a')
  t.equal(made.metadata.annotations?.[DOWNSYNCED], 'ConfigMap/app/a')
  t.notOk(made.metadata.annotations?.['edge.kubestellar.io/projected-keys'])
  await p.cluster.patch(MAPS, AT_A, 'merge', { data: { local: 'mine', x: 'drifted' } }, { fieldManager: 'somebody' })
  await world.present(
    p.clusterId,
    'configmaps app/a',
    ({ data }) => isRecord(data) && data.x === '1' && data.local === 'mine',
  )
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '2', y: null } })
  const changed = await world.present(p.clusterId, 'configmaps app/a', ({ data }) => isRecord(data) && data.x === '2')
  t.same(changed.data, { x: '2', local: 'mine' }, 'what left the center leaves the cluster')
  await p.cluster.delete(MAPS, AT_A)
  await world.present(p.clusterId, 'configmaps app/a', ({ metadata }) => metadata.uid !== made.metadata.uid)
  await p.mailbox.delete(MAPS, AT_A)
  await world.absent(p.clusterId, 'configmaps app/a')
})

t.test('the center changes an object as often as it likes: no change waits, none is taken for a quarrel', async t => {
  const p = await pair(t)
  const { logger, lines } = recordingLogger()
  // No time passes: whatever had to wait would never come.
  p.start(logger, new FakeClock())
  await p.mailbox.create(MAPS, sent('a', { x: '0' }))
  const arrived = (x: string) =>
    center.world.present(p.clusterId, 'configmaps app/a', ({ data }) => isRecord(data) && data.x === x)
  await arrived('0')
  for (let n = 1; n <= 12; n++) {
    await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: `${n}` } })
    await arrived(`${n}`)
  }
  for (let n = 1; n <= 5; n++) {
    const drifted = await p.cluster.patch(MAPS, AT_A, 'merge', { data: { x: 'drifted' } }, { fieldManager: 'somebody' })
    await center.world.present(
      p.clusterId,
      'configmaps app/a',
      ({ data, metadata }) =>
        isRecord(data) &&
        data.x === '12' &&
        Number(metadata.resourceVersion) > Number(drifted.metadata.resourceVersion),
    )
    await p.settled()
  }
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '13' } })
  await arrived('13')
  await p.settled()
  t.same(
    lines.filter(({ level }) => level !== 'info').map(({ message }) => message.slice(0, 44)),
    ['somebody in the cluster keeps changing fields'.slice(0, 44)],
    'only what the cluster changed counts',
  )
})

t.test(
  'what others change beside the center asks nothing of the cluster; what they take from it is put back',
  async t => {
    const p = await pair(t)
    let asked = 0
    const counted = new Proxy(p.toCluster.cluster(p.cluster), {
      get(client, method) {
        if (method === 'get' || method === 'patch') asked++
        return Reflect.get(client, method) as unknown
      },
    })
    p.start(undefined, undefined, { cluster: counted })
    const changed = (data: object) => p.cluster.patch(MAPS, AT_A, 'merge', { data }, { fieldManager: 'somebody' })
    await p.mailbox.create(MAPS, sent('a', { x: '1' }))
    await center.world.present(p.clusterId, 'configmaps app/a')
    await p.settled()
    const before = asked
    for (const local of ['1', '2', '3']) {
      await changed({ local })
      await p.settled()
    }
    t.equal(asked - before, 0)
    await changed({ x: 'theirs', local: '4' })
    const repaired = await center.world.present(
      p.clusterId,
      'configmaps app/a',
      ({ data }) => isRecord(data) && data.x === '1',
    )
    t.same(repaired.data, { x: '1', local: '4' })
  },
)

t.test('nothing is written when nothing changes', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await center.world.present(p.clusterId, 'configmaps app/a')
  const before = await p.settled()
  t.equal(await p.settled(), before)
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

t.test(
  'a whole cluster may be taken over, and what a syncer of an earlier release took over needs no asking',
  async t => {
    const p = await pair(t)
    const { world } = center
    await p.cluster.create(NAMESPACES, namespace('app'))
    await p.cluster.create(MAPS, configMap('a', { own: 'x' }))
    await p.cluster.create(MAPS, configMap('b', { own: 'x' }))
    await p.cluster.patch(MAPS, { ...AT_A, name: 'b' }, 'apply', configMap('b', { x: '0' }, { labels: PROJECTED }), {
      fieldManager: FIELD_MANAGER,
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
  },
)

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

t.test('a status that is too large stays in the cluster, and that is told once', async t => {
  const named = { group: 'apps', resource: 'deployments', apiVersion: 'v1' }
  const p = await pairIn(center, t, {
    namespacedObjects: [{ ...named, objectsByNamespace: [{ namespace: 'app', names: ['*'] }] }],
  })
  const { logger, lines } = recordingLogger()
  p.start(logger)
  const [key, ref] = ['deployments.apps app/web', { namespace: 'app', name: 'web' }]
  const labels = { app: 'web' }
  await p.mailbox.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...ref, labels: PROJECTED },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  await center.world.present(p.clusterId, key)
  const report = async (replicas: number, message: string): Promise<void> => {
    const conditions = [{ type: 'Available', status: 'True', message }]
    const body = { status: { replicas, conditions } }
    await p.cluster.patch(DEPLOYMENTS, ref, 'merge', body, { subresource: 'status' })
  }
  const observed =
    (replicas: number) =>
    ({ status }: KubeObject) =>
      isRecord(status) && status.replicas === replicas
  await report(1, 'small')
  await center.world.present(p.mailboxId, key, observed(1))
  for (const replicas of [2, 3]) {
    await report(replicas, 'x'.repeat(256 * 1024))
    await center.world.present(p.clusterId, key, observed(replicas))
    await p.settled()
  }
  t.ok(observed(1)(center.world.get(p.mailboxId, key)!))
  t.equal(lines.filter(({ message }) => message.includes('larger than 262144 bytes')).length, 1)
  await report(4, 'small again')
  await center.world.present(p.mailboxId, key, observed(4))
})

t.test('leftovers of an earlier run go, also without its state and of kinds that are wanted no more', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await first.stop()
  await edited(p, () => '{"format":2,')
  await p.mailbox.delete(MAPS, AT_A)
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { namespacedObjects: [] } })
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await center.world.absent(p.clusterId, 'configmaps app/a')
  t.equal(lines.filter(line => line.message.startsWith('the saved state cannot be used')).length, 1)
})

t.test('every deletion is told with its cause, in either direction', async t => {
  const { world } = center
  const p = await pair(t)
  const { logger, lines } = recordingLogger()
  const deletions = (): string[] =>
    lines.flatMap(({ fields, message }) => {
      const { resource, namespace, name } = fields as Record<string, string>
      return message.startsWith('deleted from') ? [`${resource} ${namespace}/${name} ${message}`] : []
    })
  const first = p.start(logger)
  for (const name of ['a', 'b']) await p.mailbox.create(MAPS, sent(name))
  await Promise.all(['a', 'b'].map(name => world.present(p.clusterId, `configmaps app/${name}`)))
  await p.mailbox.delete(MAPS, AT_A)
  await world.absent(p.clusterId, 'configmaps app/a')
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['own'], names: ['*'] }]
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { namespacedObjects: [], upsync } })
  await world.absent(p.clusterId, 'configmaps app/b')
  await p.cluster.create(NAMESPACES, namespace('own'))
  for (const name of ['c', 'd']) await p.cluster.create(MAPS, configMap(name, {}, { namespace: 'own' }))
  await Promise.all(['c', 'd'].map(name => world.present(p.mailboxId, `configmaps own/${name}`)))
  await p.cluster.delete(MAPS, { namespace: 'own', name: 'c' })
  await world.absent(p.mailboxId, 'configmaps own/c')
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { upsync: [] } })
  await world.absent(p.mailboxId, 'configmaps own/d')
  await first.stop()
  t.same(deletions(), [
    'configmaps app/a deleted from the cluster: its source is gone',
    'configmaps app/b deleted from the cluster: its source is there, and no placement wants it here any more',
    'configmaps own/c deleted from the mailbox: it is gone from the cluster',
    'configmaps own/d deleted from the mailbox: no upsync names it any more',
  ])
  const mark = { labels: PROJECTED, annotations: { [DOWNSYNCED]: 'ConfigMap/app/old' } }
  await p.cluster.create(MAPS, configMap('old', {}, mark))
  lines.length = 0
  p.start(logger)
  await world.absent(p.clusterId, 'configmaps app/old')
  await p.settled()
  t.same(deletions(), [
    'configmaps app/old deleted from the cluster: left by an earlier run, and the mailbox does not hold it',
  ])
})

t.test('a restart with an old state deletes nothing that the mailbox holds by now', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('b'))
  await center.world.present(p.clusterId, 'configmaps app/b')
  await first.stop()
  cpSync(join(p.dir, 'mailbox'), join(p.dir, 'old'), { recursive: true })
  const second = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  const made = await center.world.present(p.clusterId, 'configmaps app/a')
  await second.stop()
  rmSync(join(p.dir, 'mailbox'), { recursive: true })
  cpSync(join(p.dir, 'old'), join(p.dir, 'mailbox'), { recursive: true })
  p.toCenter.down = true
  const third = p.start()
  await third.synced
  await p.settled()
  p.toCenter.down = false
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: 'new' } })
  const now = await center.world.present(
    p.clusterId,
    'configmaps app/a',
    ({ data }) => isRecord(data) && data.x === 'new',
  )
  t.equal(now.metadata.uid, made.metadata.uid, 'it was never deleted')
})

t.test('a syncer that starts while the center is away keeps its cluster as the center wanted it', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await first.stop()
  p.toCenter.down = true
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await p.cluster.delete(MAPS, AT_A)
  await center.world.present(p.clusterId, 'configmaps app/a')
  t.equal(lines.filter(line => line.level !== 'info').length, 1, 'one line says that the center is away')
})

t.test('the center hears that the syncer lives', async t => {
  const p = await pair(t)
  p.start()
  await center.world.present(
    p.mailboxId,
    'syncerconfigs.edge.kubestellar.io the-one',
    ({ status }) => isRecord(status) && typeof status.lastSyncerHeartbeatTime === 'string',
  )
  t.pass()
})

t.test('a mailbox that was made anew is read from the start, whatever the state of the old one says', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await first.stop()
  await edited(p, text => text.replaceAll(`"space":"${p.mailboxId}"`, '"space":"another"'))
  await p.mailbox.delete(MAPS, AT_A)
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await center.world.absent(p.clusterId, 'configmaps app/a')
  t.ok(lines.some(line => line.message.startsWith('the mailbox was made anew')))
})

t.test(
  'an object that was made anew in the center with other immutable fields is made anew in the cluster',
  async t => {
    const p = await pair(t)
    const { logger, lines } = recordingLogger()
    p.start(logger)
    await p.mailbox.create(MAPS, { ...sent('a', { x: '1' }), immutable: true })
    const before = await center.world.present(p.clusterId, 'configmaps app/a')
    // so that the syncer sees both at once
    const pause = (value: 'true' | null) =>
      p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', {
        metadata: { annotations: { 'edge.kubestellar.io/paused': value } },
      })
    await pause('true')
    await center.world.present(
      p.mailboxId,
      'syncerconfigs.edge.kubestellar.io the-one',
      ({ status }) => isRecord(status) && status.paused === true,
    )
    await p.mailbox.delete(MAPS, AT_A)
    await p.mailbox.create(MAPS, { ...sent('a', { x: '2' }), immutable: true })
    await pause(null)
    const after = await center.world.present(
      p.clusterId,
      'configmaps app/a',
      ({ data }) => isRecord(data) && data.x === '2',
    )
    t.not(after.metadata.uid, before.metadata.uid)
    t.match(
      lines.find(({ message }) => message.startsWith('deleted from')),
      {
        fields: { resource: 'configmaps', namespace: 'app', name: 'a', uid: before.metadata.uid },
        message: /: its source was deleted and made anew with other fields that cannot be changed; it comes again$/,
      },
    )
  },
)

t.test(
  "marks that somebody wrote into the center make nothing the cluster's, nor the cluster's own the center's",
  async t => {
    const names = ['a', 'b', 'kube-root-ca.crt']
    const p = await pairIn(center, t, {
      namespacedObjects: [
        { group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace: [{ namespace: 'app', names }] },
      ],
      upsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'], names: ['*'] }],
    })
    const marks = { [UPSYNCED]: 'ConfigMap/app/a', [DOWNSYNCED]: 'ConfigMap/app/a' }
    const source = await p.mailbox.create(MAPS, sent('a', { x: '1' }, { annotations: marks }))
    p.start()
    const made = await center.world.present(p.clusterId, 'configmaps app/a')
    await p.mailbox.create(MAPS, sent('b'))
    await center.world.present(p.clusterId, 'configmaps app/b')
    await p.settled()
    t.equal((await p.mailbox.get(MAPS, AT_A)).metadata.uid, source.metadata.uid, 'the center keeps what is its own')
    t.equal((await p.cluster.get(MAPS, AT_A)).metadata.uid, made.metadata.uid)
    const authority = center.world.get(p.clusterId, 'configmaps app/kube-root-ca.crt')
    t.notOk(authority?.metadata.labels?.['edge.kubestellar.io/projected'], 'each server says whom to trust')
  },
)

t.test('a mailbox that is deleted as a whole leaves the cluster as it is', async t => {
  const p = await pair(t)
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await center.client.in('root').delete(WORKSPACES, { name: p.mailboxName })
  await center.world.absent(p.mailboxId, 'configmaps app/a')
  await p.settled()
  t.ok(center.world.get(p.clusterId, 'configmaps app/a'))
  t.ok(lines.some(line => line.message.startsWith('the mailbox is being deleted')))
})
