/**
 * An editor of a space's placements who may not read its Secrets sends them to a cluster, or home. The ways are wider placements, lifted
 * sets that hold them back, labels, and rights that they give themselves.
 */
import t from 'tap'
import { namespace, placement } from '../support/scene.ts'
import { EDGE, NATURED, RBAC, startFleet } from './support/fleet.ts'

const fleet = await startFleet(t)
const { admin, world } = fleet
const wmw = admin.in('root:wmw1')
const GROUP = 'rbac.authorization.k8s.io'
const PROD = { locationSelectors: [{ matchLabels: { env: 'prod' } }] }
const maps = { apiGroup: '', resources: ['configmaps'], namespaces: ['app'] }
const PLACEMENTS = `${EDGE}/edgeplacements`
await fleet.done('ensure location florin --imw root:imw1 env=prod')
const inventory = fleet.idOf('root:imw1')
const { uid } = (await world.present(inventory, 'synctargets.edge.kubestellar.io florin')).metadata
const florin = await fleet.readySpace('root:espw', `${inventory}-mb-${uid}`)
await wmw.ok(wmw.post('/api/v1/namespaces', namespace('app')))
await wmw.ok(wmw.post('/api/v1/namespaces/app/secrets', { metadata: { name: 'vault' }, stringData: { pin: '1234' } }))
const born = { apiGroup: '', resources: ['secrets'], namespaces: ['app'], names: ['vault'] }
await wmw.ok(wmw.post(PLACEMENTS, placement('ep', { ...PROD, downsync: [maps], upsync: [] })))
const all = { apiGroup: '', resources: ['secrets', 'configmaps'], namespaces: ['app'] }
const imw = admin.in('root:imw1')
const grant = `${EDGE}/placementgrants/wmw1`
const { spec } = (await imw.ok(imw.get(grant))) as unknown as { spec: { upsync: object[] } }
await imw.ok(imw.patch(grant, 'merge', { spec: { upsync: [...spec.upsync, born] } }))
// everything, but the Secret stays at home: a set says that it comes from the clusters
await wmw.ok(wmw.post(PLACEMENTS, placement('held', { ...PROD, downsync: [all], upsync: [born] })))

