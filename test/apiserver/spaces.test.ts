/** Spaces: each behaves as a cluster of its own, from its Workspace's creation to its end, and its creator is its admin. */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import type { Api, WatchEvent } from '../support/api.ts'
import { ALICE, BOB, CONFIGMAPS, configMap, createSpace, startTestServer } from '../support/server.ts'

const { api, server, faults } = await startTestServer(t)
const [alice, bob] = [api.as(ALICE), api.as(BOB)]
t.teardown(() => {
  alice.close()
  bob.close()
})
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const workspace = (name: string) => ({ apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } })
const bind = (by: Api, name: string, role: string, user: string) =>
  by.ok(
    by.post(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }),
  )
/** Deletes a Workspace and waits until it is gone. */
async function remove(by: Api, name: string): Promise<void> {
  const { metadata } = await by.ok(by.get(`${WORKSPACES}/${name}`))
  const watch = await by.watch(
    `${WORKSPACES}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${metadata.resourceVersion}`,
  )
  await by.ok(by.delete(`${WORKSPACES}/${name}`))
  await watch.until(event => event.type === 'DELETED')
  watch.close()
}

t.test('a space is there as soon as its maker is told of it', async t => {
  for (let i = 0; i < 10; i++) {
    await api.ok(api.post(WORKSPACES, workspace(`soon-${i}`)))
    t.equal((await api.in(`root:soon-${i}`).get('/api/v1/namespaces')).code, 200)
  }
})

t.test('a Workspace that merely speaks of an end is no end for the server itself', async t => {
  await createSpace(api, 'speaks')
  const annotations = { deletionTimestamp: 'never' }
  await api.ok(api.patch(`${WORKSPACES}/speaks`, 'merge', { metadata: { annotations } }))
  const inside = embeddedClient({ ...server, component: 'test' }).in('root:speaks')
  const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace: 'default' } }
  t.match(await inside.create(configMaps, object), { metadata: { name: 'made' } })
})

t.test('a new space is a small cluster of its own', async t => {
  const id = await createSpace(api, 'fresh')
  t.match(id, /^[a-z0-9]{16}$/)
  const made = await api.ok(api.get(`${WORKSPACES}/fresh`))
  t.match(made, {
    spec: { cluster: id, URL: `${server.url}/clusters/root:fresh`, type: { name: 'universal' } },
    status: { phase: 'Ready' },
  })
  const space = api.in(id)
  const namespaces = await api.ok(space.get('/api/v1/namespaces'))
  t.strictSame(
    namespaces.items.map(n => n.metadata.name),
    ['default', 'kube-public', 'kube-system'],
  )
  const cluster = await api.ok(space.get('/apis/core.kcp.io/v1alpha1/logicalclusters/cluster'))
  t.match(cluster, {
    metadata: { annotations: { 'kcp.io/path': 'root:fresh', 'kcp.io/cluster': id } },
    status: { phase: 'Ready' },
  })
  t.equal((await space.get('/version')).code, 200)
  t.equal((await space.get('/api')).code, 200)
  t.equal((await space.get(`${RBAC}/clusterroles/cluster-admin`)).code, 200, 'the roles of Kubernetes are there')
})

t.test('what stays on a Workspace may be said in another order', async t => {
  await createSpace(api, 'turned')
  const made = await api.ok(api.get(`${WORKSPACES}/turned`))
  const spec = made.spec as { type: { name: string; path: string } }
  const { name, path } = spec.type
  const put = (type: object) => api.put(`${WORKSPACES}/turned`, { ...made, spec: { ...spec, type } })
  t.same((await api.ok(put({ path, name }))).spec, spec)
  const refused = await put({ path, name: 'other' })
  t.match([refused.code, refused.body.message], [422, /spec\.type: .*field is immutable/])
})

t.test('by path, by id, by path from an id', async t => {
  const parent = await createSpace(api, 'parent')
  const child = await createSpace(api.in(parent), 'child')
  await api.ok(api.in(child).post(CONFIGMAPS, configMap('here', { a: 'b' })))
  for (const name of [child, 'root:parent:child', `${parent}:child`]) {
    const read = await api.ok(api.in(name).get(`${CONFIGMAPS}/here`))
    t.match(read, { data: { a: 'b' }, metadata: { annotations: { 'kcp.io/cluster': child } } }, name)
  }
  t.match(await api.ok(api.in(parent).get(`${WORKSPACES}/child`)), {
    spec: { URL: `${server.url}/clusters/root:parent:child` },
  })
  t.equal((await api.in(parent).get(`${CONFIGMAPS}/here`)).code, 404, 'nothing is inherited')
  t.equal((await api.get('/clusters/root/api/v1/namespaces/default')).code, 200)
  t.strictSame(
    (await api.get('/api/v1/namespaces/default')).text,
    (await api.get('/clusters/root/api/v1/namespaces/default')).text,
    'without a prefix it is the root',
  )
})

