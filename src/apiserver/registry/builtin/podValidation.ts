/**
 * Validation of pod specs and templates (v1): the rules that people hit, in upstream's order and words.
 * Containers are in `containerValidation.ts`.
 */
import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { dns1123Label, dns1123Subdomain } from '../../../apimachinery/names.ts'
import { isRecord } from '../../../apimachinery/object.ts'
import { validateAnnotations, validateLabels } from '../../../apimachinery/objectMeta.ts'
import { invalidBy, oneOf, optionalSelector, quantities, quantity, required, requiredName } from './checks.ts'
import { validateContainers, validateInitContainers } from './containerValidation.ts'
import { type Fields, has, list, num, record, records, str, strings } from './fields.ts'

const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

/** `path` is the template's, such as `spec.template`. */
export function validatePodTemplate(template: unknown, path: string): FieldError[] {
  if (!isRecord(template)) return [fieldError.required(path)]
  const errors = [
    ...validateLabels(stringMap(template, 'labels'), `${path}.metadata.labels`),
    ...validateAnnotations(stringMap(template, 'annotations'), `${path}.metadata.annotations`),
    ...validatePodSpec(record(template, 'spec'), `${path}.spec`),
  ]
  if (list(template, 'spec', 'ephemeralContainers').length > 0) {
    errors.push(
      fieldError.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'),
    )
  }
  return errors
}

const stringMap = (template: Fields, field: string) => record(template, 'metadata', field) as Record<string, string>

