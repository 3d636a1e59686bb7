/** Honest objects of many shapes: what the attacks spoil. */
export interface Fixture {
  /** Path of the collection, without a space. */
  path: string
  object: Record<string, unknown> & { metadata: { name: string; annotations?: object } }
  custom?: boolean
  /** Sub-resources that change a part of it, beside `/status` and `/scale`. */
  parts?: readonly string[]
  /** The server writes a status of it, at any time. */
  restless?: boolean
}

const pod = {
  metadata: { labels: { app: 'x' } },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'i:1',
        env: [{ name: 'A', value: '1' }],
        ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }],
        resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: 1 } },
        livenessProbe: { httpGet: { path: '/', port: 'http' } },
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
    initContainers: [{ name: 'i', image: 'i', command: ['true'] }],
    volumes: [{ name: 'v', emptyDir: {} }],
    tolerations: [{ key: 'k', operator: 'Exists' }],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } },
  },
}
const metadata = (name: string) => ({
  name,
  labels: { app: 'x' },
  annotations: { note: 'y' },
  finalizers: [] as string[],
})
const of = (path: string, apiVersion: string, kind: string, rest: object): Fixture => ({
  path,
  object: { apiVersion, kind, metadata: metadata(`f-${kind.toLowerCase()}`), ...rest },
})
const namespaced = '/api/v1/namespaces/default'
const RESOURCES = 'resource.k8s.io/v1'
const resources = `/apis/${RESOURCES}`
const FLOWS = 'flowcontrol.apiserver.k8s.io/v1'
const flows = `/apis/${FLOWS}`
const ADMISSION = 'admissionregistration.k8s.io/v1'