t.test('siblings do not meet', async t => {
  const [one, two] = [api.in(await createSpace(api, 'left')), api.in(await createSpace(api, 'right'))]
  await api.ok(one.post(CONFIGMAPS, configMap('same', { from: 'left' })))
  await api.ok(two.post(CONFIGMAPS, configMap('same', { from: 'right' })))
  await api.ok(one.patch(`${CONFIGMAPS}/same`, 'merge', { data: { more: 'left' } }))
  t.strictSame((await api.ok(two.get(`${CONFIGMAPS}/same`))).data, { from: 'right' })
  await api.ok(one.delete(`${CONFIGMAPS}/same`))
  t.equal((await two.get(`${CONFIGMAPS}/same`)).code, 200)
  const uids = await Promise.all(
    [one, two].map(async space => (await api.ok(space.get('/api/v1/namespaces/default'))).metadata.uid),
  )
  t.not(uids[0], uids[1])
})

t.test('what a space is cannot be changed', async t => {
  for (const spec of [{ cluster: 'other' }, { URL: 'https://elsewhere' }, { type: { name: 'other', path: 'root' } }]) {
    const answer = await api.patch(`${WORKSPACES}/fresh`, 'merge', { spec })
    t.match(answer, { code: 422, body: { reason: 'Invalid', message: /field is immutable/ } })
  }
  t.equal((await api.post(WORKSPACES, workspace('Bad'))).code, 422)
  t.equal((await api.post(WORKSPACES, workspace('a.b'))).code, 422, 'its name is a part of a path: no dots')
  t.equal((await api.post(WORKSPACES, workspace('fresh'))).code, 409)
})

