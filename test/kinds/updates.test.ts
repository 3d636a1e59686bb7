import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { created, strategyOf, updateErrors } from './samples.ts'

type Any = Record<string, never>
/** Sets a field by its path; the path must exist but for its last step. */
function set(path: string, value: unknown) {
  return (object: KubeObject) => {
    const steps = path.split('.')
    const last = steps.pop()!
    const holder = steps.reduce<Record<string, unknown>>((here, step) => here[step] as Any, object)
    holder[last] = value
  }
}
const IMAGE = 'spec.template.spec.containers.0.image'

t.test('what stays as it was made', async t => {
  const cases: [kind: string, change: (object: KubeObject) => void, error: string | RegExp][] = [
    [
      'apps/v1 replicasets',
      set('spec.selector', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }),
      /^spec.selector: Invalid value: .*: field is immutable$/,
    ],
    [
      'apps/v1 statefulsets',
      set('spec.serviceName', 'other'),
      /^spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template',/,
    ],
    ['apps/v1 controllerrevisions', set('data', { a: 2 }), /^data: Invalid value: .*: field is immutable$/],
    ['batch/v1 jobs', set('spec.completions', 4), 'spec.completions: Invalid value: 4: field is immutable'],
    ['batch/v1 jobs', set(IMAGE, 'x'), /^spec.template: Invalid value: .*: field is immutable$/],
    [
      'v1 pods',
      set('spec.containers.0.name', 'x'),
      /^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`/,
    ],
    [
      'v1 pods',
      set('spec.containers.1', { name: 'd', image: 'i' }),
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ],
    ['v1 secrets', set('type', 'other'), 'type: Invalid value: "other": field is immutable'],
    [
      'v1 persistentvolumeclaims',
      set('spec.accessModes', ['ReadWriteMany']),
      /^spec: Forbidden: spec is immutable after creation except resources.requests/,
    ],
    [
      'v1 persistentvolumes',
      set('spec.hostPath.path', '/b'),
      /^spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation/,
    ],
    [
      'rbac.authorization.k8s.io/v1 rolebindings',
      set('roleRef.name', 'q'),
      /^roleRef: Invalid value: .*: cannot change roleRef$/,
    ],
    [
      'storage.k8s.io/v1 storageclasses',
      set('provisioner', 'c'),
      'provisioner: Forbidden: updates to provisioner are forbidden.',
    ],
    ['scheduling.k8s.io/v1 priorityclasses', set('value', 6), 'value: Forbidden: may not be changed in an update.'],
    ['node.k8s.io/v1 runtimeclasses', set('handler', 'x'), 'handler: Invalid value: "x": field is immutable'],
    [
      'networking.k8s.io/v1 ingressclasses',
      set('spec.controller', 'a.b/d'),
      'spec.controller: Invalid value: "a.b/d": field is immutable',
    ],
    ['storage.k8s.io/v1 volumeattachments', set('spec.nodeName', 'm'), /^spec: Invalid value: .*: field is immutable$/],
  ]
  for (const [kind, change, error] of cases) t.match(updateErrors(kind, change), [error], kind)
})

t.test('what may change', async t => {
  t.same(updateErrors('v1 pods', set('spec.containers.0.image', 'x')), [])
  t.same(updateErrors('v1 pods', set('spec.tolerations', [{ key: 'a', operator: 'Exists' }])), [])
  t.same(updateErrors('v1 pods', set('spec.activeDeadlineSeconds', 60)), [])
  t.same(updateErrors('apps/v1 statefulsets', set(IMAGE, 'x')), [])
  t.same(updateErrors('apps/v1 deployments', set('spec.replicas', 5)), [])
  t.same(updateErrors('v1 persistentvolumeclaims', set('spec.volumeName', 'pv')), [], 'binding')
})

t.test('ephemeral containers have a sub-resource of their own', async t => {
  const old = created('v1 pods')
  const object = structuredClone(old)
  set('spec.ephemeralContainers', [{ name: 'debug', image: 'busybox' }])(object)
  const { subresources, validateUpdate } = strategyOf('v1 pods')
  t.same(subresources!.ephemeralcontainers!.validateUpdate!(object, old), [], 'through it')
  t.match(validateUpdate!(object, old), [{ type: 'Forbidden', field: 'spec' }], 'not through the pod')
})

t.test('immutable contents', async t => {
  const frozen = { immutable: true, data: { a: 'b' } }
  const thaw = (object: KubeObject) => {
    delete object.immutable
    object.data = { a: 'c' }
  }
  t.same(updateErrors('v1 configmaps', thaw, frozen), [
    'immutable: Forbidden: field is immutable when `immutable` is set',
    'data: Forbidden: field is immutable when `immutable` is set',
  ])
  t.same(updateErrors('v1 configmaps', set('data', { a: 'c' }), { data: { a: 'b' } }), [])
})

t.test('a claim that is bound may grow and not shrink', async t => {
  const kind = 'v1 persistentvolumeclaims'
  const bound = created(kind)
  bound.status = { phase: 'Bound', capacity: { storage: '1Gi' } }
  const errors = (storage: string) => {
    const object = structuredClone(bound)
    set('spec.resources.requests.storage', storage)(object)
    return strategyOf(kind).validateUpdate!(object, bound).map(e => e.field)
  }
  t.same(errors('2Gi'), [])
  t.same(errors('1Mi'), ['spec.resources.requests.storage'])
})

t.test('allocated addresses survive an update that leaves them out, and cannot be moved', async t => {
  const kind = 'v1 services'
  const old = created(kind, { spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } })
  const object = created(kind, { spec: { ports: [{ port: 80 }] } })
  strategyOf(kind).prepareForUpdate!(object, old)
  t.match(object.spec, { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] })
  t.match(
    updateErrors(kind, set('spec.clusterIPs', ['10.0.0.2']), {
      spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] },
    }),
    [
      'spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`',
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ],
  )
})

