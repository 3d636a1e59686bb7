/** In a mailbox what is on its way to a cluster is inert, and only the center writes more of it than its status. */
import t from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { systemContext } from '../../../src/apiserver/registry/context.ts'
import type { Api } from '../../support/api.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'

const { api, server, faults } = await startTestServer(t)
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const PROJECTED = { 'edge.kubestellar.io/projected': 'yes' }
const toAdmin = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
const alice = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
const binding = (name: string, metadata: object): object => ({
  metadata: { name, ...metadata },
  roleRef: toAdmin,
  subjects: alice,
})
let mailboxes = 0
/** A new mailbox: its id, and its API for the administrator of the server. */
async function mailbox(): Promise<{ id: string; space: Api }> {
  const name = `abc123-mb-${String(++mailboxes).padStart(8, '0')}-89ab-cdef-0123-456789abcdef`
  const id = await createSpace(api.in('root:espw'), name)
  return { id, space: api.in(id) }
}

t.test('copies of bindings and accounts give nobody anything, nor does what a cluster reports', async t => {
  const { space, id } = await mailbox()
  const natured = { ...PROJECTED, 'edge.kubestellar.io/natured': 'true' }
  const upsynced = { 'edge.kubestellar.io/upsynced': 'ClusterRoleBinding//up' }
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('down', { labels: PROJECTED })))
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('natured', { labels: natured })))
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('up', { annotations: upsynced })))
  t.equal((await api.as(ALICE).in(id).get(CONFIGMAPS)).code, 403)
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'robot', labels: PROJECTED } }))
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  t.equal((await space.post(`${ACCOUNTS}/robot/token`, request)).code, 403)
  // what the center makes for the mailbox itself
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('own', {})))
  t.equal((await api.as(ALICE).in(id).get(CONFIGMAPS)).code, 200)
})

t.test('a copy of a Secret is given no token of the mailbox, and one that it was given is taken back', async t => {
  const { space, id } = await mailbox()
  const SECRETS = '/api/v1/namespaces/default/secrets'
  const type = 'kubernetes.io/service-account-token'
  const metadata = (name: string, more: object) => ({
    metadata: { name, annotations: { 'kubernetes.io/service-account.name': 'robot' }, ...more },
    type,
  })
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'robot' } }))
  const watch = await space.watch(`${SECRETS}?watch=1`)
  const until = async (name: string, filled: boolean): Promise<KubeObject> => {
    for (;;) {
      const { object } = (await watch.next())!
      if (object.metadata.name === name && isRecord(object.data) && 'token' in object.data === filled) return object
    }
  }
  await api.ok(space.post(SECRETS, metadata('own', {})))
  const { data } = await until('own', true)
  await api.ok(space.post(SECRETS, metadata('copy', { labels: PROJECTED })))
  // Secrets are looked at in the order of their making
  await api.ok(space.post(SECRETS, metadata('later', {})))
  await until('later', true)
  t.equal((await space.get(`${SECRETS}/copy`)).body.data, undefined)

  const { token } = data as { token: string }
  const bearer = api.as(Buffer.from(token, 'base64').toString()).in(id)
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('own', {})))
  await api.ok(space.patch(`${SECRETS}/own`, 'merge', { metadata: { labels: PROJECTED } }))
  await until('own', false)
  t.equal((await bearer.get(CONFIGMAPS)).code, 401)
  watch.close()
})

t.test('whoever has all rights in a mailbox writes the status of copies and nothing else of them', async t => {
  const { space, id } = await mailbox()
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('own', {})))
  const syncer = api.as(ALICE).in(id)
  const containers = [{ name: 'c', image: 'i' }]
  const labels = { app: 'web' }
  const spec = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  }
  await api.ok(space.post(DEPLOYMENTS, { metadata: { name: 'web', labels: PROJECTED }, spec }))
  await api.ok(space.post(CONFIGMAPS, configMap('page', { x: '1' }, { labels: PROJECTED })))
  const readOnly =
    /is a copy on its way to a cluster, so only its status can be written; change the object in its workload space/
  const refused = { code: 403, body: { reason: 'Forbidden', message: readOnly } }
  t.equal((await syncer.patch(`${DEPLOYMENTS}/web/status`, 'merge', { status: { replicas: 1 } })).code, 200)
  t.match((await space.get(`${DEPLOYMENTS}/web`)).body.status, { replicas: 1 })
  t.match(await syncer.patch(`${DEPLOYMENTS}/web`, 'merge', { spec: { replicas: 2 } }), refused)
  t.match(await syncer.patch(`${DEPLOYMENTS}/web/scale`, 'merge', { spec: { replicas: 2 } }), refused)
  t.match(await syncer.patch(`${CONFIGMAPS}/page`, 'merge', { data: { x: '2' } }), refused)
  const unlabelled = { metadata: { labels: { 'edge.kubestellar.io/projected': null } } }
  t.match(await syncer.patch(`${CONFIGMAPS}/page`, 'merge', unlabelled), refused)
  t.match(await syncer.patch(`${DEPLOYMENTS}/web/status`, 'merge', { metadata: { annotations: { a: 'b' } } }), refused)
  t.match(await syncer.delete(`${CONFIGMAPS}/page`), refused)
  t.match(await syncer.delete(CONFIGMAPS), refused)
  const mark =
    /only the center labels objects of a mailbox edge[.]kubestellar[.]io.projected: "yes"; leave the label out/
  t.match(await syncer.post(CONFIGMAPS, configMap('forged', {}, { labels: PROJECTED })), {
    code: 403,
    body: { message: mark },
  })
  t.equal((await syncer.post(CONFIGMAPS, configMap('reported'))).code, 201)
  t.match(await syncer.patch(`${CONFIGMAPS}/reported`, 'merge', { metadata: { labels: PROJECTED } }), {
    code: 403,
    body: { message: mark },
  })
  t.equal((await syncer.delete(`${CONFIGMAPS}/reported`)).code, 200)
  t.equal((await api.ok(space.get(`${CONFIGMAPS}/page`))).metadata.labels?.['edge.kubestellar.io/projected'], 'yes')
})

t.test('the center itself writes them, and so may an administrator of the server', async t => {
  const { space, id } = await mailbox()
  const { registry, types } = server.services
  const kind = types.in(id).find('', 'v1', 'configmaps')!
  const context = systemContext(id, 'placement-translator')
  const copy = configMap('page', { x: '1' }, { labels: PROJECTED }) as never
  await registry.create(context, kind, 'default', copy)
  t.equal((await space.patch(`${CONFIGMAPS}/page`, 'merge', { data: { x: '2' } })).code, 200)
  t.equal((await space.delete(`${CONFIGMAPS}/page`)).code, 200)
})

t.test('in a space that is no mailbox the label means nothing', async t => {
  const id = await createSpace(api, 'plain')
  await api.ok(api.in(id).post(`${RBAC}/clusterrolebindings`, binding('own', { labels: PROJECTED })))
  const space = api.as(ALICE).in(id)
  t.equal((await space.post(CONFIGMAPS, configMap('a', {}, { labels: PROJECTED }))).code, 201)
  t.equal((await space.patch(`${CONFIGMAPS}/a`, 'merge', { data: { x: '2' } })).code, 200)
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
