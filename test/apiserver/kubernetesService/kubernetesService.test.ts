/** The Service `kubernetes` of every space and what is behind it: there from the start, back when deleted, right when changed. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const first = await startTestServer(t)
const { api, server, faults } = first
const port = Number(new URL(server.url).port)
const DEFAULT = '/api/v1/namespaces/default'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const URLS = {
  Service: `${DEFAULT}/services/kubernetes`,
  Endpoints: `${DEFAULT}/endpoints/kubernetes`,
  EndpointSlice: `${SLICES}/kubernetes`,
}
const names = ({ items }: { items: KubeObject[] }) => items.map(({ metadata }) => metadata.name)
const one = api.in(await createSpace(api, 'one'))

t.test('every space has it, with the fields that kube-apiserver writes', async t => {
  for (const space of [api, one, api.in('root:espw')]) {
    t.match(await space.ok(space.get(URLS.Service)), {
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
        sessionAffinity: 'None',
        type: 'ClusterIP',
      },
      status: { loadBalancer: {} },
    })
    t.match(await space.ok(space.get(URLS.Endpoints)), {
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
    })
    t.match(await space.ok(space.get(URLS.EndpointSlice)), {
      metadata: { generation: 1, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    })
  }
})

t.test('lists and watches show it where it is, and nowhere else', async t => {
  const services = async (path: string) => names(await one.ok(one.get(path)))
  t.strictSame(await services(`${DEFAULT}/services`), ['kubernetes'])
  t.strictSame(await services('/api/v1/services'), ['kubernetes'])
  t.strictSame(await services('/api/v1/namespaces/kube-system/services'), [])
  t.strictSame(await services(`${SLICES}?labelSelector=kubernetes.io/service-name=kubernetes`), ['kubernetes'])
  t.strictSame(await services(`${SLICES}?labelSelector=kubernetes.io/service-name=other`), [])
  t.strictSame(await services('/api/v1/endpoints?fieldSelector=metadata.name=kubernetes'), ['kubernetes'])
  t.equal((await one.get('/api/v1/namespaces/kube-system/services/kubernetes')).code, 404)
  const watch = await one.watch(`${DEFAULT}/services?watch=1`)
  t.match(await watch.take(1), [{ type: 'ADDED', object: { metadata: { name: 'kubernetes' } } }])
  watch.close()
  const kubernetes = { metadata: { name: 'kubernetes' }, spec: { ports: [{ port: 1 }] } }
  t.match(await one.post(`${DEFAULT}/services`, kubernetes), { code: 409, body: { reason: 'AlreadyExists' } })
  await one.ok(one.post('/api/v1/namespaces/kube-system/services', kubernetes))
  t.strictSame(await services('/api/v1/services'), ['kubernetes', 'kubernetes'], 'the name is free elsewhere')
  const { resourceVersion } = (await one.ok(one.get('/api/v1/services'))).metadata
  const past = `/api/v1/services?resourceVersionMatch=Exact&resourceVersion=${resourceVersion}`
  t.strictSame(await services(past), ['kubernetes', 'kubernetes'])
})

t.test('who deletes one gets another one, and watchers see both', async t => {
  for (const url of Object.values(URLS)) {
    const before = await one.ok(one.get(url))
    const collection = url.slice(0, url.lastIndexOf('/'))
    const { resourceVersion } = (await one.ok(one.get(collection))).metadata
    t.equal((await one.delete(`${url}?dryRun=All`)).code, 200)
    t.equal((await one.ok(one.get(url))).metadata.resourceVersion, '1', 'a dry run does nothing')
    t.match(await one.delete(url, { preconditions: { uid: 'another' } }), { code: 409 })
    t.equal((await one.ok(one.get(url))).metadata.resourceVersion, '1', 'a deletion that is refused neither')
    const watch = await one.watch(`${collection}?watch=1&resourceVersion=${resourceVersion}`)
    await one.ok(one.delete(url))
    const after = await one.ok(one.get(url))
    t.not(after.metadata.uid, before.metadata.uid)
    const told = await watch.until(({ object }) => object.metadata.uid === after.metadata.uid)
    t.strictSame(told.map(({ type, object }) => [type, object.metadata.uid]).slice(-2), [
      ['DELETED', before.metadata.uid],
      ['ADDED', after.metadata.uid],
    ])
    await one.ok(one.delete(url))
    const again = await one.ok(one.get(url))
    t.not(again.metadata.uid, after.metadata.uid)
    t.strictSame([again.spec, again.subsets, again.endpoints], [before.spec, before.subsets, before.endpoints])
    watch.close()
  }
})

t.test('a finalizer delays that, and a collection may be deleted', async t => {
  const two = api.in(await createSpace(api, 'two'))
  await two.ok(two.patch(URLS.Service, 'merge', { metadata: { finalizers: ['example.com/wait'] } }))
  const held = await two.ok(two.delete(URLS.Service))
  t.ok(held.metadata.deletionTimestamp)
  await two.ok(two.patch(URLS.Service, 'merge', { metadata: { finalizers: null } }))
  const service = await two.ok(two.get(URLS.Service))
  t.not(service.metadata.uid, held.metadata.uid)
  t.notOk(service.metadata.deletionTimestamp)
  await two.ok(two.post(`${DEFAULT}/services`, { metadata: { name: 'mine' }, spec: { ports: [{ port: 80 }] } }))
  await two.ok(two.delete(`${DEFAULT}/services`))
  t.strictSame(names(await two.ok(two.get(`${DEFAULT}/services`))), ['kubernetes'])
  t.not((await two.ok(two.get(URLS.Service))).metadata.uid, service.metadata.uid)
})

t.test('what is said of the server is put right, the rest is taken', async t => {
  const three = api.in(await createSpace(api, 'three'))
  const before = await three.ok(three.get(URLS.Service))
  const spec = { type: 'NodePort', clusterIP: null, ports: [{ name: 'https', port: 444, nodePort: 30443 }] }
  const labels = { mine: 'yes', component: null }
  const service = await three.ok(three.patch(URLS.Service, 'merge', { metadata: { labels }, spec }))
  t.strictSame(service.spec, before.spec)
  t.strictSame(service.metadata.labels, { ...before.metadata.labels, mine: 'yes' })
  t.equal(service.metadata.uid, before.metadata.uid)
  const subsets = [{ addresses: [{ ip: '192.0.2.77' }], ports: [{ port: 1 }] }]
  const endpoints = await three.ok(three.patch(URLS.Endpoints, 'merge', { metadata: { labels }, subsets }))
  t.match(endpoints, { metadata: { labels: { mine: 'yes' } }, subsets: [{ addresses: [{ ip: '127.0.0.1' }] }] })
  const slice = await three.ok(three.patch(URLS.EndpointSlice, 'merge', { endpoints: [{ addresses: ['192.0.2.7'] }] }))
  t.match(slice, { endpoints: [{ addresses: ['127.0.0.1'] }] })
  const applied = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'kubernetes', labels: { by: 'apply' } } }
  const result = await three.ok(three.patch(`${URLS.Service}?fieldManager=me`, 'apply', applied))
  t.match(result.metadata.labels, { by: 'apply', mine: 'yes' })
  const two = api.in('root:two')
  t.notOk((await two.ok(two.get(URLS.Service))).metadata.labels?.mine, 'other spaces have theirs')
})

t.test('endpoints of others may not be at a loopback address', async t => {
  const endpoints = {
    metadata: { name: 'mine' },
    subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: 1 }] }],
  }
  t.match(await one.post(`${DEFAULT}/endpoints`, endpoints), { code: 422, body: { message: /loopback/ } })
})

t.test('the namespace stays, and a space with copies can go', async t => {
  const refused = await one.delete('/api/v1/namespaces/default')
  t.match(refused, { code: 403, body: { message: /this namespace may not be deleted/ } })
  const workspace = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
  const { resourceVersion } = (await api.ok(api.get(workspace))).metadata
  const watch = await api.watch(`${workspace}?watch=1&resourceVersion=${resourceVersion}`)
  await api.ok(api.delete(`${workspace}/three`))
  await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'three')
  watch.close()
})

t.test('a plain cluster has it too', async t => {
  const { api: plain } = await startTestServer(t, { spaces: false })
  t.match(await plain.ok(plain.get(URLS.Service)), { spec: { clusterIP: '10.0.0.1' } })
  t.strictSame(names(await plain.ok(plain.get('/api/v1/endpoints'))), ['kubernetes'])
})

t.test('a server that is reached elsewhere after a restart says so, also in copies', async t => {
  await one.ok(one.patch(URLS.Service, 'merge', { metadata: { labels: { mine: 'yes' } } }))
  const { api: again } = await first.restart({ advertiseAddress: '2001:db8::7' })
  const space = again.in('root:one')
  const { port } = new URL(again.access.url)
  t.match(await space.ok(space.get(URLS.Service)), {
    metadata: { labels: { mine: 'yes' } },
    spec: { ports: [{ targetPort: Number(port) }] },
  })
  t.match(await space.ok(space.get(URLS.Endpoints)), { subsets: [{ addresses: [{ ip: '2001:db8::7' }] }] })
  const slice = { addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8::7'] }] }
  t.match(await space.ok(space.get(URLS.EndpointSlice)), slice)
  t.match(await again.ok(again.get(URLS.EndpointSlice)), slice)
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