t.test('the main resource does not touch status, nor a namespace its finalizers', async t => {
  const old = created('v1 namespaces')
  const object = structuredClone(old)
  object.spec = { finalizers: [] }
  object.status = { phase: 'Terminating' }
  strategyOf('v1 namespaces').prepareForUpdate!(object, old)
  t.same(object, old)
})

t.test('generation', async t => {
  for (const kind of ['v1 configmaps', 'v1 secrets', 'v1 services', 'v1 namespaces', 'coordination.k8s.io/v1 leases']) {
    t.equal(strategyOf(kind).noGeneration, true, kind)
  }
  for (const kind of ['apps/v1 deployments', 'policy/v1 poddisruptionbudgets', 'networking.k8s.io/v1 ingresses']) {
    t.notOk(strategyOf(kind).noGeneration, kind)
  }
  const old = created('apps/v1 deployments')
  old.metadata.generation = 3
  const annotated = structuredClone(old)
  annotated.metadata.annotations = { a: 'b' }
  strategyOf('apps/v1 deployments').prepareForUpdate!(annotated, old)
  t.equal(annotated.metadata.generation, 4, 'annotations of a deployment count')
  const noted = structuredClone(annotated)
  noted.metadata.annotations = {
    a: 'b',
    'kubestellar.io/executing-count': '2',
    'edge.kubestellar.io/customization-error': 'x',
    'edge.kubestellar.io/object-conflict': 'x',
  }
  strategyOf('apps/v1 deployments').prepareForUpdate!(noted, annotated)
  t.equal(noted.metadata.generation, 4, 'what the center notes on one does not')
  const mixed = structuredClone(noted)
  mixed.metadata.annotations = { a: 'c' }
  strategyOf('apps/v1 deployments').prepareForUpdate!(mixed, noted)
  t.equal(mixed.metadata.generation, 5)
})

t.test('field selectors see what upstream lets them see', async t => {
  const fields = (kind: string, object: KubeObject = created(kind)) => strategyOf(kind).selectableFields!(object)
  t.match(fields('v1 pods'), { 'spec.nodeName': '', 'status.phase': 'Pending', 'spec.restartPolicy': 'Always' })
  t.match(fields('v1 events'), { 'involvedObject.kind': 'Pod', 'involvedObject.name': 'p', reason: '' })
  t.same(fields('v1 secrets'), { type: 'Opaque' })
  t.same(fields('v1 nodes'), { 'spec.unschedulable': 'false' })
  t.same(fields('batch/v1 jobs'), { 'status.successful': '0' })
  t.same(fields('v1 namespaces'), { 'status.phase': 'Active' })
})

t.test('what was there before may stay where upstream lets it', async t => {
  const kept = (kind: string, fields: object, change: (object: KubeObject) => void = () => {}) =>
    updateErrors(kind, change, structuredClone(fields) as Record<string, unknown>)
  const jobTemplate = {
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
  }
  const cron = (schedule: string, timeZone?: string) => ({
    spec: { schedule, jobTemplate, ...(timeZone && { timeZone }) },
  })
  t.same(kept('batch/v1 cronjobs', cron('TZ=UTC * * * * *')), [], 'a zone in the schedule')
  t.match(kept('batch/v1 cronjobs', cron('TZ=UTC * * * * *'), set('spec.timeZone', 'UTC')), [/cannot use both/])
  t.same(kept('batch/v1 cronjobs', cron('* * * * *', 'Gone/Zone')), [], 'a zone that is no longer known')
  t.same(kept('batch/v1 cronjobs', { metadata: { name: 'a'.repeat(60) }, ...cron('* * * * *') }), [], 'a long name')
  const scaled = { scaleTargetRef: { kind: 'D', name: 'd' }, maxReplicas: 3, minReplicas: 0 }
  const metrics = [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }]
  t.same(kept('autoscaling/v2 horizontalpodautoscalers', { spec: { ...scaled, metrics } }), [], 'scaled to nothing')
  const block = (cidr: string) => ({ spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] } })
  t.same(kept('networking.k8s.io/v1 networkpolicies', block('10.0.0.1/8')), [], 'a loose range')
  t.match(
    kept(
      'networking.k8s.io/v1 networkpolicies',
      block('10.0.0.1/8'),
      set('spec.ingress.0.from.0.ipBlock.cidr', '10.0.0.2/8'),
    ),
    [/must not have bits set beyond the prefix length$/],
  )
})

t.test('a status that a cluster reports is judged alone, not against the one before', async t => {
  const kind = 'batch/v1 jobs'
  const old = created(kind)
  old.status = {
    succeeded: 3,
    conditions: [{ type: 'Complete', status: 'True' }],
    completionTime: '2026-01-01T00:00:00Z',
  }
  const object = structuredClone(old)
  object.status = { active: 1 }
  t.same(strategyOf(kind).validateStatusUpdate!(object, old), [], 'the job may run in another cluster now')
})
