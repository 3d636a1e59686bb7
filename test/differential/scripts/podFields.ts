/** Faults of pods: every part of their spec, one fault or a few at a time. */
import { post, type Rest, type Script, type Step, unlikeWords } from '../script.ts'
import { NS, of, PODS, pod } from './bodies.ts'

type Bad = readonly [spec: object, rest?: Rest]

/** Pods with the one container `c`, changed. */
const c = (fields: object): object => ({ containers: [{ name: 'c', image: 'registry.example/i:1', ...fields }] })
const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] })
const mounts = (...volumeMounts: object[]): object => ({
  ...c({ volumeMounts }),
  volumes: [{ name: 'v', emptyDir: {} }],
})
const env = (valueFrom: object): object => c({ env: [{ name: 'A', valueFrom }] })
const probe = (handler: object): object => c({ livenessProbe: handler })
const security = (securityContext: object): object => ({ securityContext })
const own = (securityContext: object): object => c({ securityContext })
const affinity = (kind: string, fields: object): object => ({ affinity: { [kind]: fields } })
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'
const nodes = (...nodeSelectorTerms: object[]): object =>
  affinity('nodeAffinity', { [REQUIRED]: { nodeSelectorTerms } })
const term = (...matchExpressions: object[]): object => ({ matchExpressions })
const near = (...terms: object[]): object => affinity('podAffinity', { [REQUIRED]: terms })
const spread = (fields: object): object => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', ...fields }],
})
const newer = (why: string): Rest => ({ unlike120: { '': why } })
const WORDS = unlikeWords('other words then')
const SINCE = (release: string): Rest => newer(`${release}: the field is new`)

const CONTAINERS: readonly Bad[] = [
  [c({ terminationMessagePolicy: 'X' }), WORDS],
  [c({ image: ' i' })],
  [
    c({
      ports: [
        { containerPort: 1, name: 'a' },
        { containerPort: 2, name: 'a' },
      ],
    }),
  ],
  [
    c({
      ports: [
        { containerPort: 1, hostPort: 1 },
        { containerPort: 2, hostPort: 1 },
      ],
    }),
  ],
  [c({ ports: [{ containerPort: 1, hostPort: 70000, name: 'Not_A_Name_Of_A_Port' }] })],
  [
    { ...c({ ports: [{ containerPort: 1, hostPort: 2 }] }), hostNetwork: true },
    unlikeWords('1.28: told at the other port'),
  ],
  [
    {
      ...c({}),
      initContainers: [
        { name: 'c', image: 'i' },
        { name: 'x', image: 'i', lifecycle: {} },
      ],
    },
    WORDS,
  ],
  [env({ fieldRef: { fieldPath: 'spec.nothing' } })],
  [env({ fieldRef: { fieldPath: 'status.phase' } }), unlikeWords('1.28: status.hostIPs')],
  [env({ fieldRef: { fieldPath: "metadata.labels['a b']" } })],
  [env({ fieldRef: { fieldPath: "metadata.name['x']" } })],
  [env({ fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } })],
  [env({ fieldRef: {} })],
  [env({ resourceFieldRef: { resource: 'limits.nothing' } })],
  [env({ resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } })],
  [env({ resourceFieldRef: { resource: 'limits.memory', divisor: '3Ki' } })],
  [env({ configMapKeyRef: { name: 'A', key: 'a b' }, secretKeyRef: { name: '' } })],
  [env({}), unlikeWords('1.34: one more to choose')],
  [
    c({
      envFrom: [
        { prefix: 'a=', configMapRef: { name: 'A' } },
        { secretRef: {}, configMapRef: { name: 'x' } },
      ],
    }),
    WORDS,
  ],
  [mounts({ name: 'v', mountPath: '/a' }, { name: 'v', mountPath: '/a' })],
  [mounts({ name: 'v', mountPath: '/a', subPath: '/x', subPathExpr: '../y' })],
  [mounts({ name: 'v', mountPath: '/a', mountPropagation: 'X' }, { name: 'v', mountPath: '' })],
  [mounts({ name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' })],
  [{ ...c({ volumeDevices: [{ name: 'v', devicePath: '/d' }, { name: 'w' }] }), ...volume({ emptyDir: {} }) }, WORDS],
  [
    {
      ...c({
        volumeDevices: [
          { name: 'v', devicePath: '/../d' },
          { name: 'v', devicePath: '/m' },
        ],
        volumeMounts: [{ name: 'v', mountPath: '/m' }],
      }),
      ...volume({ persistentVolumeClaim: { claimName: 'p' } }),
    },
  ],
  [probe({ exec: { command: ['x'] }, httpGet: { port: 80 } })],
  [probe({ httpGet: { port: 'bad_name', scheme: 'ftp', httpHeaders: [{ name: 'a b' }] } })],
  [probe({ tcpSocket: { port: 0 }, periodSeconds: -1, failureThreshold: -2 })],
  [probe({ exec: { command: ['x'] }, successThreshold: 2 })],
  [c({ startupProbe: { exec: { command: [] }, successThreshold: 2 } })],
  [c({ lifecycle: { preStop: {}, postStart: { exec: {} } } })],
  [c({ resources: { limits: { 'a.b/c': '1.5' } } })],
  [c({ resources: { limits: { nothing: '1' } } })],
  [c({ resources: { limits: { 'x y': '1' } } })],
  [c({ resources: { requests: { 'a.b/c': '1' } } })],
  [
    c({ resources: { requests: { 'a.b/c': '1' }, limits: { 'a.b/c': '2' } } }),
    unlikeWords('it does not tell the limit'),
  ],
  [c({ resources: { limits: { 'hugepages-2Mi': '4Mi' } } })],
  [c({ resources: { limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } } }), newer('1.23: whole pages')],
  [c({ resources: { limits: { 'requests.a.b/c': '1' } } })],
  [
    c({
      resizePolicy: [
        { resourceName: 'x', restartPolicy: 'y' },
        { resourceName: 'x', restartPolicy: 'NotRequired' },
      ],
    }),
    SINCE('1.27'),
  ],
  [c({ restartPolicyRules: [{ action: 'Never' }] }), SINCE('1.34')],
  [
    c({ restartPolicy: 'Sometimes', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'Is' } }] }),
    SINCE('1.34'),
  ],
]

