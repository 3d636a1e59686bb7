/** ConfigMaps, Secrets, Namespaces, Nodes, ServiceAccounts, quotas, limits, Events and their like. */
import { type FieldError, fieldError } from '../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  setDefault,
  setDefaults,
  setIfEmpty,
  str,
  strings,
} from '../apimachinery/fields.ts'
import { qualifiedName } from '../apimachinery/nameRules.ts'
import { isRecord, type KubeObject } from '../apimachinery/object.ts'
import { TOKEN_SECRET_TYPE } from '../apimachinery/tokenSecret.ts'
import { cloneJson, equalJson, sameMeaning } from '../apimachinery/values.ts'
import { tlsWarnings } from './access/secretWarnings.ts'
import { canonicalQuantities, configKey, immutable, invalidBy } from './checks.ts'
import { carryOver, type Strategies, withStatus } from './kind.ts'
import { dropConfigSource, nodeWarnings, validateNode, validateNodeUpdate } from './nodes/nodeValidation.ts'
import type { Strategy } from './strategy.ts'

/** The limit of the contents of a ConfigMap or Secret. */
export const MAX_DATA_BYTES = 1024 * 1024
const KUBERNETES_FINALIZER = 'kubernetes'

const configMaps: Strategy = {
  noGeneration: true,
  validate(object) {
    const data = record(object, 'data')
    const binary = record(object, 'binaryData')
    const errors: FieldError[] = []
    let bytes = 0
    for (const key of Object.keys(data)) {
      const value = data[key]
      if (configKey(key).length > 0) errors.push(...invalidBy(configKey, key, `data[${key}]`))
      if (has(binary, key)) {
        errors.push(fieldError.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'))
      }
      bytes += Buffer.byteLength(String(value))
    }
    for (const [key, value] of Object.entries(binary)) {
      errors.push(...invalidBy(configKey, key, `binaryData[${key}]`), ...base64Errors(value, `binaryData[${key}]`))
      bytes += Buffer.byteLength(String(value), 'base64')
    }
    // upstream gives the whole object an empty path here, which it prints as []
    if (bytes > MAX_DATA_BYTES) errors.push(fieldError.tooLong('[]', MAX_DATA_BYTES))
    return errors
  },
  validateUpdate: (object, old) => immutableContents(object, old, ['data', 'binaryData']),
}

/** Keys that a Secret of a type must have. */
const SECRET_NEEDS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
}

function takeInStrings(object: KubeObject): void {
  for (const [key, value] of Object.entries(record(object, 'stringData'))) {
    ensure(object, 'data')[key] = Buffer.from(String(value)).toString('base64')
  }
  delete object.stringData
}

const secrets: Strategy = {
  noGeneration: true,
  takeIn: takeInStrings,
  applyDefaults(object) {
    takeInStrings(object)
    setIfEmpty(object, 'type', 'Opaque')
  },
  validate(object) {
    const data = record(object, 'data')
    const errors: FieldError[] = []
    let bytes = 0
    for (const [key, value] of Object.entries(data)) {
      errors.push(...invalidBy(configKey, key, `data[${key}]`), ...base64Errors(value, `data[${key}]`))
      bytes += Buffer.byteLength(String(value ?? ''), 'base64')
    }
    if (bytes > MAX_DATA_BYTES) errors.push(fieldError.tooLong('data', MAX_DATA_BYTES))
    return [...errors, ...validateSecretType(object, data)]
  },
  validateUpdate(object, old) {
    const errors = immutableContents(object, old, ['data'])
    if (object.type !== old.type) errors.unshift(fieldError.invalid('type', object.type, 'field is immutable'))
    return errors
  },
  warnings: tlsWarnings,
  selectableFields: object => ({ type: str(object, 'type') }),
}

const namespaces = withStatus(
  {
    noGeneration: true,
    nameRule: 'dns1123Label',
    applyDefaults(object) {
      const name = object.metadata.name
      if (name) object.metadata.labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': name }
    },
    prepareForCreate(object) {
      const spec = ensure(object, 'spec')
      const finalizers = strings(spec, 'finalizers')
      if (!finalizers.includes(KUBERNETES_FINALIZER)) spec.finalizers = [...finalizers, KUBERNETES_FINALIZER]
    },
    validate: (object, old) => (old === undefined ? finalizerErrors(strings(object, 'spec', 'finalizers')) : []),
    prepareForUpdate: (object, old) => carryOver(object, old, 'spec'),
    validateStatusUpdate(object) {
      const ends = object.metadata.deletionTimestamp !== undefined
      const phase = str(object, 'status', 'phase')
      if (phase === (ends ? 'Terminating' : 'Active')) return []
      const detail = ends
        ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
        : "may only be 'Active' if `deletionTimestamp` is empty"
      return [fieldError.invalid('status.Phase', phase, detail)]
    },
    selectableFields: object => ({ 'status.phase': str(object, 'status', 'phase') }),
  },
  () => ({ phase: 'Active' }),
)

