import t from 'tap'
import { createErrors, podSpec, selected, strategyOf, template } from './samples.ts'

const container = (fields: object) => ({
  template: { spec: podSpec({ containers: [{ name: 'c', image: 'i', ...fields }] }) },
})
const pods = (fields: object) => createErrors('v1 podtemplates', { template: { spec: podSpec(fields) } })
const inContainer = (fields: object) =>
  createErrors('v1 podtemplates', container(fields)).map(m => m.replace('template.spec.containers[0].', ''))

// the words below are those of kube-apiserver: users and tools read them
t.test('deployments', async t => {
  const kind = 'apps/v1 deployments'
  t.same(createErrors(kind, { spec: {} }), [
    'spec.selector: Required value',
    'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    'spec.template.spec.containers: Required value',
  ])
  t.same(createErrors(kind, selected({ replicas: -1, selector: { matchLabels: { app: 'y' } } })), [
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
  ])
  t.same(createErrors(kind, selected({ selector: {} })), [
    'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
  ])
  t.same(createErrors(kind, selected({ template: template({ restartPolicy: 'Never' }) })), [
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ])
  const stuck = { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }, minReadySeconds: 600 }
  t.same(createErrors(kind, selected(stuck)), [
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0',
    'spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds',
  ])
  t.same(createErrors(kind, selected({ strategy: { type: 'Recreate', rollingUpdate: {} } })), [
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ])
})

