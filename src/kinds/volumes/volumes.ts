/** PersistentVolumes and PersistentVolumeClaims. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  list,
  record,
  records,
  setDefault,
  setIfEmpty,
  str,
} from '../../apimachinery/fields.ts'
import { dns1123Subdomain } from '../../apimachinery/names.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'
import { canonicalQuantities, exceeds, immutable, invalidBy } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { newerNodeLabel, termWarnings } from '../nodes/nodeLabels.ts'
import { nodeSelector } from '../pods/affinity.ts'
import { defaultVolumeSource } from '../pods/podDefaults.ts'
import { claimSpecWarnings } from '../pods/podWarnings.ts'
import { positiveQuantity } from '../pods/resources.ts'
import { choice } from '../shapes.ts'
import { accessModes, type ClaimOptions, className, VOLUME_MODES, validateClaimSpec } from './claimValidation.ts'
import { sourcesOf, volumeSource } from './volumeSources.ts'

const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'
const BETA_MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options'

/** Defaults of a claim; also of the claim templates of StatefulSets. */
export function defaultClaim(claim: Fields): void {
  const spec = ensure(claim, 'spec')
  setDefault(spec, 'volumeMode', 'Filesystem')
  canonicalQuantities(record(spec, 'resources').requests)
  canonicalQuantities(record(spec, 'resources').limits)
  // either field names the source of the data; local sources appear in both
  if (isRecord(spec.dataSource) && !has(spec, 'dataSourceRef')) spec.dataSourceRef = cloneJson(spec.dataSource)
  else if (isRecord(spec.dataSourceRef) && !has(spec, 'dataSource') && !has(spec.dataSourceRef, 'namespace')) {
    spec.dataSource = cloneJson(spec.dataSourceRef)
  }
}

const claims = withStatus(
  {
    noGeneration: true,
    applyDefaults: defaultClaim,
    prepareForCreate: object => addFinalizer(object, 'kubernetes.io/pvc-protection'),
    validate: (object, old) => validateClaimSpec(record(object, 'spec'), 'spec', claimOptions(old)),
    validateUpdate: validateClaimUpdate,
    warnings: object => [
      ...annotationWarnings(object, { [BETA_CLASS]: CLASS_NOTE }),
      ...claimSpecWarnings(record(object, 'spec'), 'spec'),
    ],
  },
  () => ({ phase: 'Pending' }),
)
const CLASS_NOTE = 'deprecated since v1.8; use "storageClassName" attribute instead'

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
    validate: object => validateVolumeSpec(record(object, 'spec'), object.metadata.name ?? ''),
    validateUpdate: validateVolumeUpdate,
    warnings: volumeWarnings,
  },
  () => ({ phase: 'Pending' }),
)

export const volumeStrategies: Strategies = { '/persistentvolumes': volumes, '/persistentvolumeclaims': claims }

function validateVolumeSpec(spec: Fields, name: string): FieldError[] {
  const errors = list(spec, 'accessModes').length === 0 ? [fieldError.required('spec.accessModes')] : []
  errors.push(...accessModes(spec, 'spec'))
  const capacity = record(spec, 'capacity')
  if (Object.keys(capacity).length === 0) errors.push(fieldError.required('spec.capacity'))
  if (!has(capacity, 'storage') || Object.keys(capacity).length > 1) {
    const shown = has(spec, 'capacity') ? capacity : null
    errors.push(fieldError.notSupported('spec.capacity', shown, ['storage']))
  }
  errors.push(...Object.entries(capacity).flatMap(([of, amount]) => positiveQuantity(amount, `spec.capacity[${of}]`)))
  const reclaim = 'spec.persistentVolumeReclaimPolicy'
  errors.push(...choice(spec, 'persistentVolumeReclaimPolicy', reclaim, ['Delete', 'Recycle', 'Retain']))
  if (has(spec, 'nodeAffinity')) {
    const required = 'spec.nodeAffinity.required'
    if (has(spec, 'nodeAffinity', 'required'))
      errors.push(...nodeSelector(record(spec, 'nodeAffinity', 'required'), required))
    else errors.push(fieldError.required(required, 'must specify required node constraints'))
  }
  errors.push(...volumeSource(spec, { path: 'spec', name, podName: '', isPod: false, persistent: true }))
  if (sourcesOf(spec, true)[0] === 'local' && !has(spec, 'nodeAffinity')) {
    errors.push(fieldError.required('spec.nodeAffinity', 'Local volume requires node affinity'))
  }
  if (isRoot(str(spec, 'hostPath', 'path')) && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    errors.push(fieldError.forbidden(reclaim, "may not be 'recycle' for a hostPath mount of '/'"))
  }
  errors.push(...className(spec, 'spec', 'storageClassName'))
  errors.push(...choice(spec, 'volumeMode', 'spec.volumeMode', VOLUME_MODES))
  return [...errors, ...attributesClassOfVolume(spec, 'spec')]
}

