/** Patches that say what they are of: what is read past, and what is refused. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
await api.ok(
  api.post(DEPLOYMENTS, {
    metadata: { name: 'web' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  }),
)

t.test("Ansible's k8s_scale patches the scale with the kind of what it scales", async t => {
  const body = { kind: 'Deployment', metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 3 } }
  const { code, body: scale } = await api.patch(`${DEPLOYMENTS}/web/scale`, 'strategic-merge', body)
  t.equal(code, 200)
  t.match(scale, { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 } })
  t.match(await api.ok(api.get(`${DEPLOYMENTS}/web`)), { kind: 'Deployment', spec: { replicas: 3 } })
})

t.test('a strategic merge keeps the kind, whatever it says; the other patches are refused', async t => {
  const foreign = { kind: 'Nothing', apiVersion: 'example.com/v9', metadata: { labels: { a: 'b' } } }
  for (const path of ['web', 'web/status', 'web/scale']) {
    const kept = await api.patch(`${DEPLOYMENTS}/${path}`, 'strategic-merge', foreign)
    t.equal(kept.code, 200, path)
    t.equal(kept.body.kind, path === 'web/scale' ? 'Scale' : 'Deployment')
    t.equal((await api.patch(`${DEPLOYMENTS}/${path}`, 'merge', foreign)).code, 422, path)
  }
  t.match(await api.ok(api.get(`${DEPLOYMENTS}/web`)), { apiVersion: 'apps/v1', metadata: { labels: { a: 'b' } } })
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
