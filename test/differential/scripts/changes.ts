/** Changes of objects outside the core group, through the object and through its status; warnings. */
import { get, merge, post, put, type Rest, type Script, type Step, unlikeWords } from '../script.ts'
import { APPS, of, SELECTOR, TEMPLATE } from './bodies.ts'

const IN = 'namespaces/{ns}'
const BATCH = `/apis/batch/v1/${IN}`
const NETWORK = '/apis/networking.k8s.io/v1'
const STORAGE = '/apis/storage.k8s.io/v1'
const POD = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'registry.example/i:1' }] }
const KEPT: Rest = { only: ['code', 'metadata.labels', 'metadata.annotations', 'metadata.finalizers', 'message'] }
const CODE: Rest = { only: ['code', 'message', 'details.causes'] }
const spec = (rest: object = {}): object => ({ spec: { selector: SELECTOR, template: TEMPLATE, ...rest } })
const MARKS = { labels: { by: 'status' }, annotations: { by: 'status' } }

/** Creates an object, then tries what its status may say of the rest. */
const throughStatus = (
  apiVersion: string,
  kind: string,
  path: string,
  fields: object,
  { since, name = 'marked' }: { since?: string; name?: string } = {},
): Step[] => {
  const rest: Rest = since === undefined ? {} : { since }
  return [
    post(path, of(apiVersion, kind, name, fields), { ...rest, only: ['code'] }),
    merge(`${path}/${name}/status`, { metadata: MARKS }, { ...rest, ...KEPT }),
    get(`${path}/${name}`, { ...rest, ...KEPT }),
  ]
}

export const statusMetadata: Script = {
  name: 'status-metadata',
  steps: [
    ...throughStatus('apps/v1', 'Deployment', `${APPS}/deployments`, spec()),
    ...throughStatus('apps/v1', 'ReplicaSet', `${APPS}/replicasets`, spec()),
    ...throughStatus('apps/v1', 'StatefulSet', `${APPS}/statefulsets`, spec({ serviceName: 's' })),
    ...throughStatus('apps/v1', 'DaemonSet', `${APPS}/daemonsets`, spec()),
    ...throughStatus('batch/v1', 'Job', `${BATCH}/jobs`, {
      spec: { template: { spec: POD } },
      metadata: { name: 'marked', labels: { own: 'yes' } },
    }),
    ...throughStatus(
      'autoscaling/v1',
      'HorizontalPodAutoscaler',
      `/apis/autoscaling/v1/${IN}/horizontalpodautoscalers`,
      {
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
      },
    ),
    ...throughStatus(
      'policy/v1',
      'PodDisruptionBudget',
      `/apis/policy/v1/${IN}/poddisruptionbudgets`,
      { spec: { minAvailable: 1 } },
      { since: '1.21: v1' },
    ),
    ...throughStatus('networking.k8s.io/v1', 'Ingress', `${NETWORK}/${IN}/ingresses`, {
      spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
    }),
    ...throughStatus('storage.k8s.io/v1', 'VolumeAttachment', `${STORAGE}/volumeattachments`, {
      spec: { attacher: 'a.b', nodeName: 'n', source: { persistentVolumeName: 'p' } },
    }),
    ...throughStatus(
      'apiregistration.k8s.io/v1',
      'APIService',
      '/apis/apiregistration.k8s.io/v1/apiservices',
      {
        spec: {
          group: 'marked.example',
          version: 'v1',
          groupPriorityMinimum: 10,
          versionPriority: 10,
          service: { name: 's', namespace: 'n' },
        },
      },
      { name: 'v1.marked.example' },
    ),
    ...throughStatus(
      'flowcontrol.apiserver.k8s.io/v1',
      'FlowSchema',
      '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
      { spec: { priorityLevelConfiguration: { name: 'l' } } },
      { since: '1.29: v1' },
    ),
    ...throughStatus(
      'resource.k8s.io/v1',
      'ResourceClaim',
      `/apis/resource.k8s.io/v1/${IN}/resourceclaims`,
      { spec: { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c' } }] } } },
      { since: '1.34: v1' },
    ),
    // what the status says of the object's end counts as well
    merge(`${APPS}/replicasets/marked/status`, { metadata: { finalizers: ['a.example/b'] } }, KEPT),
    merge(`${APPS}/replicasets/marked/status`, { metadata: { finalizers: null } }, KEPT),
    ...['deployments', 'replicasets', 'statefulsets'].flatMap(resource => [
      get(`${APPS}/${resource}/none/scale`),
      merge(`${APPS}/${resource}/none/scale`, { spec: { replicas: 1 } }),
    ]),
    get(`/api/v1/${IN}/replicationcontrollers/none/scale`),
    put(`${APPS}/deployments/none/scale`, of('autoscaling/v1', 'Scale', 'none', { spec: { replicas: 1 } })),
    get(`${APPS}/daemonsets/none/scale`),
  ],
}

const WIDER = 'fewer fields could be changed'
const NEAR = {
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: SELECTOR }],
}
const STATEFUL = `${APPS}/statefulsets/grown`
const JOB = `${BATCH}/jobs/held`
const CRON = `${BATCH}/cronjobs/${'c'.repeat(52)}`
const SINCE_CRON: Rest = { since: '1.21: batch/v1' }
const SINCE_SUSPEND: Rest = { since: '1.21: suspended jobs' }
const SINCE_INDEXES: Rest = { since: '1.27: indexed jobs that grow' }
const DRIVER = `${STORAGE}/csidrivers/changing.example`
const RANGES = `${NETWORK}/servicecidrs`
const WARNED: Rest = { only: ['metadata.name', 'code'] }

