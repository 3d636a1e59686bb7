/** Each kind's own rule of when it does what it is there for. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { type Health, healthOf } from '../../../src/placement/outcome/health.ts'

const kinds = {
  deployments: 'apps',
  statefulsets: 'apps',
  daemonsets: 'apps',
  replicasets: 'apps',
  replicationcontrollers: '',
  jobs: 'batch',
  cronjobs: 'batch',
  pods: '',
  persistentvolumeclaims: '',
  services: '',
  ingresses: 'networking.k8s.io',
  poddisruptionbudgets: 'policy',
  horizontalpodautoscalers: 'autoscaling',
  customresourcedefinitions: 'apiextensions.k8s.io',
  apiservices: 'apiregistration.k8s.io',
  configmaps: '',
  certificates: 'cert-manager.io',
} as const
type Kind = keyof typeof kinds

const is = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message })
const full = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 }
const CASES: [Kind, string, Health, spec: object, status: object | undefined, message?: string][] = [
  ['deployments', 'all there', 'Healthy', { replicas: 2 }, full],
  ['deployments', 'one by default', 'Healthy', {}, { replicas: 1, updatedReplicas: 1, availableReplicas: 1 }],
  ['deployments', 'as many as an autoscaler says', 'Healthy', {}, { ...full, replicas: 2 }],
  [
    'deployments',
    'fewer than it says',
    'Progressing',
    {},
    { ...full, replicas: 5, updatedReplicas: 5 },
    '2 of 5 Pods are available',
  ],
  ['deployments', 'none of one by default', 'Progressing', {}, {}, '0 of 1 Pods are of the newest spec'],
  ['deployments', 'scaled to none there', 'Healthy', {}, { conditions: [is('Available', 'True')] }],
  ['deployments', 'none wanted', 'Healthy', { replicas: 0 }, {}],
  ['deployments', 'no status', 'Progressing', {}, undefined, 'its newest spec has not been looked at'],
  ['deployments', 'old Pods left', 'Progressing', { replicas: 2 }, { ...full, replicas: 3 }, '1 old Pods are left'],
  ['deployments', 'not available', 'Progressing', { replicas: 2 }, { ...full, availableReplicas: 1 }],
  [
    'deployments',
    'less than none',
    'Progressing',
    { replicas: 2 },
    { ...full, availableReplicas: -5 },
    '0 of 2 Pods are available',
  ],
  ['deployments', 'paused', 'Suspended', { paused: true }, full],
  [
    'deployments',
    'no progress',
    'Degraded',
    {},
    { conditions: [is('Progressing', 'False', 'ProgressDeadlineExceeded', 'timed out')] },
    'timed out',
  ],
  ['deployments', 'no Pods', 'Degraded', {}, { conditions: [is('ReplicaFailure', 'True', '', 'quota')] }, 'quota'],
  ['statefulsets', 'all there', 'Healthy', { replicas: 2 }, { ...full, updateRevision: 'a', currentRevision: 'a' }],
  ['statefulsets', 'rolling', 'Progressing', { replicas: 2 }, { ...full, updateRevision: 'b', currentRevision: 'a' }],
  [
    'statefulsets',
    'by hand',
    'Healthy',
    { replicas: 2, updateStrategy: { type: 'OnDelete' } },
    { ...full, updateRevision: 'b', currentRevision: 'a' },
  ],
  [
    'statefulsets',
    'up to its partition',
    'Healthy',
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    { ...full, updatedReplicas: 1, updateRevision: 'b', currentRevision: 'a' },
  ],
  ['statefulsets', 'too many', 'Progressing', { replicas: 1 }, full, '1 Pods are to go'],
  [
    'statefulsets',
    'too many, by hand',
    'Progressing',
    { replicas: 1, updateStrategy: { type: 'OnDelete' } },
    full,
    '1 Pods are to go',
  ],
  ['statefulsets', 'as many as an autoscaler says', 'Healthy', {}, full],
  [
    'daemonsets',
    'on all nodes',
    'Healthy',
    {},
    { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
  ],
  ['daemonsets', 'no nodes', 'Healthy', {}, { observedGeneration: 1 }],
  ['daemonsets', 'not looked at', 'Progressing', {}, {}],
  [
    'daemonsets',
    'one missing',
    'Progressing',
    {},
    { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
  ],
  ['replicasets', 'all there', 'Healthy', { replicas: 2 }, full],
  ['replicasets', 'too many', 'Progressing', { replicas: 1 }, full, '1 Pods are to go'],
  ['replicasets', 'no Pods', 'Degraded', {}, { conditions: [is('ReplicaFailure', 'True', '', 'quota')] }, 'quota'],
  ['replicationcontrollers', 'all there', 'Healthy', { replicas: 2 }, full],
  ['replicationcontrollers', 'one missing', 'Progressing', { replicas: 3 }, full, '2 of 3 Pods are available'],
  ['replicationcontrollers', 'no Pods', 'Degraded', {}, { conditions: [is('ReplicaFailure', 'True')] }],
  ['jobs', 'done', 'Healthy', {}, { conditions: [is('Complete', 'True')] }],
  ['jobs', 'failed', 'Degraded', {}, { conditions: [is('Failed', 'True', '', 'backoff')] }, 'backoff'],
  ['jobs', 'running', 'Progressing', {}, { startTime: 'now' }, 'it runs'],
  ['jobs', 'suspended', 'Suspended', { suspend: true }, {}],
  ['cronjobs', 'waiting for its hour', 'Healthy', {}, {}],
  ['cronjobs', 'suspended', 'Suspended', { suspend: true }, {}],
  ['pods', 'ready', 'Healthy', {}, { phase: 'Running', conditions: [is('Ready', 'True')] }],
  ['pods', 'done', 'Healthy', {}, { phase: 'Succeeded' }],
  ['pods', 'failed', 'Degraded', {}, { phase: 'Failed', reason: 'Evicted' }, 'Evicted'],
  [
    'pods',
    'no image',
    'Degraded',
    {},
    { phase: 'Pending', containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ImagePullBackOff' } } }] },
    'container c: ImagePullBackOff',
  ],
  [
    'pods',
    'an init container that fails',
    'Degraded',
    {},
    {
      phase: 'Pending',
      initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      containerStatuses: [{ name: 'c', state: { waiting: { reason: 'PodInitializing' } } }],
    },
    'container i: CrashLoopBackOff',
  ],
  ['pods', 'being initialized', 'Progressing', {}, { phase: 'Pending', conditions: [is('Ready', 'False')] }],
  ['pods', 'no node', 'Progressing', {}, { conditions: [is('PodScheduled', 'False', 'Unschedulable', 'cpu')] }, 'cpu'],
  ['persistentvolumeclaims', 'waiting for its first consumer', 'Healthy', {}, { phase: 'Pending' }],
  ['persistentvolumeclaims', 'lost', 'Degraded', {}, { phase: 'Lost' }],
  ['services', 'a load balancer without an address', 'Healthy', { type: 'LoadBalancer' }, {}],
  ['ingresses', 'without an address', 'Healthy', {}, {}],
  ['poddisruptionbudgets', 'allows none to go', 'Healthy', {}, { conditions: [is('DisruptionAllowed', 'False')] }],
  [
    'horizontalpodautoscalers',
    'not able to scale',
    'Degraded',
    {},
    { conditions: [is('AbleToScale', 'False', 'FailedGetScale', 'no such')] },
    'no such',
  ],
  ['horizontalpodautoscalers', 'able to', 'Healthy', {}, { conditions: [is('AbleToScale', 'True')] }],
  ['horizontalpodautoscalers', 'not looked at', 'Progressing', {}, {}],
  [
    'horizontalpodautoscalers',
    'no metrics',
    'Degraded',
    {},
    { conditions: [is('ScalingActive', 'False', 'FailedGet', 'none')] },
    'none',
  ],
  [
    'horizontalpodautoscalers',
    'at rest',
    'Healthy',
    {},
    { conditions: [is('ScalingActive', 'False', 'ScalingDisabled')] },
  ],
  ['customresourcedefinitions', 'established', 'Healthy', {}, { conditions: [is('Established', 'True')] }],
  ['customresourcedefinitions', 'names taken', 'Degraded', {}, { conditions: [is('NamesAccepted', 'False')] }],
  ['apiservices', 'available', 'Healthy', {}, { conditions: [is('Available', 'True')] }],
  ['apiservices', 'away', 'Degraded', {}, { conditions: [is('Available', 'False', '', 'away')] }, 'away'],
  ['configmaps', 'there', 'Healthy', {}, undefined],
  ['certificates', 'ready', 'Healthy', {}, { conditions: [is('Ready', 'True')] }],
  ['certificates', 'not ready', 'Progressing', {}, { conditions: [is('Ready', 'False', 'Issuing')] }, 'Issuing'],
  [
    'certificates',
    'stalled',
    'Degraded',
    {},
    { conditions: [is('Stalled', 'True', 'Denied'), is('Ready', 'False')] },
    'Denied',
  ],
  ['certificates', 'not looked at', 'Healthy', {}, undefined],
  ['certificates', 'says nothing', 'Healthy', {}, {}],
  ['certificates', 'available', 'Healthy', {}, { conditions: [is('Available', 'True')] }],
  ['certificates', 'not available', 'Progressing', {}, { conditions: [is('Available', 'False', '', 'soon')] }, 'soon'],
  [
    'certificates',
    'ready, if not available',
    'Healthy',
    {},
    { conditions: [is('Available', 'False'), is('Ready', 'True')] },
  ],
  [
    'certificates',
    'being reconciled',
    'Progressing',
    {},
    { conditions: [is('Reconciling', 'True', 'Rotating'), is('Ready', 'True')] },
    'Rotating',
  ],
  ...(['deployments', 'services', 'jobs'] as const).flatMap((kind): typeof CASES => [
    [kind, 'stalled', 'Degraded', {}, { ...full, conditions: [is('Stalled', 'True', '', 'stuck')] }, 'stuck'],
    [
      kind,
      'being reconciled',
      'Progressing',
      {},
      { ...full, conditions: [is('Reconciling', 'True', '', 'yet')] },
      'yet',
    ],
  ]),
]

/** Their status always says what it is about. */
const TELLING: ReadonlySet<string> = new Set(['deployments', 'statefulsets', 'replicasets', 'replicationcontrollers'])

