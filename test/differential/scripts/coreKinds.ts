/** Faults of Services, volumes, claims, Nodes, quotas and limits, and of their changes. */
import { merge, post, type Rest, type Script, type Step, unlikeWords } from '../script.ts'
import { NS, of } from './bodies.ts'

type Bad = readonly [fields: object, rest?: Rest | undefined]
const newer = (why: string): Rest => ({ unlike120: { '': why } })

/** Nothing is stored: all of a kind have one name. */
const bad = (collection: string, kind: string, items: readonly Bad[]): Step[] =>
  items.map(([fields, rest]) => post(`${collection}?dryRun=All`, of('v1', kind, kind.toLowerCase(), fields), rest))
const spec = (fields: object, rest?: Rest): Bad => [{ spec: fields }, rest]

const service = (fields: object, rest?: Rest): Bad => spec({ ports: [{ port: 80 }], ...fields }, rest)
const SERVICES: readonly Bad[] = [
  service({ ports: [] }),
  service({ type: 'ExternalName', externalName: '', clusterIP: '10.0.0.99' }),
  service({ type: 'ExternalName', externalName: 'A_' }),
  service({ type: 'NodePort', clusterIP: 'None' }),
  service({ ports: [{ port: 0, protocol: 'X', targetPort: 'bad_name', appProtocol: 'a b' }] }),
  service({ ports: [{ port: 80 }, { port: 81 }] }),
  service(
    {
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'a' },
      ],
    },
    unlikeWords('shows a port as Go does'),
  ),
  service({ ports: [{ port: 80, nodePort: 30000 }] }),
  service({ selector: { 'a b': 'c' } }),
  service({ sessionAffinity: 'X' }),
  service({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 90000 } } }),
  service({ clusterIP: 'x' }),
  service({ externalIPs: ['127.0.0.1', 'x', '169.254.1.1'] }, unlikeWords('1.33: another wording')),
  service({ externalTrafficPolicy: 'Local' }, unlikeWords('1.26: another wording')),
  service({ type: 'LoadBalancer', externalTrafficPolicy: 'X' }, unlikeWords('1.26: another wording')),
  service({ healthCheckNodePort: 1 }, unlikeWords('1.26: another wording')),
  service({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
  service({ type: 'LoadBalancer', loadBalancerSourceRanges: ['x'] }, unlikeWords('1.33: another wording')),
  service({ loadBalancerClass: 'x' }, newer('1.24: the field is new')),
  service({ allocateLoadBalancerNodePorts: true }, newer('1.22: the field is new')),
  service({ internalTrafficPolicy: 'X', trafficDistribution: 'Y' }, newer('1.22: the field is new')),
]

const claim = (fields: object, rest?: Rest): Bad =>
  spec({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...fields }, rest)
const CLAIMS: readonly Bad[] = [
  claim({ accessModes: [] }),
  claim({ accessModes: ['X'] }, unlikeWords('1.22: one more mode')),
  claim({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }, unlikeWords('1.22: the mode is new')),
  claim({ resources: {} }),
  claim({ resources: { requests: { storage: '0' } } }),
  claim({ selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
  claim({ storageClassName: 'A_', volumeMode: 'X' }),
  claim({ dataSource: { kind: 'PersistentVolumeClaim', name: '' } }, unlikeWords('1.22: told of both references')),
  claim({ dataSourceRef: { kind: 'Other', name: 'x' } }, newer('1.22: the field is new')),
  claim({ volumeAttributesClassName: 'A_' }, newer('1.29: the field is new')),
]

const volume = (fields: object, rest?: Rest): Bad =>
  spec({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...fields }, rest)
const HOST = { hostPath: { path: '/a' } }
const VOLUMES: readonly Bad[] = [
  volume({}),
  volume({ ...HOST, accessModes: [], capacity: {} }),
  volume({ ...HOST, capacity: { storage: '0' } }),
  volume({ ...HOST, capacity: { storage: '1', cpu: '1' } }),
  volume({ ...HOST, persistentVolumeReclaimPolicy: 'X', storageClassName: 'A_', volumeMode: 'Y' }),
  volume({ hostPath: { path: '/a/..' }, persistentVolumeReclaimPolicy: 'Recycle' }),
  volume({ ...HOST, nodeAffinity: {} }),
  volume({ ...HOST, nodeAffinity: { required: { nodeSelectorTerms: [] } } }),
  volume({ local: { path: '/a' } }),
  volume({ local: { path: '' }, nfs: { server: 'a', path: '/b' } }),
  volume(
    { csi: { driver: '', volumeHandle: '', nodePublishSecretRef: { name: '' } } },
    unlikeWords('a slip of its paths'),
  ),
  volume({ azureFile: { secretName: 'a', shareName: 'b', secretNamespace: '' } }),
  volume({ glusterfs: { endpoints: 'a', path: 'b', endpointsNamespace: 'A_' } }),
  volume({ cinder: { volumeID: 'a', secretRef: {} } }),
  volume({ iscsi: { targetPortal: 'a', iqn: 'x', lun: 1, secretRef: {} } }),
  volume({ ...HOST, volumeAttributesClassName: '' }, newer('1.29: the field is new')),
]

const limit = (fields: object, rest?: Rest): Bad => spec({ limits: [{ type: 'Container', ...fields }] }, rest)
const LIMITS: readonly Bad[] = [
  limit({ type: 'Nothing' }),
  limit({ type: 'a b' }),
  limit({ max: { nothing: '1' } }),
  limit({ type: 'Pod', default: { cpu: '1' } }),
  limit({ type: 'PersistentVolumeClaim' }),
  limit({ type: 'Pod', maxLimitRequestRatio: { cpu: '0.5' } }),
  limit({ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '4' } }),
  limit({ type: 'a.b/c', default: { 'a.b/c': '1' }, defaultRequest: { 'a.b/c': '2' } }),
]

const QUOTAS: readonly Bad[] = [
  spec({ hard: { nothing: '1' } }),
  spec({ hard: { storage: '1' } }),
  spec({ hard: { pods: '1.5' } }),
  spec({ hard: { pods: '1' }, scopes: ['X'] }),
  spec({ hard: { secrets: '1' }, scopes: ['BestEffort'] }),
  spec({ hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] }),
  spec({ scopeSelector: { matchExpressions: [{ scopeName: 'X', operator: 'Y' }] } }),
  spec(
    { scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'In' }] } },
    unlikeWords('1.22: one more scope'),
  ),
  spec({ scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists', values: ['x'] }] } }),
]

const NODES: readonly Bad[] = [
  spec({
    taints: [
      { key: 'a b', effect: 'X' },
      { key: 'x', value: 'a b' },
    ],
  }),
  spec({
    taints: [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoSchedule' },
    ],
  }),
  spec({ podCIDRs: ['x', '10.0.0.0/8'], podCIDR: 'x' }, unlikeWords('1.33: another wording')),
  [{ status: { capacity: { cpu: '-1' }, allocatable: { 'a.b/c': '0.5' } } }],
]

const DEPRECATED = { 'headers.warning': '1.33: Endpoints are deprecated' }
const DEPRECATED_IN_WORDS: Rest = { unlike120: { ...unlikeWords('1.33: another wording').unlike120, ...DEPRECATED } }
const ENDPOINTS: readonly Bad[] = [
  [{ subsets: [{ ports: [{ port: 80 }] }] }, { unlike120: DEPRECATED }],
  [{ subsets: [{ addresses: [{ ip: 'x', hostname: 'A_', nodeName: 'B_' }] }] }, DEPRECATED_IN_WORDS],
  [
    { subsets: [{ notReadyAddresses: [{ ip: '127.0.0.1' }], ports: [{ port: 0 }, { port: 80, appProtocol: 'a b' }] }] },
    DEPRECATED_IN_WORDS,
  ],
]

const CLAIM = `${NS}/persistentvolumeclaims/own`
const PV = '/api/v1/persistentvolumes/core-kinds-own'
const OWN = `${NS}/services/own`
const COLLECTIONS = { SERVICES: `${NS}/services`, CLAIMS: `${NS}/persistentvolumeclaims` }

export const coreKinds: Script = {
  name: 'core-kinds',
  steps: [
    ...bad(COLLECTIONS.SERVICES, 'Service', SERVICES),
    ...bad(COLLECTIONS.CLAIMS, 'PersistentVolumeClaim', CLAIMS),
    ...bad('/api/v1/persistentvolumes', 'PersistentVolume', VOLUMES),
    ...bad(`${NS}/limitranges`, 'LimitRange', LIMITS),
    ...bad(`${NS}/resourcequotas`, 'ResourceQuota', QUOTAS),
    ...bad('/api/v1/nodes', 'Node', NODES),
    ...bad(`${NS}/endpoints`, 'Endpoints', ENDPOINTS),
    post(COLLECTIONS.CLAIMS, of('v1', 'PersistentVolumeClaim', 'own', claim({})[0])),
    merge(
      CLAIM,
      { spec: { resources: { requests: { storage: '2Gi' } } } },
      unlikeWords('says what may change in other words'),
    ),
    merge(CLAIM, { spec: { storageClassName: 'x' } }, newer('1.26: a class may be named later')),
    merge(CLAIM, { spec: { storageClassName: 'y' } }, unlikeWords('1.26: it was not named before')),
    merge(CLAIM, { spec: { volumeMode: 'Block' } }, unlikeWords('says what may change in other words')),
    merge(CLAIM, { spec: { volumeName: 'v' } }, { only: ['code', 'spec.volumeName'] }),
    post('/api/v1/persistentvolumes', of('v1', 'PersistentVolume', 'core-kinds-own', volume(HOST)[0])),
    merge(PV, { spec: { hostPath: { path: '/b' } } }, unlikeWords('told with all of the volume')),
    merge(PV, { spec: { volumeMode: 'Block' } }),
    merge(
      PV,
      { spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields: [] }] } } } },
      { only: ['code'] },
    ),
    post(COLLECTIONS.SERVICES, of('v1', 'Service', 'own', { spec: { ports: [{ port: 80 }], clusterIP: 'None' } }), {
      only: ['code', 'spec.clusterIP'],
    }),
    merge(OWN, { spec: { type: 'LoadBalancer' } }),
    merge(
      OWN,
      { spec: { type: 'ExternalName', externalName: 'a.b', clusterIP: null } },
      { only: ['code', 'spec.type'] },
    ),
  ],
}
