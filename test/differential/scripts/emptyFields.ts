/** Written form of unset or empty fields: null, '', 0, {} or nothing at all. */
import { get, json, merge, post, put, type Rest, type Script } from '../script.ts'
import { CM, configMap, DEPLOYMENTS, deployment, NS, of, PODS, pod, TEMPLATE } from './bodies.ts'

const RBAC = 'rbac.authorization.k8s.io/v1'
const ROLES = `/apis/${RBAC}/namespaces/{ns}/roles`
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes'
const SELECTOR = { matchLabels: { app: 'x' } }
const node = (status: object): object => of('v1', 'Node', 'empty-{ns}', { status })

const REFERRED: Rest = { unlike120: { 'body.spec.dataSourceRef': '1.22: the source is told twice' } }
const WARNED: Rest = { unlike120: { 'headers.warning': '1.33: Endpoints are deprecated' } }

export const emptyFields: Script = {
  name: 'empty-fields',
  steps: [
    post(ROLES, of(RBAC, 'Role', 'none')),
    post(ROLES, of(RBAC, 'Role', 'empty', { rules: [] })),
    put(
      `${ROLES}/empty`,
      of(RBAC, 'Role', 'empty', { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['x'] }] }),
    ),
    json(`${ROLES}/empty`, [{ op: 'remove', path: '/rules' }]),
    json(`${ROLES}/empty`, [{ op: 'test', path: '/rules', value: null }]),
    get(`${ROLES}/empty`),
    post(`/apis/${RBAC}/clusterroles`, of(RBAC, 'ClusterRole', 'empty-{ns}')),
    post(`${NS}/limitranges`, of('v1', 'LimitRange', 'none')),
    post(`${NS}/limitranges`, of('v1', 'LimitRange', 'empty', { spec: { limits: [] } })),
    merge(`${NS}/limitranges/empty`, { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: {} }] } }),
    merge(`${NS}/limitranges/empty`, { spec: { limits: null } }),
    post(CSI_NODES, of('storage.k8s.io/v1', 'CSINode', 'empty-{ns}')),
    merge(`${CSI_NODES}/empty-{ns}`, { spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } }),
    post('/api/v1/nodes', node({ conditions: [{ type: 'Ready', status: 'True' }] })),
    merge('/api/v1/nodes/empty-{ns}/status', {
      status: { images: [{ sizeBytes: 0 }], conditions: [{ type: 'Other' }] },
    }),
    post(
      `${NS}/persistentvolumeclaims`,
      of('v1', 'PersistentVolumeClaim', 'source', {
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' }, limits: {} },
          storageClassName: '',
          volumeName: '',
          dataSource: { kind: 'PersistentVolumeClaim', name: 'other' },
        },
      }),
      REFERRED,
    ),
    merge(
      `${NS}/persistentvolumeclaims/source/status`,
      { status: { conditions: [{ type: 'Resizing', status: '' }] } },
      REFERRED,
    ),
    post(
      PODS,
      pod('empty', {
        hostNetwork: false,
        hostname: '',
        nodeSelector: {},
        hostAliases: [],
        containers: [
          {
            ...TEMPLATE.spec.containers[0],
            stdin: false,
            args: [],
            workingDir: '',
            securityContext: { privileged: false, capabilities: {} },
            env: [
              { name: 'A', value: '' },
              { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
            ],
            ports: [{ containerPort: 80, hostPort: 0, name: '' }],
          },
        ],
        volumes: [{ name: 'v', projected: {} }],
      }),
    ),
    merge(`${PODS}/empty/status`, {
      status: {
        conditions: [{ type: 'Ready', status: 'False', message: '' }],
        containerStatuses: [{ name: 'c', state: { running: {} } }],
      },
    }),
    post(DEPLOYMENTS, deployment('empty', { paused: false, minReadySeconds: 0, strategy: {} })),
    merge(`${DEPLOYMENTS}/empty/status`, {
      status: { replicas: 0, unavailableReplicas: 0, conditions: [{ type: 'Available', status: 'True' }] },
    }),
    post(
      `/apis/apps/v1/namespaces/{ns}/statefulsets`,
      of('apps/v1', 'StatefulSet', 'empty', { spec: { selector: SELECTOR, template: TEMPLATE, serviceName: '' } }),
    ),
    post(CM, configMap('empty', {}, { labels: {}, annotations: {}, finalizers: [], generateName: '' })),
    post(`${NS}/resourcequotas`, of('v1', 'ResourceQuota', 'empty', { spec: { hard: {}, scopes: [] } })),
    post(`${NS}/endpoints`, of('v1', 'Endpoints', 'empty', { subsets: [] }), WARNED),
    post(`${NS}/services`, of('v1', 'Service', 'empty', { spec: { clusterIP: 'None', ports: [], selector: {} } })),
  ],
}
