/**
 * Where the contents of a volume come from: one table of rules for the volumes of pods and for PersistentVolumes. Order, paths
 * and words are upstream's, slips included.
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, num, record, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain } from '../../apimachinery/names.ts'
import { invalidBy, required, requiredName } from '../checks.ts'
import { downwardItems } from '../pods/fieldReferences.ts'
import { descendingPath, fileMode, noBacksteps } from '../pods/filePaths.ts'
import { isNegative } from '../pods/resources.ts'
import { choice } from '../shapes.ts'
import {
  csiDriverName,
  ephemeralClaim,
  iscsi,
  lunRange,
  projected,
  secretItems,
  secretReference,
  type VolumeContext,
} from './volumeRules.ts'

type Rule = (source: Fields, path: string, context: VolumeContext) => FieldError[]

const need =
  (...members: readonly string[]): Rule =>
  (source, path) =>
    members.flatMap(member => required(source, path, member))

const optionalRef: Rule = (source, path, { persistent }) => {
  if (!has(source, 'secretRef')) return []
  const reference = record(source, 'secretRef')
  return (persistent ? ['name', 'namespace'] : ['name']).flatMap(m => required(reference, `${path}.secretRef`, m))
}

const all =
  (...rules: readonly Rule[]): Rule =>
  (source, path, context) =>
    rules.flatMap(rule => rule(source, path, context))

const partition: Rule = (source, path) => {
  const value = num(source, 'partition')
  if (value >= 0 && value <= 255) return []
  return [fieldError.invalid(`${path}.partition`, value, 'must be between 1 and 255, inclusive')]
}

const hostPath: Rule = (source, path) => {
  if (str(source, 'path') === '') return [fieldError.required(`${path}.path`)]
  const types = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']
  return [...noBacksteps(str(source, 'path'), `${path}.path`), ...choice(source, 'type', `${path}.type`, types)]
}

const fc: Rule = (source, path) => {
  const [names, ids] = [strings(source, 'targetWWNs'), strings(source, 'wwids')]
  const errors: FieldError[] = []
  if (names.length === 0 && ids.length === 0) {
    errors.push(fieldError.required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (names.length > 0 && ids.length > 0) {
    const detail = 'targetWWNs and wwids can not be specified simultaneously'
    errors.push(fieldError.invalid(`${path}.targetWWNs`, names, detail))
  }
  if (names.length === 0) return errors
  if (!has(source, 'lun'))
    return [...errors, fieldError.required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
  return [...errors, ...lunRange(source, path)]
}

const flex: Rule = (source, path) => [
  ...required(source, path, 'driver'),
  ...Object.keys(record(source, 'options'))
    .filter(key =>
      /\.(kubernetes|k8s)\.io$/.test(`.${key.split('/', 2).length === 2 ? key.split('/')[0] : key}`.toLowerCase()),
    )
    .map(key => fieldError.invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')),
]

const nfs: Rule = (source, path) => {
  const errors = need('server', 'path')(source, path, NOWHERE)
  const value = str(source, 'path')
  return value.startsWith('/')
    ? errors
    : [...errors, fieldError.invalid(`${path}.path`, value, 'must be an absolute path')]
}
const NOWHERE: VolumeContext = { path: '', name: '', podName: '', isPod: false, persistent: false }

const quobyte: Rule = (source, path) => {
  const errors: FieldError[] = []
  const [registry, pairs] = [str(source, 'registry'), 'must be a host:port pair or multiple pairs separated by commas']
  if (registry === '') errors.push(fieldError.required(`${path}.registry`, pairs))
  else if (str(source, 'tenant').length >= 65) {
    const detail = 'must be a UUID and may not exceed a length of 64 characters'
    errors.push(fieldError.required(`${path}.tenant`, detail))
  } else {
    const isBad = registry.split(',').some(pair => !/^([^:[\]]*|\[[^[\]]*\]):[^:]*$/.test(pair))
    if (isBad) errors.push(fieldError.invalid(`${path}.registry`, registry, pairs))
  }
  return [...errors, ...required(source, path, 'volume')]
}

const flocker: Rule = (source, path) => {
  const [name, id] = [str(source, 'datasetName'), str(source, 'datasetUUID')]
  const errors: FieldError[] = []
  if (name === '' && id === '') errors.push(fieldError.required(path, 'one of datasetName and datasetUUID is required'))
  if (name !== '' && id !== '') {
    const detail = 'datasetName and datasetUUID can not be specified simultaneously'
    errors.push(fieldError.invalid(path, 'resource', detail))
  }
  if (name.includes('/')) errors.push(fieldError.invalid(`${path}.datasetName`, name, "must not contain '/'"))
  return errors
}

const glusterfs: Rule = (source, path, { persistent }) => {
  const errors = need('endpoints', 'path')(source, path, NOWHERE)
  if (!persistent || !has(source, 'endpointsNamespace')) return errors
  const [field, namespace] = [`${path}.endpointsNamespace`, str(source, 'endpointsNamespace')]
  if (namespace !== '') return [...errors, ...invalidBy(dns1123Label, namespace, field)]
  const detail = 'if the endpointnamespace is set, it must be a valid namespace name'
  return [...errors, fieldError.invalid(field, namespace, detail)]
}

const azureFile: Rule = (source, path, { persistent }) => [
  ...need('secretName', 'shareName')(source, path, NOWHERE),
  ...(persistent && has(source, 'secretNamespace') ? required(source, path, 'secretNamespace') : []),
]

const azureDisk: Rule = (source, path) => {
  const errors = [
    ...need('diskName', 'diskURI')(source, path, NOWHERE),
    ...choice(source, 'cachingMode', `${path}.cachingMode`, ['None', 'ReadOnly', 'ReadWrite']),
    ...choice(source, 'kind', `${path}.kind`, ['Dedicated', 'Managed', 'Shared']),
  ]
  const [uri, managed] = [str(source, 'diskURI'), source.kind === 'Managed']
  if (!has(source, 'kind') || uri.startsWith(managed ? '/subscriptions/' : 'https://')) return errors
  const shape = managed
    ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
    : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'
  return [...errors, fieldError.notSupported(`${path}.diskURI`, uri, [shape])]
}

const storageos: Rule = (source, path, context) => [
  ...requiredName(str(source, 'volumeName'), `${path}.volumeName`),
  ...(str(source, 'volumeNamespace') === ''
    ? []
    : invalidBy(dns1123Label, str(source, 'volumeNamespace'), `${path}.volumeNamespace`)),
  ...optionalRef(source, path, context),
]

const csi: Rule = (source, path, { persistent }) => {
  const errors = csiDriverName(str(source, 'driver'), `${path}.driver`)
  if (persistent) {
    errors.push(...required(source, path, 'volumeHandle'))
    for (const use of ['controllerPublish', 'controllerExpand', 'nodePublish', 'nodeExpand']) {
      const member = `${use}SecretRef`
      if (has(source, member)) errors.push(...secretReference(record(source, member), `${path}.${member}`))
    }
  } else if (has(source, 'nodePublishSecretRef')) {
    const name = str(source, 'nodePublishSecretRef', 'name')
    if (name === '') errors.push(fieldError.required(`${path}.nodePublishSecretRef.name`))
    else errors.push(...invalidBy(dns1123Subdomain, name, `${path}.name`))
  }
  return errors
}

const local: Rule = (source, path) =>
  str(source, 'path') === '' ? [fieldError.required(`${path}.path`)] : noBacksteps(str(source, 'path'), `${path}.path`)

const image: Rule = (source, path, { isPod }) => [
  ...(isPod ? required(source, path, 'reference') : []),
  ...(has(source, 'pullPolicy')
    ? choice(source, 'pullPolicy', `${path}.pullPolicy`, ['Always', 'IfNotPresent', 'Never'])
    : [fieldError.required(`${path}.pullPolicy`)]),
]

const monitors: Rule = (source, path) =>
  list(source, 'monitors').length === 0 ? [fieldError.required(`${path}.monitors`)] : []

interface Source {
  name: string
  rule: Rule
  /** Field for faults inside, if not its own name. */
  inside?: string
  /** Field for the fault that there is one too many. */
  extra?: string
}
const of = (name: string, rule: Rule, odd: Partial<Source> = {}): Source => ({ name, rule, ...odd })

