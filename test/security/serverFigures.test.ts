/** Figures of the whole server are not for administrators of one space. */
import t from 'tap'
import { ALICE, createSpace, startTestServer } from '../support/server.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'

t.test('/metrics is for who has the right in the root, whatever they are in their own space', async t => {
  const { api } = await startTestServer(t)
  await createSpace(api, 'alice')
  const space = api.in('root:alice')
  const bind = async (at: typeof api, role: string, subject: object): Promise<void> => {
    const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: role }
    const metadata = { name: `all-${role.replaceAll(':', '-')}` }
    const binding = { apiVersion: `${GROUP}/v1`, kind: 'ClusterRoleBinding', metadata, roleRef, subjects: [subject] }
    await at.ok(at.post(`${RBAC}/clusterrolebindings`, binding))
  }
  const user = { apiGroup: GROUP, kind: 'User', name: 'alice' }
  await bind(space, 'cluster-admin', user)
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'app' } }
  await space.ok(space.post('/api/v1/namespaces/default/serviceaccounts', account))
  const subject = { kind: 'ServiceAccount', name: 'app', namespace: 'default' }
  await bind(space, 'system:monitoring', subject)
  const { status } = await space.ok(space.post('/api/v1/namespaces/default/serviceaccounts/app/token', {}))
  const alice = api.as(ALICE)
  const app = api.as((status as { token: string }).token)
  for (const each of [alice, app]) t.teardown(() => each.close())

  for (const who of [alice, app]) {
    for (const path of ['/metrics', '/metrics/', '/clusters/root/metrics']) {
      t.match(await who.get(path), { code: 403, body: { kind: 'Status', reason: 'Forbidden' } }, path)
    }
    t.match(await who.get('/clusters/root:alice/metrics'), {
      code: 404,
      body: { reason: 'NotFound', message: /has no \/metrics of its own: .* the right to get it in root/ },
    })
    t.notMatch((await who.get('/clusters/root:alice/')).text, 'metrics', 'nor is it told there')
  }
  t.match(await api.get('/clusters/root:alice/metrics'), { code: 404 }, 'for nobody')
  t.match((await api.get('/')).text, '/metrics')
  await bind(api, 'system:monitoring', user)
  t.match(await alice.get('/metrics'), { code: 200, text: /orrery_spaces/ })
})
