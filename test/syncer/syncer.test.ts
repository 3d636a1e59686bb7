/** Promises of a syncer to its users, one each, against real API servers in this process. */
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { equalJson } from '../../src/apimachinery/values.ts'
import { DOWNSYNCED, UPSYNCED } from '../../src/placement/words/placement.ts'
import { FakeClock } from '../client/support/fakeClock.ts'
import { startCenter } from '../support/center.ts'
import { CONFIGS, configMap, DEPLOYMENTS, MAPS, NAMESPACES, namespace } from './support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from './support/pair.ts'
import { recordingLogger } from './support/recordingLogger.ts'
import { toldOutcomes } from './support/toldOutcomes.ts'

const AT_A = { namespace: 'app', name: 'a' }

const center = await startCenter(t, { expectsTrouble: true })

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

t.test('a status that is too large stays in the cluster, and the center says so instead of an older one', async t => {
  const named = { group: 'apps', resource: 'deployments', apiVersion: 'v1' }
  const p = await pairIn(center, t, {
    namespacedObjects: [{ ...named, objectsByNamespace: [{ namespace: 'app', names: ['*'] }] }],
  })
  const { logger, lines } = recordingLogger()
  const told = toldOutcomes(p)
  p.start(logger, undefined, { center: told.center })
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
    const { exceptions } = await told.until(({ compared, exceptions }) => compared && exceptions.size > 0)
    t.match([...exceptions.values()], [{ name: 'web', state: 'applied', reason: 'StatusTooLarge' }])
    await center.world.present(p.mailboxId, key, ({ status }) => status === undefined || equalJson(status, {}))
    await p.settled()
  }
  t.equal(lines.filter(({ message }) => message.includes('larger than 262144 bytes')).length, 1)
  await report(4, 'small again')
  await center.world.present(p.mailboxId, key, observed(4))
  await told.until(({ exceptions }) => exceptions.size === 0)
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