t.test('the creator of a space is its admin, others are strangers', async t => {
  t.equal((await alice.post(WORKSPACES, workspace('hers'))).code, 403)
  await bind(api, 'workspace-makers', 'cluster-admin', 'alice')
  await createSpace(alice, 'hers')
  const [hers, his] = [alice.in('root:hers'), bob.in('root:hers')]
  await alice.ok(hers.post(CONFIGMAPS, configMap('secret')))
  t.match(await his.get(`${CONFIGMAPS}/secret`), { code: 403, body: { message: /workspace access not permitted/ } })
  await bind(hers, 'bob-enters', 'system:kcp:workspace:access', 'bob')
  const denied = await his.get(`${CONFIGMAPS}/secret`)
  t.equal(denied.code, 403)
  t.match(
    denied.body.message,
    'configmaps "secret" is forbidden: User "bob" cannot get resource "configmaps" in API group "" in the namespace "default"',
    'who is in but may not is told what',
  )
  await bind(hers, 'bob-views', 'view', 'bob')
  t.equal((await his.get(`${CONFIGMAPS}/secret`)).code, 200, 'rights count at once')
  t.equal((await his.delete(`${CONFIGMAPS}/secret`)).code, 403)
  await alice.ok(hers.delete(`${RBAC}/clusterrolebindings/bob-views`))
  t.equal((await his.get(`${CONFIGMAPS}/secret`)).code, 403, 'and so does their end')
  const more = await his.post(`${RBAC}/clusterrolebindings`, {
    metadata: { name: 'x' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  })
  t.equal(more.code, 403)
})

t.test('a ServiceAccount is at home in its own space only', async t => {
  const [home, away] = [await createSpace(api, 'home'), await createSpace(api, 'away')]
  for (const id of [home, away]) {
    const space = api.in(id)
    await api.ok(space.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } }))
    await api.ok(
      space.post(`${RBAC}/clusterrolebindings`, {
        metadata: { name: 'robots' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
      }),
    )
  }
  const answer = await api.ok(api.in(home).post('/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} }))
  const { token } = answer.status as { token: string }
  const robot = api.as(token)
  t.equal((await robot.in(home).get(CONFIGMAPS)).code, 200)
  t.equal((await robot.get(CONFIGMAPS)).code, 200, 'without a prefix its own space is meant')
  const stranger = await robot.in(away).get(CONFIGMAPS)
  t.equal(stranger.code, 403, 'a namesake in another space is somebody else')
  robot.close()
})

t.test('a deleted space takes everything along', async t => {
  const parent = await createSpace(api, 'doomed')
  const child = await createSpace(api.in(parent), 'below')
  for (const id of [parent, child]) {
    const text = Array.from({ length: 30 }, (_, i) =>
      api.in(id).post(CONFIGMAPS, configMap(`c-${i}`, {}, { finalizers: ['x.io/held'] })),
    )
    await Promise.all(text.map(answer => api.ok(answer)))
  }
  t.ok((await server.store.count({ space: child })) > 30)
  const watches = await Promise.all(
    [parent, child].flatMap(id => [
      api.in(id).watch(`/api/v1/configmaps?watch=1&resourceVersion=${server.store.revision}`),
      api.watch(`/services/stream/clusters/${id}?resourceVersion=${server.store.revision}`),
    ]),
  )
  await remove(api, 'doomed')
  for (const id of [parent, child]) t.equal(await server.store.count({ space: id }), 0, 'nothing of it is left')
  for (const watch of watches)
    t.ok(
      (await watch.rest()).some(e => e.type === 'DELETED'),
      'watches see the end, then end',
    )
  for (const name of [parent, child, 'root:doomed', 'root:doomed:below'])
    t.equal((await api.in(name).get('/api/v1/namespaces')).code, 404, name)
  const again = await createSpace(api, 'doomed')
  t.not(again, parent, 'a new space of the same name is another one')
  t.equal((await api.in('root:doomed').get(`${CONFIGMAPS}/c-1`)).code, 404)
})

t.test('a space stream: a snapshot, a mark, then every change of the space', async t => {
  const id = await createSpace(api, 'streamed')
  const space = api.in(id)
  await api.ok(space.post(CONFIGMAPS, configMap('before', { a: 'b' })))
  const stream = await api.watch(`/services/stream/clusters/${id}`)
  const snapshot = await stream.until(event => event.type === 'BOOKMARK')
  const mark = snapshot.pop()!
  t.match(mark, { type: 'BOOKMARK', synced: true, revision: Number })
  t.ok(snapshot.every(event => event.type === 'ADDED' && event.space === id))
  t.match(
    snapshot.find(event => event.name === 'before'),
    {
      group: '',
      version: 'v1',
      resource: 'configmaps',
      namespace: 'default',
      object: { kind: 'ConfigMap', data: { a: 'b' } },
    },
  )
  t.ok(
    snapshot.some(event => event.resource === 'namespaces'),
    'all kinds',
  )
  await api.ok(space.post(CONFIGMAPS, configMap('live')))
  await api.ok(api.post(CONFIGMAPS, configMap('elsewhere')))
  await api.ok(space.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'live' } }))
  await api.ok(space.delete(`${CONFIGMAPS}/live`))
  const short = (e: WatchEvent) => `${e.type} ${e.resource} ${e.name}`
  const live = await stream.take(3)
  t.strictSame(live.map(short), ['ADDED configmaps live', 'ADDED secrets live', 'DELETED configmaps live'])
  stream.close()
  const resumed = await api.watch(`/services/stream/clusters/root:streamed?resourceVersion=${live[0]!.revision}`)
  const [bookmark] = await resumed.take(1)
  t.match(
    bookmark,
    { type: 'BOOKMARK', revision: live[0]!.revision, epoch: String },
    'it says in which life of the store',
  )
  t.strictSame(await resumed.take(2), live.slice(1), 'from its cursor it goes on, to the byte')
  resumed.close()
  const some = await api.watch(`/services/stream/clusters/${id}?resources=secrets,deployments.apps`)
  const chosen = await some.until(event => event.type === 'BOOKMARK')
  t.strictSame(chosen.map(short), ['ADDED secrets live', 'BOOKMARK undefined undefined'])
  some.close()
  await t.rejects(bob.watch(`/services/stream/clusters/${id}`), { message: /403/ })
})

t.test('a restart forgets nothing', async t => {
  const first = await startTestServer(t)
  const id = await createSpace(first.api, 'kept')
  const space = first.api.in(id)
  const made = await first.api.ok(space.post(CONFIGMAPS, configMap('kept', { a: '1' })))
  const changed = await first.api.ok(space.patch(`${CONFIGMAPS}/kept`, 'merge', { data: { a: '2' } }))
  const open = await space.watch(`${CONFIGMAPS}?watch=1&resourceVersion=${changed.metadata.resourceVersion}`)
  const second = await first.restart()
  t.strictSame(await open.rest(), [], 'a server that stops ends its watches')
  const again = second.api.in('root:kept')
  t.strictSame(await second.api.ok(again.get(`${CONFIGMAPS}/kept`)), changed as KubeObject)
  const next = await second.api.ok(again.patch(`${CONFIGMAPS}/kept`, 'merge', { data: { a: '3' } }))
  t.ok(Number(next.metadata.resourceVersion) > Number(changed.metadata.resourceVersion), 'versions go on rising')
  const watch = await again.watch(`${CONFIGMAPS}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
  t.strictSame(
    (await watch.take(2)).map(e => e.object),
    [changed, next] as KubeObject[],
    'a watch from before goes on',
  )
  watch.close()
  t.equal(second.server.tree.get(id)?.path, 'root:kept')
  t.strictSame([...first.faults, ...second.faults], [])
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