for (const [resource, what, health, spec, status, message] of CASES)
  t.test(`${resource}: ${what}`, async t => {
    const object: KubeObject = {
      apiVersion: 'x/v1',
      kind: 'X',
      metadata: { name: 'x', generation: 1 },
      spec,
      ...(status && { status: { ...(TELLING.has(resource) && { observedGeneration: 1 }), ...status } }),
    } as KubeObject
    const verdict = healthOf({ group: kinds[resource], resource }, object)
    t.equal(verdict.health, health)
    t.equal(verdict.message === '', health === 'Healthy')
    if (message !== undefined) t.equal(verdict.message, message)
  })

t.test('a status of an older spec, and what is being deleted, is on its way whatever it says', async t => {
  const kind = { group: 'apps', resource: 'replicasets' }
  const object = { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { replicas: 2 } }
  const old = { ...object, metadata: { name: 'x', generation: 3 }, status: { ...full, observedGeneration: 2 } }
  t.equal(healthOf(kind, old).health, 'Progressing')
  const unsaid = { ...object, metadata: { name: 'x', generation: 3 }, status: full }
  t.equal(healthOf(kind, unsaid).health, 'Progressing', 'it is told of each status, unless that is about an older one')
  t.equal(healthOf(kind, { ...unsaid, status: { ...full, observedGeneration: 3 } }).health, 'Healthy')
  const going = { ...object, metadata: { name: 'x', deletionTimestamp: 'now' }, status: full }
  t.equal(healthOf(kind, going).health, 'Progressing')
})

