// One object wanted by several placements, of one workload space or of two.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { configMap, MAPS, NAMESPACES, namespace, PLACEMENTS, placement, TARGETS, WORKSPACES } from '../support/scene.ts'

const CONFLICT = 'edge.kubestellar.io/object-conflict'
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
const EVENTS = { group: '', version: 'v1', resource: 'events' }
const COUNT = 'kubestellar.io/executing-count'
const ONE = 'configmaps app/one'
const REF = { namespace: 'app', name: 'one' }
const ALL = { downsync: [{ namespaces: ['app'] }] }
const MINE = { downsync: [{ apiGroup: '', resources: ['configmaps'], objectNames: ['one'] }] }

const center = await startCenter(t)
const { world, client } = center
const WEB = 'deployments.apps app/web'
const labels = { app: 'web' }
const web = (replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'app', name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } },
  },
})
const data = (object: KubeObject): Record<string, string> => (object.data ?? {}) as Record<string, string>

t.test(
  'two placements of one space: the union of their clusters, counted once each; one leaves, the other holds',
  async t => {
    const scene = await center.scene('union', ['a', 'b', 'c'])
    const [a, b, c] = [await scene.mailbox('a'), await scene.mailbox('b'), await scene.mailbox('c')]
    await scene.map('one')
    await scene.place('left', { ...MINE, ...scene.at('a', 'b'), wantSingletonReportedState: true })
    await scene.place('right', { ...MINE, ...scene.at('b', 'c') })
    await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[COUNT] === '3')
    for (const mailbox of [a, b, c]) await world.present(mailbox, ONE)
    const uid = world.get(b, ONE)?.metadata.uid
    await scene.wds.delete(PLACEMENTS, { name: 'right' })
    await world.absent(c, ONE)
    await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[COUNT] === '2')
    t.equal(world.get(b, ONE)?.metadata.uid, uid, 'in the shared cluster it never went')
    await scene.wds.delete(PLACEMENTS, { name: 'left' })
    for (const mailbox of [a, b]) await world.absent(mailbox, ONE)
    await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[COUNT] === undefined)
  },
)

t.test(
  "two spaces with the same object: it is the first one's; the other is told, and follows in one update",
  async t => {
    const scene = await center.scene('spaces', ['a'])
    const a = await scene.mailbox('a')
    const otherId = await center.space('spaces-other')
    await center.consent('root:spaces-imw', 'root:spaces-other')
    const other = client.in(otherId)
    await other.create(NAMESPACES, namespace('app'))
    await scene.map('one', { from: 'first' }, { labels: { first: 'yes' } })
    await scene.place('ep')
    const mine = await world.present(a, ONE, o => data(o).from === 'first')
    t.equal(mine.metadata.annotations?.['edge.kubestellar.io/owner'], scene.wdsId)
    await other.create(MAPS, configMap('one', { from: 'second' }, { labels: { second: 'yes' } }))
    await other.create(
      PLACEMENTS,
      placement('ep', { ...MINE, ...scene.everywhere(), wantSingletonReportedState: true }),
    )
    const told = await world.present(otherId, ONE, o => o.metadata.annotations?.[CONFLICT] !== undefined)
    t.match(told.metadata.annotations?.[CONFLICT], `space ${scene.wdsId} owns it (at a)`)
    t.equal(told.metadata.annotations?.[COUNT], '0')
    await other.patch(MAPS, REF, 'merge', { data: { from: 'second again' } })
    await center.settled()
    t.equal(world.get(a, ONE)?.metadata.resourceVersion, mine.metadata.resourceVersion, 'nothing was written there')
    const { items } = await other.list(EVENTS, { namespace: 'app', fieldSelector: 'reason=ObjectConflict' })
    t.match(items, [{ type: 'Warning', involvedObject: { kind: 'ConfigMap', name: 'one', uid: told.metadata.uid } }])
    t.equal(items.length, 1)
    const stop = new AbortController()
    const { resourceVersion } = await client.in(a).list(MAPS)
    const events = client.in(a).watch(MAPS, { namespace: 'app', resourceVersion, signal: stop.signal })
    await scene.wds.delete(PLACEMENTS, { name: 'ep' })
    const seen: string[] = []
    for await (const batch of events) {
      for (const event of batch) {
        if (event.type === 'BOOKMARK') continue
        seen.push(`${event.type} ${data(event.object).from}`)
        if (data(event.object).from === 'second again') stop.abort()
      }
    }
    t.same(seen, ['MODIFIED second again'], 'the copy was never gone, nor half the one and half the other')
    const left = await client.in(a).get(MAPS, REF)
    t.equal(left.metadata.uid, mine.metadata.uid)
    t.equal(left.metadata.labels?.first, undefined, 'what only the other gave is gone')
    await world.present(
      otherId,
      ONE,
      ({ metadata: { annotations = {} } }) => annotations[CONFLICT] === undefined && annotations[COUNT] === '1',
    )
    await scene.place('ep')
    await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[CONFLICT] !== undefined)
    await client.in('root').delete(WORKSPACES, { name: 'spaces-other' })
    await world.present(a, ONE, o => data(o).from === 'first')
    await scene.wds.delete(PLACEMENTS, { name: 'ep' })
    await world.absent(a, ONE)
    t.ok(world.get(a, 'namespaces app'), 'Namespaces stay')
  },
)