export const FIXTURES: readonly Fixture[] = [
  of(`${namespaced}/configmaps`, 'v1', 'ConfigMap', { data: { a: 'b' }, binaryData: { c: 'ZA==' }, immutable: false }),
  of(`${namespaced}/secrets`, 'v1', 'Secret', { data: { a: 'Yg==' }, stringData: { c: 'd' }, type: 'Opaque' }),
  {
    ...of(`${namespaced}/pods`, 'v1', 'Pod', {
      spec: {
        ...pod.spec,
        ephemeralContainers: [{ name: 'e', image: 'i', targetContainerName: 'c', env: [{ name: 'A', value: '1' }] }],
      },
      status: { phase: 'Pending', conditions: [{ type: 'Ready', status: 'False' }], podIPs: [{ ip: '10.1.1.1' }] },
    }),
    parts: ['/resize', '/ephemeralcontainers'],
  },
  of(`${namespaced}/services`, 'v1', 'Service', {
    spec: { selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http', name: 'p' }], type: 'ClusterIP' },
  }),
  of(`${namespaced}/serviceaccounts`, 'v1', 'ServiceAccount', { secrets: [{ name: 's' }] }),
  of(`${namespaced}/events`, 'v1', 'Event', {
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'r',
    message: 'm',
    count: 1,
    firstTimestamp: '2026-01-01T00:00:00Z',
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingComponent: 'c',
    reportingInstance: 'i',
    action: 'a',
  }),
  of(`${namespaced}/endpoints`, 'v1', 'Endpoints', {
    subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 1 }] }],
  }),
  of('/api/v1/persistentvolumes', 'v1', 'PersistentVolume', {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  }),
  of('/api/v1/nodes', 'v1', 'Node', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
  of('/apis/apps/v1/namespaces/default/deployments', 'apps/v1', 'Deployment', {
    spec: { replicas: 1, selector: { matchLabels: { app: 'x' } }, template: pod, strategy: { type: 'RollingUpdate' } },
    status: { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] },
  }),
  of('/apis/apps/v1/namespaces/default/statefulsets', 'apps/v1', 'StatefulSet', {
    spec: { serviceName: 's', selector: { matchLabels: { app: 'x' } }, template: pod },
  }),
  of('/apis/batch/v1/namespaces/default/jobs', 'batch/v1', 'Job', {
    spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } }, backoffLimit: 2 },
  }),
  of('/apis/batch/v1/namespaces/default/cronjobs', 'batch/v1', 'CronJob', {
    spec: {
      schedule: '*/5 * * * *',
      jobTemplate: {
        spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } },
      },
    },
  }),
  of('/apis/networking.k8s.io/v1/namespaces/default/ingresses', 'networking.k8s.io/v1', 'Ingress', {
    spec: {
      rules: [
        {
          host: 'a.b',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
      tls: [{ hosts: ['a.b'], secretName: 's' }],
    },
  }),
  of('/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', 'networking.k8s.io/v1', 'NetworkPolicy', {
    spec: { podSelector: { matchLabels: { a: 'b' } }, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] },
  }),
  of('/apis/rbac.authorization.k8s.io/v1/clusterroles', 'rbac.authorization.k8s.io/v1', 'ClusterRole', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  }),
  of('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', 'autoscaling/v2', 'HorizontalPodAutoscaler', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  }),
  of('/apis/policy/v1/namespaces/default/poddisruptionbudgets', 'policy/v1', 'PodDisruptionBudget', {
    spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } },
  }),
  of('/apis/coordination.k8s.io/v1/namespaces/default/leases', 'coordination.k8s.io/v1', 'Lease', {
    spec: { holderIdentity: 'me', leaseDurationSeconds: 10, renewTime: '2026-01-01T00:00:00.000000Z' },
  }),
  of('/apis/storage.k8s.io/v1/storageclasses', 'storage.k8s.io/v1', 'StorageClass', {
    provisioner: 'p',
    parameters: { a: 'b' },
  }),
  of('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', 'discovery.k8s.io/v1', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.1.1'] }],
    ports: [{ port: 80 }],
  }),
  of('/apis/edge.kubestellar.io/v2alpha1/edgeplacements', 'edge.kubestellar.io/v2alpha1', 'EdgePlacement', {
    spec: { locationSelectors: [{ matchLabels: { a: 'b' } }], downsync: [] },
  }),
  of(`${resources}/namespaces/default/resourceclaims`, RESOURCES, 'ResourceClaim', {
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', count: 2, tolerations: [{}] } }] } },
    status: {
      allocation: { devices: { results: [{ request: 'r', driver: 'd.io', pool: 'p', device: 'x' }] } },
      reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }],
      devices: [{ driver: 'd.io', pool: 'p', device: 'x', networkData: { ips: ['10.0.0.1/8'] }, conditions: [] }],
    },
  }),
  of(`${resources}/deviceclasses`, RESOURCES, 'DeviceClass', {
    spec: { selectors: [{ cel: { expression: 'true' } }], config: [{ opaque: { driver: 'd.io', parameters: {} } }] },
  }),
  of(`${resources}/resourceslices`, RESOURCES, 'ResourceSlice', {
    spec: {
      driver: 'd.io',
      nodeName: 'n',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'x', attributes: { a: { int: 1 } }, capacity: { m: { value: '1Gi' } }, taints: [] }],
    },
  }),
  of(`${flows}/flowschemas`, FLOWS, 'FlowSchema', {
    spec: {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 5,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'u' } }],
          resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['default'] }],
        },
      ],
    },
  }),
  of(`${flows}/prioritylevelconfigurations`, FLOWS, 'PriorityLevelConfiguration', {
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 5,
        limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 2, queueLengthLimit: 5 } },
      },
    },
  }),
  {
    restless: true,
    ...of(`/apis/${ADMISSION}/validatingadmissionpolicies`, ADMISSION, 'ValidatingAdmissionPolicy', {
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['*'] }],
        },
        variables: [{ name: 'v', expression: 'object.spec.replicas' }],
        validations: [
          { expression: 'variables.v > 1', messageExpression: '"x" + string(variables.v)', reason: 'Invalid' },
        ],
        auditAnnotations: [{ key: 'k', valueExpression: '"x"' }],
        matchConditions: [{ name: 'm', expression: 'request.userInfo.username != ""' }],
      },
    }),
  },
  of(`/apis/${ADMISSION}/mutatingadmissionpolicies`, ADMISSION, 'MutatingAdmissionPolicy', {
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ['x'], apiVersions: ['v1'], resources: ['y'], operations: ['CREATE'] }],
      },
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
      reinvocationPolicy: 'Never',
    },
  }),
  {
    ...of('/apis/fuzz.example.com/v1/namespaces/default/widgets', 'fuzz.example.com/v1', 'Widget', WIDGET()),
    custom: true,
  },
]

function WIDGET(): object {
  return {
    spec: {
      size: 1,
      name: 'abc',
      any: { a: [1] },
      set: ['a'],
      map: [{ key: 'k', value: 1 }],
      port: 80,
      labels: { a: 'b' },
      nested: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' } },
    },
    status: { replicas: 1 },
  }
}