/** Fields that a kubelet reports about itself; upstream shows them empty before. */
const NODE_INFO = [
  ...['architecture', 'bootID', 'containerRuntimeVersion', 'kernelVersion', 'kubeProxyVersion', 'kubeletVersion'],
  ...['machineID', 'operatingSystem', 'osImage', 'systemUUID'],
]

const nodes: Strategy = {
  noGeneration: true,
  // a kubelet creates its Node with the status that it found, so creation keeps it
  prepareForUpdate(object, old) {
    carryOver(object, old, 'status')
    if (!has(old, 'spec', 'configSource')) dropConfigSource(object)
  },
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    // of the two fields the elder one counts where they differ
    const ranges = strings(spec, 'podCIDRs')
    if (str(spec, 'podCIDR') === '' && ranges.length > 0) spec.podCIDR = ranges[0]
    else if (str(spec, 'podCIDR') !== '' && ranges[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR]
    const status = ensure(object, 'status')
    setDefaults(ensure(status, 'nodeInfo'), Object.fromEntries(NODE_INFO.map(name => [name, ''])))
    setDefaults(ensure(ensure(status, 'daemonEndpoints'), 'kubeletEndpoint'), { Port: 0 })
    for (const field of ['capacity', 'allocatable']) canonicalQuantities(status[field])
    if (has(status, 'capacity')) setDefault(status, 'allocatable', cloneJson(status.capacity))
  },
  prepareForCreate: dropConfigSource,
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  validateStatusUpdate: (object, old) => [...validateNode(object, old), ...validateNodeUpdate(object, old)],
  warnings: nodeWarnings,
  selectableFields: object => ({ 'spec.unschedulable': String(record(object, 'spec').unschedulable === true) }),
}

const MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets'

