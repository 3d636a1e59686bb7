/**
 * Objects as Go writes upstream's internal structs in JSON: with the names that they have in its code, in their order, and with
 * everything that is in them, be it null. Only what is of the groups' common metadata (ObjectMeta, LabelSelector) looks as in
 * the API.
 */
import { messageOf, type ProtobufTable, type TableField, tableFields } from '../../../openapi/protobufTable.ts'
import { type Fields, has, list, record } from '../fields.ts'
import { isRecord } from '../object.ts'
import { sortedMembers } from './goPrint.ts'

const CONTAINER: readonly string[] = [
  ...['name', 'image', 'command', 'args', 'workingDir', 'ports', 'envFrom', 'env', 'resources', 'resizePolicy'],
  ...['restartPolicy', 'restartPolicyRules', 'volumeMounts', 'volumeDevices', 'livenessProbe', 'readinessProbe'],
  ...['startupProbe', 'lifecycle', 'terminationMessagePath', 'terminationMessagePolicy', 'imagePullPolicy'],
  ...['securityContext', 'stdin', 'stdinOnce', 'tty'],
]
/** Where the internal struct has another order than the fields' numbers, or other fields. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  PodSpec: [
    ...['volumes', 'initContainers', 'containers', 'ephemeralContainers', 'restartPolicy'],
    ...['terminationGracePeriodSeconds', 'activeDeadlineSeconds', 'dnsPolicy', 'nodeSelector', 'serviceAccountName'],
    ...['automountServiceAccountToken', 'nodeName', 'securityContext', 'imagePullSecrets', 'hostname', 'subdomain'],
    ...[
      'setHostnameAsFQDN',
      'affinity',
      'schedulerName',
      'tolerations',
      'hostAliases',
      'priorityClassName',
      'priority',
    ],
    ...['preemptionPolicy', 'dnsConfig', 'readinessGates', 'runtimeClassName', 'overhead', 'enableServiceLinks'],
    ...['topologySpreadConstraints', 'os', 'schedulingGates', 'resourceClaims', 'resources', 'hostnameOverride'],
    'schedulingGroup',
  ],
  Container: CONTAINER,
  EphemeralContainerCommon: CONTAINER,
  PersistentVolumeClaimSpec: [
    ...['accessModes', 'selector', 'resources', 'volumeName', 'storageClassName', 'volumeMode', 'dataSource'],
    ...['dataSourceRef', 'volumeAttributesClassName'],
  ],
  PersistentVolumeSource: [
    ...['gcePersistentDisk', 'awsElasticBlockStore', 'hostPath', 'glusterfs', 'nfs', 'rbd', 'quobyte', 'iscsi'],
    ...['flexVolume', 'cinder', 'cephfs', 'fc', 'flocker', 'azureFile', 'vsphereVolume', 'azureDisk'],
    ...['photonPersistentDisk', 'portworxVolume', 'scaleIO', 'local', 'storageos', 'csi'],
  ],
  ServicePort: ['name', 'protocol', 'appProtocol', 'port', 'targetPort', 'nodePort'],
  SecurityContext: [
    ...['capabilities', 'privileged', 'seLinuxOptions', 'windowsOptions', 'runAsUser', 'runAsGroup', 'runAsNonRoot'],
    ...['readOnlyRootFilesystem', 'allowPrivilegeEscalation', 'procMount', 'seccompProfile', 'appArmorProfile'],
  ],
}
/** Go's names, where they are not the field's with a great letter. */
const NAMES: Readonly<Record<string, string>> = {
  dnsPolicy: 'DNSPolicy',
  dnsConfig: 'DNSConfig',
  tty: 'TTY',
  os: 'OS',
  httpGet: 'HTTPGet',
  httpHeaders: 'HTTPHeaders',
  tcpSocket: 'TCPSocket',
  grpc: 'GRPC',
  ip: 'IP',
  fsGroup: 'FSGroup',
  fsGroupChangePolicy: 'FSGroupChangePolicy',
  fsType: 'FSType',
  seLinuxOptions: 'SELinuxOptions',
  seLinuxChangePolicy: 'SELinuxChangePolicy',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  gcePersistentDisk: 'GCEPersistentDisk',
  cephfs: 'CephFS',
  csi: 'CSI',
  fc: 'FC',
  iscsi: 'ISCSI',
  nfs: 'NFS',
  rbd: 'RBD',
  storageos: 'StorageOS',
  volumeID: 'VolumeID',
  gmsaCredentialSpec: 'GMSACredentialSpec',
  gmsaCredentialSpecName: 'GMSACredentialSpecName',
  apiGroup: 'APIGroup',
  apiGroups: 'APIGroups',
  apiVersion: 'APIVersion',
  apiVersions: 'APIVersions',
  bool: 'BoolValue',
  bools: 'BoolValues',
  caBundle: 'CABundle',
  cel: 'CEL',
  cidr: 'CIDR',
  cidrs: 'CIDRs',
  fsGroupPolicy: 'FSGroupPolicy',
  http: 'HTTP',
  int: 'IntValue',
  ints: 'IntValues',
  ipBlock: 'IPBlock',
  ipFamilies: 'IPFamilies',
  ipFamilyPolicy: 'IPFamilyPolicy',
  ipMode: 'IPMode',
  ips: 'IPs',
  jsonPatch: 'JSONPatch',
  osImage: 'OSImage',
  qosClass: 'QOSClass',
  seLinuxMount: 'SELinuxMount',
  string: 'StringValue',
  strings: 'StringValues',
  tls: 'TLS',
  ttlSecondsAfterFinished: 'TTLSecondsAfterFinished',
  uid: 'UID',
  url: 'URL',
  iqn: 'IQN',
  pdName: 'PDName',
  gid: 'GID',
  chapAuthDiscovery: 'DiscoveryCHAPAuth',
  chapAuthSession: 'SessionCHAPAuth',
  diskURI: 'DataDiskURI',
  iscsiInterface: 'ISCSIInterface',
  sslEnabled: 'SSLEnabled',
  wwids: 'WWIDs',
}
/** The same where only one struct calls it so. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  'DeviceAttribute.version': 'VersionValue',
  'DeviceAttribute.versions': 'VersionValues',
  'GlusterfsPersistentVolumeSource.endpoints': 'EndpointsName',
  'GlusterfsVolumeSource.endpoints': 'EndpointsName',
  'RBDPersistentVolumeSource.image': 'RBDImage',
  'RBDPersistentVolumeSource.monitors': 'CephMonitors',
  'RBDPersistentVolumeSource.pool': 'RBDPool',
  'RBDPersistentVolumeSource.user': 'RadosUser',
  'RBDVolumeSource.image': 'RBDImage',
  'RBDVolumeSource.monitors': 'CephMonitors',
  'RBDVolumeSource.pool': 'RBDPool',
  'RBDVolumeSource.user': 'RadosUser',
}
/** What a pod spec's security context has of the spec itself there. */
const NETWORKING = ['hostNetwork', 'shareProcessNamespace', 'hostPID', 'hostIPC', 'hostUsers']
const META = 'meta.k8s.io/v1'

