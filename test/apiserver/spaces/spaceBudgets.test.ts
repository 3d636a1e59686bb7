/** Budgets of spaces: what would pass them is refused with words, everything else goes on, and nobody escapes by children. */
import t from 'tap'
import type { BudgetDocument } from '../../../src/apiserver/spaces/budgetDocument.ts'
import {
  BUDGET_ANNOTATIONS,
  DEFAULT_SPACE_BYTES,
  DEFAULT_SPACE_OBJECTS,
  DEFAULT_SYNC_TARGETS,
  MAILBOX_OVERHEAD_BYTES,
  MAILBOX_OVERHEAD_OBJECTS,
  weightOf,
} from '../../../src/placement/spaces/spaceBudget.ts'
import type { Api } from '../../support/api.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'

const { objects: OBJECTS, bytes: BYTES, syncTargets: SYNC_TARGETS } = BUDGET_ANNOTATIONS
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const TARGETS = `${EDGE}/synctargets`
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'

const started = await startTestServer(t)
const { api } = started
const alice = api.as(ALICE)
t.teardown(() => alice.close())

const budget = async (of: Api) => (await of.ok(of.get('/budget'))) as unknown as BudgetDocument
const used = async (path: string) => (await budget(api.in(path))).used
/** Gives a space room for so many more objects, and bytes. */
async function allow(name: string, more: { objects?: number; bytes?: number }): Promise<void> {
  const now = await used(`root:${name}`)
  const annotations = {
    ...(more.objects !== undefined && { [OBJECTS]: `${now.objects + more.objects}` }),
    ...(more.bytes !== undefined && { [BYTES]: `${now.bytes + more.bytes}` }),
  }
  await api.ok(api.patch(`${WORKSPACES}/${name}`, 'merge', { metadata: { annotations } }))
}
/** All that is stored of a space. */
async function recount(id: string): Promise<{ objects: number; bytes: number }> {
  const { items } = await started.server.store.list({ space: id })
  return {
    objects: items.length,
    bytes: items.reduce((sum, { bytes, note = '' }) => sum + bytes.length + note.length, 0),
  }
}

t.test('what would pass the objects of a space is refused; all that does not grow goes on', async t => {
  const id = await createSpace(api, 'few')
  await allow('few', { objects: 1 })
  const few = api.in('root:few')
  t.equal((await few.post(CONFIGMAPS, configMap('one'))).code, 201)
  const { objects } = await used('root:few')
  const refused = await few.post(CONFIGMAPS, configMap('two'))
  t.match(refused, {
    code: 403,
    body: {
      reason: 'Forbidden',
      message: `configmaps "two" is forbidden: exceeded budget of space root:few: requested: objects=1, used: objects=${objects}, limited: objects=${objects}; delete objects in it or in the spaces below it, or ask who may update its Workspace for more (annotation ${OBJECTS})`,
      details: { name: 'two', kind: 'configmaps', causes: [{ reason: 'BudgetExceeded', field: 'objects' }] },
    },
  })
  t.equal((await few.put(`${CONFIGMAPS}/one`, configMap('one', { longer: 'than before' }))).code, 200)
  t.equal((await few.get(CONFIGMAPS)).code, 200)
  t.equal((await few.post(`${CONFIGMAPS}?dryRun=All`, configMap('dry'))).code, 201, 'what is not written needs no room')
  await few.ok(few.delete(`${CONFIGMAPS}/one`))
  t.equal((await few.post(CONFIGMAPS, configMap('two'))).code, 201)
  t.match(await used('root:few'), await recount(id))
})

