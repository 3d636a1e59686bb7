/** Ownership and blocked deletion are rights of their own. */
import t from 'tap'
import { ALICE, CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t, { spaces: false })
const alice = api.as(ALICE)
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'

async function allowAlice(rules: object[]): Promise<void> {
  const meta = (kind: string) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'alice' } })
  const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }]
  const roleRef = { kind: 'Role', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }
  for (const resource of ['roles', 'rolebindings']) await api.delete(`${RBAC}/${resource}/alice`)
  await api.ok(api.post(`${RBAC}/roles`, { ...meta('Role'), rules }))
  await api.ok(api.post(`${RBAC}/rolebindings`, { ...meta('RoleBinding'), subjects, roleRef }))
}
const rule = (resource: string, ...verbs: string[]): object => ({ apiGroups: [''], resources: [resource], verbs })
const owner = await api.ok(api.post(CONFIGMAPS, configMap('owner')))
const owned = (blockOwnerDeletion: boolean): object => {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, blockOwnerDeletion }
  return configMap('owned', {}, { ownerReferences: [reference] })
}
const DRY = `${CONFIGMAPS}?dryRun=All`

t.test('to give an object an owner, one must be able to delete the object', async t => {
  await allowAlice([rule('configmaps', 'create', 'update', 'patch', 'get')])
  t.equal((await alice.post(DRY, configMap('free'))).code, 201)
  const { code, body } = await alice.post(DRY, owned(false))
  t.equal(code, 403)
  t.match(body.message, 'configmaps "owned" is forbidden: cannot set an ownerRef on a resource you can\'t delete: ')
})

t.test("to hold up the owner's deletion, one must be able to set its finalizers", async t => {
  await allowAlice([rule('configmaps', 'create', 'delete', 'update', 'patch', 'get')])
  t.equal((await alice.post(DRY, owned(false))).code, 201)
  const { code, body } = await alice.post(DRY, owned(true))
  t.equal(code, 403)
  const why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "
  t.match(body.message, why)
  await allowAlice([
    rule('configmaps', 'create', 'delete', 'update', 'patch', 'get'),
    rule('configmaps/finalizers', 'update'),
  ])
  t.equal((await alice.post(DRY, owned(true))).code, 201)
})

t.test('updates are judged by what they change', async t => {
  await api.ok(api.post(CONFIGMAPS, owned(true)))
  await allowAlice([rule('configmaps', 'update', 'patch', 'get')])
  t.equal((await alice.patch(`${CONFIGMAPS}/owned`, 'merge', { data: { a: 'b' } })).code, 200)
  t.equal((await alice.patch(`${CONFIGMAPS}/owned`, 'merge', { metadata: { ownerReferences: null } })).code, 403)
  t.equal((await api.patch(`${CONFIGMAPS}/owned`, 'merge', { metadata: { ownerReferences: null } })).code, 200)
})

t.test('so are updates of a status, which may bring metadata', async t => {
  const services = '/api/v1/namespaces/default/services'
  await api.ok(api.post(services, { metadata: { name: 'owned' }, spec: { ports: [{ port: 80 }] } }))
  await allowAlice([rule('services/status', 'update', 'patch')])
  const { ownerReferences } = (owned(false) as { metadata: { ownerReferences: object[] } }).metadata
  const url = `${services}/owned/status`
  t.equal((await alice.patch(url, 'merge', { metadata: { labels: { a: 'b' } } })).code, 200)
  t.equal((await alice.patch(url, 'merge', { metadata: { ownerReferences } })).code, 403)
  t.equal((await api.patch(url, 'merge', { metadata: { ownerReferences } })).code, 200)
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