/** A field whose message, if it is one, is named in full. */
interface Field extends TableField {
  /** Empty when the type is no message. */
  version: string
}

export class GoStructs {
  readonly #messages: ProtobufTable

  constructor(messages: ProtobufTable) {
    this.#messages = messages
  }

  /** @param version `apps/v1`, `v1`, or `meta.k8s.io/v1` */
  has(version: string, type: string): boolean {
    return this.#messages[version]?.[type] !== undefined
  }

  /** `type` is the name of a message of `version`. */
  struct(version: string, type: string, value: Fields): Fields {
    const fields = this.#fieldsOf(version, type)
    if (version === META) return this.#tagged(fields, value)
    const order = version === 'v1' ? ORDERS[type] : undefined
    const sorted = order
      ? order.flatMap(name => fields.find(field => field.name === name) ?? [])
      : // structs without a name stand where they are; upstream puts them first, or right behind the name
        fields
    const result: Fields = {}
    for (const field of sorted) {
      const isNameless = field.inline || field.type === 'ObjectMeta'
      const inner = field.inline ? value : record(value, field.name)
      if (isNameless) Object.assign(result, this.struct(field.version, field.type, inner))
      else result[TYPE_NAMES[`${type}.${field.name}`] ?? goName(field.name)] = this.#value(field, value)
    }
    if (type === 'PodSpec') addHost(result, value)
    return result
  }

  /** As in the API, where what is empty is left out. */
  #tagged(fields: readonly Field[], value: Fields): Fields {
    return Object.fromEntries(
      fields.filter(({ name }) => has(value, name)).map(field => [field.name, this.#value(field, value)]),
    )
  }

  #value({ name, many, pointer, version, type }: Field, holder: Fields): unknown {
    const isStruct = version !== ''
    const shown = (value: unknown) => (isStruct ? this.struct(version, type, record({ value }, 'value')) : value)
    if (many === 'list') return has(holder, name) ? list(holder, name).map(shown) : null
    if (many === 'map') return has(holder, name) ? sortedMap(record(holder, name), shown) : null
    if (pointer) return has(holder, name) ? shown(holder[name]) : null
    return isStruct ? shown(holder[name]) : (holder[name] ?? ZEROS[type] ?? null)
  }

  #fieldsOf(version: string, type: string): Field[] {
    return (tableFields(this.#messages, version, type) ?? []).map(field => {
      const [at, message] = messageOf(version, field.type)
      return this.has(at, message) ? { ...field, version: at, type: message } : { ...field, version: '' }
    })
  }
}

const ZEROS: Readonly<Record<string, unknown>> = { s: '', b: false, i: 0, l: 0, d: 0, IntOrString: 0, Quantity: '0' }

/** A map as Go writes it, which sorts the keys. */
export function sortedMap(map: Fields, shown: (value: unknown) => unknown = value => value): Fields {
  return Object.fromEntries(sortedMembers(map).map(([key, value]) => [key, shown(value)]))
}

function addHost(spec: Fields, value: Fields): void {
  if (!isRecord(spec.SecurityContext)) return
  const shared = NETWORKING.map(name => [
    goName(name),
    value[name] ?? (name === 'shareProcessNamespace' || name === 'hostUsers' ? null : false),
  ])
  spec.SecurityContext = { ...Object.fromEntries(shared), ...spec.SecurityContext }
}

function goName(name: string): string {
  return NAMES[name] ?? name[0]!.toUpperCase() + name.slice(1)
}
