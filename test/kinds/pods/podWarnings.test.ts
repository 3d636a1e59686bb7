import t from 'tap'
import { created, podSpec, selected, strategyOf, template } from '../samples.ts'

const warnings = (kind: string, fields: Record<string, unknown>): string[] => {
  const object = created(kind, fields)
  return strategyOf(kind).warnings?.(object) ?? []
}
const ofPod = (spec: object, metadata: object = {}): string[] => warnings('v1 pods', { metadata, spec: podSpec(spec) })
const container = (fields: object): object => ({ containers: [{ name: 'c', image: 'i', ...fields }] })

// kubectl shows these texts to its users
t.test('a pod without oddities is warned of nothing', async t => {
  t.same(ofPod({}), [])
})

t.test('variables that hide others', async t => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'A', value: '$(A)2' },
    { name: 'A', value: '3' },
    { name: 'A', value: '$(A)' },
  ]
  const hides = (i: number) =>
    `spec.containers[0].env[${i}]: hides previous definition of "A", which may be dropped when using apply`
  t.same(ofPod(container({ env })), [hides(2), hides(3)])
})

t.test('ports that are said twice', async t => {
  const ports = [{ containerPort: 80 }, { containerPort: 80 }, { containerPort: 80, hostPort: 80 }]
  t.same(ofPod(container({ ports })), [
    'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
    'spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]',
    'spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[1]',
  ])
})

t.test('names and addresses that are said twice', async t => {
  const doubled = {
    hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }],
    imagePullSecrets: [{ name: 's' }, { name: 's' }, {}],
  }
  t.same(ofPod(doubled), [
    'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
    'spec.imagePullSecrets[1].name: duplicate name "s"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
  ])
})

t.test('parts of bytes', async t => {
  t.same(ofPod(container({ resources: { limits: { memory: '1500m' } } })), [
    'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer',
  ])
})

t.test('labels, annotations and volumes whose time is over', async t => {
  t.same(ofPod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' }, volumes: [{ name: 'v', gitRepo: {} }] }), [
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
  ])
  t.same(ofPod({}, { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } }), [
    'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
  ])
})

t.test('selectors that select nothing', async t => {
  const constraint = { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }
  t.same(ofPod({ topologySpreadConstraints: [constraint] }), [
    'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
  ])
})

t.test('templates are told where they stand, and again only when they may have changed', async t => {
  const kind = 'apps/v1 deployments'
  const fields = selected({ template: template({ terminationGracePeriodSeconds: -1 }) })
  const text =
    'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'
  t.same(warnings(kind, fields), [text])
  const [old, same, next] = [1, 1, 2].map(generation => {
    const object = created(kind, fields)
    object.metadata.generation = generation
    return object
  }) as [ReturnType<typeof created>, ReturnType<typeof created>, ReturnType<typeof created>]
  t.same(strategyOf(kind).warnings?.(same, old), [])
  t.same(strategyOf(kind).warnings?.(next, old), [text])
})

t.test('services and volumes', async t => {
  t.same(warnings('v1 services', { spec: { ports: [{ port: 1 }], clusterIP: 'None', externalIPs: ['1.2.3.4'] } }), [
    'spec.externalIPs is ignored for headless services',
  ])
  t.same(warnings('v1 services', { spec: { ports: [{ port: 1 }], trafficDistribution: 'PreferClose' } }), [
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ])
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } }
  t.same(warnings('v1 persistentvolumeclaims', { spec: claim }), [
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ])
})