t.test(
  'bytes are bounded too; what an update may add ends soon behind the limit, and removal always goes on',
  async t => {
    await createSpace(api, 'light')
    const light = api.in('root:light')
    await allow('light', { bytes: 60_000 })
    const kib = (count: number) => ({ text: 'x'.repeat(count * 1024) })
    const held = { ...configMap('held', kib(50)), metadata: { name: 'held', finalizers: ['example.com/mine'] } }
    t.equal((await light.post(CONFIGMAPS, held)).code, 201)
    const big = await light.post(CONFIGMAPS, configMap('big', kib(20)))
    t.match(big, { code: 403, body: { details: { causes: [{ field: 'bytes' }] } } })
    t.match(big.body.message, /requested: bytes=\d+, used: bytes=\d+, limited: bytes=\d+;/)
    t.match(await light.patch(`${CONFIGMAPS}/held`, 'merge', { data: kib(400) }), { code: 403 })
    await api.ok(api.patch(`${WORKSPACES}/light`, 'merge', { metadata: { annotations: { [BYTES]: '0' } } }))
    t.equal((await light.patch(`${CONFIGMAPS}/held`, 'merge', { data: kib(51) })).code, 403, 'no reserve of nothing')
    t.equal((await light.patch(`${CONFIGMAPS}/held`, 'merge', { data: kib(40) })).code, 200, 'what shrinks is taken')
    t.match(await light.delete(`${CONFIGMAPS}/held`), { code: 200, body: { metadata: { deletionTimestamp: String } } })
    t.equal((await light.patch(`${CONFIGMAPS}/held`, 'merge', { metadata: { finalizers: null } })).code, 200)
    t.equal((await light.get(`${CONFIGMAPS}/held`)).code, 404)
  },
)

t.test('children count in all spaces above them, and as spaces', async t => {
  await createSpace(api, 'parent')
  const parent = api.in('root:parent')
  const before = await used('root:parent')
  const child = await createSpace(parent, 'child')
  const after = await used('root:parent')
  t.ok(after.bytes - before.bytes > 20 * 1024, 'a space costs something by itself')
  const inChild = await recount(child)
  t.equal(after.objects - before.objects, inChild.objects + 1)
  await allow('parent', { objects: 1 })
  const annotations = { [OBJECTS]: '1M' }
  await parent.ok(parent.patch(`${WORKSPACES}/child`, 'merge', { metadata: { annotations } }))
  const below = api.in('root:parent:child')
  t.equal((await below.post(CONFIGMAPS, configMap('a'))).code, 201)
  const refused = await below.post(CONFIGMAPS, configMap('b'))
  t.match(refused.body.message, /exceeded budget of space root:parent: requested: objects=1, limited: objects=\d+;/)
  t.equal((await parent.post(CONFIGMAPS, configMap('c'))).code, 403)
  t.match(await parent.post(WORKSPACES, { metadata: { name: 'more' } }), { code: 403 })
  const gone = await parent.watch(`${WORKSPACES}?watch=1&fieldSelector=metadata.name=child`)
  await parent.ok(parent.delete(`${WORKSPACES}/child`))
  await gone.until(event => event.type === 'DELETED')
  gone.close()
  t.same(await used('root:parent'), before)
  t.equal((await parent.post(CONFIGMAPS, configMap('c'))).code, 201)
})

t.test('a definition counts four times, as its kinds cost more than their text', async t => {
  const id = await createSpace(api, 'defining')
  const defining = api.in('root:defining')
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const crd = (plural: string, description: string) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind: plural[0]!.toUpperCase() + plural.slice(1) },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', description } } },
      ],
    },
  })
  const before = (await used('root:defining')).bytes
  await defining.ok(defining.post(crds, crd('ones', 'x'.repeat(100_000))))
  const after = (await used('root:defining')).bytes - before
  t.ok(after > 400_000 && after < 420_000, `${after}`)
  await allow('defining', { bytes: 350_000 })
  t.match(await defining.post(crds, crd('twos', 'x'.repeat(100_000))), {
    code: 403,
    body: { message: /exceeded budget/ },
  })
  await defining.ok(defining.delete(`${crds}/ones.example.com`))
  const left = async () =>
    (
      await started.server.store.list({
        space: id,
        group: 'apiextensions.k8s.io',
        resource: 'customresourcedefinitions',
      })
    ).items
  while ((await left()).length > 0) await new Promise(resolve => setImmediate(resolve))
  t.match(await used('root:defining'), await recount(id), 'all of it is free again')
})

const target = (name: string, labels = {}) => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'SyncTarget',
  metadata: { name, labels },
  spec: {},
})

