/** PersistentVolumes and PersistentVolumeClaims. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { canonicalQuantities, exceeds, immutable, oneOf, optionalSelector, quantities } from './checks.ts'
import { ensure, type Fields, has, list, record, sameMeaning, setDefault, setIfEmpty, str } from './fields.ts'
import { type Strategies, withStatus } from './kind.ts'
import { defaultVolumeSource } from './podDefaults.ts'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
/** Fields of a PersistentVolume's spec that are not its source. */
const NOT_A_SOURCE = [
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
]

/** Defaults of a claim; also of the claim templates of StatefulSets. */
export function defaultClaim(claim: Fields): void {
  const spec = ensure(claim, 'spec')
  setDefault(spec, 'volumeMode', 'Filesystem')
  canonicalQuantities(record(spec, 'resources').requests)
  canonicalQuantities(record(spec, 'resources').limits)
  // either field names where the data comes from; local sources are told in both
  if (isRecord(spec.dataSource) && !has(spec, 'dataSourceRef')) spec.dataSourceRef = structuredClone(spec.dataSource)
  else if (isRecord(spec.dataSourceRef) && !has(spec, 'dataSource') && !has(spec.dataSourceRef, 'namespace')) {
    spec.dataSource = structuredClone(spec.dataSourceRef)
  }
}

const claims = withStatus(
  {
    noGeneration: true,
    applyDefaults: defaultClaim,
    prepareForCreate: object => addFinalizer(object, 'kubernetes.io/pvc-protection'),
    validate(object) {
      const spec = record(object, 'spec')
      const errors = accessModes(spec, 'at least 1 access mode is required')
      errors.push(...optionalSelector(spec.selector, 'spec.selector'))
      const requests = record(spec, 'resources', 'requests')
      if (!has(requests, 'storage')) errors.push(fieldError.required('spec.resources[storage]'))
      else {
        errors.push(...quantities({ storage: requests.storage }, 'spec.resources'))
        if (errors.length === 0 && !exceeds(requests.storage, '0')) {
          errors.push(fieldError.invalid('spec.resources[storage]', requests.storage, 'must be greater than zero'))
        }
      }
      return errors
    },
    validateUpdate: validateClaimUpdate,
  },
  () => ({ phase: 'Pending' }),
)

const volumes = withStatus(
  {
    noGeneration: true,
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setIfEmpty(spec, 'persistentVolumeReclaimPolicy', 'Retain')
      setDefault(spec, 'volumeMode', 'Filesystem')
      canonicalQuantities(spec.capacity)
      defaultVolumeSource(spec)
    },
    prepareForCreate: object => addFinalizer(object, 'kubernetes.io/pv-protection'),
    validate(object) {
      const spec = record(object, 'spec')
      const errors = accessModes(spec, '')
      const capacity = record(spec, 'capacity')
      if (Object.keys(capacity).length === 0) errors.push(fieldError.required('spec.capacity'))
      if (!has(capacity, 'storage') || Object.keys(capacity).length > 1) {
        const shown = has(spec, 'capacity') ? capacity : null
        errors.push(fieldError.notSupported('spec.capacity', shown, ['storage']))
      }
      errors.push(...quantities(capacity, 'spec.capacity'))
      const policies = ['Delete', 'Recycle', 'Retain']
      errors.push(...oneOf(str(spec, 'persistentVolumeReclaimPolicy'), 'spec.persistentVolumeReclaimPolicy', policies))
      const sources = sourcesOf(spec)
      if (sources.length === 0) errors.push(fieldError.required('spec', 'must specify a volume type'))
      for (const extra of sources.slice(1)) {
        errors.push(fieldError.forbidden(`spec.${extra}`, 'may not specify more than 1 volume type'))
      }
      return errors
    },
    validateUpdate(object, old) {
      const now = record(object, 'spec')
      const before = record(old, 'spec')
      const source = (spec: Fields) => Object.fromEntries(sourcesOf(spec).map(name => [name, spec[name]]))
      const errors: FieldError[] = []
      if (!sameMeaning(source(now), source(before))) {
        const detail = 'spec.persistentvolumesource is immutable after creation'
        errors.push(fieldError.forbidden('spec.persistentvolumesource', detail))
      }
      errors.push(...immutable(now.volumeMode, before.volumeMode, 'volumeMode'))
      return errors
    },
  },
  () => ({ phase: 'Pending' }),
)

export const volumeStrategies: Strategies = { '/persistentvolumes': volumes, '/persistentvolumeclaims': claims }

const sourcesOf = (spec: Fields) => Object.keys(spec).filter(field => !NOT_A_SOURCE.includes(field) && has(spec, field))

function accessModes(spec: Fields, detail: string): FieldError[] {
  const modes = list(spec, 'accessModes')
  if (modes.length === 0) return [fieldError.required('spec.accessModes', detail)]
  return modes
    .filter(mode => !ACCESS_MODES.includes(String(mode)))
    .map(mode => fieldError.notSupported('spec.accessModes', mode, ACCESS_MODES))
}

/** A claim may be bound (volumeName said once), grown once bound, and given another attributes class. */
function validateClaimUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const now = structuredClone(record(object, 'spec'))
  const before = structuredClone(record(old, 'spec'))
  const bound = str(old, 'status', 'phase') === 'Bound'
  if (str(before, 'volumeName') === '') before.volumeName = now.volumeName
  if (!has(before, 'storageClassName')) before.storageClassName = now.storageClassName
  before.volumeAttributesClassName = now.volumeAttributesClassName
  const wanted = record(now, 'resources', 'requests').storage
  const had = record(before, 'resources', 'requests').storage
  const errors: FieldError[] = []
  if (bound && has(now, 'resources', 'requests', 'storage')) {
    if (exceeds(had, wanted)) {
      const detail = 'field can not be less than status.capacity'
      if (exceeds(record(old, 'status', 'capacity').storage ?? had, wanted)) {
        errors.push(fieldError.forbidden('spec.resources.requests.storage', detail))
      }
    }
    ensure(ensure(before, 'resources'), 'requests').storage = wanted
  }
  if (!sameMeaning(now, before)) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    errors.push(fieldError.forbidden('spec', detail))
  }
  return errors
}

function addFinalizer(object: KubeObject, finalizer: string): void {
  const finalizers = object.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer]
}