const serviceAccounts: Strategy = {
  noGeneration: true,
  warnings: (object, old) =>
    object.metadata.annotations?.[MOUNTABLE] === undefined || old?.metadata.annotations?.[MOUNTABLE] !== undefined
      ? []
      : [
          `metadata.annotations[${MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
        ],
}

/** Both APIs of events write the form of the core group; only what they demand and how selectors call it differs. */
const eventStrategy = (isNew: boolean): Strategy => ({
  noGeneration: true,
  createOnUpdate: true,
  applyDefaults(object) {
    setDefaults(object, { reportingComponent: '', reportingInstance: '', source: {} })
    // times that are not there are written as such
    for (const field of EVENT_TIMES) object[field] ??= null
  },
  validate: (object, old) => [
    ...eventErrors(object, isNew ? 'reportingController' : 'reportingComponent'),
    ...(isNew ? (old === undefined ? newEventErrors(object) : changedEventErrors(object, old)) : []),
  ],
  selectableFields: object => ({
    ...Object.fromEntries(
      REFERENCE_FIELDS.map(field => [
        `${isNew ? 'regarding' : 'involvedObject'}.${field}`,
        str(object, 'involvedObject', field),
      ]),
    ),
    reason: str(object, 'reason'),
    [isNew ? 'reportingController' : 'reportingComponent']: str(object, 'reportingComponent'),
    ...(!isNew && { source: str(object, 'source', 'component') || str(object, 'reportingComponent') }),
    type: str(object, 'type'),
  }),
})
const EVENT_TIMES = ['eventTime', 'firstTimestamp', 'lastTimestamp']

/** An event is where the object is that it is about. Those that tell their time have to tell who saw what as well. */
function eventErrors(event: KubeObject, controllerField: string): FieldError[] {
  const namespace = str(event, 'involvedObject', 'namespace')
  const own = event.metadata.namespace ?? ''
  const timed = has(event, 'eventTime')
  const anywhere = namespace === '' && (own === 'default' || (timed && own === 'kube-system'))
  const agrees = anywhere || own === namespace || (timed && namespace !== '')
  const errors = agrees
    ? []
    : [fieldError.invalid('involvedObject.namespace', namespace, 'does not match event.namespace')]
  if (!timed) return errors
  const controller = str(event, 'reportingComponent')
  if (controller === '') errors.push(fieldError.required(controllerField))
  errors.push(...invalidBy(qualifiedName, controller, controllerField))
  for (const field of ['reportingInstance', 'action', 'reason', 'message']) {
    const text = str(event, field)
    const limit = field === 'message' ? 1024 : 128
    if (text === '' && field !== 'message') errors.push(fieldError.required(field))
    if (Buffer.byteLength(text) > limit) {
      errors.push(fieldError.invalid(field, '', `can have at most ${limit} characters`))
    }
  }
  return errors
}

/** Demands of events.k8s.io beyond the core group: those on a series, and the absence of the core group's fields. */
function newEventErrors(event: KubeObject): FieldError[] {
  const type = str(event, 'type')
  const errors = seriesErrors(event)
  if (!has(event, 'eventTime')) errors.push(fieldError.required('eventTime'))
  if (type !== 'Normal' && type !== 'Warning') errors.push(fieldError.invalid('type', '', `has invalid value: ${type}`))
  const elder: Readonly<Record<string, boolean>> = {
    firstTimestamp: has(event, 'firstTimestamp'),
    lastTimestamp: has(event, 'lastTimestamp'),
    count: num(event, 'count') !== 0,
    source: str(event, 'source', 'component') !== '' || str(event, 'source', 'host') !== '',
  }
  for (const [field, isSet] of Object.entries(elder)) {
    if (isSet) errors.push(fieldError.invalid(field, '', 'needs to be unset'))
  }
  return errors
}

/** Nothing but the series and the metadata changes there. */
function changedEventErrors(event: KubeObject, old: KubeObject): FieldError[] {
  return [
    ...(equalJson(event.series, old.series) ? [] : seriesErrors(event)),
    ...FIXED_IN_EVENTS.flatMap(([field, name = field]) => immutable(event[field] ?? null, old[field] ?? null, name)),
  ]
}
const FIXED_IN_EVENTS: readonly (readonly [field: string, name?: string])[] = [
  ...[
    'involvedObject',
    'reason',
    'message',
    'source',
    'firstTimestamp',
    'lastTimestamp',
    'count',
    'reason',
    'type',
  ].map(field => [field] as const),
  ['eventTime'],
  ['action'],
  ['related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance'],
]

function seriesErrors(event: KubeObject): FieldError[] {
  if (!has(event, 'series')) return []
  return [
    ...(num(event, 'series', 'count') < 2 ? [fieldError.invalid('series.count', '', 'should be at least 2')] : []),
    ...(has(event, 'series', 'lastObservedTime') ? [] : [fieldError.required('series.lastObservedTime')]),
  ]
}
const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Reported without their index, as upstream does. */
function finalizerErrors(names: readonly string[]): FieldError[] {
  const detail = 'name is neither a standard finalizer name nor is it fully qualified'
  return names.flatMap(name => [
    ...invalidBy(qualifiedName, name, 'spec.finalizers'),
    ...(name.includes('/') || STANDARD_FINALIZERS.includes(name)
      ? []
      : [fieldError.invalid('spec.finalizers', name, detail)]),
  ])
}

export const coreStrategies: Strategies = {
  '/configmaps': configMaps,
  '/secrets': secrets,
  '/namespaces': namespaces,
  '/nodes': nodes,
  '/serviceaccounts': serviceAccounts,
  '/events': eventStrategy(false),
  'events.k8s.io/events': eventStrategy(true),
}

function base64Errors(value: unknown, field: string): FieldError[] {
  const text = typeof value === 'string' ? value.replace(/[\r\n]/g, '') : ''
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return []
  const bad = /[^A-Za-z0-9+/]/.exec(text)?.index ?? text.length
  return [fieldError.invalid(field, '<contents redacted>', `illegal base64 data at input byte ${bad}`)]
}

/** A contents that is set immutable stays so, and stays as it is. */
function immutableContents(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (old.immutable !== true) return []
  const detail = 'field is immutable when `immutable` is set'
  const changed = fields.filter(field => !sameMeaning(object[field], old[field]))
  return [...(object.immutable === true ? [] : ['immutable']), ...changed].map(field =>
    fieldError.forbidden(field, detail),
  )
}

function validateSecretType(object: KubeObject, data: Fields): FieldError[] {
  const type = str(object, 'type')
  if (type === TOKEN_SECRET_TYPE) {
    const key = 'kubernetes.io/service-account.name'
    return object.metadata.annotations?.[key] ? [] : [fieldError.required(`metadata.annotations[${key}]`)]
  }
  if (type === 'kubernetes.io/basic-auth') {
    if (has(data, 'username') || has(data, 'password')) return []
    return ['username', 'password'].map(key => fieldError.required(`data[${key}]`))
  }
  const needs = Object.hasOwn(SECRET_NEEDS, type) ? SECRET_NEEDS[type]! : []
  const isMissing = (key: string): boolean => !has(data, key) || (key === 'ssh-privatekey' && data[key] === '')
  const errors = needs.filter(isMissing).map(key => fieldError.required(`data[${key}]`))
  if (errors.length > 0 || !type.startsWith('kubernetes.io/dockerc')) return errors
  return isJsonObject(Buffer.from(str(data, needs[0]!), 'base64').toString())
    ? []
    : [fieldError.invalid(`data[${needs[0]}]`, '<secret contents redacted>', 'must be a JSON object')]
}

function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
