/** Kinds of network, storage, nodes and identities: the whole round of operations. */
import t from 'tap'
import { startCluster } from './cluster.ts'
import { type Kind, playRound } from './operations.ts'

const { api, faults } = await startCluster(t)

const namespace = 'default'
const NETWORK = 'networking.k8s.io'
const STORAGE = 'storage.k8s.io'
const condition = (type: string) => ({
  type,
  status: 'True',
  reason: 'Round',
  message: 'told by the round',
  lastTransitionTime: '2024-01-01T00:00:00Z',
})

const network: Kind[] = [
  // Services should complete a service status lifecycle; should delete a collection of services
  {
    group: '',
    kind: 'Service',
    resource: 'services',
    namespace,
    body: () => ({ spec: { type: 'LoadBalancer', ports: [{ name: 'http', port: 80, targetPort: 80 }] } }),
    patches: [{ spec: { sessionAffinity: 'ClientIP' } }],
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] }, conditions: [condition('StatusUpdate')] },
  },
  // Services should test the lifecycle of an Endpoint
  {
    group: '',
    kind: 'Endpoints',
    resource: 'endpoints',
    namespace,
    body: () => ({ subsets: [{ addresses: [{ ip: '10.0.0.24' }], ports: [{ name: 'http', port: 80 }] }] }),
    patches: [{ subsets: [{ addresses: [{ ip: '10.0.0.25' }], ports: [{ name: 'http-test', port: 8080 }] }] }],
  },
  // EndpointSlice should support creating EndpointSlice API operations
  {
    group: 'discovery.k8s.io',
    kind: 'EndpointSlice',
    resource: 'endpointslices',
    namespace,
    body: () => ({ addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4', '5.6.7.8'] }], ports: [{ port: 80 }] }),
    patches: [{ endpoints: [{ addresses: ['1.2.3.5'], conditions: { ready: false } }] }],
  },
  // Ingress API should support creating Ingress API operations
  {
    group: NETWORK,
    kind: 'Ingress',
    resource: 'ingresses',
    namespace,
    body: () => ({ spec: { defaultBackend: { service: { name: 'default-backend', port: { number: 80 } } } } }),
    patches: [{ spec: { ingressClassName: 'other' } }],
    status: { loadBalancer: { ingress: [{ ip: '169.1.1.1' }] } },
  },
  // IngressClass API should support creating IngressClass API operations
  {
    group: NETWORK,
    kind: 'IngressClass',
    resource: 'ingressclasses',
    body: () => ({ spec: { controller: 'example.com/controller' } }),
    patches: [{ spec: { parameters: { apiGroup: 'example.com', kind: 'Widget', name: 'w', scope: 'Cluster' } } }],
  },
  // NetworkPolicy API should support creating NetworkPolicy API operations
  {
    group: NETWORK,
    kind: 'NetworkPolicy',
    resource: 'networkpolicies',
    namespace,
    body: () => ({ spec: { podSelector: { matchLabels: { pod: 'a' } }, ingress: [{ from: [{ podSelector: {} }] }] } }),
    patches: [{ spec: { policyTypes: ['Ingress', 'Egress'] } }],
  },
  // ServiceCIDR and IPAddress API should support ServiceCIDR API operations
  {
    group: NETWORK,
    kind: 'ServiceCIDR',
    resource: 'servicecidrs',
    body: n => ({ spec: { cidrs: [`10.${n + 1}.0.0/24`] } }),
    status: { conditions: [condition('Round')] },
  },
  // ServiceCIDR and IPAddress API should support IPAddress API operations
  {
    group: NETWORK,
    kind: 'IPAddress',
    resource: 'ipaddresses',
    name: n => `10.9.0.${n + 1}`,
    body: () => ({ spec: { parentRef: { resource: 'services', namespace: 'default', name: 'round' } } }),
  },
]

const storage: Kind[] = [
  // PersistentVolumes CSI Conformance should run through the lifecycle of a PV and a PVC; changes to a pv/pvc status
  {
    group: '',
    kind: 'PersistentVolume',
    resource: 'persistentvolumes',
    body: n => ({
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'round',
        csi: { driver: 'round.example.com', volumeHandle: `volume-${n}` },
      },
    }),
    patches: [{ spec: { persistentVolumeReclaimPolicy: 'Delete' } }],
    status: { phase: 'Available', message: 'StatusPatched', reason: 'E2E patchStatus' },
  },
  {
    group: '',
    kind: 'PersistentVolumeClaim',
    resource: 'persistentvolumeclaims',
    namespace,
    body: () => ({
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'round', resources: { requests: { storage: '1Gi' } } },
    }),
    status: {
      phase: 'Pending',
      conditions: [{ type: 'StatusPatched', status: 'True', reason: 'Round', message: 'told by the round' }],
    },
  },
  // StorageClasses CSI Conformance should run through the lifecycle of a StorageClass
  {
    group: STORAGE,
    kind: 'StorageClass',
    resource: 'storageclasses',
    body: () => ({ provisioner: 'example.com/generic', volumeBindingMode: 'Immediate' }),
    patches: [{ allowVolumeExpansion: true }],
  },
  // CSIInlineVolumes should run through the lifecycle of a CSIDriver
  {
    group: STORAGE,
    kind: 'CSIDriver',
    resource: 'csidrivers',
    body: () => ({ spec: { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true } }),
    patches: [{ spec: { podInfoOnMount: false } }],
  },
  // CSINodes CSI Conformance should run through the lifecycle of a csinode
  {
    group: STORAGE,
    kind: 'CSINode',
    resource: 'csinodes',
    body: n => ({ spec: { drivers: [{ name: 'round.example.com', nodeID: `node-${n}`, allocatable: { count: 9 } }] } }),
  },
  // CSIStorageCapacity should support CSIStorageCapacities API operations
  {
    group: STORAGE,
    kind: 'CSIStorageCapacity',
    resource: 'csistoragecapacities',
    namespace,
    body: () => ({ storageClassName: 'round', nodeTopology: { matchLabels: { zone: 'a' } }, capacity: '1Gi' }),
    patches: [{ capacity: '2Gi' }],
  },
  // VolumeAttachment Conformance should run through the lifecycle of a VolumeAttachment; changes to its status
  {
    group: STORAGE,
    kind: 'VolumeAttachment',
    resource: 'volumeattachments',
    statusKeepsMetadata: false,
    body: n => ({
      spec: { attacher: 'round.example.com', nodeName: 'node', source: { persistentVolumeName: `volume-${n}` } },
    }),
    status: { attached: true },
  },
  // VolumeAttributesClass should run through the lifecycle of a VolumeAttributesClass
  {
    group: STORAGE,
    kind: 'VolumeAttributesClass',
    resource: 'volumeattributesclasses',
    body: () => ({ driverName: 'round.example.com', parameters: { iops: '100' } }),
  },
]

