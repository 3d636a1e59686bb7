/** Refusals of storage, autoscaling, flow control, devices and other kinds of the whole cluster, field by field. */
import type { Script } from '../../script.ts'
import { CA, IN, type Refused, refuse, since, unlike } from './refuse.ts'

const storage = (kind: string, resource: string, base: object = {}): Refused => ({
  apiVersion: 'storage.k8s.io/v1',
  kind,
  path: `/apis/storage.k8s.io/v1/${resource}`,
  base,
})
const topology = (...all: readonly object[]): object => ({
  provisioner: 'a/b',
  allowedTopologies: all.map(each => ({ matchLabelExpressions: [each] })),
})
const attach = (rest: object): object => ({
  spec: { attacher: 'a.b', nodeName: 'n', source: { persistentVolumeName: 'p' }, ...rest },
})
const driver = (...drivers: readonly object[]): object => ({
  spec: { drivers: drivers.map(each => ({ name: 'a.b', nodeID: 'n', topologyKeys: null, ...each })) },
})
const autoscalers = (version: string): Refused => ({
  apiVersion: `autoscaling/${version}`,
  kind: 'HorizontalPodAutoscaler',
  path: `/apis/autoscaling/${version}/${IN}/horizontalpodautoscalers`,
})
const scaled = (rest: object): object => ({
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, ...rest },
})
const metrics = (...all: readonly object[]): object => since('1.23: v2', scaled({ metrics: all }))
const behavior = (rest: object): object => since('1.23: v2', scaled({ behavior: { scaleUp: rest } }))
const TARGET = { type: 'Value', value: '1' }
const CPU = (target: object): object => ({ type: 'Resource', resource: { name: 'cpu', target } })
const schemas: Refused = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  path: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
}
const levels: Refused = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  path: '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
}
const schema = (rest: object): object =>
  since('1.29: v1', { spec: { priorityLevelConfiguration: { name: 'l' }, ...rest } })
const flow = (rest: object): object =>
  schema({
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'u' } }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        ...rest,
      },
    ],
  })
const level = (spec: object): object => since('1.29: v1', { spec })
const queue = (queuing: object): object =>
  level({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing } } })
