import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { created, createErrors, podSpec, samples, selected, strategyOf, template, updateErrors } from './samples.ts'

const spec = (object: KubeObject) => object.spec as Record<string, unknown>

t.test(
  'every kind takes its sample; defaulting twice is defaulting once; nothing changes, nothing is refused',
  async t => {
    for (const kind of Object.keys(samples)) {
      t.same(createErrors(kind), [], kind)
      const object = created(kind)
      const again = structuredClone(object)
      strategyOf(kind).applyDefaults?.(again)
      t.same(again, object, `${kind}: idempotent`)
      t.same(
        updateErrors(kind, () => {}),
        [],
        `${kind}: unchanged`,
      )
    }
  },
)

// as kube-apiserver answers
t.test('a deployment', async t => {
  t.same(spec(created('apps/v1 deployments')), {
    replicas: 1,
    selector: { matchLabels: { app: 'x' } },
    template: {
      metadata: { labels: { app: 'x' } },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'Always',
          },
        ],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        schedulerName: 'default-scheduler',
      },
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  })
  const recreate = created('apps/v1 deployments', selected({ strategy: { type: 'Recreate' }, replicas: 0 }))
  t.match(spec(recreate), { replicas: 0, strategy: { type: 'Recreate', rollingUpdate: undefined } })
  t.same(recreate.status, {}, 'a client cannot say the status')
})

t.test('images are pulled always when their tag moves', async t => {
  const policy = (image: string) => {
    const pod = created('v1 pods', { spec: { containers: [{ name: 'c', image }] } })
    return (spec(pod).containers as { imagePullPolicy: string }[])[0]!.imagePullPolicy
  }
  t.equal(policy('nginx'), 'Always')
  t.equal(policy('nginx:latest'), 'Always')
  t.equal(policy('nginx:1.25'), 'IfNotPresent')
  t.equal(policy('registry:5000/nginx'), 'Always')
  t.equal(policy(`nginx@sha256:${'a'.repeat(64)}`), 'IfNotPresent')
})

t.test('containers, probes and volumes of a pod', async t => {
  const pod = created('v1 pods', {
    spec: {
      hostNetwork: true,
      serviceAccountName: 'sa',
      containers: [
        {
          name: 'c',
          image: 'a:1',
          ports: [{ containerPort: 8080 }],
          env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          livenessProbe: { httpGet: { port: 80 } },
          resources: { limits: { cpu: '1000m', memory: '0.5Gi' } },
        },
      ],
      volumes: [
        { name: 'empty' },
        { name: 'secret', secret: { secretName: 's' } },
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      ],
    },
  })
  t.match(spec(pod), {
    enableServiceLinks: true,
    serviceAccount: 'sa',
    containers: [
      {
        ports: [{ containerPort: 8080, hostPort: 8080, protocol: 'TCP' }],
        env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }],
        livenessProbe: {
          httpGet: { path: '/', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '1', memory: '512Mi' } },
      },
    ],
    volumes: [
      { emptyDir: {} },
      { secret: { defaultMode: 420 } },
      { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } },
    ],
  })
  t.same(pod.status, { phase: 'Pending', qosClass: 'Guaranteed' })
})

t.test('services', async t => {
  t.same(spec(created('v1 services')), {
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  })
  const external = created('v1 services', { spec: { type: 'ExternalName', externalName: 'a.b' } })
  t.same(spec(external), { type: 'ExternalName', externalName: 'a.b', sessionAffinity: 'None' })
})

t.test('a job selects its own pods by its uid', async t => {
  const job = created('batch/v1 jobs')
  const uid = 'batch.kubernetes.io/controller-uid'
  t.match(spec(job), {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    selector: { matchLabels: { [uid]: 'U' } },
    template: { metadata: { labels: { [uid]: 'U', 'job-name': 'o' } } },
  })
  t.match(job.metadata.labels, { [uid]: 'U' })
})

t.test('secrets take plain text and store bytes', async t => {
  const secret = created('v1 secrets', { data: { a: 'aGk=', b: 'aGk=' }, stringData: { b: 'x' } })
  t.same(secret.data, { a: 'aGk=', b: 'eA==' })
  t.notOk('stringData' in secret)
  t.equal(secret.type, 'Opaque')
})

t.test('namespaces', async t => {
  const namespace = created('v1 namespaces')
  t.same(namespace.metadata.labels, { 'kubernetes.io/metadata.name': 'o' })
  t.same(namespace.spec, { finalizers: ['kubernetes'] })
  t.same(namespace.status, { phase: 'Active' })
})

t.test('other kinds', async t => {
  t.match(spec(created('apps/v1 statefulsets')), {
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    volumeClaimTemplates: [{ kind: 'PersistentVolumeClaim', spec: { volumeMode: 'Filesystem' } }],
  })
  t.match(created('apps/v1 daemonsets').metadata.annotations, { 'deprecated.daemonset.template.generation': '1' })
  t.same(spec(created('v1 replicationcontrollers', { spec: { template: template() } })).selector, { app: 'x' })
  t.same(created('v1 persistentvolumeclaims').metadata.finalizers, ['kubernetes.io/pvc-protection'])
  t.same(spec(created('networking.k8s.io/v1 networkpolicies')).policyTypes, ['Ingress'])
  t.match(created('rbac.authorization.k8s.io/v1 rolebindings'), {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }],
  })
  t.match(created('storage.k8s.io/v1 storageclasses'), { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
  t.match(spec(created('v1 limitranges')), {
    limits: [{ max: { cpu: '2' }, default: { cpu: '2' }, defaultRequest: { cpu: '2' } }],
  })
  t.match(spec(created('autoscaling/v2 horizontalpodautoscalers')), {
    minReplicas: 1,
    metrics: [{ resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
    behavior: {
      scaleUp: {
        policies: [
          { type: 'Pods', value: 4 },
          { type: 'Percent', value: 100 },
        ],
      },
    },
  })
  t.match(created('admissionregistration.k8s.io/v1 mutatingwebhookconfigurations').webhooks, [
    {
      clientConfig: { service: { port: 443 } },
      rules: [{ scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
      reinvocationPolicy: 'Never',
    },
  ])
  t.same(podSpec().containers, [{ name: 'c', image: 'nginx' }], 'samples stay as they are')
})
