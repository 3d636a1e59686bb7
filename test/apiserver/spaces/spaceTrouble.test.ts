// Users' view of spaces in trouble; the owner annotation cannot cause such trouble.
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const { api, server, faults } = await startTestServer(t)
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const OWNER = 'experimental.tenancy.kcp.io/owner'
const workspace = (name: string, annotations: Record<string, string> = {}) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name, annotations },
})
const admin = '{"username":"orrery-admin"'

t.test('who waits for a space that cannot be made reads why, and gets it when it can', async t => {
  const { registry } = server.services
  const create = registry.create.bind(registry)
  let broken = true
  registry.create = async (context, type, namespace, object) => {
    // the first spaces may still be on their way
    const isWanted = server.tree.pathOf(context.space) === 'root:wanted'
    if (broken && isWanted && type.kind === 'LogicalCluster')
      throw statusError.forbidden(type, 'cluster', 'there is no room')
    return await create(context, type, namespace, object)
  }
  const made = await api.ok(api.post(WORKSPACES, workspace('wanted')))
  const query = `${WORKSPACES}?watch=1&fieldSelector=metadata.name=wanted&resourceVersion=${made.metadata.resourceVersion}`
  const watch = await api.watch(query)
  const [told] = await watch.take(1)
  t.match(told?.object.status, {
    phase: 'Scheduling',
    conditions: [
      { type: 'WorkspaceInitialized', status: 'False', reason: 'ProvisioningFailed', message: /there is no room/ },
    ],
  })
  broken = false
  const [ready] = (await watch.until(({ object }) => (object.status as { phase?: string }).phase === 'Ready')).slice(-1)
  t.match(ready?.object.status, { conditions: [{ type: 'WorkspaceInitialized', status: 'True' }] })
  watch.close()
  registry.create = create
  t.equal((await api.in('root:wanted').get('/api/v1/namespaces/default')).code, 200)
  t.equal(faults.length, 1)
  t.match(faults.splice(0), [
    /^a space could not be brought to its wanted state; it is tried again: .*there is no room/,
  ])
})

t.test('no user can write an owner that cannot be read', async t => {
  const stored = async (name: string) => (await api.ok(api.get(`${WORKSPACES}/${name}`))).metadata.annotations?.[OWNER]
  const own = { username: 'someone', groups: [] }
  for (const [name, text] of Object.entries({
    broken: '{"username":',
    empty: '',
    list: '[]',
    other: JSON.stringify(own),
  })) {
    await api.ok(api.post(WORKSPACES, workspace(name, { [OWNER]: text })))
    await createReady(name)
    t.match(await stored(name), admin, `${name} at creation`)
  }
  const path = `${WORKSPACES}/broken`
  const before = await stored('broken')
  const bad = { metadata: { annotations: { [OWNER]: '{' } } }
  await api.patch(path, 'merge', bad)
  await api.patch(path, 'merge', { metadata: { annotations: { [OWNER]: null } } })
  await api.patch(path, 'merge', { metadata: { annotations: null } })
  await api.patch(`${path}/status`, 'merge', { ...bad, status: { phase: 'Initializing' } })
  await api.patch(path, 'json', [{ op: 'replace', path: '/metadata/annotations', value: { [OWNER]: '{' } }])
  await api.patch(`${path}?fieldManager=x&force=true`, 'apply', workspace('broken', { [OWNER]: '{' }))
  const current = await api.ok(api.get(path))
  for (const at of [path, `${path}/status`]) {
    const { metadata } = await api.ok(api.get(path))
    await api.put(at, { ...current, metadata: { ...metadata, annotations: { [OWNER]: '{' } } })
  }
  t.equal(await stored('broken'), before)
  await createReady('broken')
  await createSpace(api, 'afterwards')
})

t.test('no user can have a Workspace go while its space is full', async t => {
  const id = await createSpace(api, 'full')
  const { store } = server
  const path = `${WORKSPACES}/full`
  await api.ok(api.patch(path, 'merge', { metadata: { finalizers: ['example.com/mine'] } }))
  await api.ok(api.patch(path, 'merge', { metadata: { finalizers: null } }))
  const before = await api.ok(api.get(path))
  t.strictSame(before.metadata.finalizers, ['core.kcp.io/logicalcluster'])
  await api.ok(api.put(path, { ...before, metadata: { ...before.metadata, finalizers: [] } }))
  const { resourceVersion } = (await api.ok(api.get(WORKSPACES))).metadata
  const watch = await api.watch(`${WORKSPACES}?watch=1&resourceVersion=${resourceVersion}`)
  await api.ok(api.delete(path))
  await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'full')
  watch.close()
  t.equal(await store.count({ space: id }), 0)
})

t.test('what was on its way when its space ended is refused, and nothing of it stays', async t => {
  const id = await createSpace(api, 'ending')
  const { store } = server
  const get = store.get.bind(store)
  const arrived = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  store.get = async key => {
    const found = await get(key)
    if (key.space === id && key.resource === 'namespaces') {
      arrived.resolve()
      await goesOn.promise
    }
    return found
  }
  const late = api.in(id).post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'late' } })
  await arrived.promise
  const { resourceVersion } = (await api.ok(api.get(WORKSPACES))).metadata
  const watch = await api.watch(`${WORKSPACES}?watch=1&resourceVersion=${resourceVersion}`)
  await api.ok(api.delete(`${WORKSPACES}/ending`))
  await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'ending')
  watch.close()
  goesOn.resolve()
  store.get = get
  t.match(await late, { code: 403, body: { message: /"late" is forbidden: .*it is being deleted/ } })
  t.equal(await store.count({ space: id }), 0)
})

/** Waits until the Workspace, which is there, is Ready. */
async function createReady(name: string): Promise<void> {
  const watch = await api.watch(`${WORKSPACES}?watch=1&fieldSelector=metadata.name=${name}`)
  await watch.until(({ object }) => (object.status as { phase?: string }).phase === 'Ready')
  watch.close()
}

t.test('nothing else of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
