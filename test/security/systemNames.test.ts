/** A tenant, who is cluster-admin in their own space, takes the names of the server's own parts: by impersonation, in a certificate, as an account. */
import t, { type Test } from 'tap'
import { systemUser } from '../../src/apiserver/registry/context.ts'
import type { Api } from '../support/api.ts'
import { EDGE, RBAC, startFleet } from './support/fleet.ts'

const fleet = await startFleet(t)
const { admin, world } = fleet
const id = await fleet.tenant('alice', 'alice')
const alice = fleet.as('alice').in('root:alice')
const binding = { metadata: { name: 'imw1' }, spec: { path: 'root:imw1' } }
await alice.ok(alice.post(`${EDGE}/inventorybindings`, binding))
const NAMES = [
  ...['where-resolver', 'placement-translator', 'mailbox-controller', 'first-objects', ''].map(systemUser),
  'system:apiserver',
  'system:admin',
  'orrery-admin',
  'system:kube-controller-manager',
  'system:serviceaccount:default:kubestellar-syncer',
]
const as = (user: string, ...groups: string[]) => ({
  'Impersonate-User': user,
  ...(groups.length > 0 && { 'Impersonate-Group': groups as unknown as string }),
})
const row = { metadata: { name: 'imw1.florin' }, inventory: 'root:imw1', location: 'florin', instances: 1 }
const status = { status: { cluster: id, conditions: [{ type: 'Granted', status: 'True', reason: 'Granted' }] } }

/** As somebody who has taken a name, in the tenant's own space and in those of others. */
async function powerless(t: Test, who: Api, name: string): Promise<void> {
  const headers = as(name)
  const made = await who.in('root:alice').post(`${EDGE}/grantedlocations`, row, { headers })
  const type = 'application/merge-patch+json'
  const path = `${EDGE}/inventorybindings/imw1/status`
  const told = await who.in('root:alice').send('PATCH', path, { headers, type, body: status })
  t.same([made.code, told.code], [403, 403], `${name} in the own space`)
  for (const space of ['root', 'root:wmw1', 'root:imw1', 'root:espw']) {
    const { code } = await who.in(space).get('/api/v1/namespaces/default/secrets', headers)
    t.equal(code, 403, `${name} in ${space}`)
  }
}

t.test('an administrator of a space who takes a name of the server has its power nowhere', async t => {
  const api = fleet.as('alice')
  for (const name of NAMES) await powerless(t, api, name)
})

t.test('nor with its groups, which are not theirs to take', async t => {
  for (const group of [
    'system:masters',
    'system:kcp:admin',
    'system:kcp:external-logical-cluster-admin',
    'system:kcp:workspace:access',
  ]) {
    const { code, body } = await alice.get('/api/v1/namespaces', as(systemUser('where-resolver'), group))
    t.match({ code, body }, { code: 403, body: { reason: 'Forbidden' } }, group)
  }
  t.equal(
    (await fleet.as('alice').in('root:wmw1').get('/api/v1/namespaces', as('system:admin', 'system:masters'))).code,
    403,
  )
})

t.test('an account or a role under such a name is one of that space', async t => {
  const account = { metadata: { name: 'kubestellar-syncer' } }
  await alice.ok(alice.post('/api/v1/namespaces/default/serviceaccounts', account))
  const all = {
    metadata: { name: 'syncer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'kubestellar-syncer', namespace: 'default' }],
  }
  await alice.ok(alice.post(`${RBAC}/clusterrolebindings`, all))
  const { status } = await alice.ok(
    alice.post('/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer/token', {}),
  )
  const syncer = admin.as((status as { token: string }).token)
  t.teardown(() => syncer.close())
  t.equal((await syncer.in('root:alice').get('/api/v1/namespaces')).code, 200, 'at home it may what alice gave it')
  await fleet.done('ensure location florin --imw root:imw1 env=prod')
  const target = await world.present(fleet.idOf('root:imw1'), 'synctargets.edge.kubestellar.io florin')
  const name = `${fleet.idOf('root:imw1')}-mb-${target.metadata.uid}`
  const mailbox = await fleet.readySpace('root:espw', name)
  for (const space of [mailbox, `root:espw:${name}`, 'root:espw', 'root:imw1'])
    t.equal((await syncer.in(space).get('/api/v1/namespaces')).code, 403, space)
  t.equal((await syncer.get(`/services/stream/clusters/${mailbox}`)).code, 403)
})
