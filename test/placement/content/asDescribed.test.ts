/** A copy omits the fields that the source's own server set. */
import t from 'tap'
import type { FieldsV1, KubeObject } from '../../../src/apimachinery/object.ts'
import { TOKEN_MOUNT_PATH, tokenVolume } from '../../../src/apimachinery/tokenVolume.ts'
import { asDescribed } from '../../../src/placement/content/asDescribed.ts'

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

const pod = (spec: object): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
const TOKEN = tokenVolume('kube-api-access-abcde')
const MOUNT = { name: TOKEN.name, mountPath: TOKEN_MOUNT_PATH, readOnly: true }

t.test("a Pod leaves its server's token volume and the mounts of it at home", async t => {
  const own = { name: 'v', mountPath: '/v' }
  const source = pod({
    initContainers: [{ name: 'i', volumeMounts: [MOUNT] }],
    containers: [{ name: 'c', volumeMounts: [own, MOUNT] }, { name: 'd' }],
    ephemeralContainers: [{ name: 'e', volumeMounts: [MOUNT] }],
    volumes: [{ name: 'v', emptyDir: {} }, TOKEN],
  })
  const before = structuredClone(source)
  t.strictSame(asDescribed(source).spec, {
    initContainers: [{ name: 'i' }],
    containers: [{ name: 'c', volumeMounts: [own] }, { name: 'd' }],
    ephemeralContainers: [{ name: 'e' }],
    volumes: [{ name: 'v', emptyDir: {} }],
  })
  t.strictSame(source, before)
  t.strictSame(asDescribed(pod({ containers: [], volumes: [TOKEN] })).spec, { containers: [] })
})

t.test('a token volume that somebody wrote, or mounts elsewhere too, is carried', async t => {
  for (const volume of [
    { ...TOKEN, name: 'my-token' },
    { ...TOKEN, projected: { ...(TOKEN.projected as object), defaultMode: 256 } },
    { name: TOKEN.name, emptyDir: {} },
  ]) {
    const source = pod({ containers: [{ name: 'c', volumeMounts: [MOUNT] }], volumes: [volume] })
    t.equal(asDescribed(source), source)
  }
  const elsewhere = [MOUNT, { ...MOUNT, mountPath: '/tokens' }]
  const used = pod({ containers: [{ name: 'c', volumeMounts: elsewhere }], volumes: [TOKEN] })
  t.strictSame(asDescribed(used), used)
  const plain = pod({ containers: [{ name: 'c' }] })
  t.equal(asDescribed(plain), plain)
})

t.test('headless stays headless; other kinds are left alone', async t => {
  const headless = { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv4'], ports: [] }
  t.strictSame(shown([], headless) as unknown, { clusterIP: 'None', clusterIPs: ['None'], ports: [] })
  const other = { ...service([]), apiVersion: 'serving.example.com/v1' }
  t.equal(asDescribed(other), other)
})
