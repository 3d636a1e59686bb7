/** Answers to `kubectl logs`, `exec`, `attach`, `port-forward` and `proxy` from a server without kubelets. */
import t from 'tap'
import { ALICE, createSpace, startTestServer } from '../support/server.ts'

const PODS = '/api/v1/namespaces/default/pods'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const { api, faults } = await startTestServer(t)

function pod(name: string, spec: object = {}): object {
  const containers = [{ name: 'c', image: 'i' }]
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, ...spec } }
}

await api.ok(api.post(PODS, pod('waiting')))
await api.ok(api.post(PODS, pod('placed', { nodeName: 'n' })))

t.test('a pod that is placed runs elsewhere, which is where to ask', async t => {
  for (const part of ['log', 'exec', 'attach', 'portforward']) {
    const { code, body } = await api.get(`${PODS}/placed/${part}?command=ls`)
    t.equal(code, 501)
    t.match(body, {
      kind: 'Status',
      reason: 'NotImplemented',
      message: `this server has no kubelets: ask the cluster where the pod runs for pods/${part} of "placed"`,
    })
  }
  await api.ok(api.patch(`${PODS}/placed/status`, 'merge', { status: { podIPs: [{ ip: '10.0.0.1' }] } }))
  t.equal((await api.get(`${PODS}/placed:80/proxy/healthz`)).code, 501)
  await api.ok(api.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }))
  t.equal((await api.get('/api/v1/nodes/n/proxy/metrics')).code, 501)
})

t.test('a service has to have somebody behind it before it is asked for elsewhere', async t => {
  const services = '/api/v1/namespaces/default/services'
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
  await api.ok(api.post(services, service))
  const none = await api.get(`${services}/s/proxy`)
  t.match(none.body, { code: 503, message: 'no endpoints available for service "s"' })
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 's-1', labels: { 'kubernetes.io/service-name': 's' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
  }
  await api.ok(api.post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', slice))
  t.match((await api.post(`${services}/s:80/proxy/path`, {})).body, { code: 501, reason: 'NotImplemented' })
})

t.test('each takes its own right', async t => {
  const space = await createSpace(api, 'rights')
  const there = api.in(space)
  await there.ok(there.post(PODS, pod('waiting')))
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules: [
      { apiGroups: [''], resources: ['pods', 'pods/log', 'pods/exec', 'pods/proxy'], verbs: ['get'] },
      { nonResourceURLs: ['/'], verbs: ['access'] },
    ],
  }
  await there.ok(there.post(`${RBAC}/clusterroles`, role))
  await there.ok(
    there.post(`${RBAC}/clusterrolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    }),
  )
  const alice = there.as(ALICE)
  t.equal((await alice.get(`${PODS}/waiting/log`)).code, 204, 'nothing was said yet')
  t.equal((await alice.get(`${PODS}/waiting/proxy/any/path`)).code, 400, 'the path behind is no part of the right')
  t.equal((await alice.post(`${PODS}/waiting/proxy/any/path`, {})).code, 403)
  const refused = { code: 403, message: /cannot create resource "pods\/exec" in API group ""/ }
  t.match((await alice.post(`${PODS}/waiting/exec?command=ls`, {})).body, refused)
  t.match((await alice.get(`${PODS}/waiting/exec?command=ls`)).body, refused, 'as a WebSocket begins')
})

t.test('a Pod of a workload space runs in clusters, and each part of it says how to reach it', async t => {
  const wds = api.in(await createSpace(api, 'described', 'workload'))
  await wds.ok(wds.post(PODS, pod('web')))
  for (const part of ['log', 'log?follow=true', 'exec?command=ls', 'attach', 'portforward']) {
    t.match(
      await wds.get(`${PODS}/web/${part}`),
      {
        code: 400,
        body: {
          reason: 'BadRequest',
          message:
            'pod web does not run in this space: "kubectl kubestellar why pod/web -n default" tells in which clusters it is placed, ' +
            'and kubectl with the kubeconfig of one of them reaches it',
        },
      },
      part,
    )
  }
  t.equal((await wds.get(`${PODS}/none/log`)).code, 404)
  t.match((await wds.get(`${PODS}/web/log?container=x`)).body, { message: 'container x is not valid for pod web' })
})

t.test('nobody finds them in discovery, and nothing was a fault', async t => {
  const { resources } = (await api.get('/api/v1')).body as unknown as { resources: { name: string }[] }
  t.notOk(resources.some(({ name }) => /\/(log|exec|attach|portforward|proxy)$/.test(name)))
  t.strictSame(faults, [])
})
