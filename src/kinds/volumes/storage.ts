/** Storage classes, drivers, attachments, capacities. @see https://kubernetes.io/docs/concepts/storage/ */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  list,
  num,
  record,
  records,
  setDefaults,
  str,
  strings,
} from '../../apimachinery/fields.ts'
import { dns1123Subdomain, qualifiedName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { immutable, invalidBy, nonNegative, optionalSelector, quantity, repeated, repeats } from '../checks.ts'
import { forbidChanges, type Strategies, withStatus } from '../kind.ts'
import { deprecatedLabel, selectorWarnings } from '../nodes/nodeLabels.ts'
import { choice, when } from '../shapes.ts'
import { CLIENT_METADATA, type Strategy } from '../strategy.ts'
import { defaultInlineVolume, validateInlineVolume } from './inlineVolume.ts'
import { csiDriverName } from './volumeRules.ts'

const MOST_PARAMETERS = 512
const PARAMETERS_LIMIT_BYTES = 256 * 1024
const LONGEST_MESSAGE = 1024
const LONGEST_NODE_ID = 256
const SHORTEST_TOKEN_SECONDS = 600
const SHORTEST_PERIOD_SECONDS = 10

const storageClasses: Strategy = {
  noGeneration: true,
  applyDefaults: object => setDefaults(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate: object => [
    ...provisioner(object, 'provisioner'),
    ...parameters(object),
    ...choice(object, 'reclaimPolicy', 'reclaimPolicy', ['Delete', 'Retain']),
    ...choice(object, 'volumeBindingMode', 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
    ...topologies(records(object, 'allowedTopologies')),
  ],
  validateUpdate: (object, old) => [
    ...forbidChanges(object, old, {
      parameters: 'updates to parameters are forbidden.',
      provisioner: 'updates to provisioner are forbidden.',
      reclaimPolicy: 'updates to reclaimPolicy are forbidden.',
    }),
    ...immutable(object.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode'),
  ],
  warnings: object =>
    records(object, 'allowedTopologies').flatMap((term, i) =>
      records(term, 'matchLabelExpressions').flatMap((expression, j) =>
        deprecatedLabel(str(expression, 'key'), `allowedTopologies[${i}].matchLabelExpressions[${j}].key`),
      ),
    ),
}

const attributesClasses: Strategy = {
  noGeneration: true,
  validate: object => [
    ...provisioner(object, 'driverName'),
    ...parameters(object),
    ...when(Object.keys(record(object, 'parameters')).length === 0, () =>
      fieldError.required('parameters', 'must contain at least one key/value pair'),
    ),
  ],
  validateUpdate: (object, old) =>
    forbidChanges(object, old, {
      driverName: 'updates to driverName are forbidden.',
      parameters: 'updates to parameters are forbidden.',
    }),
}

/** Fields of a driver that may change, and then count as a new generation. */
const DRIVER_SETTINGS = ['tokenRequests', 'requiresRepublish', 'seLinuxMount', 'nodeAllocatableUpdatePeriodSeconds']

const drivers: Strategy = {
  noGeneration: true,
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    setDefaults(spec, {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
    })
    if (list(spec, 'volumeLifecycleModes').length === 0) spec.volumeLifecycleModes = ['Persistent']
  },
  prepareForUpdate(object, old) {
    const changed = DRIVER_SETTINGS.some(
      field => !sameMeaning(record(object, 'spec')[field], record(old, 'spec')[field]),
    )
    if (changed) object.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validate(object) {
    const spec = record(object, 'spec')
    const modes = ['Persistent', 'Ephemeral']
    const period = num(spec, 'nodeAllocatableUpdatePeriodSeconds')
    return [
      ...choice(spec, 'fsGroupPolicy', 'spec.fsGroupPolicy', ['File', 'None', 'ReadWriteOnceWithFSType']),
      ...tokenRequests(records(spec, 'tokenRequests')),
      ...strings(spec, 'volumeLifecycleModes')
        .filter(mode => !modes.includes(mode))
        .map(mode => fieldError.notSupported('spec.volumeLifecycleModes', mode, modes)),
      ...when(has(spec, 'nodeAllocatableUpdatePeriodSeconds') && period < SHORTEST_PERIOD_SECONDS, () =>
        fieldError.invalid(
          'spec.nodeAllocatableUpdatePeriodSeconds',
          period,
          `must be greater than or equal to ${SHORTEST_PERIOD_SECONDS} seconds`,
        ),
      ),
    ]
  },
  validateUpdate: (object, old) =>
    // the misspelt path is upstream's
    Object.entries({
      attachRequired: 'spec.attachedRequired',
      volumeLifecycleModes: 'spec.volumeLifecycleModes',
    }).flatMap(([field, path]) => immutable(record(object, 'spec')[field], record(old, 'spec')[field], path)),
}

const driverNodes: Strategy = {
  noGeneration: true,
  validate(object) {
    const all = records(object, 'spec', 'drivers')
    return [
      ...all.flatMap((driver, i) => validateNodeDriver(driver, `spec.drivers[${i}]`)),
      ...repeated(
        all.map(driver => str(driver, 'name')),
        i => `spec.drivers[${i}].name`,
      ),
    ]
  },
  validateUpdate(object, old) {
    const drivers = new Map(records(object, 'spec', 'drivers').map(driver => [driver.name, driver]))
    const fixed = ({ allocatable: _, ...driver }: Fields): Fields => driver
    return records(old, 'spec', 'drivers').flatMap(before => {
      const now = drivers.get(before.name)
      return now === undefined ? [] : immutable(fixed(now), fixed(before), 'spec.drivers')
    })
  },
}

const attachments = withStatus(
  {
    noGeneration: true,
    statusKeeps: CLIENT_METADATA,
    applyDefaults: object => defaultInlineVolume(record(object, 'spec', 'source', 'inlineVolumeSpec')),
    validate(object, old) {
      const spec = record(object, 'spec')
      const source = record(spec, 'source')
      const [inline, named] = [has(source, 'inlineVolumeSpec'), has(source, 'persistentVolumeName')]
      const volume = str(source, 'persistentVolumeName')
      const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
      return [
        ...when(str(spec, 'attacher') === '', () => fieldError.required('spec.attacher')),
        ...when(!inline && !named, () => fieldError.required('spec.source', one)),
        ...when(inline && named, () => fieldError.forbidden('spec.source', one)),
        ...when(!inline && named && volume === '', () =>
          fieldError.required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName'),
        ),
        ...(inline && !named
          ? validateInlineVolume(record(source, 'inlineVolumeSpec'), 'spec.source.inlineVolumeSpec')
          : []),
        ...invalidBy(dns1123Subdomain, str(spec, 'nodeName'), 'spec.nodeName'),
        ...(old === undefined
          ? [
              ...csiDriverName(str(spec, 'attacher'), 'spec.attacher'),
              ...(named ? invalidBy(dns1123Subdomain, volume, 'spec.source.persistentVolumeName') : []),
            ]
          : []),
      ]
    },
    validateUpdate: (object, old) => immutable(object.spec, old.spec, 'spec'),
    validateStatusUpdate: object => [
      ...sized(record(object, 'status', 'attachmentMetadata'), 'status.attachmentMetadata'),
      ...['attachError', 'detachError'].flatMap(field => {
        const error = record(object, 'status', field)
        const code = num(error, 'errorCode')
        return [
          ...when(str(error, 'message').length > LONGEST_MESSAGE, () =>
            fieldError.tooLong(`status.${field}.message`, PARAMETERS_LIMIT_BYTES),
          ),
          ...when(code < 0, () =>
            fieldError.invalid(`status.${field}.errorCode`, code, 'must be between 0 and 2147483647, inclusive'),
          ),
        ]
      }),
    ],
  },
  () => ({ attached: false }),
)

const capacities: Strategy = {
  noGeneration: true,
  validate: object => [
    ...optionalSelector(object.nodeTopology, 'nodeTopology'),
    ...invalidBy(dns1123Subdomain, str(object, 'storageClassName'), 'storageClassName'),
    ...(has(object, 'capacity') ? quantity(object.capacity, 'capacity') : []),
  ],
  validateUpdate: (object, old) =>
    ['nodeTopology', 'storageClassName'].flatMap(field => immutable(object[field], old[field], field)),
  warnings: object => selectorWarnings(object.nodeTopology, 'nodeTopology'),
}

const GROUP = 'storage.k8s.io'
export const storageStrategies: Strategies = {
  [`${GROUP}/storageclasses`]: storageClasses,
  [`${GROUP}/volumeattributesclasses`]: attributesClasses,
  [`${GROUP}/csidrivers`]: drivers,
  [`${GROUP}/csinodes`]: driverNodes,
  [`${GROUP}/volumeattachments`]: attachments,
  [`${GROUP}/csistoragecapacities`]: capacities,
}

function provisioner(object: KubeObject, field: string): FieldError[] {
  const name = str(object, field)
  return name === '' ? [fieldError.required(field)] : invalidBy(qualifiedName, name.toLowerCase(), field)
}

function parameters(object: KubeObject): FieldError[] {
  const all = record(object, 'parameters')
  const keys = Object.keys(all)
  if (keys.length > MOST_PARAMETERS) return [fieldError.tooLong('parameters', MOST_PARAMETERS)]
  return [
    ...when(keys.includes(''), () => fieldError.invalid('parameters', '', 'field can not be empty.')),
    ...sized(all, 'parameters'),
  ]
}

function sized(map: Fields, field: string): FieldError[] {
  const bytes = Object.entries(map).reduce((sum, [key, value]) => sum + Buffer.byteLength(`${key}${String(value)}`), 0)
  return when(bytes > PARAMETERS_LIMIT_BYTES, () => fieldError.tooLong(field, PARAMETERS_LIMIT_BYTES))
}

function topologies(terms: readonly Fields[]): FieldError[] {
  const seen = new Set<string>()
  return terms.flatMap((term, i) => {
    const path = `allowedTopologies[${i}].matchLabelExpressions`
    const values = new Map<string, string[]>()
    const errors = records(term, 'matchLabelExpressions').flatMap((expression, j) => {
      const key = str(expression, 'key')
      const wanted = strings(expression, 'values')
      const wrong = [
        ...when(wanted.length === 0, () => fieldError.required(`${path}[${j}].values`)),
        ...repeated(wanted, k => `${path}[${j}].values[${k}]`),
        ...invalidBy(qualifiedName, key, `${path}[${j}].key`),
        ...when(values.has(key), () => fieldError.duplicate(`${path}[${j}].key`, key)),
      ]
      values.set(key, [...wanted].sort())
      return wrong
    })
    const meaning = JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (seen.has(meaning)) errors.push(fieldError.duplicate(path, ''))
    seen.add(meaning)
    return errors
  })
}

function tokenRequests(requests: readonly Fields[]): FieldError[] {
  const again = repeats(requests.map(request => str(request, 'audience')))
  return requests.flatMap((request, i) => {
    const path = `spec.tokenRequests[${i}]`
    if (again[i]) return [fieldError.duplicate(`${path}.audience`, str(request, 'audience'))]
    if (!has(request, 'expirationSeconds')) return []
    const seconds = num(request, 'expirationSeconds')
    const invalid = (detail: string) => fieldError.invalid(`${path}.expirationSeconds`, seconds, detail)
    return [
      ...when(seconds < SHORTEST_TOKEN_SECONDS, () => invalid('may not specify a duration less than 10 minutes')),
      ...when(seconds > 2 ** 32, () => invalid('may not specify a duration larger than 2^32 seconds')),
    ]
  })
}

function validateNodeDriver(driver: Fields, path: string): FieldError[] {
  const id = str(driver, 'nodeID')
  const keys = strings(driver, 'topologyKeys')
  const again = repeats(keys)
  return [
    ...csiDriverName(str(driver, 'name'), `${path}.name`),
    ...when(id === '', () => fieldError.required(`${path}.nodeID`)),
    ...when(id.length > LONGEST_NODE_ID, () =>
      fieldError.invalid(`${path}.nodeID`, id, `must be ${LONGEST_NODE_ID} characters or less`),
    ),
    ...nonNegative(record(driver, 'allocatable'), `${path}.allocatable`, 'count'),
    ...keys.flatMap((key, i) => [
      ...when(key === '', () => fieldError.required(path)),
      ...when(again[i]!, () => fieldError.duplicate(path, key)),
      ...invalidBy(qualifiedName, key, path),
    ]),
  ]
}