const nodes: Kind[] = [
  // Nodes: what a kubelet writes
  {
    group: '',
    kind: 'Node',
    resource: 'nodes',
    body: () => ({ spec: { podCIDR: '10.8.0.0/24' } }),
    patches: [{ spec: { unschedulable: true } }],
    status: { capacity: { 'example.com/fakecpu': '1' }, conditions: [condition('Ready')] },
  },
  // Lease: lease API should be available
  {
    group: 'coordination.k8s.io',
    kind: 'Lease',
    resource: 'leases',
    namespace,
    body: n => ({
      spec: {
        holderIdentity: `holder-${n}`,
        leaseDurationSeconds: 30,
        acquireTime: '2024-01-01T00:00:00.000000Z',
        renewTime: '2024-01-01T00:00:05.000000Z',
        leaseTransitions: 0,
      },
    }),
    patches: [{ spec: { leaseDurationSeconds: 60 } }],
  },
  // RuntimeClass should support RuntimeClasses API operations
  { group: 'node.k8s.io', kind: 'RuntimeClass', resource: 'runtimeclasses', body: () => ({ handler: 'round' }) },
  // SchedulerPreemption: verify PriorityClass endpoints can be operated with different HTTP methods
  {
    group: 'scheduling.k8s.io',
    kind: 'PriorityClass',
    resource: 'priorityclasses',
    body: n => ({ value: n + 1, description: 'of the round' }),
    patches: [{ description: 'another' }],
  },
  // LimitRange should list, patch and delete a LimitRange by collection
  {
    group: '',
    kind: 'LimitRange',
    resource: 'limitranges',
    namespace,
    body: () => ({ spec: { limits: [{ type: 'Container', min: { cpu: '50m' }, max: { cpu: '500m' } }] } }),
    patches: [{ spec: { limits: [{ type: 'Container', min: { cpu: '40m' } }] } }],
  },
  // DRA: the API of devices
  {
    group: 'resource.k8s.io',
    kind: 'DeviceClass',
    resource: 'deviceclasses',
    body: () => ({ spec: { selectors: [{ cel: { expression: 'device.driver == "round.example.com"' } }] } }),
  },
  {
    group: 'resource.k8s.io',
    kind: 'ResourceClaim',
    resource: 'resourceclaims',
    statusKeepsMetadata: false,
    namespace,
    body: () => ({ spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'round' } }] } } }),
    status: {
      allocation: { devices: { results: [{ request: 'one', driver: 'd.example.com', pool: 'p', device: 'x' }] } },
    },
  },
  {
    group: 'resource.k8s.io',
    kind: 'ResourceClaimTemplate',
    resource: 'resourceclaimtemplates',
    namespace,
    body: () => ({
      spec: { spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'round' } }] } } },
    }),
  },
  {
    group: 'resource.k8s.io',
    kind: 'ResourceSlice',
    resource: 'resourceslices',
    body: n => ({
      spec: {
        driver: 'round.example.com',
        nodeName: 'node',
        pool: { name: `pool-${n}`, generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'device' }],
      },
    }),
  },
]