// view is without Secrets; the role lets her edit placements beside
const acting = { labels: NATURED }
const rules = [{ apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements'], verbs: ['*'] }]
await wmw.ok(wmw.post(`${RBAC}/clusterroles`, { metadata: { name: 'places', ...acting }, rules }))
await fleet.letIn('root:wmw1', 'carol', ['view', 'places'])
const carol = fleet.as('carol').in('root:wmw1')
t.teardown(() => carol.close())

const stays = async (): Promise<void> => {
  await fleet.passes(florin)
  if (world.get(florin, 'secrets app/vault')) throw new Error('the Secret was sent')
}

t.test('no change of a placement by an editor sends what the editor may not read', async t => {
  t.equal((await carol.get('/api/v1/namespaces/app/secrets/vault')).code, 403)
  const secrets = { ...maps, resources: ['secrets'] }
  const widened: object[] = [
    { downsync: [maps, secrets] },
    { downsync: [maps, { ...secrets, objectNames: ['vault'] }] },
    { downsync: [{ resources: ['secrets', 'configmaps'] }] },
    { downsync: [{ ...secrets, labelSelectors: [{}] }] },
  ]
  const refused = {
    code: 403,
    body: { reason: 'Forbidden', message: /spec\.downsync\[\d\] places what "carol" may not read/ },
  }
  for (const spec of widened) {
    t.match(await carol.patch(`${PLACEMENTS}/ep`, 'merge', { spec }), refused, JSON.stringify(spec))
    t.match(await carol.post(PLACEMENTS, placement('mine', { ...PROD, ...spec })), refused)
    const apply = { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'EdgePlacement', metadata: { name: 'ep' }, spec }
    const applied = await carol.patch(`${PLACEMENTS}/ep?fieldManager=carol&force=true`, 'apply', apply)
    t.match(applied, refused, 'by apply')
  }
  const one = [{ op: 'add', path: '/spec/downsync/-', value: secrets }]
  t.match(await carol.patch(`${PLACEMENTS}/ep`, 'json', one), refused, 'by JSON patch')
  await stays()
})

t.test('a wide test carries what its editor may read, and no Secret, whoever edits the rest of it', async t => {
  const record = 'edge.kubestellar.io/selected-kinds'
  const wide: object[] = [{ ...maps, resources: ['*'] }, { ...maps, resources: [] }, {}, { namespaces: ['app'] }]
  for (const [i, test] of wide.entries()) {
    await wmw.ok(wmw.post('/api/v1/namespaces/app/configmaps', { metadata: { name: `page-${i}` } }))
    const made = await carol.post(PLACEMENTS, placement('mine', { ...PROD, downsync: [test] }))
    t.match(made, { code: 201, headers: { warning: /it skips .*secrets/ } }, JSON.stringify(test))
    const forged = JSON.stringify([{ tests: [], kinds: ['*', 'secrets'], skipped: [] }])
    for (const value of [null, forged, '', '[]']) {
      const change = { metadata: { annotations: { [record]: value } } }
      t.match(await carol.patch(`${PLACEMENTS}/mine`, 'merge', change), { code: 200 })
    }
    const paused = {
      spec: { paused: false, locationSelectors: [...PROD.locationSelectors, { matchLabels: { env: 'test' } }] },
    }
    await wmw.ok(wmw.patch(`${PLACEMENTS}/mine`, 'merge', paused))
    await world.present(florin, `configmaps app/page-${i}`)
    await stays()
    await world.present(fleet.idOf('root:wmw1'), 'edgeplacements.edge.kubestellar.io mine', ({ status }) =>
      JSON.stringify(status ?? {}).includes('KindsSkipped'),
    )
    t.equal((await carol.delete(`${PLACEMENTS}/mine`)).code, 200)
    await world.absent(fleet.idOf('root:wmw1'), 'edgeplacements.edge.kubestellar.io mine')
  }
})

t.test('nor does lifting the set that holds it back', async t => {
  const refused = { code: 403, body: { message: /may not read/ } }
  t.match(await carol.patch(`${PLACEMENTS}/held`, 'merge', { spec: { upsync: [] } }), refused)
  const others = [{ ...born, names: ['another'] }]
  t.match(await carol.patch(`${PLACEMENTS}/held`, 'merge', { spec: { upsync: others } }), refused)
  await stays()
  t.equal((await carol.patch(`${PLACEMENTS}/held`, 'merge', { spec: { downsync: [maps] } })).code, 200, 'less is fine')
})

t.test('nor do rights that somebody gives themselves', async t => {
  const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ apiGroup: GROUP, kind: 'User', name: 'carol' }]
  for (const metadata of [{ name: 'mine' }, { name: 'mine', ...acting }])
    t.match(await carol.post(`${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects }), { code: 403 })
  t.match(await carol.patch(`${RBAC}/clusterroles/places`, 'merge', { rules: [] }), { code: 403 })
  t.match(await carol.get('/api/v1/namespaces/app/secrets', { 'Impersonate-User': 'system:admin' }), { code: 403 })
  for (const kind of ['inventorybindings', 'grantedlocations', 'singleplacementslices'])
    t.equal((await carol.post(`${EDGE}/${kind}`, { metadata: { name: 'x' } })).code, 403, kind)
})

t.test('who may describe rights and not make them acts on nothing: the label is judged as a creation', async t => {
  const describes = [{ apiGroups: [GROUP], resources: ['clusterrolebindings'], verbs: ['get', 'update', 'patch'] }]
  await wmw.ok(wmw.post(`${RBAC}/clusterroles`, { metadata: { name: 'describes', ...acting }, rules: describes }))
  await fleet.letIn('root:wmw1', 'bob', ['describes'])
  const bob = fleet.as('bob').in('root:wmw1')
  t.teardown(() => bob.close())
  const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: 'view' }
  const subjects = [{ apiGroup: GROUP, kind: 'User', name: 'bob' }]
  await wmw.ok(wmw.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'for-clusters' }, roleRef, subjects }))
  t.equal(
    (await bob.patch(`${RBAC}/clusterrolebindings/for-clusters`, 'merge', { metadata: { annotations: { a: 'b' } } }))
      .code,
    200,
  )
  t.match(await bob.patch(`${RBAC}/clusterrolebindings/for-clusters`, 'merge', { metadata: acting }), {
    code: 403,
    body: { reason: 'Forbidden' },
  })
  t.equal((await bob.get('/api/v1/namespaces/app/configmaps')).code, 403)
})
