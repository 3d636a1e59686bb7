/** The type of a space stands in its LogicalCluster, and no write in the space changes it. */
import t from 'tap'
import { ALICE, createSpace, startTestServer } from '../../support/server.ts'

t.test('whoever administers a space does not change or delete its LogicalCluster', async t => {
  const { api } = await startTestServer(t)
  await createSpace(api, 'team')
  const team = api.in('root:team')
  const RBAC = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  await team.ok(team.post(RBAC, { metadata: { name: 'alice' }, roleRef, subjects }))
  const alice = team.as(ALICE)
  const CLUSTERS = '/apis/core.kcp.io/v1alpha1/logicalclusters'
  const refused = { code: 403, body: { reason: 'Forbidden', message: /the server writes it/ } }
  const lie = { metadata: { annotations: { 'kcp.io/path': 'root:espw:mailbox' } } }
  t.match(await alice.patch(`${CLUSTERS}/cluster`, 'merge', lie), refused)
  t.match(await alice.delete(`${CLUSTERS}/cluster`), refused)
  t.match(await alice.delete(CLUSTERS), refused)
  t.match(await alice.post(CLUSTERS, { metadata: { name: 'another' } }), refused)
  t.match(await alice.get(`${CLUSTERS}/cluster`), {
    code: 200,
    body: { metadata: { annotations: { 'kcp.io/path': 'root:team' } } },
  })
  const note = { metadata: { annotations: { note: 'by an administrator of the server' } } }
  await team.ok(team.patch(`${CLUSTERS}/cluster`, 'merge', note))
  await api.ok(api.delete('/apis/tenancy.kcp.io/v1alpha1/workspaces/team'))
})