const identities: Kind[] = [
  // ServiceAccounts should run through the lifecycle of a ServiceAccount; should update a ServiceAccount
  {
    group: '',
    kind: 'ServiceAccount',
    resource: 'serviceaccounts',
    namespace,
    body: () => ({}),
    patches: [{ automountServiceAccountToken: false }],
  },
  // Secrets should patch a secret
  {
    group: '',
    kind: 'Secret',
    resource: 'secrets',
    namespace,
    body: () => ({ type: 'Opaque', data: { key: 'dmFsdWU=' } }),
    patches: [{ data: { key: 'dmFsdWUy' } }],
  },
  // ConfigMap should run through a ConfigMap lifecycle
  {
    group: '',
    kind: 'ConfigMap',
    resource: 'configmaps',
    namespace,
    body: () => ({ data: { valueName: 'value' } }),
    patches: [{ data: { valueName: 'value1' } }],
  },
  // Events should manage the lifecycle of an event; should delete a collection of events
  {
    group: '',
    kind: 'Event',
    resource: 'events',
    namespace,
    body: n => ({
      message: `This is event ${n}`,
      reason: 'Test',
      type: 'Normal',
      count: 1,
      involvedObject: { namespace, kind: 'Pod', name: 'round' },
    }),
    patches: [{ message: 'This is a patched message' }],
  },
  // Events API should ensure that an event can be fetched, patched, deleted, and listed; delete a collection of events
  {
    group: 'events.k8s.io',
    kind: 'Event',
    resource: 'events',
    namespace,
    body: n => ({
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'round-controller',
      reportingInstance: `round-${n}`,
      action: 'Do',
      reason: 'Test',
      type: 'Normal',
      note: `This is event ${n}`,
      regarding: { namespace, kind: 'Pod', name: 'round' },
    }),
    patches: [{ series: { count: 100, lastObservedTime: '2024-01-01T00:00:07.000000Z' } }],
  },
]

for (const [area, kinds] of Object.entries({ network, storage, nodes, identities })) {
  t.test(area, async t => {
    for (const kind of kinds) await t.test(`${kind.kind}: every operation does its part`, t => playRound(t, api, kind))
  })
}

t.test('nothing was logged as an error', async t => t.same(faults, []))
