/** Answers to `kubectl logs deployment/web` and `kubectl get pods -l app=web` in a space, where nothing runs Pods. */
import t from 'tap'
import { BOB, startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
const KUBECTL = { 'User-Agent': 'kubectl/v1.33.0 (linux/amd64)' }
const POD = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const found = (selector: string, headers: Record<string, string> = KUBECTL, client = api) =>
  client.get(`/api/v1/namespaces/default/pods?labelSelector=${encodeURIComponent(selector)}`, headers)

await api.ok(
  api.post('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, template: POD },
  }),
)

t.test('a list of Pods that finds none says where those of the workload are', async t => {
  const { code, headers, body } = await found('app=web')
  t.match(body, { items: [] })
  t.equal(code, 200)
  t.match(
    headers.warning,
    /^299 - "no Pods run in a workspace: those of deployment\/web run in the clusters where it is placed; /,
  )
  t.match(headers.warning, 'kubectl kubestellar why deployment/web -n default')
})

t.test('nobody else hears it', async t => {
  t.equal((await found('app=other')).headers.warning, undefined, 'no workload makes such Pods')
  t.equal((await found('app=web', { 'User-Agent': 'controller/1.0' })).headers.warning, undefined, 'a program')
  t.equal((await api.get('/api/v1/namespaces/default/pods', KUBECTL)).headers.warning, undefined, 'no selector')
  const fields = await api.get('/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName=x', KUBECTL)
  t.equal(fields.headers.warning, undefined, 'another selector')
  await api.ok(
    api.post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'pods' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
    }),
  )
  for (const name of ['system:kcp:workspace:access', 'pods'])
    await api.ok(
      api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        metadata: { name: name.replaceAll(':', '-') },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
      }),
    )
  const bobs = await found('app=web', KUBECTL, api.as(BOB))
  t.match(bobs, { code: 200, headers: { warning: undefined } }, 'who may not list the workload')
  await api.ok(api.post('/api/v1/namespaces/default/pods', { ...POD, metadata: { name: 'p', ...POD.metadata } }))
  t.match(await found('app=web'), { headers: { warning: undefined }, body: { items: [{}] } }, 'there are Pods')
})
