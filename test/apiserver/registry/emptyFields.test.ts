import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { dropEmpty, fillStored, zeroObject } from '../../../src/apiserver/registry/emptyFields.ts'
import * as fc from '../../support/fastCheck.ts'

const { types } = loadCatalog()

function schemaOf(apiVersion: string, kind: string): Schema {
  const found = types.find(
    type => type.kind === kind && [type.group, type.version].filter(Boolean).join('/') === apiVersion,
  )
  if (found?.schema === undefined) throw new Error(`no ${kind}`)
  return found.schema
}

function shown(apiVersion: string, kind: string, rest: object): Record<string, unknown> {
  const object: KubeObject = { apiVersion, kind, metadata: { name: 'a' }, ...structuredClone(rest) }
  const schema = schemaOf(apiVersion, kind)
  dropEmpty(object, schema)
  fillStored(object, schema)
  const { apiVersion: _, kind: __, metadata, ...others } = object
  t.same(metadata, { name: 'a' }, `${kind}: nothing is added to metadata`)
  return others
}

t.test('what may hold anything says something when it is empty', async t => {
  const config = [{ opaque: { driver: 'd.io', parameters: {} } }]
  t.same(shown('resource.k8s.io/v1', 'DeviceClass', { spec: { config } }), { spec: { config } })
})

t.test('lists and maps without omitempty are null when they are empty or absent', async t => {
  const RBAC = 'rbac.authorization.k8s.io/v1'
  t.same(shown(RBAC, 'Role', {}), { rules: null })
  t.same(shown(RBAC, 'ClusterRole', { rules: [] }), { rules: null })
  t.same(shown(RBAC, 'Role', { rules: [{ verbs: ['get'], resources: [] }] }), { rules: [{ verbs: ['get'] }] })
  t.same(shown('v1', 'LimitRange', {}), { spec: { limits: null } })
  t.same(shown('storage.k8s.io/v1', 'CSINode', { spec: { drivers: [{ name: 'a', nodeID: 'b' }] } }), {
    spec: { drivers: [{ name: 'a', nodeID: 'b', topologyKeys: null }] },
  })
  t.same(shown('discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4' }), {
    addressType: 'IPv4',
    endpoints: null,
    ports: null,
  })
})

t.test('structs are always there, pointers only when somebody sets them', async t => {
  t.same(shown('autoscaling/v2', 'HorizontalPodAutoscaler', { status: { currentReplicas: 0 } }).status, {
    currentMetrics: null,
    desiredReplicas: 0,
  })
  t.same(shown('autoscaling/v1', 'HorizontalPodAutoscaler', {}).status, { currentReplicas: 0, desiredReplicas: 0 })
  t.same(shown('resource.k8s.io/v1', 'ResourceClaimTemplate', { spec: { spec: {} } }), {
    spec: { metadata: {}, spec: { devices: { requests: null } } },
  })
  t.same(shown('batch/v1', 'CronJob', { spec: { schedule: 'x', suspend: false } }), {
    spec: {
      schedule: 'x',
      suspend: false,
      jobTemplate: { metadata: {}, spec: { template: { metadata: {}, spec: { containers: null } } } },
    },
    status: {},
  })
})

t.test('times of conditions are null, values of quantities "0", texts and numbers empty', async t => {
  const node = shown('v1', 'Node', { status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  t.match(node, {
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: { machineID: '' },
    },
  })
  const env = { name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }
  const pod = shown('v1', 'Pod', { spec: { containers: [{ name: 'c', env: [env] }] } })
  t.same(pod.spec, {
    containers: [
      {
        name: 'c',
        env: [{ name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '0' } } }],
        resources: {},
      },
    ],
  })
})

t.test('what is empty goes, unless it is a pointer', async t => {
  const container = {
    name: 'c',
    image: '',
    stdin: false,
    securityContext: { privileged: false },
    ports: [{ hostPort: 0 }],
  }
  const spec = { hostNetwork: false, priority: 0, hostname: '', shareProcessNamespace: false, tolerations: [] }
  t.same(shown('v1', 'Pod', { spec: { ...spec, containers: [container] } }).spec, {
    priority: 0,
    shareProcessNamespace: false,
    containers: [{ name: 'c', resources: {}, securityContext: { privileged: false }, ports: [{ containerPort: 0 }] }],
  })
  const claim = { accessModes: [], storageClassName: '', volumeName: '', dataSource: { kind: 'K', name: 'n' } }
  t.same(shown('v1', 'PersistentVolumeClaim', { spec: claim }).spec, {
    storageClassName: '',
    resources: {},
    dataSource: { apiGroup: null, kind: 'K', name: 'n' },
  })
})

t.test('what is open stays as it is', async t => {
  const data = { a: null, b: [], c: '', d: 0 }
  t.same(shown('apps/v1', 'ControllerRevision', { data, revision: 0 }), { data, revision: 0 })
})

t.test('a zero object has what every object of its kind has', async t => {
  t.same(zeroObject(schemaOf('rbac.authorization.k8s.io/v1', 'Role')), { metadata: {}, rules: null })
  t.match(zeroObject(schemaOf('apps/v1', 'Deployment')), {
    metadata: {},
    spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
    status: {},
  })
})

t.test('completing twice changes nothing, for any kind', async t => {
  const kinds = types.filter(({ group, schema }) => schema !== undefined && !/kcp|kubestellar/.test(group))
  fc.assert(
    fc.property(fc.constantFrom(...kinds), type => {
      const object = zeroObject(type.schema!)
      const before = structuredClone(object)
      dropEmpty(object as KubeObject, type.schema!)
      fillStored(object, type.schema!)
      t.same(object, before, type.kind)
    }),
  )
})