export function attributesClassOfVolume(spec: Fields, path: string): FieldError[] {
  if (!has(spec, 'volumeAttributesClassName')) return []
  const name = str(spec, 'volumeAttributesClassName')
  const field = `${path}.volumeAttributesClassName`
  const errors =
    name === ''
      ? [fieldError.required(field, 'an empty string is disallowed')]
      : invalidBy(dns1123Subdomain, name, field)
  if (has(spec, 'csi')) return errors
  return [...errors, fieldError.required(`${path}.csi`, 'has to be specified when using volumeAttributesClassName')]
}

/** `/`, also as `//` or `/a/..`. */
function isRoot(path: string): boolean {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return path.startsWith('/') && parts.length === 0
}

const SOURCE_RULE = 'spec.persistentvolumesource is immutable after creation'

function validateVolumeUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const [now, before] = [record(object, 'spec'), record(old, 'spec')]
  const source = (spec: Fields): Fields => Object.fromEntries(sourcesOf(spec, true).map(name => [name, spec[name]]))
  const requested = source(now)
  // the credential for growing may come later
  if (has(now, 'csi') && has(before, 'csi') && !has(before, 'csi', 'controllerExpandSecretRef')) {
    const { controllerExpandSecretRef: _, ...csi } = record(now, 'csi')
    requested.csi = csi
  }
  const errors: FieldError[] = []
  if (!sameMeaning(requested, source(before))) {
    errors.push(fieldError.forbidden('spec.persistentvolumesource', SOURCE_RULE))
  }
  errors.push(...immutable(now.volumeMode, before.volumeMode, 'volumeMode'))
  if (has(before, 'nodeAffinity') && !sameMeaning(now.nodeAffinity, renamed(before.nodeAffinity, now.nodeAffinity))) {
    const detail = 'field is immutable, except for updating from beta label to GA'
    errors.push(fieldError.invalid('nodeAffinity', now.nodeAffinity ?? null, detail))
  }
  return [...errors, ...attributesKept(now, before)]
}

/** The affinity before, with those labels by their newer names that the other calls so. */
function renamed(before: unknown, now: unknown): unknown {
  const copy = cloneJson(before)
  for (const [i, term] of records(copy, 'required', 'nodeSelectorTerms').entries()) {
    for (const [j, expression] of records(term, 'matchExpressions').entries()) {
      const key = str(now, 'required', 'nodeSelectorTerms', i, 'matchExpressions', j, 'key')
      if (newerNodeLabel(str(expression, 'key')) === key) expression.key = key
    }
  }
  return copy
}

/** A class of attributes can be another one, but not none again. */
function attributesKept(now: Fields, before: Fields): FieldError[] {
  if (!has(before, 'volumeAttributesClassName') || has(now, 'volumeAttributesClassName')) return []
  const detail = 'update from non-nil value to nil is forbidden'
  return [fieldError.forbidden('spec.volumeAttributesClassName', detail)]
}

