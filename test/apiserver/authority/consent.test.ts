/** Writers of the objects by which workload spaces and inventories consent, and the valid content of these. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { FIRST_OBJECTS } from '../../../src/cli/orrery/server/placementOptions.ts'
import type { Api } from '../../support/api.ts'
import { ALICE, createSpace, startTestServer } from '../../support/server.ts'

const { api, server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const BINDINGS = `${EDGE}/inventorybindings`
const GRANTS = `${EDGE}/placementgrants`
const ROWS = `${EDGE}/grantedlocations`
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

const binding = (name: string, path: string) => ({ metadata: { name }, spec: { path } })
const grant = (name: string, spaces: object[], spec: object = {}) => ({ metadata: { name }, spec: { spaces, ...spec } })
const spacesOf = (object: KubeObject) => (object.spec as { spaces: { path?: string; cluster?: string }[] }).spaces
const invalid = (message: RegExp) => ({ code: 422, body: { reason: 'Invalid', message } })

let roles = 0
/** Lets alice into a space, with these rights on the edge kinds. */
async function letIn(space: Api, resources: string[], verbs: string[]): Promise<Api> {
  const name = `alice-${roles++}`
  const rules = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: ['edge.kubestellar.io'], resources, verbs },
  ]
  await space.ok(space.post(`${RBAC}/clusterroles`, { metadata: { name }, rules }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  await space.ok(space.post(`${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }))
  return space.as(ALICE)
}

t.test('whoever may not write every EdgePlacement of a space writes no InventoryBinding there', async t => {
  await createSpace(api, 'team')
  const team = api.in('root:team')
  const alice = await letIn(team, ['inventorybindings'], ['*'])
  await letIn(team, ['edgeplacements'], ['create', 'update'])
  const refused = { code: 403, body: { reason: 'Forbidden', message: /cannot delete resource "edgeplacements"/ } }
  t.match(await alice.post(BINDINGS, binding('imw1', 'root:imw1')), refused)
  await team.ok(team.post(BINDINGS, binding('imw1', 'root:imw1')))
  t.match(await alice.delete(`${BINDINGS}/imw1`), refused)
  t.match(await alice.patch(`${BINDINGS}/imw1`, 'merge', { metadata: { labels: { a: 'b' } } }), refused)
  await letIn(team, ['edgeplacements'], ['delete'])
  t.match(await alice.delete(`${BINDINGS}/imw1`), { code: 200 })
  t.match(await alice.post(BINDINGS, binding('imw1', 'root:imw1')), { code: 201 })
})

t.test('who may not see a space grants it by its id, and learns nothing of it', async t => {
  const id = await createSpace(api, 'closed')
  const alice = await letIn(api.in('root:imw1'), ['placementgrants'], ['*'])
  const told = async (path: string) => {
    const { code, body } = await alice.post(GRANTS, grant('blind', [{ path }]))
    return [code, String(body.message).replaceAll(path, '<path>')]
  }
  const closed = await told('root:closed')
  t.match(closed, [422, /you may not see whether there is such a space; say its id as spec\.spaces\[0\]\.cluster/])
  for (const path of ['root:nothing', 'root:closed:below', 'root:nothing:below']) t.same(await told(path), closed, path)
  const made = await alice.post(GRANTS, grant('blind', [{ path: 'root:closed', cluster: id }]))
  t.match(made, { code: 201, body: { spec: { spaces: [{ path: 'root:closed', cluster: id }] } } })
  const changed = { spec: { spaces: [{ path: 'root:closed' }], clusterScoped: true } }
  t.match(await alice.patch(`${GRANTS}/blind`, 'merge', changed), {
    code: 200,
    body: { spec: { spaces: [{ path: 'root:closed', cluster: id }] } },
  })
})

t.test('a binding names an inventory by its path, once, and stays with it', async t => {
  await createSpace(api, 'once')
  const space = api.in('root:once')
  t.match(
    await space.post(BINDINGS, binding('x', 'imw1')),
    invalid(/spec\.path: .*must be the path of a space from the root/),
  )
  t.match(await space.post(BINDINGS, binding('x.y', 'root:imw1')), invalid(/metadata\.name/))
  await space.ok(space.post(BINDINGS, binding('imw1', 'root:imw1')))
  t.match(
    await space.post(BINDINGS, binding('again', 'root:imw1')),
    invalid(/InventoryBinding "imw1" is for this inventory/),
  )
  const moved = { spec: { path: 'root:other' } }
  t.match(await space.patch(`${BINDINGS}/imw1`, 'merge', moved), invalid(/spec\.path: .*immutable/))
  t.match(await space.patch(`${BINDINGS}/imw1`, 'merge', { metadata: { labels: { a: 'b' } } }), { code: 200 })
})

t.test('a path to what is no inventory is refused, but only to who may enter there', async t => {
  await createSpace(api, 'curious')
  const space = api.in('root:curious')
  t.match(
    await space.post(BINDINGS, binding('x', 'root:wmw1')),
    invalid(
      /spec\.path: .*"root:wmw1": a space of type "workload" is no inventory; name one of type inventory or universal/,
    ),
  )
  const alice = await letIn(space, ['inventorybindings', 'edgeplacements'], ['*'])
  const [hidden, absent] = [
    await alice.post(BINDINGS, binding('hidden', 'root:wmw1')),
    await alice.post(BINDINGS, binding('absent', 'root:wmw1:nowhere')),
  ]
  t.match([hidden.code, absent.code], [201, 201])
  t.same([hidden.headers.warning, absent.headers.warning], [undefined, undefined])
  // everybody may read the root's Workspaces, but sees only their own
  const unborn = await alice.post(BINDINGS, binding('unborn', 'root:unborn'))
  t.match([unborn.code, unborn.headers.warning], [201, undefined])
  const early = await space.post(BINDINGS, binding('early', 'root:nowhere'))
  t.match(early, { code: 201, headers: { warning: /there is no space root:nowhere yet/ } })
})

t.test('a space has so many bindings and no more', async t => {
  await createSpace(api, 'crowd')
  const space = api.in('root:crowd')
  for (let i = 0; i < 32; i++) await space.ok(space.post(BINDINGS, binding(`b${i}`, `root:crowd:imw${i}`)))
  t.match(await space.post(BINDINGS, binding('more', 'root:imw1')), invalid(/may have no more; delete one first/))
})

t.test('what the center says of bindings and Locations is its own', async t => {
  const space = api.in('root:wmw1')
  const status = { status: { cluster: 'another' } }
  t.match(await space.patch(`${BINDINGS}/imw1/status`, 'merge', status), { code: 403 })
  t.match(await space.post(ROWS, { metadata: { name: 'imw1.lie' } }), {
    code: 403,
    body: { message: /the center writes it/ },
  })
})

t.test('a grant is for the space that is at the path now, by its id', async t => {
  const inventory = api.in('root:imw1')
  const id = await createSpace(api, 'tenant')
  const made = await inventory.ok(inventory.post(GRANTS, grant('tenant', [{ path: 'root:tenant' }])))
  t.same(spacesOf(made), [{ path: 'root:tenant', cluster: id }])
  const again = await inventory.ok(
    inventory.patch(`${GRANTS}/tenant`, 'merge', grant('tenant', [{ path: 'root:tenant' }])),
  )
  t.equal(again.metadata.resourceVersion, made.metadata.resourceVersion, 'the same manifest again changes nothing')
  t.match(spacesOf(await inventory.ok(inventory.get(`${GRANTS}/wmw1`))), [{ cluster: server.tree.idAt('root:wmw1') }])
  const gone = await inventory.post(GRANTS, grant('gone', [{ path: 'root:tenant' }, { path: 'root:gone' }]))
  t.match(gone, invalid(/spec\.spaces\[1\]\.path: .*"root:gone": there is no such space/))
  t.match(await inventory.post(GRANTS, grant('none', [{}])), invalid(/spec\.spaces\[0\]\.path: Required value/))
  t.match(
    await inventory.post(GRANTS, grant('wrong', [{ path: 'root:tenant', cluster: 'x' }])),
    invalid(/spec\.spaces\[0\]\.cluster: .*"x": is not the id of root:tenant/),
  )
})

t.test('a space that is made again under an old path is not granted by what was meant for the old one', async t => {
  const inventory = api.in('root:imw1')
  const old = await createSpace(api, 'phoenix')
  const manifest = grant('phoenix', [{ path: 'root:phoenix' }])
  await inventory.ok(inventory.post(GRANTS, manifest))
  const gone = new Promise(resolve => server.tree.onGone(resolve))
  await api.ok(api.delete('/apis/tenancy.kcp.io/v1alpha1/workspaces/phoenix'))
  await gone
  const again = await inventory.ok(inventory.patch(`${GRANTS}/phoenix`, 'merge', manifest))
  t.same(spacesOf(again), [{ path: 'root:phoenix', cluster: old }], 'the same manifest stays what it was')
  const id = await createSpace(api, 'phoenix')
  t.match(
    await inventory.patch(`${GRANTS}/phoenix`, 'merge', manifest),
    invalid(
      /spec\.spaces\[0\]\.path: .*is another space now than the one that was granted.*spec\.spaces\[0\]\.cluster/,
    ),
  )
  const labelled = { metadata: { labels: { a: 'b' } } }
  t.same(spacesOf(await inventory.ok(inventory.patch(`${GRANTS}/phoenix`, 'merge', labelled))), spacesOf(again))
  const meant = { spec: { spaces: [{ path: 'root:phoenix', cluster: id }] } }
  t.match(await inventory.patch(`${GRANTS}/phoenix`, 'merge', meant), { code: 200 })
})

t.test('a grant that cannot mean what it says is refused', async t => {
  const inventory = api.in('root:imw1')
  const all = [{ path: 'root:wmw1' }]
  const values = Array.from({ length: 1001 }, (_, i) => `v${i}`)
  const [long, odd, secrets] = [
    { locations: { matchExpressions: [{ key: 'a', operator: 'In', values }] } },
    { locations: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
    { upsync: [{ resources: ['secrets'] }] },
  ]
  t.match(await inventory.post(GRANTS, grant('long', all, long)), invalid(/spec\.locations: Too many/))
  t.match(
    await inventory.post(GRANTS, grant('odd', all, odd)),
    invalid(/spec\.locations\.matchExpressions\[0\]\.operator/),
  )
  t.match(
    await inventory.post(GRANTS, grant('secrets', all, secrets)),
    invalid(/spec\.upsync\[0\]\.names: Required value/),
  )
})