export function validatePodSpec(spec: Fields, path: string): FieldError[] {
  const errors = validateVolumes(records(spec, 'volumes'), `${path}.volumes`)
  errors.push(...validateContainers(spec, path), ...validateInitContainers(spec, path))
  errors.push(
    ...oneOf(str(spec, 'restartPolicy'), `${path}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...oneOf(str(spec, 'dnsPolicy'), `${path}.dnsPolicy`, [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...validateLabels(record(spec, 'nodeSelector') as Record<string, string>, `${path}.nodeSelector`),
  )
  for (const [i, constraint] of records(spec, 'topologySpreadConstraints').entries()) {
    errors.push(...validateSpread(constraint, `${path}.topologySpreadConstraints[${i}]`))
  }
  for (const [field, rule] of [
    ['serviceAccountName', dns1123Subdomain],
    ['nodeName', dns1123Subdomain],
    ['priorityClassName', dns1123Subdomain],
    ['runtimeClassName', dns1123Subdomain],
    ['hostname', dns1123Label],
    ['subdomain', dns1123Label],
  ] as const) {
    if (str(spec, field) !== '') errors.push(...invalidBy(rule, str(spec, field), `${path}.${field}`))
  }
  for (const [i, alias] of records(spec, 'hostAliases').entries()) {
    const ip = str(alias, 'ip')
    const at = `${path}.hostAliases[${i}]`
    if (isIP(ip) === 0) errors.push(fieldError.invalid(`${at}.ip`, ip, NOT_AN_IP))
    for (const [j, name] of strings(alias, 'hostnames').entries())
      errors.push(...invalidBy(dns1123Subdomain, name, `${at}.hostnames[${j}]`))
  }
  if (has(spec, 'activeDeadlineSeconds') && num(spec, 'activeDeadlineSeconds') < 1) {
    const detail = 'must be between 1 and 2147483647, inclusive'
    errors.push(fieldError.invalid(`${path}.activeDeadlineSeconds`, spec.activeDeadlineSeconds, detail))
  }
  for (const [i, toleration] of records(spec, 'tolerations').entries()) {
    errors.push(...validateToleration(toleration, `${path}.tolerations[${i}]`))
  }
  errors.push(...quantities(spec.overhead, `${path}.overhead`))
  return errors
}

function validateVolumes(volumes: readonly Fields[], path: string): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [i, volume] of volumes.entries()) {
    const here = `${path}[${i}]`
    const name = str(volume, 'name')
    const nameErrors = requiredName(name, `${here}.name`)
    if (nameErrors.length === 0 && names.has(name)) nameErrors.push(fieldError.duplicate(`${here}.name`, name))
    names.add(name)
    errors.push(...validateVolumeSource(volume, here), ...nameErrors)
  }
  return errors
}

/** The order in which upstream looks for sources: of two, the later one is the one too many. Others come first. */
const SOURCE_ORDER = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'secret',
  'nfs',
  'persistentVolumeClaim',
  'configMap',
  'downwardAPI',
  'projected',
  'csi',
  'ephemeral',
]

/** Members that a source cannot do without. */
const SOURCE_NEEDS: Readonly<Record<string, readonly string[]>> = {
  secret: ['secretName'],
  configMap: ['name'],
  hostPath: ['path'],
  persistentVolumeClaim: ['claimName'],
  nfs: ['server', 'path'],
  csi: ['driver'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  flexVolume: ['driver'],
}

function validateVolumeSource(volume: Fields, path: string): FieldError[] {
  const rank = (source: string) => SOURCE_ORDER.indexOf(source)
  const sources = Object.keys(volume).filter(field => field !== 'name' && has(volume, field))
  sources.sort((a, b) => rank(a) - rank(b))
  if (sources.length === 0) return [fieldError.required(path, 'must specify a volume type')]
  const errors = sources
    .slice(1)
    .map(source => fieldError.forbidden(`${path}.${source}`, 'may not specify more than 1 volume type'))
  const source = sources[0]!
  for (const member of SOURCE_NEEDS[source] ?? []) errors.push(...required(volume[source], `${path}.${source}`, member))
  if (source === 'emptyDir' && has(volume, 'emptyDir', 'sizeLimit')) {
    errors.push(...quantity(record(volume, 'emptyDir').sizeLimit, `${path}.emptyDir.sizeLimit`))
  }
  for (const [i, item] of records(volume, source, 'items').entries()) {
    const here = `${path}.${source}.items[${i}]`
    if (source !== 'downwardAPI') errors.push(...required(item, here, 'key'))
    errors.push(...required(item, here, 'path'), ...relativePath(str(item, 'path'), `${here}.path`))
  }
  return errors
}

function relativePath(value: string, field: string): FieldError[] {
  if (value.startsWith('/')) return [fieldError.invalid(field, value, 'must be a relative path')]
  return value.split('/').includes('..') ? [fieldError.invalid(field, value, "must not contain '..'")] : []
}

function validateSpread(constraint: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (num(constraint, 'maxSkew') <= 0) {
    errors.push(fieldError.invalid(`${path}.maxSkew`, num(constraint, 'maxSkew'), 'must be greater than zero'))
  }
  if (str(constraint, 'topologyKey') === '') {
    errors.push(fieldError.required(`${path}.topologyKey`, 'can not be empty'))
  }
  const action = str(constraint, 'whenUnsatisfiable')
  if (action !== 'DoNotSchedule' && action !== 'ScheduleAnyway') {
    errors.push(fieldError.notSupported(`${path}.whenUnsatisfiable`, action, ['DoNotSchedule', 'ScheduleAnyway']))
  }
  errors.push(...optionalSelector(constraint.labelSelector, `${path}.labelSelector`))
  return errors
}

function validateToleration(toleration: Fields, path: string): FieldError[] {
  const operator = str(toleration, 'operator')
  const effect = str(toleration, 'effect')
  const errors: FieldError[] = []
  if (str(toleration, 'key') === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(fieldError.invalid(`${path}.operator`, operator, detail))
  }
  if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
    errors.push(fieldError.invalid(`${path}.effect`, effect, detail))
  }
  if (operator === 'Exists' && str(toleration, 'value') !== '') {
    const detail = "value must be empty when `operator` is 'Exists'"
    errors.push(fieldError.invalid(`${path}.operator`, toleration, detail))
  } else if (operator !== '' && operator !== 'Equal' && operator !== 'Exists') {
    errors.push(fieldError.notSupported(`${path}.operator`, operator, ['Equal', 'Exists']))
  }
  if (effect !== '' && !EFFECTS.includes(effect)) {
    errors.push(fieldError.notSupported(`${path}.effect`, effect, EFFECTS))
  }
  return errors
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