t.test('a condition of an older spec says nothing of the newest', async t => {
  const kind = { group: 'example.com', resource: 'widgets' }
  const ready = { type: 'Ready', status: 'True', observedGeneration: 2 }
  const object = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'x', generation: 3 },
    status: { conditions: [ready] },
  }
  t.equal(healthOf(kind, object).health, 'Progressing')
  t.equal(healthOf(kind, { ...object, metadata: { name: 'x', generation: 2 } }).health, 'Healthy')
  const stalled = { ...object, status: { conditions: [{ ...ready, type: 'Stalled' }] } }
  t.equal(healthOf(kind, stalled).health, 'Healthy', 'it was stalled by what it was')
  t.equal(healthOf(kind, { ...stalled, metadata: { name: 'x', generation: 2 } }).health, 'Degraded')
})

t.test('replicas that are left to the cluster are those that it reports', t => {
  const annotations = { 'edge.kubestellar.io/left-fields': '["/spec/replicas"]' }
  const left = (replicas: number, status: object, kind = 'Deployment'): Health =>
    healthOf(
      { group: 'apps', resource: kind === 'Deployment' ? 'deployments' : 'statefulsets' },
      {
        apiVersion: 'apps/v1',
        kind,
        metadata: { name: 'a', generation: 3, annotations },
        spec: { replicas },
        status: { observedGeneration: 3, ...status },
      },
    ).health
  t.equal(left(5, full), 'Healthy', 'the space says more')
  t.equal(left(1, { ...full, replicas: 4, updatedReplicas: 4 }), 'Progressing', 'the space says less')
  t.equal(left(5, {}), 'Progressing', 'none is there yet')
  t.equal(left(5, {}, 'StatefulSet'), 'Healthy', 'scaled to none there')
  t.end()
})
