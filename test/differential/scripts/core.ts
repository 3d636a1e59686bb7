/** Built-in kinds of the core group: what the server fills in, refuses, and never lets change. */
import { del, get, merge, post, put, type Rest, type Script, type Step, strategic, table } from '../script.ts'
import { NS, of, PODS, pod, SELECTOR, TEMPLATE } from './bodies.ts'

/** The life of an object: create, look, change, and go. */
export function life(
  collection: string,
  name: string,
  body: object,
  {
    change = { metadata: { labels: { touched: 'yes' } } },
    bad = [],
    created = {},
    look = {},
    rest = {},
  }: LifeOptions = {},
): Step[] {
  return [
    post(collection, body, { ...rest, ...created }),
    table(`${collection}/${name}`, { ...rest, ...look }),
    merge(`${collection}/${name}`, change, rest),
    ...bad.map(item => {
      const [patch, its] = (Array.isArray(item) ? item : [item, {}]) as [object, Rest]
      return merge(`${collection}/${name}`, patch, { ...rest, ...its })
    }),
    get(`${collection}/${name}`, rest),
  ]
}
export interface LifeOptions {
  change?: object
  /** Changes that are refused. */
  bad?: readonly (object | readonly [object, Rest])[]
  created?: Rest
  look?: Rest
  rest?: Rest
}

const SLIP: Rest = { unlike120: { body: 'a slip of its words: data[%s]' } }
const COLUMNS: Rest = { unlike120: { 'body.columnDefinitions': 'other columns', 'body.rows.0.cells': 'other columns' } }
const OLD_ENDPOINTS: Rest = { unlike120: { 'headers.warning': '1.33: Endpoints are deprecated' } }
const S = `${NS}/services`
const service = (name: string, spec: object): object => of('v1', 'Service', name, { spec })

export const core: Script = {
  name: 'core',
  managedFields: true,
  steps: [
    ...life(`${NS}/secrets`, 's', of('v1', 'Secret', 's', { stringData: { a: 'b' }, data: { c: 'ZA==' } }), {
      change: { stringData: { a: 'c' } },
      bad: [{ type: 'other' }, { data: { 'a b': 'YQ==' } }],
    }),
    post(`${NS}/secrets`, of('v1', 'Secret', 't', { type: 'kubernetes.io/tls', data: {} })),
    post(
      `${NS}/secrets`,
      of('v1', 'Secret', 't', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'YQ==' } }),
      { unlike120: { 'headers.warning': '1.24: no certificate' } },
    ),
    post(`${NS}/secrets`, of('v1', 'Secret', 'b', { type: 'kubernetes.io/basic-auth', data: { x: 'YQ==' } }), SLIP),
    post(
      `${NS}/secrets`,
      of('v1', 'Secret', 'd', { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'e30=' } }),
    ),
    post(
      `${NS}/secrets`,
      of('v1', 'Secret', 'e', { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'YQ==' } }),
      { unlike120: { body: 'decoders word it differently' } },
    ),
    post(`${NS}/secrets`, of('v1', 'Secret', 'f', { type: 'kubernetes.io/ssh-auth' }), SLIP),
    get(`${NS}/secrets?fieldSelector=type%3Dkubernetes.io/tls`),
    get(`${NS}/secrets?fieldSelector=data%3Dx`),
    ...life(
      `${NS}/serviceaccounts`,
      'sa',
      of('v1', 'ServiceAccount', 'sa', { imagePullSecrets: [{ name: 'x' }], automountServiceAccountToken: false }),
    ),
    ...life(
      `${NS}/limitranges`,
      'lr',
      of('v1', 'LimitRange', 'lr', {
        spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '100m', memory: '1024Mi' } }] },
      }),
      {
        bad: [[{ spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }] } }, {}]],
      },
    ),
    ...life(
      `${NS}/resourcequotas`,
      'q',
      of('v1', 'ResourceQuota', 'q', { spec: { hard: { pods: '10', 'requests.cpu': '1000m' } } }),
      {
        look: COLUMNS,
        bad: [
          { spec: { hard: { nonsense: '1' } } },
          { spec: { hard: { pods: '-1' } } },
          { spec: { scopes: ['Nope'] } },
        ],
      },
    ),
    merge(
      `${NS}/resourcequotas/q/status`,
      { status: { hard: { pods: '10' }, used: { pods: '1' } } },
      { unlike120: { 'body.metadata.managedFields': 'entries name their sub-resource since 1.22' } },
    ),
    del(`${NS}/resourcequotas/q`, undefined, {
      unlike120: { 'body.metadata': 'as above; 1.26: the version is that of the removal' },
    }),
    ...life(
      `${NS}/persistentvolumeclaims`,
      'c',
      of('v1', 'PersistentVolumeClaim', 'c', {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' },
      }),
      {
        look: COLUMNS,
        bad: [
          [{ spec: { accessModes: ['ReadOnlyMany'] } }, { only: ['code', 'reason', 'details.causes.*.field'] }],
          [{ spec: { resources: { requests: { storage: '1Mi' } } } }, { only: ['code', 'reason'] }],
        ],
      },
    ),
    post(`${NS}/persistentvolumeclaims`, of('v1', 'PersistentVolumeClaim', 'bad', { spec: {} })),
    ...life(
      '/api/v1/persistentvolumes',
      'pv-diff',
      of('v1', 'PersistentVolume', 'pv-diff', {
        spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
      }),
      { look: { unlike120: { ...COLUMNS.unlike120 } } },
    ),
    post(
      '/api/v1/persistentvolumes',
      of('v1', 'PersistentVolume', 'pv-bad', { spec: { capacity: { storage: '1Gi' } } }),
    ),
    del('/api/v1/persistentvolumes/pv-diff'),
    ...life(
      `${NS}/endpoints`,
      'e',
      of('v1', 'Endpoints', 'e', { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }),
      {
        rest: OLD_ENDPOINTS,
        bad: [{ subsets: [{ ports: [{ port: 80 }] }] }],
      },
    ),
    put(`${NS}/endpoints/made`, of('v1', 'Endpoints', 'made'), OLD_ENDPOINTS),
    ...life(`${NS}/podtemplates`, 'pt', of('v1', 'PodTemplate', 'pt', { template: TEMPLATE })),
    ...life(
      `${NS}/replicationcontrollers`,
      'rc',
      of('v1', 'ReplicationController', 'rc', { spec: { template: TEMPLATE } }),
      {
        change: { spec: { replicas: 0 } },
        bad: [{ spec: { replicas: -1 } }, { spec: { selector: { app: 'other' } } }],
      },
    ),
    // services
    post(S, service('plain', { ports: [{ port: 80 }], selector: { a: 'b' } })),
    post(
      S,
      service('headless', { clusterIP: 'None', ports: [{ port: 80, targetPort: 'http' }], selector: { a: 'b' } }),
    ),
    post(S, service('outside', { type: 'ExternalName', externalName: 'example.com' })),
    post(S, service('bad-ports', { ports: [{ port: 0 }, { port: 80 }] })),
    post(S, service('bad-port', { ports: [{ port: 70000, protocol: 'X', targetPort: 'a_b' }] })),
    post(S, service('bad-type', { type: 'Nope', ports: [{ port: 80 }] })),
    post(S, service('bad-name', { type: 'ExternalName' })),
    post(S, service('bad-affinity', { sessionAffinity: 'Some', ports: [{ port: 80 }] })),
    post(S, service('none', {})),
    post(S, service('Upper', { ports: [{ port: 80 }] })),
    table(`${S}/outside`),
    table(`${S}/headless`),
    merge(`${S}/headless`, { spec: { selector: { c: 'd' } } }),
    merge(`${S}/outside`, { spec: { externalName: 'other.example.com' } }),
    del(`${S}/outside`, undefined, { unlike120: { body: 'it answers a Status' } }),
  ],
}

