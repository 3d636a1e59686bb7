// Nobody's clusters are commanded without their inventory's word, and nobody's objects go where their space did not say.
import t from 'tap'
import { isRecord } from '../../src/apimachinery/object.ts'
import { BINDINGS, GRANTS, NAMESPACES, namespace, PLACEMENTS, startCenter, WORKSPACES } from '../support/center.ts'
import { configMap, LOCATIONS, MAPS, MAPS_OF_APP, placement } from '../support/scene.ts'

const EDGE = 'edge.kubestellar.io'
const SLICE = `singleplacementslices.${EDGE} ep`
const STOLEN = 'configmaps app/stolen'

const center = await startCenter(t)
const { world, client } = center

/** `Granted` of an InventoryBinding as `True Granted`. */
function told(space: string, name = 'imw'): string {
  const status = world.get(space, `inventorybindings.${EDGE} ${name}`)?.status
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions.map(({ status, reason }) => `${status} ${reason}`).join()
}

t.test(
  'a tenant who places on all clusters reaches none that did not grant it, whether bound to them or not',
  async t => {
    const scene = await center.scene('mine', ['a'])
    const mailbox = await scene.mailbox('a')
    const id = await center.space('tenant')
    const tenant = client.in(id)
    await tenant.create(NAMESPACES, namespace('app'))
    await tenant.create(MAPS, configMap('stolen'))
    await tenant.create(PLACEMENTS, placement('ep', { locationSelectors: [{}], ...MAPS_OF_APP }))
    await world.present(id, SLICE)
    await center.settled()
    t.notOk(world.get(mailbox, STOLEN))
    const spec = { path: 'root:mine-imw' }
    await tenant.create(BINDINGS, {
      apiVersion: `${EDGE}/v2alpha1`,
      kind: 'InventoryBinding',
      metadata: { name: 'imw' },
      spec,
    })
    await world.until('the refusal', () => told(id) !== 'False NotGranted' && `told ${told(id)}`)
    await center.settled()
    t.notOk(world.get(mailbox, STOLEN))
    t.same(world.get(id, SLICE)?.destinations, [])
    t.same(world.names(id, `grantedlocations.${EDGE}`), [], 'nor is it told what clusters there are')
  },
)

t.test("a Location of a stranger's space draws no objects", async t => {
  const scene = await center.scene('drawn', ['a'])
  await center.space('stranger')
  const trap = await center.scene('trap', [])
  await trap.addCluster('b', { scene: 'drawn' })
  await scene.map('one')
  await scene.place('ep')
  await world.present(await scene.mailbox('a'), 'configmaps app/one')
  await center.settled()
  t.notOk(world.get(await trap.mailbox('b'), 'configmaps app/one'))
})

t.test('a grant that is taken away takes the copies away once that is confirmed, and gives them back', async () => {
  const scene = await center.scene('taken', ['a'])
  const mailbox = await scene.mailbox('a')
  await scene.map('one')
  await scene.place('ep')
  await world.present(mailbox, 'configmaps app/one')
  await world.until('the grant', () => told(scene.wdsId) !== 'True Granted' && `told ${told(scene.wdsId)}`)
  const inventory = client.in(scene.inventory)
  const { items } = await inventory.list(GRANTS)
  await inventory.delete(GRANTS, { name: items[0]!.metadata.name! })
  await scene.confirmHeld('ep')
  await world.absent(mailbox, 'configmaps app/one')
  await world.until('the refusal', () => told(scene.wdsId) !== 'False NotGranted' && `told ${told(scene.wdsId)}`)
  const { name: _name, uid: _uid, resourceVersion: _version, ...metadata } = items[0]!.metadata
  await inventory.create(GRANTS, { ...items[0]!, metadata: { ...metadata, name: 'again' } })
  await world.present(mailbox, 'configmaps app/one')
})

t.test('an inventory that somebody makes again under an old path gets nothing', async t => {
  const scene = await center.scene('again', ['a'])
  await scene.map('one')
  await scene.place('ep')
  await world.present(await scene.mailbox('a'), 'configmaps app/one')
  await world.present(
    scene.wdsId,
    `inventorybindings.${EDGE} imw`,
    ({ status }) => isRecord(status) && status.cluster === scene.inventory,
  )
  await client.in('root').delete(WORKSPACES, { name: 'again-imw' })
  await world.absent('root', 'workspaces.tenancy.kcp.io again-imw')
  const id = await center.space('again-imw')
  const spec = { spaces: [{ path: 'root:again-wmw' }], clusterScoped: true }
  await client
    .in(id)
    .create(GRANTS, { apiVersion: `${EDGE}/v2alpha1`, kind: 'PlacementGrant', metadata: { name: 'trap' }, spec })
  await world.until('the refusal', () => told(scene.wdsId) !== 'False InventoryReplaced' && `told ${told(scene.wdsId)}`)
  await center.settled()
  const led = () => (world.get(scene.wdsId, SLICE)!.destinations as unknown[]).length
  await world.until('the slice to lead nowhere', () => led() > 0 && `${led()} destinations`)
  await center.settled()
  t.equal(led(), 0, 'and nothing brings it back')
})

t.test('a space lists where it may place, with labels and readiness', async t => {
  const scene = await center.scene('listed', ['a'])
  const row = await world.present(scene.wdsId, `grantedlocations.${EDGE} imw.a`, ({ instances }) => instances === 1)
  t.match(row, { inventory: 'root:listed-imw', location: 'a', ready: 0 })
  t.same(row.metadata.labels, { scene: 'listed', cluster: 'a' })
  const metadata = { annotations: { 'example.com/rack': '7' }, labels: { zone: 'b' } }
  await client.in(scene.inventory).patch(LOCATIONS, { name: 'a' }, 'merge', { metadata })
  const seen = await world.present(scene.wdsId, `grantedlocations.${EDGE} imw.a`, o => o.metadata.labels?.zone === 'b')
  t.same(Object.keys(seen.metadata.annotations ?? {}), ['kcp.io/cluster'], "annotations are the inventory's")
  t.same(Object.keys(seen).sort(), ['apiVersion', 'instances', 'inventory', 'kind', 'location', 'metadata', 'ready'])
})
