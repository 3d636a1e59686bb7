/** Sub-resources whose bodies nobody stores as they are: a wrong type is refused there too, and not read as nothing. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const PODS = '/api/v1/namespaces/default/pods'
const POD = `${PODS}/p`
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const SCALE = `${DEPLOYMENTS}/d/scale`
const containers = [{ name: 'c', image: 'i' }]
const labels = { app: 'd' }

await api.ok(api.post(PODS, { metadata: { name: 'p' }, spec: { containers } }))
const template = { metadata: { labels }, spec: { containers } }
const spec = { replicas: 3, selector: { matchLabels: labels }, template }
await api.ok(api.post(DEPLOYMENTS, { metadata: { name: 'd' }, spec }))

t.test('a scale that says no number of replicas scales nothing', async t => {
  for (const wrong of ['three', [3], 3, { replicas: '3' }, { replicas: 1.5 }]) {
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: wrong }
    const title = JSON.stringify(wrong)
    const message = /json: cannot unmarshal .* into Go struct field Scale\.spec/
    t.match(await api.put(SCALE, scale), { code: 400, body: { reason: 'BadRequest', message } }, `PUT ${title}`)
    t.match(await api.patch(SCALE, 'merge', { spec: wrong }), { code: 422, body: { message } }, `PATCH ${title}`)
    const replaced = await api.patch(SCALE, 'json', [{ op: 'replace', path: '/spec', value: wrong }])
    t.match(replaced, { code: 422, body: { message } }, `JSON patch ${title}`)
  }
  t.match(await api.ok(api.get(SCALE)), { spec: { replicas: 3 } })
})

t.test('a binding with parts of wrong types leaves the Pod as it is', async t => {
  const before = await api.ok(api.get(POD))
  const target = { name: 'node' }
  for (const wrong of [
    { metadata: { annotations: 'abc' }, target },
    { metadata: { annotations: { a: { b: 'c' } } }, target },
    { metadata: {}, target: { name: 5 } },
    { metadata: {}, target: 'node' },
  ]) {
    const answer = await api.post(`${POD}/binding`, wrong)
    t.match(answer, { code: 400, body: { message: /json: cannot unmarshal/ } }, JSON.stringify(wrong))
  }
  t.strictSame(await api.ok(api.get(POD)), before)
})

t.test('an eviction whose options cannot be read deletes nothing', async t => {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: 'dryRun' }
  t.match(await api.post(`${POD}/eviction`, eviction), { code: 400, body: { reason: 'BadRequest' } })
  await api.ok(api.get(POD))
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