const pp = (name: string, spec: object, rest: Rest = {}): Step => post(PODS, pod(name, spec), rest)
const c = (more: object): object => ({ containers: [{ name: 'c', image: 'i', ...more }] })

export const pods: Script = {
  name: 'pods',
  managedFields: true,
  steps: [
    post(PODS, pod('a', { nodeName: 'n1' }), { save: { rv: 'metadata.resourceVersion' } }),
    table(`${PODS}/a`, COLUMNS),
    table(PODS, COLUMNS),
    ...['latest', 'v1', ''].map((tag, i) =>
      pp(`tag${i}`, { containers: [{ name: 'c', image: `r.example:5000/i${tag && `:${tag}`}` }] }),
    ),
    pp('full', {
      ...c({
        ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81, name: 'x' }],
        env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
        resources: { limits: { cpu: '0.5', memory: '1024Mi' } },
        livenessProbe: { httpGet: { path: '/', port: 80 } },
        readinessProbe: { tcpSocket: { port: 'x' }, initialDelaySeconds: 0 },
        volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: false }],
        lifecycle: { preStop: { httpGet: { port: 80 } } },
      }),
      initContainers: [{ name: 'i', image: 'i' }],
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'w', secret: { secretName: 's' } },
        { name: 'x', configMap: { name: 'm' } },
        { name: 'y', hostPath: { path: '/h' } },
        { name: 'z', downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
        { name: 'u', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      ],
      hostNetwork: false,
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: SELECTOR },
      ],
      affinity: {},
      securityContext: { runAsUser: 1 },
    }),
    pp('host', { ...c({ ports: [{ containerPort: 80 }] }), hostNetwork: true }),
    pp('empty', {
      ...c({
        env: [{ name: 'A', value: '' }],
        envFrom: [],
        args: [],
        command: [],
        stdin: false,
        tty: false,
        workingDir: '',
        resources: { limits: {}, requests: {} },
        securityContext: {},
        ports: [{ containerPort: 80, hostPort: 0, name: '', hostIP: '' }],
        volumeMounts: [{ name: 'h', mountPath: '/h', readOnly: false, subPath: '' }],
      }),
      nodeSelector: {},
      imagePullSecrets: [],
      hostAliases: [],
      initContainers: [],
      volumes: [{ name: 'h', hostPath: { path: '/h', type: '' } }],
      hostPID: false,
      nodeName: '',
      hostname: '',
      subdomain: '',
      priorityClassName: '',
      affinity: {},
    }),
    post(
      PODS,
      pod(
        'empty-meta',
        {},
        { labels: {}, annotations: {}, finalizers: [], ownerReferences: [], generateName: '', clusterName: undefined },
      ),
    ),
    pp('bad-1', { containers: [] }),
    pp('bad-2', { containers: [{ name: 'c' }, { name: 'c', image: 'i' }] }),
    pp('bad-3', { containers: [{ name: 'C', image: 'i' }] }),
    pp('bad-4', { restartPolicy: 'Sometimes', dnsPolicy: 'Nope' }),
    pp('bad-5', c({ imagePullPolicy: 'Maybe' })),
    pp('bad-6', c({ ports: [{ containerPort: 0 }, { containerPort: 70000 }, { containerPort: 1, protocol: 'X' }] })),
    pp('bad-7', c({ volumeMounts: [{ name: 'none', mountPath: '/x' }] })),
    pp('bad-8', {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'v', emptyDir: {} },
      ],
    }),
    pp('bad-9', { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] }),
    pp('bad-10', c({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }), {
      unlike120: { body: 'it does not tell the limit' },
    }),
    pp('bad-11', c({ resources: { requests: { cpu: '-2' } } })),
    pp(
      'bad-12',
      c({ env: [{ name: '' }, { name: 'a', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    ),
    pp('bad-13', c({ livenessProbe: {} })),
    pp('bad-14', c({ livenessProbe: { httpGet: { port: 0, path: '/' } } })),
    pp('bad-15', { nodeSelector: { 'a b': 'c' }, tolerations: [{ operator: 'Nope', key: 'x' }] }),
    pp('bad-16', { terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0 }),
    pp('bad-17', c({ envFrom: [{}] })),
    pp('bad-18', { hostAliases: [{ ip: 'x' }] }, { unlike120: { body: 'another wording' } }),
    merge(`${PODS}/a`, { spec: { containers: [{ name: 'c', image: 'other:1' }] } }),
    strategic(`${PODS}/a`, { spec: { containers: [{ name: 'c', image: 'other:2' }] } }),
    strategic(`${PODS}/a`, { spec: { containers: [{ name: 'new', image: 'other:2' }] } }),
    merge(`${PODS}/a`, { spec: { activeDeadlineSeconds: 10 } }),
    merge(`${PODS}/a`, { spec: { activeDeadlineSeconds: 20 } }),
    merge(
      `${PODS}/a/status`,
      { status: { phase: 'Running', podIP: '10.0.0.9', conditions: [{ type: 'Ready', status: 'True' }] } },
      {
        only: ['code', 'status.phase', 'status.podIP', 'status.podIPs'],
      },
    ),
    merge(`${PODS}/a`, { status: { phase: 'Failed' } }, { only: ['status.phase'] }),
    get(`${PODS}?fieldSelector=spec.nodeName%3Dn1`, { only: ['items.*.metadata.name'] }),
    get(`${PODS}?fieldSelector=status.phase%3DRunning`, { only: ['items.*.metadata.name'] }),
    get(`${PODS}?fieldSelector=status.podIP%3D10.0.0.9`, { only: ['items.*.metadata.name'] }),
    get(`${PODS}?fieldSelector=spec.restartPolicy!%3DAlways`, { only: ['items.*.metadata.name'] }),
    get(`${PODS}?fieldSelector=spec.nonsense%3Dx`),
    get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1,status.phase!%3DSucceeded', { only: ['items.*.metadata.name'] }),
    del(`${PODS}/a`, undefined, {
      only: ['kind', 'metadata.deletionGracePeriodSeconds', 'metadata.deletionTimestamp'],
    }),
    del(`${PODS}/a?gracePeriodSeconds=5`, undefined, {
      only: ['kind', 'metadata.deletionGracePeriodSeconds', 'metadata.deletionTimestamp'],
    }),
    del(`${PODS}/a?gracePeriodSeconds=60`, undefined, { only: ['kind', 'metadata.deletionGracePeriodSeconds'] }),
    del(`${PODS}/a?gracePeriodSeconds=0`, undefined, { only: ['kind', 'metadata.deletionGracePeriodSeconds'] }),
    get(`${PODS}/a`),
    del(`${PODS}/host`, undefined, { only: ['kind', 'metadata.name', 'metadata.deletionTimestamp'] }),
    get(`${PODS}/host`),
  ],
}