t.test('release by the inventory, and hand over by the owner', async t => {
  const scene = await center.scene('pass', ['a'])
  const a = await scene.mailbox('a')
  const otherId = await center.space('pass-other')
  await center.consent('root:pass-imw', 'root:pass-other')
  const other = client.in(otherId)
  await other.create(NAMESPACES, namespace('app'))
  await scene.map('one', { from: 'first' })
  await scene.wds.create(DEPLOYMENTS, web(7))
  await scene.place('ep', { ...ALL, ...scene.everywhere() })
  await world.present(a, ONE, o => data(o).from === 'first')
  const { metadata } = await world.present(a, WEB)
  const said = {
    replicas: 7,
    readyReplicas: 7,
    conditions: [{ type: 'Available', status: 'True', message: 'of the first' }],
  }
  const syncer = { subresource: 'status', fieldManager: 'kubestellar-syncer' }
  await client.in(a).patch(DEPLOYMENTS, { namespace: 'app', name: 'web' }, 'merge', { status: said }, syncer)
  await other.create(MAPS, configMap('one', { from: 'second' }))
  await other.create(DEPLOYMENTS, web(3))
  await other.create(PLACEMENTS, placement('ep', { ...ALL, ...scene.everywhere() }))
  await world.present(otherId, ONE, o => o.metadata.annotations?.[CONFLICT] !== undefined)
  await world.present(otherId, WEB, o => o.metadata.annotations?.[CONFLICT] !== undefined)
  await scene.wds.delete(DEPLOYMENTS, { namespace: 'app', name: 'web' })
  const passed = await world.present(a, WEB, o => (o.spec as { replicas?: number }).replicas === 3)
  t.equal(passed.metadata.uid, metadata.uid)
  t.notMatch(
    JSON.stringify(passed),
    /of the first|f:readyReplicas/,
    'of what was told to the former owner nothing is left',
  )
  const handOver = { 'edge.kubestellar.io/hand-over-to': 'root:pass-other' }
  await scene.wds.patch(MAPS, REF, 'merge', { metadata: { annotations: handOver } })
  const handed = await world.present(a, ONE, o => data(o).from === 'second')
  t.equal(handed.metadata.annotations?.['edge.kubestellar.io/hand-over-to'], undefined)
  await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[CONFLICT] !== undefined)
  await scene.wds.patch(MAPS, REF, 'merge', {
    metadata: { annotations: { 'edge.kubestellar.io/hand-over-to': null } },
  })
  const release = { 'edge.kubestellar.io/release-owner': 'root:pass-other' }
  await client.in(scene.inventory).patch(TARGETS, { name: 'a' }, 'merge', { metadata: { annotations: release } })
  const released = await world.present(a, ONE, o => data(o).from === 'first')
  t.equal(released.metadata.uid, handed.metadata.uid)
  await world.present(otherId, ONE, o => o.metadata.annotations?.[CONFLICT] !== undefined)
})