t.test('a SyncTarget counts with its mailbox, in its space and in those above, and a space has so many', async t => {
  await createSpace(api, 'fleet')
  const fleet = api.in('root:fleet')
  const id = await createSpace(fleet, 'one', 'inventory')
  await createSpace(fleet, 'two', 'inventory')
  const [one, two] = [api.in('root:fleet:one'), api.in('root:fleet:two')]
  const before = { one: await used('root:fleet:one'), fleet: await used('root:fleet') }
  await one.ok(one.post(TARGETS, target('a')))
  await one.ok(one.patch(`${TARGETS}/b?fieldManager=t`, 'apply', target('b')))
  await two.ok(two.post(TARGETS, target('c')))
  for (const [path, was, count] of [
    ['root:fleet:one', before.one, 2],
    ['root:fleet', before.fleet, 3],
  ] as const) {
    const now = await used(path)
    t.equal(now.syncTargets, count)
    t.equal(now.objects - was.objects, count * (1 + MAILBOX_OVERHEAD_OBJECTS))
    const texts = now.bytes - was.bytes - count * MAILBOX_OVERHEAD_BYTES
    t.ok(texts > 0 && texts < count * 2000, `${texts}`)
  }
  await api.ok(api.patch(`${WORKSPACES}/fleet`, 'merge', { metadata: { annotations: { [SYNC_TARGETS]: '3' } } }))
  const refusal = `exceeded budget of space root:fleet: requested: syncTargets=1, limited: syncTargets=3; delete SyncTargets in it or in the spaces below it, or ask who may update its Workspace for more (annotation ${SYNC_TARGETS})`
  t.match(await two.post(TARGETS, target('d')), {
    code: 403,
    body: { reason: 'Forbidden', message: `synctargets.edge.kubestellar.io "d" is forbidden: ${refusal}` },
  })
  t.match(await one.patch(`${TARGETS}/d?fieldManager=t`, 'apply', target('d')), { code: 403 })
  t.equal((await one.post(CONFIGMAPS, configMap('a'))).code, 201, 'anything else goes on')
  await two.ok(two.delete(`${TARGETS}/c`))
  t.equal((await one.post(TARGETS, target('d'))).code, 201)
  await one.ok(one.delete(`${TARGETS}/d`))
  t.match(await used('root:fleet:one'), { syncTargets: 2 })
  const { objects } = await recount(id)
  t.equal((await used('root:fleet:one')).objects, objects + 2 * MAILBOX_OVERHEAD_OBJECTS, 'all of it is free again')
})

