/**
 * Lists as long as a request can hold cost their length, not its square, and any fault of them is the client's. One request of one space
 * must not stop the server of all. Each case here once took minutes, or all memory.
 */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startTestServer } from '../support/server.ts'
import { createErrors, podSpec, samples, strategyOf, updateErrors } from './samples.ts'

const many = <T>(count: number, item: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i))

t.test('what is looked for in a list is not looked for in all of it each time', async t => {
  const tolerations = many(60_000, i => ({ key: `k${i}`, operator: 'Exists' }))
  const handler = { handler: 'h', scheduling: { tolerations: [...tolerations, tolerations[0]!] } }
  t.strictSame(createErrors('node.k8s.io/v1 runtimeclasses', handler), [
    'scheduling.tolerations[60000]: Duplicate value: {"key":"k0","operator":"Exists"}',
  ])
  const moved = (object: KubeObject): void => {
    object.spec = { ...(object.spec as object), tolerations: tolerations.toReversed() }
  }
  t.strictSame(updateErrors('v1 pods', moved, { spec: podSpec({ tolerations }) }), [])

  const drivers = many(20_000, i => ({ name: `d${i}.io`, nodeID: 'n' }))
  const turned = (object: KubeObject): void => {
    object.spec = { drivers: drivers.toReversed() }
  }
  t.strictSame(updateErrors('storage.k8s.io/v1 csinodes', turned, { spec: { drivers } }), [])

  const topologies = many(20_000, i => ({ matchLabelExpressions: [{ key: 'k', values: [`v${i}`] }] }))
  const storage = { ...samples['storage.k8s.io/v1 storageclasses'], allowedTopologies: topologies }
  t.strictSame(createErrors('storage.k8s.io/v1 storageclasses', storage), [])

  const points = many(60_000, i => ({ ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }))
  const status = { loadBalancer: { ingress: points } }
  const [old, now] = [
    { spec: {}, status },
    { spec: {}, status: { loadBalancer: { ingress: points.toReversed() } } },
  ].map(each => ({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'x' }, ...each }))
  t.strictSame(strategyOf('networking.k8s.io/v1 ingresses')!.validateStatusUpdate!(now!, old!), [])
})

t.test('the errors of a long list neither fill the memory nor are a fault of the server', async t => {
  const { api, faults } = await startTestServer(t)
  const scopes = many(30_000, i => `Scope${i}`)
  const quota = { metadata: { name: 'q' }, spec: { scopes } }
  t.match(await api.post('/api/v1/namespaces/default/resourcequotas', quota), {
    code: 422,
    body: { message: /spec\.scopes: Invalid value: .* too many errors to tell\]$/ },
  })
  const hostAliases = many(90_000, () => ({}))
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], hostAliases } }
  t.equal((await api.post('/api/v1/namespaces/default/pods', pod)).code, 422)
  const labels = Object.fromEntries(many(39_000, i => [`k@${i}`, '1']))
  t.equal((await api.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c', labels } })).code, 422)
  t.strictSame(faults, [])
})

t.test('a long text of many parts has an error for few of them, and is no fault of the server', async t => {
  const registry = ','.repeat(200_000)
  const volumes = [{ name: 'v', quobyte: { registry, volume: 'v' } }]
  t.equal(createErrors('v1 pods', { spec: podSpec({ volumes }) }).length, 1)
  const ranges = 'service.beta.kubernetes.io/load-balancer-source-ranges'
  const metadata = { annotations: { [ranges]: ','.repeat(200_000) } }
  const service = { metadata, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }
  t.match(createErrors('v1 services', service), [/^metadata\.annotations\[service\.beta/])
  const { spec } = samples['resource.k8s.io/v1 resourceslices'] as { spec: { pool: object } }
  const pool = { ...spec.pool, name: '/'.repeat(200_000) }
  t.ok(createErrors('resource.k8s.io/v1 resourceslices', { spec: { ...spec, pool } }).length < 300)
})

t.test('a schedule that nobody could mean is not read', async t => {
  const { spec } = samples['batch/v1 cronjobs']!
  const errors = (schedule: string) => createErrors('batch/v1 cronjobs', { spec: { ...(spec as object), schedule } })
  const every = many(500, () => '*/1').join(',')
  t.strictSame(errors(`${every} * * * *`), [])
  t.strictSame(errors(`${every},${every} * * * *`), ['spec.schedule: Too long: may not be more than 2048 bytes'])
})