export const changes: Script = {
  name: 'changes',
  steps: [
    post(`${APPS}/statefulsets`, of('apps/v1', 'StatefulSet', 'grown', spec({ serviceName: 's' })), WARNED),
    merge(STATEFUL, { spec: { podManagementPolicy: 'Parallel' } }, { unlike120: { body: WIDER } }),
    merge(STATEFUL, { spec: { ordinals: { start: 1 } } }, CODE),
    merge(STATEFUL, { spec: { revisionHistoryLimit: -1 } }, { since: '1.33: mutable, with a warning', ...CODE }),
    post(`${BATCH}/jobs`, of('batch/v1', 'Job', 'held', { spec: { suspend: true, template: { spec: POD } } }), {
      unlike120: { 'body.spec.suspend': '1.21', 'body.spec.selector': '1.27: other labels' },
      only: ['spec.suspend', 'spec.selector', 'spec.completions'],
    }),
    // 1.20 lets nobody change where a job runs
    ...[
      { spec: { template: { spec: { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }] } } } },
      { spec: { template: { spec: { affinity: { nodeAffinity: {} } } } } },
    ].map(change => merge(JOB, change, { ...SINCE_SUSPEND, only: ['code', 'message'] })),
    ...[
      { spec: { template: { spec: { affinity: { podAffinity: NEAR } } } } },
      { spec: { template: { spec: { serviceAccountName: 'other' } } } },
      { spec: { suspend: false } },
      { spec: { template: { spec: { nodeSelector: { a: 'c' } } } } },
    ].map(change => merge(JOB, change, { only: ['code', 'message'] })),
    merge(JOB, { spec: { managedBy: 'a.example/b' } }, { since: '1.30: the field', only: ['code', 'message'] }),
    ...[{ spec: { completions: 4 } }, { spec: { parallelism: 3, backoffLimit: 2, activeDeadlineSeconds: 60 } }].map(
      change => merge(JOB, change, { only: ['code', 'message'] }),
    ),
    // once it has begun, where it runs is settled, suspended or not
    merge(`${JOB}/status`, { status: { startTime: '2026-01-01T00:00:00Z', ready: -1 } }, { ...SINCE_SUSPEND, ...CODE }),
    merge(`${JOB}/status`, { status: { startTime: '2026-01-01T00:00:00Z' } }, CODE),
    merge(JOB, { spec: { suspend: true } }, CODE),
    merge(JOB, { spec: { template: { spec: { nodeSelector: { a: 'd' } } } } }, { only: ['code', 'message'] }),
    merge(
      `${JOB}/status`,
      { status: { uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } } },
      { ...SINCE_SUSPEND, ...CODE },
    ),
    post(
      `${BATCH}/jobs`,
      of('batch/v1', 'Job', 'many', {
        spec: { completionMode: 'Indexed', completions: 2, parallelism: 2, template: { spec: POD } },
      }),
      { only: ['spec.completions'] },
    ),
    merge(`${BATCH}/jobs/many`, { spec: { completions: 3 } }, { ...unlikeWords('1.27: it may change'), ...CODE }),
    merge(`${BATCH}/jobs/many`, { spec: { completions: 3, parallelism: 3 } }, { ...SINCE_INDEXES, ...CODE }),
    post(
      `${BATCH}/cronjobs`,
      of('batch/v1', 'CronJob', 'c'.repeat(52), {
        spec: { schedule: '@daily', timeZone: 'Europe/Berlin', jobTemplate: { spec: { template: { spec: POD } } } },
      }),
      { ...SINCE_CRON, ...WARNED },
    ),
    merge(CRON, { spec: { schedule: 'TZ=UTC 0 0 * * *' } }, { ...SINCE_CRON, ...CODE }),
    merge(CRON, { spec: { timeZone: 'Nowhere' } }, { ...SINCE_CRON, ...CODE }),
    post(
      `${NETWORK}/ingressclasses`,
      of('networking.k8s.io/v1', 'IngressClass', 'changing', { spec: { controller: 'a.b/c' } }),
      WARNED,
    ),
    merge(`${NETWORK}/ingressclasses/changing`, { spec: { controller: 'a.b/d' } }),
    post(`${STORAGE}/csidrivers`, of('storage.k8s.io/v1', 'CSIDriver', 'changing.example', { spec: {} }), WARNED),
    merge(DRIVER, { spec: { attachRequired: false } }, { unlike120: { '?body': 'all of it was fixed' } }),
    merge(
      DRIVER,
      { spec: { requiresRepublish: true } },
      { since: '1.22: mutable', only: ['spec.requiresRepublish', 'metadata.generation'] },
    ),
    merge(DRIVER, { spec: { podInfoOnMount: true } }, { since: '1.29: mutable', only: ['spec.podInfoOnMount'] }),
    post(
      `${STORAGE}/csinodes`,
      of('storage.k8s.io/v1', 'CSINode', 'changing', {
        spec: { drivers: [{ name: 'a.b', nodeID: 'n', topologyKeys: ['k'], allocatable: { count: 1 } }] },
      }),
      WARNED,
    ),
    merge(
      `${STORAGE}/csinodes/changing`,
      { spec: { drivers: [{ name: 'a.b', nodeID: 'm', topologyKeys: ['k'] }] } },
      { only: ['code', 'reason'] },
    ),
    merge(
      `${STORAGE}/csinodes/changing`,
      { spec: { drivers: [{ name: 'a.b', nodeID: 'n', topologyKeys: ['k'], allocatable: { count: 2 } }] } },
      { since: '1.33: what a node takes may change', only: ['spec'] },
    ),
    post(
      `${STORAGE}/volumeattributesclasses`,
      of('storage.k8s.io/v1', 'VolumeAttributesClass', 'changing', { driverName: 'a.b', parameters: { a: 'b' } }),
      { since: '1.34: v1' },
    ),
    merge(
      `${STORAGE}/volumeattributesclasses/changing`,
      { driverName: 'a.c', parameters: { a: 'c' } },
      { since: '1.34: v1' },
    ),
    ...[
      post(RANGES, of('networking.k8s.io/v1', 'ServiceCIDR', 'changing', { spec: { cidrs: ['10.0.0.0/24'] } })),
      merge(`${RANGES}/changing`, { spec: { cidrs: ['10.0.1.0/24'] } }),
      merge(`${RANGES}/changing`, { spec: { cidrs: ['10.0.0.0/24', '10.0.1.0/24'] } }),
      merge(`${RANGES}/changing`, { spec: { cidrs: ['10.0.0.0/24', '2001:db8::/64'] } }),
      merge(`${RANGES}/changing`, { spec: { cidrs: ['10.0.0.0/24'] } }),
      post(
        `${NETWORK}/ipaddresses`,
        of('networking.k8s.io/v1', 'IPAddress', '2001:db8::1', {
          spec: { parentRef: { resource: 'services', name: 's' } },
        }),
      ),
      merge(`${NETWORK}/ipaddresses/2001:db8::1`, { spec: { parentRef: { name: 't' } } }),
    ].map(step => ({ ...step, since: '1.33: v1' })),
  ],
}