const SOURCES: readonly Bad[] = [
  { hostPath: { path: '/a/../b', type: 'Thing' } },
  { hostPath: { path: '' } },
  { gitRepo: { repository: '', directory: '/a' } },
  { gcePersistentDisk: { pdName: '', partition: 300 } },
  { awsElasticBlockStore: { volumeID: '', partition: -1 } },
  { secret: { secretName: '', defaultMode: 0o1000, items: [{ key: '', path: '../x', mode: -1 }] } },
  {
    configMap: {
      name: '',
      items: [
        { key: 'a', path: '..x' },
        { key: 'b', path: '/c' },
      ],
    },
  },
  { nfs: { server: '', path: 'a' } },
  { iscsi: { targetPortal: '', iqn: 'x', lun: 256, chapAuthSession: true } },
  { iscsi: { targetPortal: 'a', iqn: 'iqn.bad', lun: 1, initiatorName: 'eui.x' } },
  {
    iscsi: { targetPortal: 'a'.repeat(70), iqn: 'eui.0123456789abcdef', lun: 1, initiatorName: 'eui.0123456789abcdef' },
  },
  { glusterfs: { endpoints: '', path: '' } },
  { flocker: { datasetName: 'a/b', datasetUUID: 'x' } },
  { flocker: {} },
  { rbd: { monitors: [], image: '' } },
  { cinder: { volumeID: '', secretRef: {} } },
  { cephfs: { monitors: [] } },
  { quobyte: { registry: 'a', volume: '' } },
  { quobyte: { registry: 'a:1', volume: 'v', tenant: 'x'.repeat(65) } },
  { fc: {} },
  { fc: { targetWWNs: ['a'] } },
  { fc: { targetWWNs: ['a'], wwids: ['b'], lun: 999 } },
  { flexVolume: { driver: '', options: { 'x.k8s.io/a': 'c' } } },
  { azureFile: { secretName: '', shareName: '' } },
  { azureDisk: { diskName: '', diskURI: 'x', cachingMode: 'Y', kind: 'Z' } },
  { azureDisk: { diskName: 'a', diskURI: 'x', kind: 'Managed' } },
  { vsphereVolume: { volumePath: '' } },
  { photonPersistentDisk: { pdID: '' } },
  { portworxVolume: { volumeID: '' } },
  { scaleIO: { gateway: '', system: '', secretRef: { name: 'x' } } },
  { storageos: { volumeName: 'A_', volumeNamespace: 'B_', secretRef: {} } },
  { emptyDir: { sizeLimit: '-1' } },
  { persistentVolumeClaim: { claimName: '' } },
  {
    downwardAPI: { items: [{ path: '' }, { path: '/a', fieldRef: { fieldPath: 'spec.nodeName' } }], defaultMode: 512 },
  },
  {
    downwardAPI: {
      items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' }, fieldRef: { fieldPath: 'metadata.uid' } }],
    },
  },
  { downwardAPI: { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' }, mode: 512 }] } },
  { emptyDir: {}, configMap: { name: 'x' }, csi: { driver: 'a' } },
  { cephfs: { monitors: ['a'] }, hostPath: { path: '/a' } },
].map(source => [volume(source)])

const REWORDED_SOURCES: readonly Bad[] = [
  [volume({ csi: { driver: 'a_b', nodePublishSecretRef: {} } }), unlikeWords('a slip of its paths')],
  [
    volume({ csi: { driver: 'x'.repeat(64), nodePublishSecretRef: { name: 'A' } } }),
    unlikeWords('1.32: too long, in other words'),
  ],
  [
    volume({
      projected: {
        defaultMode: 512,
        sources: [
          { secret: { name: '', items: [{ key: 'a', path: 'same' }] } },
          { configMap: { name: 'm', items: [{ key: 'a', path: 'same' }] } },
          { downwardAPI: { items: [{ path: 'same', fieldRef: { fieldPath: 'metadata.name' } }] } },
          { serviceAccountToken: { path: '', expirationSeconds: 1 } },
          { secret: { name: 'x' }, configMap: { name: 'y' } },
        ],
      },
    }),
    unlikeWords('1.25: says what the type is per'),
  ],
]

const PLACES: readonly Bad[] = [
  [nodes()],
  [nodes(term({ key: 'a b', operator: 'In' }, { key: 'a', operator: 'Exists', values: ['x'] }))],
  [nodes(term({ key: 'a', operator: 'Gt', values: ['1', '2'] }, { key: 'a', operator: 'Is' }))],
  [nodes(term({ key: 'a', operator: 'In', values: ['a b'] })), newer('1.33: values are judged')],
  [
    nodes({
      matchFields: [
        { key: 'a', operator: 'Exists' },
        { key: 'metadata.name', operator: 'In', values: ['A_', 'b'] },
      ],
    }),
  ],
  [affinity('nodeAffinity', { [PREFERRED]: [{ weight: 0, preference: term({ key: 'a', operator: 'Exists' }) }] })],
  [affinity('nodeAffinity', { [PREFERRED]: [{ weight: 101, preference: term({ key: '', operator: 'Is' }) }] })],
  [
    near({ namespaces: ['A_'], labelSelector: { matchLabels: { 'a b': 'c' } }, topologyKey: '' }),
    unlikeWords('a slip of its paths'),
  ],
  [
    near({ topologyKey: 'a b', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
    unlikeWords('a slip of its paths'),
  ],
  [affinity('podAntiAffinity', { [PREFERRED]: [{ weight: 0, podAffinityTerm: {} }] })],
  [near({ topologyKey: 'z', namespaceSelector: { matchLabels: { 'a b': '' } } }), SINCE('1.21')],
  [near({ topologyKey: 'z', matchLabelKeys: ['a'] }), SINCE('1.29')],
  [
    near({ topologyKey: 'z', labelSelector: {}, matchLabelKeys: ['a', 'b b'], mismatchLabelKeys: ['a'] }),
    SINCE('1.29'),
  ],
  [spread({ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'X' })],
  [
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 2, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
  ],
  [spread({ minDomains: 0, whenUnsatisfiable: 'ScheduleAnyway', nodeAffinityPolicy: 'X' }), SINCE('1.25')],
  [spread({ matchLabelKeys: ['a'], labelSelector: { matchLabels: { a: 'b' } } }), SINCE('1.27')],
  [spread({ matchLabelKeys: ['a'] }), SINCE('1.27')],
  [
    {
      tolerations: [
        { key: 'a b', operator: 'Exists', value: 'x' },
        { operator: 'Equal', value: 'a b', effect: 'X' },
      ],
    },
  ],
  [{ tolerations: [{ key: 'a', tolerationSeconds: 1 }] }],
]

const SECURITY: readonly Bad[] = [
  [security({ runAsUser: -1, runAsGroup: 2147483648, fsGroup: -1, supplementalGroups: [1, -1] })],
  [security({ fsGroupChangePolicy: 'X' })],
  [
    security({
      sysctls: [
        { name: 'a b', value: '' },
        { name: '', value: '' },
        { name: 'a.b', value: '' },
        { name: 'a.b', value: '' },
      ],
    }),
    WORDS,
  ],
  [
    {
      ...security({
        sysctls: [
          { name: 'net.a', value: '' },
          { name: 'kernel.sem', value: '' },
        ],
      }),
      hostNetwork: true,
      hostIPC: true,
    },
    newer('1.29: judged on creation'),
  ],
  [security({ seccompProfile: { type: 'X' } })],
  [security({ seccompProfile: {} })],
  [security({ seccompProfile: { type: 'Localhost' } })],
  [
    security({ seccompProfile: { type: 'Localhost', localhostProfile: '/../a' } }),
    unlikeWords('1.27: no annotations are made of fields'),
  ],
  [security({ seccompProfile: { type: 'Unconfined', localhostProfile: 'a' } })],
  [security({ windowsOptions: { runAsUserName: '', gmsaCredentialSpecName: 'A_', gmsaCredentialSpec: '' } })],
  [security({ windowsOptions: { runAsUserName: 'a\\b\\c' } })],
  [security({ windowsOptions: { runAsUserName: 'a*b\\..' } })],
  [security({ windowsOptions: { runAsUserName: `d\\${'u'.repeat(105)}` } })],
  [{ hostPID: true, shareProcessNamespace: true }],
  [own({ runAsUser: -1, runAsGroup: -1 })],
  [
    own({ privileged: true, allowPrivilegeEscalation: false }),
    unlikeWords('the other server allows no privileged containers'),
  ],
  [own({ allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } })],
  [own({ procMount: 'X' }), newer('1.20: behind a switch')],
  [own({ procMount: 'Unmasked' }), newer('1.31: with user namespaces')],
  [security({ appArmorProfile: { type: 'Localhost', localhostProfile: ' a' } }), SINCE('1.30')],
  [own({ appArmorProfile: { type: 'Unconfined', localhostProfile: 'a' } }), SINCE('1.30')],
  [security({ supplementalGroupsPolicy: 'X', seLinuxChangePolicy: 'Y' }), SINCE('1.31')],
  [{ hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true }, SINCE('1.25')],
  [{ os: { name: 'X' } }, SINCE('1.24')],
  [{ os: { name: 'linux' }, ...own({ windowsOptions: { runAsUserName: 'a' } }) }, SINCE('1.24')],
  [
    { os: { name: 'windows' }, hostPID: true, ...security({ runAsUser: 1 }), ...own({ privileged: true }) },
    unlikeWords('1.24: the field is new'),
  ],
  [security({ windowsOptions: { hostProcess: true } }), SINCE('1.23')],
]

const REST: readonly Bad[] = [
  [{ dnsPolicy: 'None' }],
  [{ dnsPolicy: 'None', dnsConfig: {} }],
  [{ dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } }],
  [{ dnsConfig: { nameservers: ['x'], searches: ['A b', 'ok.'], options: [{ value: 'x' }] } }, WORDS],
  [{ hostAliases: [{ ip: '1.1.1.1', hostnames: ['A_'] }] }, unlikeWords('1.30: with indexes')],
  [{ readinessGates: [{ conditionType: 'a b' }] }],
  [{ schedulingGates: [{ name: 'a b' }, { name: 'x' }, { name: 'x' }] }, SINCE('1.27')],
  [{ serviceAccountName: 'A_' }, newer('admission comes first')],
  [{ nodeName: 'A_', hostname: 'a.b', subdomain: 'A_' }, unlikeWords('1.34: dots are told')],
  [{ priorityClassName: 'A_', runtimeClassName: 'B_' }],
  [{ preemptionPolicy: 'X' }],
  [{ overhead: { cpu: '-1' } }],
  [{ activeDeadlineSeconds: 2147483648 }],
  [
    { resourceClaims: [{ name: 'a' }, { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }] },
    SINCE('1.26'),
  ],
  [
    {
      ...c({ resources: { claims: [{ name: 'x' }, { name: '' }] } }),
      resourceClaims: [{ name: 'a', resourceClaimName: 'x' }],
    },
    SINCE('1.26'),
  ],
  [
    { resources: { requests: { cpu: '1' }, claims: [{ name: 'x' }] }, ...c({ resources: { requests: { cpu: '2' } } }) },
    SINCE('1.34'),
  ],
  [{ hostnameOverride: 'A_' }, SINCE('1.35')],
]

const ANNOTATIONS: readonly (readonly [Record<string, string>, object?, Rest?])[] = [
  [{ 'kubernetes.io/config.mirror': 'x' }, { nodeName: '' }, newer('admission comes first')],
  [{ 'controller.kubernetes.io/pod-deletion-cost': 'x' }, {}, newer('1.22')],
  [{ 'seccomp.security.alpha.kubernetes.io/pod': 'x' }],
  [
    { 'container.seccomp.security.alpha.kubernetes.io/c': 'localhost/../x' },
    {},
    unlikeWords('1.27: no fields are made of annotations'),
  ],
  [{ 'container.apparmor.security.beta.kubernetes.io/other': 'runtime/default' }],
  [{ 'container.apparmor.security.beta.kubernetes.io/c': 'x' }],
  [
    { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
    security({ seccompProfile: { type: 'RuntimeDefault' } }),
  ],
  [{ 'scheduler.alpha.kubernetes.io/tolerations': '[{"operator":"X","key":"a"}]' }],
]

/** Nothing is stored: all may have one name. */
const TRY = `${PODS}?dryRun=All`
const bad = (kind: string, items: readonly Bad[]): Step[] =>
  items.map(([spec, rest]) => post(TRY, pod(kind, spec), rest))

export const podFields: Script = {
  name: 'pod-fields',
  steps: [
    ...bad('containers', CONTAINERS),
    ...bad('volumes', SOURCES),
    ...bad('sources', REWORDED_SOURCES),
    ...bad('places', PLACES),
    ...bad('security', SECURITY),
    ...bad('rest', REST),
    ...ANNOTATIONS.map(([annotations, spec, rest]) => post(TRY, pod('notes', spec, { annotations }), rest)),
    post(
      `${NS}/podtemplates`,
      of('v1', 'PodTemplate', 't', {
        template: { metadata: { labels: { 'a b': 'c' }, annotations: { 'a b': 'c' } }, spec: c({ image: ' i ' }) },
      }),
    ),
    post(
      `${NS}/replicationcontrollers`,
      of('v1', 'ReplicationController', 'r', { spec: { template: { spec: c({}) } } }),
    ),
  ],
}
