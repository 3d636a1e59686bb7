/** What a copy says of what the source's own server gave it: nothing. */
import t from 'tap'
import type { FieldsV1, KubeObject } from '../../../src/apimachinery/object.ts'
import { asDescribed } from '../../../src/controllers/placement-translator/asDescribed.ts'

const SPEC = {
  type: 'LoadBalancer',
  clusterIP: '10.0.7.7',
  clusterIPs: ['10.0.7.7'],
  ipFamilies: ['IPv4'],
  ipFamilyPolicy: 'SingleStack',
  healthCheckNodePort: 31_000,
  selector: { app: 'web' },
  ports: [
    { name: 'a', port: 53, protocol: 'TCP', nodePort: 30_053 },
    { name: 'b', port: 53, protocol: 'UDP', nodePort: 30_054 },
  ],
}
const service = (claims: readonly FieldsV1[], spec: object = SPEC, subresource?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 's',
    managedFields: claims.map(claim => ({
      manager: 'm',
      fieldsV1: { 'f:spec': claim },
      ...(subresource && { subresource }),
    })),
  },
  spec,
})
const shown = (...args: Parameters<typeof service>) => asDescribed(service(...args)).spec as typeof SPEC
const BARE = {
  type: 'LoadBalancer',
  selector: { app: 'web' },
  ports: [
    { name: 'a', port: 53, protocol: 'TCP' },
    { name: 'b', port: 53, protocol: 'UDP' },
  ],
}

t.test('what nobody asked for stays at home', async t => {
  const source = service([{ 'f:type': {}, 'f:ports': { '.': {}, 'k:{"port":53,"protocol":"TCP"}': { 'f:port': {} } } }])
  const before = structuredClone(source)
  t.strictSame(asDescribed(source).spec, BARE)
  t.strictSame(source, before)
  t.strictSame(shown([]), BARE)
  t.strictSame(shown([{ 'f:clusterIP': {}, 'f:ports': {} }], SPEC, 'status'), BARE)
})

t.test('what somebody asked for travels', async t => {
  t.strictSame(shown([{ 'f:clusterIP': {} }, { 'f:healthCheckNodePort': {} }]), {
    ...BARE,
    clusterIP: '10.0.7.7',
    clusterIPs: ['10.0.7.7'],
    healthCheckNodePort: 31_000,
  })
  t.strictSame(shown([{ 'f:clusterIPs': {} }]).clusterIP, '10.0.7.7')
  t.match(shown([{ 'f:ipFamilies': {}, 'f:ipFamilyPolicy': {} }]), {
    ipFamilyPolicy: 'SingleStack',
    ipFamilies: ['IPv4'],
  })
  t.strictSame(shown([{ 'f:ports': { '.': {}, 'k:{"port":53,"protocol":"UDP"}': { 'f:nodePort': {} } } }]).ports, [
    BARE.ports[0],
    SPEC.ports[1],
  ])
  t.strictSame(shown([{ 'f:ports': {} }]).ports, SPEC.ports)
})

t.test('headless stays headless; other kinds are left alone', async t => {
  const headless = { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv4'], ports: [] }
  t.strictSame(shown([], headless) as unknown, { clusterIP: 'None', clusterIPs: ['None'], ports: [] })
  const other = { ...service([]), apiVersion: 'serving.example.com/v1' }
  t.equal(asDescribed(other), other)
})