t.test('SyncTargets of a space that has more than it may are updated all the same', async t => {
  await createSpace(api, 'older', 'inventory')
  const older = api.in('root:older')
  await older.ok(older.post(TARGETS, target('a')))
  await older.ok(older.post(CONFIGMAPS, configMap('a')))
  const annotations = { [OBJECTS]: '1', [BYTES]: '1', [SYNC_TARGETS]: '1' }
  await api.ok(api.patch(`${WORKSPACES}/older`, 'merge', { metadata: { annotations } }))
  const condition = { type: 'Ready', status: 'True', reason: 'SyncerAlive', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const status = { conditions: [{ ...condition, message: 'x'.repeat(500) }] }
  t.equal((await older.patch(`${TARGETS}/a/status`, 'merge', { status })).code, 200)
  t.equal((await older.patch(`${TARGETS}/a`, 'merge', { metadata: { labels: { env: 'prod' } } })).code, 200)
  const large = { metadata: { annotations: { large: 'x'.repeat(40_000) } } }
  const some = { metadata: { annotations: { some: 'x'.repeat(20_000) } } }
  t.equal((await older.patch(`${TARGETS}/a`, 'merge', some)).code, 200, 'a cluster with hundreds of kinds')
  t.match(await older.patch(`${TARGETS}/a`, 'merge', large), { code: 403 }, 'which is no way to store more')
  t.match(await older.patch(`${CONFIGMAPS}/a`, 'merge', { data: { longer: 'than before' } }), { code: 403 })
  await older.ok(older.delete(`${TARGETS}/a`))
})

t.test('ten thousand clusters, each with a Location, find room by default', async t => {
  const clusters = 10_000
  const [cluster, location] = ['synctargets', 'locations'].map(resource =>
    weightOf({ group: 'edge.kubestellar.io', resource }),
  )
  t.ok(clusters < DEFAULT_SYNC_TARGETS)
  t.ok(clusters * (2 + cluster!.objects + location!.objects) < DEFAULT_SPACE_OBJECTS)
  t.ok(clusters * (cluster!.bytes + 2048 * (cluster!.times + location!.times)) < DEFAULT_SPACE_BYTES)
})

t.test('what is kept compiled counts as often as that takes its text', async t => {
  await createSpace(api, 'compiled')
  const compiled = api.in('root:compiled')
  const selector = { matchLabels: { id: 'x'.repeat(60) } }
  const spec = { resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' } }
  const values = Array.from({ length: 500 }, (_, i) => `v${i}`)
  const tests = values.map(name => ({ apiGroup: '', resources: ['configmaps'], objectNames: [name] }))
  const instanceSelector = { matchExpressions: [{ key: 'id', operator: 'In', values }] }
  const hard = Object.fromEntries(values.map(value => [`count/${value}.example.com`, '1']))
  const made = [
    [9, `${EDGE}/edgeplacements`, { spec: { locationSelectors: [selector], downsync: tests } }],
    [9, `${EDGE}/locations`, { spec: { ...spec, instanceSelector } }],
    [4, '/api/v1/namespaces/default/resourcequotas', { spec: { hard } }],
  ] as const
  for (const [times, path, object] of made) {
    const before = (await used('root:compiled')).bytes
    const answer = await compiled.ok(compiled.post(path, { metadata: { name: 'a' }, ...object }))
    const ratio = ((await used('root:compiled')).bytes - before) / JSON.stringify(answer).length
    t.ok(ratio > times * 0.9 && ratio < times * 1.2, `${path}: ${ratio}`)
  }
  await allow('compiled', { bytes: 40_000 })
  const refused = await compiled.post(`${EDGE}/edgeplacements`, { metadata: { name: 'b' }, ...made[0][2] })
  t.match(refused, { code: 403, body: { message: /exceeded budget of space root:compiled: requested: bytes=/ } })
  await compiled.ok(compiled.delete(`${EDGE}/locations/a`))
})

t.test('a new space that finds no room for its first content says so, and is made when there is', async t => {
  await createSpace(api, 'narrow')
  await allow('narrow', { objects: 3 })
  const narrow = api.in('root:narrow')
  const made = await narrow.ok(narrow.post(WORKSPACES, { metadata: { name: 'child' } }))
  const watch = await narrow.watch(`${WORKSPACES}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
  const told = await watch.until(({ object }) => JSON.stringify(object).includes('exceeded budget'))
  t.match(JSON.stringify(told.at(-1)?.object.status), /exceeded budget of space root:narrow/)
  await api.ok(api.patch(`${WORKSPACES}/narrow`, 'merge', { metadata: { annotations: { [OBJECTS]: null } } }))
  await watch.until(({ object }) => (object.status as { phase: string }).phase === 'Ready')
  watch.close()
})

t.test('only who may update Workspaces above sets a budget, as a whole number', async t => {
  const asked = (name: string, value: string) => ({ metadata: { name, annotations: { [OBJECTS]: value } } })
  for (const value of ['many', '1.5', '-1', '']) {
    const answer = await api.post(WORKSPACES, asked('bad', value))
    t.match(
      answer,
      { code: 422, body: { details: { causes: [{ field: `metadata.annotations[${OBJECTS}]` }] } } },
      value,
    )
  }
  await createSpace(api, 'hers')
  const hers = api.in('root:hers')
  const RBAC = '/apis/rbac.authorization.k8s.io/v1'
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'makers' }
  const rules = [
    { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['create', 'get', 'list', 'watch'] },
  ]
  await hers.ok(hers.post(`${RBAC}/clusterroles`, { metadata: { name: 'makers' }, rules }))
  await hers.ok(hers.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'makers' }, roleRef, subjects }))
  const access = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kcp:workspace:access' }
  await hers.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'access' }, roleRef: access, subjects })
  const asAlice = alice.in('root:hers')
  const refused = await asAlice.post(WORKSPACES, asked('greedy', '1G'))
  t.match(refused, { code: 403, body: { message: /only who may update Workspaces in this space sets budgets/ } })
  await createSpace(asAlice, 'modest')
  t.equal((await asAlice.patch(`${WORKSPACES}/modest`, 'merge', asked('modest', '1G'))).code, 403)
})

t.test('a restart counts the same, and the limits of the root are the server’s', async t => {
  const before = await budget(api)
  t.match(before, { kind: 'SpaceBudget', path: 'root' })
  t.strictSame(Object.keys(before.limits), ['objects', 'spaces'])
  const again = await started.restart()
  const after = await budget(again.api)
  t.same(after.children, before.children)
  t.same(after.limits, before.limits)
  const workload = after.children.find(({ name }) => name === 'wmw1')
  t.match(workload, { limits: { objects: DEFAULT_SPACE_OBJECTS } })
  const { text } = await again.api.get('/metrics')
  t.match(text, /orrery_space_budget_used_ratio\{space="[a-z0-9]{16}"\}/)
  t.same(again.faults, [])
})