const emptyDir: Rule = (source, path) =>
  has(source, 'sizeLimit') && isNegative(source.sizeLimit)
    ? [fieldError.forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
    : []
const gitRepo: Rule = (source, path) => [
  ...required(source, path, 'repository'),
  ...descendingPath(str(source, 'directory'), `${path}.directory`),
]
const keyed =
  (member: string): Rule =>
  (source, path) => [
    ...required(source, path, member),
    ...fileMode(source, path, 'defaultMode'),
    ...secretItems(source, path),
  ]
const downwardAPI: Rule = (source, path) => [...fileMode(source, path, 'defaultMode'), ...downwardItems(source, path)]

const S: Readonly<Record<string, Source>> = Object.fromEntries(
  [
    of('emptyDir', emptyDir),
    of('hostPath', hostPath),
    of('gitRepo', gitRepo),
    of('gcePersistentDisk', all(need('pdName'), partition), { inside: 'persistentDisk' }),
    of('awsElasticBlockStore', all(need('volumeID'), partition)),
    of('secret', keyed('secretName')),
    of('nfs', nfs),
    of('iscsi', iscsi),
    of('glusterfs', glusterfs),
    of('flocker', flocker),
    of('persistentVolumeClaim', need('claimName')),
    of('rbd', all(monitors, need('image'))),
    of('cinder', all(need('volumeID'), optionalRef)),
    of('cephfs', monitors, { extra: 'cephFS' }),
    of('quobyte', quobyte),
    of('downwardAPI', downwardAPI, { extra: 'downwarAPI' }),
    of('fc', fc),
    of('flexVolume', flex),
    of('configMap', keyed('name')),
    of('azureFile', azureFile),
    of('vsphereVolume', need('volumePath')),
    of('photonPersistentDisk', need('pdID')),
    of('portworxVolume', need('volumeID')),
    of('azureDisk', azureDisk),
    of('storageos', storageos),
    of('projected', projected),
    of('scaleIO', need('gateway', 'system', 'volumeName')),
    of('csi', csi),
    of('ephemeral', ephemeralClaim),
    of('image', image),
    of('local', local),
  ].map(source => [source.name, source]),
)
/** In a pair, the later one is the one too many. */
const IN_PODS = Object.keys(S).filter(name => name !== 'local')
const IN_PERSISTENT_VOLUMES = [
  ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'glusterfs', 'flocker', 'nfs', 'rbd', 'quobyte'],
  ...['cephfs', 'iscsi', 'cinder', 'fc', 'flexVolume', 'azureFile', 'vsphereVolume', 'photonPersistentDisk'],
  ...['portworxVolume', 'azureDisk', 'scaleIO', 'local', 'storageos', 'csi'],
]

/** Names of the sources that `holder` has, in upstream's order. */
export function sourcesOf(holder: Fields, persistent: boolean): string[] {
  return (persistent ? IN_PERSISTENT_VOLUMES : IN_PODS).filter(name => has(holder, name))
}

/** Exactly one source, without faults. */
export function volumeSource(holder: Fields, context: VolumeContext): FieldError[] {
  const { path, persistent } = context
  const errors: FieldError[] = []
  const names = sourcesOf(holder, persistent)
  for (const [i, name] of names.entries()) {
    const { rule, inside = name, extra = name } = S[name]!
    if (i > 0) errors.push(fieldError.forbidden(`${path}.${extra}`, 'may not specify more than 1 volume type'))
    else errors.push(...rule(record(holder, name), `${path}.${inside}`, context))
  }
  return names.length > 0 ? errors : [fieldError.required(path, 'must specify a volume type')]
}
