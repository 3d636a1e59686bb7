/** A user who may only update ClusterRoles must not turn their own into those of an administrator. */
import t from 'tap'
import { ALICE, createSpace, startTestServer } from '../support/server.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'
const TO_VIEW = { metadata: { labels: { [`${GROUP}/aggregate-to-view`]: 'true' } } }

t.test('cluster-admin is not labelled into the role view by who may only update ClusterRoles', async t => {
  const { api } = await startTestServer(t)
  const id = await createSpace(api, 'team')
  const team = api.in(id)
  const alice = team.as(ALICE)
  t.teardown(() => alice.close())
  const rules = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['get', 'update', 'patch'] },
  ]
  const grant = async (name: string, role: string): Promise<void> => {
    const subjects = [{ kind: 'User', name: 'alice', apiGroup: GROUP }]
    const roleRef = { kind: 'ClusterRole', name: role, apiGroup: GROUP }
    const binding = { apiVersion: `${GROUP}/v1`, kind: 'ClusterRoleBinding', metadata: { name }, subjects, roleRef }
    await team.ok(team.post(`${RBAC}/clusterrolebindings`, binding))
  }
  const role = { apiVersion: `${GROUP}/v1`, kind: 'ClusterRole', metadata: { name: 'clerk' }, rules }
  await team.ok(team.post(`${RBAC}/clusterroles`, role))
  await grant('alice-clerk', 'clerk')
  await grant('alice-view', 'view')
  const refused = { code: 403, body: { reason: 'Forbidden', message: /not currently held:\n.*APIGroups:\["\*"\]/ } }
  t.match(await alice.patch(`${RBAC}/clusterroles/cluster-admin`, 'merge', TO_VIEW), refused)
  t.match(await alice.patch(`${RBAC}/clusterroles/view`, 'merge', { aggregationRule: null }), {
    code: 403,
    body: { message: /not currently held|cluster-admin privileges/ },
  })
  t.match(await alice.get('/api/v1/namespaces/default/secrets'), { code: 403 }, 'and reads no Secret')
  t.match(await team.patch(`${RBAC}/clusterroles/cluster-admin`, 'merge', TO_VIEW), { code: 200 }, 'who holds all may')
})