t.test('containers', async t => {
  t.match(inContainer({ name: 'A_', image: '' }), [
    /^name: Invalid value: "A_": a lowercase RFC 1123 label/,
    'image: Required value',
  ])
  t.same(pods({ containers: [podSpec().containers, podSpec().containers].flat() }), [
    'template.spec.containers[1].name: Duplicate value: "c"',
  ])
  t.same(inContainer({ ports: [{ containerPort: 0 }, { containerPort: 70000, protocol: 'X' }] }), [
    'ports[0].containerPort: Required value',
    'ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
    'ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ])
  t.same(
    inContainer({
      env: [{ name: '' }, { name: 'b', value: 'x', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    }),
    [
      'env[0].name: Required value',
      'env[1].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ],
  )
  t.same(inContainer({ volumeMounts: [{ name: 'x', mountPath: '/a' }] }), ['volumeMounts[0].name: Not found: "x"'])
  t.same(inContainer({ resources: { limits: { cpu: '1' }, requests: { cpu: '1500m' } } }), [
    'resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1',
  ])
  t.match(inContainer({ resources: { limits: { cpu: 'abc' } } }), [
    /^resources.limits\[cpu\]: Invalid value: "abc": quantities/,
  ])
  t.same(inContainer({ livenessProbe: { successThreshold: 3, exec: {} } }), [
    'livenessProbe.exec.command: Required value',
    'livenessProbe.successThreshold: Invalid value: 3: must be 1',
  ])
})

t.test('pods', async t => {
  t.same(pods({ restartPolicy: 'Y', volumes: [{ name: 'a' }, { name: 'a' }, { name: 'z', secret: {} }] }), [
    'template.spec.volumes[1].name: Duplicate value: "a"',
    'template.spec.volumes[2].secret.secretName: Required value',
    'template.spec.restartPolicy: Unsupported value: "Y": supported values: "Always", "OnFailure", "Never"',
  ])
  const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const mounted = { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] }
  t.same(
    createErrors(
      'apps/v1 statefulsets',
      selected({ template: template(mounted), volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: claimSpec }] }),
    ),
    [],
  )
})

t.test('services', async t => {
  const service = (spec: object) => createErrors('v1 services', { spec })
  t.same(service({}), ['spec.ports: Required value'])
  t.same(service({ clusterIP: 'None' }), [])
  t.same(service({ type: 'ExternalName' }), ['spec.externalName: Required value'])
  t.same(service({ ports: [{ port: 80, nodePort: 30000 }] }), [
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ])
  t.same(
    service({
      type: 'X',
      ports: [
        { port: 0, name: 'a' },
        { port: 80, targetPort: 99999 },
      ],
    }),
    [
      'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[1].name: Required value',
      'spec.ports[1].targetPort: Invalid value: 99999: must be between 1 and 65535, inclusive',
      'spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  )
  t.equal(strategyOf('v1 services').nameRule, 'dns1035Label')
})

t.test('config maps and secrets', async t => {
  t.match(createErrors('v1 configmaps', { data: { 'a b': 'x', '..': 'y' } }), [
    /^data\[a b\]: Invalid value: "a b": a valid config key must consist of/,
    'data[..]: Invalid value: "..": must not be \'..\'',
  ])
  const big = 'x'.repeat(1024 * 1024)
  t.same(createErrors('v1 configmaps', { data: { a: big } }), [])
  t.match(createErrors('v1 configmaps', { data: { a: big, b: 'x' } }), [/^\[\]: Too long/])
  t.match(createErrors('v1 secrets', { stringData: { a: big, b: 'x' } }), [/^data: Too long/])
  t.same(createErrors('v1 secrets', { type: 'kubernetes.io/tls' }), [
    'data[tls.crt]: Required value',
    'data[tls.key]: Required value',
  ])
})

t.test('jobs', async t => {
  t.same(createErrors('batch/v1 jobs', { spec: { backoffLimit: -2, template: template() } }), [
    'spec.backoffLimit: Invalid value: -2: must be greater than or equal to 0',
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ])
  const own = { spec: { selector: { matchLabels: { a: 'b' } }, template: template({ restartPolicy: 'Never' }) } }
  t.match(createErrors('batch/v1 jobs', own), [/`selector` not auto-generated$/, /`selector` does not match template/])
})

t.test('roles and bindings', async t => {
  const group = 'rbac.authorization.k8s.io/v1'
  t.same(createErrors(`${group} roles`, { rules: [{}, { verbs: ['get'], nonResourceURLs: ['/x'] }] }), [
    'rules[0].verbs: Required value: verbs must contain at least one value',
    'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
    'rules[0].resources: Required value: resource rules must supply at least one resource',
    'rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
  ])
  t.same(createErrors(`${group} rolebindings`, { roleRef: {}, subjects: [{ kind: 'Robot', name: 'x' }] }), [
    'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
    'roleRef.name: Required value',
    'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
  ])
})

t.test('other kinds', async t => {
  const ingress = (spec: object) => createErrors('networking.k8s.io/v1 ingresses', { spec })
  t.match(ingress({}), [/either `defaultBackend` or `rules` must be specified$/])
  t.same(ingress({ rules: [{ host: '1.2.3.4', http: { paths: [{ path: 'a' }] } }] }), [
    'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    'spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified',
  ])
  t.same(createErrors('autoscaling/v1 horizontalpodautoscalers', { spec: { minReplicas: 5, maxReplicas: 3 } }), [
    'spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`',
    'spec.scaleTargetRef.kind: Required value',
    'spec.scaleTargetRef.name: Required value',
  ])
  t.match(createErrors('policy/v1 poddisruptionbudgets', { spec: { minAvailable: 1, maxUnavailable: '101%' } }), [
    /minAvailable and maxUnavailable cannot be both set$/,
    'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ])
  t.same(createErrors('v1 persistentvolumeclaims', { spec: {} }), [
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ])
  t.same(createErrors('scheduling.k8s.io/v1 priorityclasses', { value: 2000000000 }), [
    'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
  ])
  t.match(createErrors('apiregistration.k8s.io/v1 apiservices', { spec: { group: 'a.b', version: 'v1' } }), [
    'metadata.name: Invalid value: "o": must be `spec.version+"."+spec.group`: "v1.a.b"',
  ])
  t.same(createErrors('v1 events', { involvedObject: { namespace: 'other' } }), [
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ])
})