function volumeWarnings(volume: KubeObject): string[] {
  const spec = record(volume, 'spec')
  const dead = Object.keys(DEAD_SOURCES).filter(source => has(spec, source))
  return [
    ...annotationWarnings(volume, {
      [BETA_CLASS]: CLASS_NOTE,
      [BETA_MOUNT_OPTIONS]: 'deprecated since v1.31; use "mountOptions" attribute instead',
    }),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [RECYCLE_NOTE] : []),
    ...dead.map(source => `spec.${source}: ${DEAD_SOURCES[source]}`),
    ...records(spec, 'nodeAffinity', 'required', 'nodeSelectorTerms').flatMap((term, i) =>
      termWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`, false),
    ),
  ]
}
const RECYCLE_NOTE =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'
const DEAD_SOURCES: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
}

function annotationWarnings(object: KubeObject, notes: Readonly<Record<string, string>>): string[] {
  return Object.keys(notes)
    .filter(key => object.metadata.annotations?.[key] !== undefined)
    .map(key => `metadata.annotations[${key}]: ${notes[key]}`)
}

/** A source of a group that is none was let in once, and stays. */
function claimOptions(old: KubeObject | undefined): ClaimOptions {
  return { anyGroup: ['dataSource', 'dataSourceRef'].some(member => has(old, 'spec', member, 'apiGroup')) }
}

const CLAIM_RULE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

/** A claim may be bound (volumeName is set once), grown once bound, and given another attributes class. */
function validateClaimUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const now = cloneJson(record(object, 'spec'))
  const before = cloneJson(record(old, 'spec'))
  const errors: FieldError[] = []
  if (str(before, 'volumeName') === '') before.volumeName = now.volumeName
  const [note, oldNote] = [object.metadata.annotations?.[BETA_CLASS], old.metadata.annotations?.[BETA_CLASS]]
  const named = has(now, 'storageClassName') && !has(before, 'storageClassName')
  if (named && oldNote !== undefined && now.storageClassName === oldNote && (note === undefined || note === oldNote)) {
    // the annotation's class moves into the field
    delete now.storageClassName
  } else {
    if ((note ?? '') !== (oldNote ?? '')) {
      errors.push(fieldError.invalid(`metadata.annotations.${BETA_CLASS}`, note ?? '', 'field is immutable'))
    }
    if (named && (oldNote === undefined || now.storageClassName === oldNote)) delete now.storageClassName
  }
  const requested = record(now, 'resources', 'requests')
  const wanted = requested.storage
  const had = record(before, 'resources', 'requests').storage
  if (str(object, 'status', 'phase') === 'Bound') {
    if (has(now, 'resources', 'requests')) requested.storage = had
    if (has(now, 'volumeAttributesClassName')) now.volumeAttributesClassName = before.volumeAttributesClassName
  }
  if (!sameMeaning(now, before)) {
    errors.push(fieldError.forbidden('spec', CLAIM_RULE))
  }
  if (exceeds(had ?? '0', wanted ?? '0') && !exceeds(wanted ?? '0', record(old, 'status', 'capacity').storage ?? '0')) {
    const detail = 'field can not be less than status.capacity'
    errors.push(fieldError.forbidden('spec.resources.requests.storage', detail))
  }
  const [mode, oldMode] = [object, old].map(claim => record(claim, 'spec').volumeMode)
  if (!sameMeaning(mode, oldMode)) errors.push(fieldError.invalid('volumeMode', mode ?? null, 'field is immutable'))
  errors.push(...attributesKept(record(object, 'spec'), before))
  const emptied =
    record(object, 'spec').volumeAttributesClassName === '' && str(before, 'volumeAttributesClassName') !== ''
  if (!emptied) return errors
  const detail = 'update from non-nil value to an empty string is forbidden'
  return [...errors, fieldError.forbidden('spec.volumeAttributesClassName', detail)]
}

function addFinalizer(object: KubeObject, finalizer: string): void {
  const finalizers = object.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer]
}