export const WIDGETS_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.fuzz.example.com' },
  spec: {
    group: 'fuzz.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wi'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Port', type: 'string', jsonPath: '.spec.port' },
          { name: 'Born', type: 'date', jsonPath: '.spec.name' },
        ],
        selectableFields: [{ jsonPath: '.spec.name' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                'x-kubernetes-validations': [{ rule: '!has(self.size) || self.size < 1000' }],
                properties: {
                  size: { type: 'integer', format: 'int32', default: 3 },
                  name: { type: 'string', pattern: '^(a+)+b?c*$', maxLength: 100 },
                  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  map: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['key'],
                    items: {
                      type: 'object',
                      required: ['key'],
                      properties: { key: { type: 'string' }, value: { type: 'number', nullable: true } },
                    },
                  },
                  port: { 'x-kubernetes-int-or-string': true },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                  nested: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                },
              },
              status: { type: 'object', properties: { replicas: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
}

const account = '/api/v1/namespaces/default/serviceaccounts/default'
const reviews = '/apis/authorization.k8s.io/v1'
const attributes = { namespace: 'default', verb: 'get', group: '', version: 'v1', resource: 'pods', name: 'p' }

/** Requests that are posted and not stored: sub-resources and reviews. */
export const QUESTIONS: readonly Fixture[] = [
  of(`${account}/token`, 'authentication.k8s.io/v1', 'TokenRequest', {
    spec: { audiences: ['a'], expirationSeconds: 600, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } },
  }),
  of('/apis/authentication.k8s.io/v1/tokenreviews', 'authentication.k8s.io/v1', 'TokenReview', {
    spec: { token: 'a.b.c', audiences: ['x'] },
  }),
  of(`${reviews}/subjectaccessreviews`, 'authorization.k8s.io/v1', 'SubjectAccessReview', {
    spec: { user: 'u', groups: ['g'], extra: { a: ['b'] }, resourceAttributes: attributes },
  }),
  of(`${reviews}/selfsubjectaccessreviews`, 'authorization.k8s.io/v1', 'SelfSubjectAccessReview', {
    spec: {
      resourceAttributes: {
        ...attributes,
        labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
        fieldSelector: { rawSelector: 'metadata.name=x' },
      },
    },
  }),
  of(`${reviews}/selfsubjectaccessreviews`, 'authorization.k8s.io/v1', 'SelfSubjectAccessReview', {
    spec: { nonResourceAttributes: { path: '/x', verb: 'get' } },
  }),
  of(`${reviews}/selfsubjectrulesreviews`, 'authorization.k8s.io/v1', 'SelfSubjectRulesReview', {
    spec: { namespace: 'default' },
  }),
  of('/apis/authentication.k8s.io/v1/selfsubjectreviews', 'authentication.k8s.io/v1', 'SelfSubjectReview', {}),
  of(`${namespaced}/pods/p/eviction`, 'policy/v1', 'Eviction', {
    deleteOptions: { gracePeriodSeconds: 1, preconditions: { uid: 'u' } },
  }),
  of(`${namespaced}/pods/p/binding`, 'v1', 'Binding', { target: { kind: 'Node', name: 'n' } }),
  of('/apis/certificates.k8s.io/v1/certificatesigningrequests', 'certificates.k8s.io/v1', 'CertificateSigningRequest', {
    spec: {
      request: 'Zm8=',
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      expirationSeconds: 600,
    },
  }),
  of('/apis/tenancy.kcp.io/v1alpha1/workspaces', 'tenancy.kcp.io/v1alpha1', 'Workspace', {
    spec: { type: { name: 'universal', path: 'root' } },
  }),
  of(
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    {
      webhooks: [
        {
          name: 'a.b.c',
          clientConfig: { url: 'https://127.0.0.1:1/x', caBundle: 'Zm8=' },
          rules: [{ apiGroups: ['x'], apiVersions: ['v1'], resources: ['y'], operations: ['CREATE'], scope: '*' }],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          matchConditions: [{ name: 'a', expression: 'true' }],
          namespaceSelector: { matchLabels: { a: 'b' } },
        },
      ],
    },
  ),
  of(
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: ['x'], apiVersions: ['v1'], resources: ['y'], operations: ['CREATE'] }],
        },
        validations: [{ expression: 'object.spec.x > 1', message: 'm' }],
        variables: [{ name: 'v', expression: '1' }],
        auditAnnotations: [{ key: 'k', valueExpression: '"x"' }],
      },
    },
  ),
  of(`${namespaced}/resourcequotas`, 'v1', 'ResourceQuota', { spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } }),
  of(`${namespaced}/limitranges`, 'v1', 'LimitRange', {
    spec: { limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '1' } }] },
  }),
]
