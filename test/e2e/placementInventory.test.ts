// Clusters come, change and go: the workload follows Locations and SyncTargets, mailboxes are made, remade and removed.
import t from 'tap'
import { startCenter } from '../support/center.ts'
import { LOCATIONS, TARGETS, WORKSPACES } from '../support/scene.ts'

const center = await startCenter(t)
const { world, client, server } = center
const SLICE = 'singleplacementslices.edge.kubestellar.io ep'
const ONE = ['app/one']

t.test('a cluster that is added, relabelled and removed gains and loses the workload', async t => {
  const scene = await center.scene('grow', ['a'])
  await scene.map('one', { v: '1' })
  await scene.place('ep', { locationSelectors: [{ matchLabels: { scene: 'grow', env: 'prod' } }] })
  const a = await scene.mailbox('a')
  const b = await scene.addCluster('b', { env: 'prod' })
  await center.holds(b, ONE)
  t.same(center.mapsIn(a), [])
  const inventory = client.in(scene.inventory)
  const relabel = (name: string, env: string | null) =>
    inventory.patch(LOCATIONS, { name }, 'merge', { metadata: { labels: { env } } })
  await relabel('a', 'prod')
  await center.holds(a, ONE)
  await relabel('b', 'test')
  await center.holds(b, [])
  await relabel('b', 'prod')
  await center.holds(b, ONE)
  await inventory.delete(LOCATIONS, { name: 'b' })
  await center.holds(b, [])
  t.same(center.mapsIn(a), ONE)
})

t.test('a SyncTarget that its Location no longer selects loses the workload, and gains it again', async () => {
  const scene = await center.scene('select', ['a'])
  await scene.map('one')
  await scene.place('ep')
  const a = await scene.mailbox('a')
  await center.holds(a, ONE)
  const relabel = (id: string) =>
    client.in(scene.inventory).patch(TARGETS, { name: 'a' }, 'merge', { metadata: { labels: { id } } })
  await relabel('other')
  await scene.confirmHeld('ep')
  await center.holds(a, [])
  await relabel('a')
  await center.holds(a, ONE)
})

t.test('a mailbox Workspace deleted by hand comes back, with its content', async t => {
  const scene = await center.scene('mailbox', ['a'])
  await scene.map('one', { v: '1' })
  await scene.place('ep', { upsync: [{ apiGroup: 'g.test', resources: ['r'], namespaces: ['*'], names: ['*'] }] })
  const before = await scene.mailbox('a')
  await center.holds(before, ONE)
  const target = await client.in(scene.inventory).get(TARGETS, { name: 'a' })
  const name = `${scene.inventory}-mb-${target.metadata.uid}`
  await client.in('root:espw').delete(WORKSPACES, { name })
  const after = await center.readySpace('root:espw', name, before)
  t.not(after, before, 'a space of its own')
  await center.holds(after, ONE)
  await world.present(after, 'syncerconfigs.edge.kubestellar.io the-one', o =>
    JSON.stringify(o.spec).includes('g.test'),
  )
  await world.present(after, 'serviceaccounts default/kubestellar-syncer')
  await center.settled()
  t.equal(await server.store.count({ space: before }), 0, 'nothing is left of the old space')
})

t.test('a SyncTarget made again under its name gets a new mailbox; the old one goes', async t => {
  const scene = await center.scene('renew', ['a'])
  await scene.map('one')
  await scene.place('ep')
  const before = await scene.mailbox('a')
  await center.holds(before, ONE)
  const inventory = client.in(scene.inventory)
  const { apiVersion, kind, metadata } = await inventory.get(TARGETS, { name: 'a' })
  await inventory.delete(TARGETS, { name: 'a' })
  await inventory.create(TARGETS, {
    apiVersion,
    kind,
    metadata: { name: 'a', labels: metadata.labels ?? {} },
    spec: {},
  })
  const after = await scene.mailbox('a')
  t.not(after, before)
  await center.holds(after, ONE)
  await world.until('the old mailbox to be empty', () => world.size(before) > 0 && `${world.size(before)} objects left`)
  const led = () => (world.get(scene.wdsId, SLICE)!.destinations as unknown[]).length
  await world.until('the slice to lead to the new one alone', () => led() !== 1 && `${led()} destinations`)
  await center.settled()
  t.equal(await server.store.count({ space: before }), 0)
})

t.test('two Locations for one SyncTarget: the workload is there once, and stays while one of them remains', async t => {
  const scene = await center.scene('double', ['a'])
  await scene.map('one')
  await scene.place('ep')
  const a = await scene.mailbox('a')
  await center.holds(a, ONE)
  const inventory = client.in(scene.inventory)
  const location = await inventory.get(LOCATIONS, { name: 'a' })
  const uid = world.get(a, 'configmaps app/one')?.metadata.uid
  await inventory.create(LOCATIONS, {
    apiVersion: location.apiVersion,
    kind: location.kind,
    metadata: { name: 'again', labels: location.metadata.labels ?? {} },
    spec: location.spec,
  })
  await world.present(scene.wdsId, SLICE, o => (o.destinations as unknown[]).length === 2)
  await inventory.delete(LOCATIONS, { name: 'a' })
  await world.present(scene.wdsId, SLICE, o => (o.destinations as unknown[]).length === 1)
  await center.settled()
  t.same(center.mapsIn(a), ONE)
  t.equal(world.get(a, 'configmaps app/one')?.metadata.uid, uid, 'it was never deleted in between')
})

t.test(
  'an inventory space that is deleted takes its clusters out of every placement, and its mailboxes with it',
  async t => {
    const scene = await center.scene('lost', ['a'])
    await scene.map('one')
    await scene.place('ep')
    const a = await scene.mailbox('a')
    await center.holds(a, ONE)
    await client.in('root').delete(WORKSPACES, { name: 'lost-imw' })
    await world.present(scene.wdsId, SLICE, o => (o.destinations as unknown[]).length === 0)
    await world.until('the mailbox to be empty', () => world.size(a) > 0 && `${world.size(a)} objects left`)
    await center.settled()
    t.equal(await server.store.count({ space: a }), 0)
    t.equal(await server.store.count({ space: scene.inventory }), 0)
  },
)

t.test('a workload space that is deleted leaves nothing in the mailboxes', async t => {
  const scene = await center.scene('closed', ['a'])
  for (let i = 0; i < 20; i++) await scene.map(`m${i}`)
  await scene.place('ep', { wantSingletonReportedState: true })
  const a = await scene.mailbox('a')
  await world.present(a, 'configmaps app/m19')
  await client.in('root').delete(WORKSPACES, { name: 'closed-wmw' })
  await center.holds(a, [])
  await center.settled()
  t.equal(await server.store.count({ space: scene.wdsId }), 0)
})