const slice = (name: string, addressType: string, address: string, labels: object = {}): object =>
  of(
    'discovery.k8s.io/v1',
    'EndpointSlice',
    name,
    { addressType, endpoints: [{ addresses: [address] }], ports: [] },
    { labels },
  )
const SLICES = `/apis/discovery.k8s.io/v1/${IN}/endpointslices`
const INGRESS = { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }
const NEW_WARNING: Rest = { unlike120: { 'headers.warning': 'the warning is newer' }, ...WARNED }
const SINCE_SLICES: Rest = { since: '1.21: v1', ...WARNED }
const OLD_ZONE = 'failure-domain.beta.kubernetes.io/zone'

export const warnings: Script = {
  name: 'warnings',
  steps: [
    post(`${APPS}/deployments`, of('apps/v1', 'Deployment', 'a.b', spec()), NEW_WARNING),
    merge(`${APPS}/deployments/a.b`, { spec: { replicas: 2 } }, WARNED),
    post(`${APPS}/replicasets`, of('apps/v1', 'ReplicaSet', 'a.b', spec()), NEW_WARNING),
    post(`${BATCH}/jobs`, of('batch/v1', 'Job', 'a.b', { spec: { template: { spec: POD } } }), NEW_WARNING),
    post(
      `${BATCH}/jobs?dryRun=All`,
      of('batch/v1', 'Job', 'wide', {
        spec: { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001, template: { spec: POD } },
      }),
      NEW_WARNING,
    ),
    post(
      `${APPS}/statefulsets?dryRun=All`,
      of('apps/v1', 'StatefulSet', 's', spec({ serviceName: 's', revisionHistoryLimit: -1 })),
      NEW_WARNING,
    ),
    post(
      `${NETWORK}/${IN}/ingresses`,
      of('networking.k8s.io/v1', 'Ingress', 'i', INGRESS, { annotations: { 'kubernetes.io/ingress.class': 'c' } }),
      NEW_WARNING,
    ),
    merge(`${NETWORK}/${IN}/ingresses/i`, { metadata: { labels: { a: 'b' } } }, WARNED),
    post(
      `${NETWORK}/${IN}/networkpolicies`,
      of('networking.k8s.io/v1', 'NetworkPolicy', 'p', {
        spec: {
          podSelector: {},
          ingress: [{ from: [{ ipBlock: { cidr: '2001:DB8::/32', except: ['2001:db8:0::/48'] } }] }],
        },
      }),
      NEW_WARNING,
    ),
    post(SLICES, slice('names', 'FQDN', 'a.example'), SINCE_SLICES),
    post(SLICES, slice('odd', 'IPv6', '2001:DB8::1'), SINCE_SLICES),
    post(
      SLICES,
      slice('controlled', 'IPv6', '2001:DB8::1', {
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      }),
      SINCE_SLICES,
    ),
    post(
      `${STORAGE}/storageclasses`,
      of('storage.k8s.io/v1', 'StorageClass', 'zoned', {
        provisioner: 'a/b',
        allowedTopologies: [{ matchLabelExpressions: [{ key: OLD_ZONE, values: ['a'] }] }],
      }),
      NEW_WARNING,
    ),
    post(
      `${STORAGE}/${IN}/csistoragecapacities`,
      of('storage.k8s.io/v1', 'CSIStorageCapacity', 'zoned', {
        storageClassName: 'zoned',
        nodeTopology: { matchLabels: { [OLD_ZONE]: 'a' }, matchExpressions: [{ key: OLD_ZONE, operator: 'Exists' }] },
      }),
      { since: '1.24: v1', ...WARNED },
    ),
    post(
      '/apis/node.k8s.io/v1/runtimeclasses',
      of('node.k8s.io/v1', 'RuntimeClass', 'old', {
        handler: 'h',
        scheduling: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
      }),
      NEW_WARNING,
    ),
  ],
}