const request = (kind: string, resource: string): Refused => ({
  apiVersion: 'resource.k8s.io/v1',
  kind,
  path: `/apis/resource.k8s.io/v1/${resource}`,
})
const claim = (devices: object): object => since('1.34', { spec: { devices } })
const EXACTLY = { exactly: { deviceClassName: 'c' } }
const slice = (spec: object): object =>
  since('1.34', { spec: { driver: 'a.b', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n', ...spec } })
const device = (rest: object): object => slice({ devices: [{ name: 'd', ...rest }] })
const budget: Refused = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  path: `/apis/policy/v1/${IN}/poddisruptionbudgets`,
}

export const clusterRefusals: Script = {
  name: 'refusals-cluster',
  steps: [
    ...refuse(
      storage('StorageClass', 'storageclasses'),
      { provisioner: '' },
      { provisioner: 'a b', reclaimPolicy: 'Recycle', volumeBindingMode: 'X' },
      { provisioner: 'a/b', parameters: { '': 'x' } },
      topology({ key: 'a b', values: [] }, { key: 'a', values: ['b', 'b'] }),
      topology({ key: 'a', values: ['b', 'c'] }, { key: 'a', values: ['c', 'b'] }),
    ),
    ...refuse(
      storage('VolumeAttributesClass', 'volumeattributesclasses'),
      since('1.34', {}),
      since('1.34', { driverName: 'a b', parameters: { '': '' } }),
    ),
    ...refuse(
      storage('CSIDriver', 'csidrivers'),
      { spec: { volumeLifecycleModes: ['X'] } },
      { spec: { fsGroupPolicy: 'X' } },
      since('1.22: GA', {
        spec: { tokenRequests: [{ audience: 'a' }, { audience: 'a' }, { audience: 'b', expirationSeconds: 5 }] },
      }),
      since('1.34', { spec: { nodeAllocatableUpdatePeriodSeconds: 5 } }),
      { spec: {}, metadata: { name: 'A' } },
    ),
    ...refuse(
      storage('CSINode', 'csinodes'),
      driver({ name: '' }),
      driver({ name: 'a_b', nodeID: '', allocatable: { count: -1 } }),
      unlike('it shows all keys', driver({ topologyKeys: ['a b', 'c', 'c', ''] })),
      driver({}, {}),
      unlike('elder words', driver({ name: 'a'.repeat(64) })),
    ),
    ...refuse(
      storage('VolumeAttachment', 'volumeattachments'),
      { spec: {} },
      attach({ attacher: 'A_b', nodeName: 'A' }),
      attach({ source: { persistentVolumeName: '' } }),
      attach({ source: { persistentVolumeName: 'A_b' } }),
      attach({ source: { persistentVolumeName: 'p', inlineVolumeSpec: {} } }),
    ),
    ...refuse(
      { ...storage('CSIStorageCapacity', `${IN}/csistoragecapacities`) },
      since('1.24: v1', { storageClassName: '' }),
      since('1.24: v1', { storageClassName: 'A', capacity: '-1', nodeTopology: { matchLabels: { 'a b': 'c' } } }),
    ),
    ...refuse(
      { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', path: '/apis/scheduling.k8s.io/v1/priorityclasses' },
      { value: 1_000_000_001 },
      { value: 1, preemptionPolicy: 'X' },
      { value: 1, metadata: { name: 'system-mine' } },
      { value: 1, metadata: { name: 'system-node-critical' } },
    ),
    ...refuse(
      { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', path: '/apis/node.k8s.io/v1/runtimeclasses' },
      { handler: '' },
      { handler: 'A.b' },
      unlike('its path names tolerations twice', {
        handler: 'h',
        scheduling: { nodeSelector: { 'a b': 'c' }, tolerations: [{ operator: 'Equal' }] },
      }),
      unlike('shown as Go shows it', {
        handler: 'h',
        scheduling: {
          tolerations: [
            { key: 'a', operator: 'Exists' },
            { key: 'a', operator: 'Exists' },
          ],
        },
      }),
      { handler: 'h', overhead: { podFixed: { cpu: '-1' } } },
      { handler: 'h', overhead: { podFixed: { 'a b': '1' } } },
    ),
    ...refuse(
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        path: `/apis/coordination.k8s.io/v1/${IN}/leases`,
      },
      unlike('elder words', { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
      since('1.31', { spec: { strategy: 'X', preferredHolder: 'a' } }),
      since('1.31', { spec: { strategy: 'a b/c' } }),
      since('1.31', { spec: { preferredHolder: 'a' } }),
    ),
    ...refuse(
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      },
      ...['', 'a', 'a/b', 'A.b/c', 'a.b/C_d', 'a.b/c/d', 'kubernetes.io/legacy-unknown'].map(signerName => ({
        spec: { request: CA, signerName, usages: ['client auth', 'client auth', 'fly'] },
      })),
      unlike('1.22: duration', { spec: { request: CA, signerName: 'a.b/c', usages: [], expirationSeconds: 5 } }),
    ).map(step => ({
      ...step,
      unlike120: { '?body.message': 'no PEM', '?body.details.causes.0.message': 'no PEM', ...step.unlike120 },
    })),
    ...refuse(
      autoscalers('v1'),
      scaled({ minReplicas: 0 }),
      scaled({ maxReplicas: 0, minReplicas: 2 }),
      scaled({ scaleTargetRef: { kind: 'a/b', name: '' } }),
    ),
    ...refuse(
      autoscalers('v2'),
      metrics({ type: '' }, { type: 'X' }, { type: 'Pods' }),
      metrics({ type: 'Resource', resource: { name: '', target: { type: '' } } }),
      metrics(CPU({ type: 'Utilization', averageUtilization: 0, averageValue: '-1' }), CPU({ type: 'X' })),
      metrics({ ...CPU(TARGET), pods: { metric: { name: 'a' }, target: { type: 'AverageValue', averageValue: '1' } } }),
      metrics({ type: 'Pods', pods: { metric: { name: 'a/b' }, target: TARGET } }),
      metrics({ type: 'Object', object: { describedObject: {}, metric: {}, target: { type: 'Utilization' } } }),
      metrics({ type: 'External', external: { metric: { name: 'a' }, target: { ...TARGET, averageValue: '1' } } }),
      metrics({ type: 'ContainerResource', containerResource: { name: 'x', container: 'A', target: TARGET } }),
      behavior({
        stabilizationWindowSeconds: 3601,
        selectPolicy: 'X',
        policies: [{ type: 'X', value: 0, periodSeconds: 1801 }],
      }),
      behavior({ stabilizationWindowSeconds: -1, tolerance: '-1' }),
    ),
    ...refuse(
      budget,
      ...[
        { spec: { minAvailable: 1, maxUnavailable: 1 } },
        { spec: { minAvailable: '101%' } },
        { spec: { maxUnavailable: -1, unhealthyPodEvictionPolicy: 'X', selector: { matchLabels: { 'a b': 'c' } } } },
      ].map(body => since('1.21: v1', body)),
    ),
    ...refuse(
      schemas,
      schema({ priorityLevelConfiguration: { name: '' }, matchingPrecedence: -1 }),
      schema({ matchingPrecedence: 10_001, distinguisherMethod: { type: 'X' } }),
      schema({ matchingPrecedence: 1 }),
      flow({ subjects: [] }),
      flow({
        subjects: [{ kind: 'X' }, { kind: 'User', group: { name: 'g' } }, { kind: 'Group', group: { name: '' } }],
      }),
      flow({ subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: 'A', namespace: '' } }] }),
      flow({ nonResourceRules: [] }),
      flow({
        nonResourceRules: [
          { verbs: ['fly'], nonResourceURLs: ['x', '/a b', '/a//b', '/a*', '/*/b'] },
          { verbs: [], nonResourceURLs: ['*', '/'] },
        ],
      }),
      flow({ resourceRules: [{ verbs: ['*', 'get'], apiGroups: ['*', 'a'], resources: [], namespaces: [] }] }),
      flow({ resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['a'], namespaces: ['A', '*'] }] }),
      flow({ resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['a'], namespaces: ['A'] }] }),
      since('1.29: v1', { metadata: { name: 'catch-all' }, spec: { priorityLevelConfiguration: { name: 'l' } } }),
    ),
    ...refuse(
      levels,
      level({ type: 'Exempt' }),
      level({ type: 'X' }),
      level({ type: 'Limited' }),
      level({
        type: 'Limited',
        limited: { nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 },
      }),
      level({ type: 'Limited', exempt: {}, limited: { limitResponse: { type: 'Reject', queuing: {} } } }),
      level({ type: 'Limited', limited: { limitResponse: { type: 'Queue' } } }),
      queue({ queues: -1, handSize: -1, queueLengthLimit: -1 }),
      queue({ queues: 2, handSize: 3 }),
      queue({ queues: 1000, handSize: 8 }),
      since('1.29: v1', {
        metadata: { name: 'exempt' },
        spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
      }),
    ),
    ...refuse(
      request('ResourceClaim', `${IN}/resourceclaims`),
      claim({
        requests: [{ name: 'A' }, { name: 'a', ...EXACTLY, firstAvailable: [{ name: 'b', deviceClassName: 'c' }] }],
      }),
      claim({ requests: [{ name: 'a', exactly: { deviceClassName: '', allocationMode: 'X', selectors: [{}] } }] }),
      claim({
        requests: [
          { name: 'a', exactly: { deviceClassName: 'C', allocationMode: 'All', count: 2 } },
          { name: 'a', ...EXACTLY },
        ],
      }),
      claim({
        requests: [
          {
            name: 'a',
            exactly: {
              deviceClassName: 'c',
              tolerations: [{ operator: 'Exists', value: 'x', effect: 'X' }, { operator: 'X' }],
            },
          },
        ],
      }),
      claim({
        requests: [{ name: 'a', ...EXACTLY }],
        constraints: [{ requests: ['b', 'a/b/c', 'a', 'a'] }, { matchAttribute: 'x' }, { matchAttribute: '/' }],
      }),
      claim({
        requests: [{ name: 'a', ...EXACTLY }],
        config: [{}, { opaque: { driver: '', parameters: {} } }, { opaque: { driver: 'A_b' } }],
      }),
      claim({ requests: Array.from({ length: 33 }, (_, i) => ({ name: `a${i}`, ...EXACTLY })) }),
    ),
    ...refuse(
      request('DeviceClass', 'deviceclasses'),
      since('1.34', { spec: { selectors: [{}], config: [{}], extendedResourceName: 'cpu' } }),
    ),
    ...refuse(
      request('ResourceSlice', 'resourceslices'),
      since('1.34', { spec: { driver: '', pool: { name: '', resourceSliceCount: 0, generation: -1 } } }),
      slice({ nodeName: '', allNodes: true, perDeviceNodeSelection: false }),
      slice({ allNodes: true }),
      slice({ nodeName: null, nodeSelector: { nodeSelectorTerms: [] } }),
      device({ name: 'A', attributes: { 'a/b': {}, 'x y': { bool: true, int: 1 }, v: { version: '1' } } }),
      device({
        taints: [
          { key: 'a b', value: 'c d' },
          { key: 'k', effect: 'X' },
        ],
        consumesCounters: [{ counterSet: '' }],
      }),
      device({ nodeName: 'n', bindingConditions: ['a'] }),
      device({ capacity: { c: { value: '10', requestPolicy: { validValues: ['1'] } } } }),
      device({
        allowMultipleAllocations: true,
        capacity: { c: { value: '10', requestPolicy: { default: '3', validValues: ['2', '1', '11'] } } },
      }),
      device({
        allowMultipleAllocations: true,
        capacity: {
          c: { value: '10', requestPolicy: { default: '3', validRange: { min: '4', max: '12', step: '3' } } },
        },
      }),
      slice({
        sharedCounters: [
          { name: '', counters: {} },
          { name: 'A', counters: { B: { value: '1' } } },
        ],
      }),
    ),
  ],
}
