/**
 * Validation of `metadata`, for creation and for updates, in upstream's words and order.
 * @see https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#metadata
 */
import { type FieldError, fieldError } from './fieldErrors.ts'
import {
  ANNOTATIONS_LIMIT_BYTES,
  annotationLimitErrors,
  bytesOf,
  mayExceed,
  metadataLimitErrors,
} from './metadataLimits.ts'
import { dns1123Label, labelValue, type NameRule, type NameRuleName, nameRules, qualifiedName } from './nameRules.ts'
import { type ObjectMeta, type OwnerReference, parseApiVersion } from './object.ts'

export { ANNOTATIONS_LIMIT_BYTES } from './metadataLimits.ts'

export interface ObjectMetaOptions {
  namespaced: boolean
  /** Default: dns1123Subdomain. */
  nameRule?: NameRuleName | NameRule | undefined
  /** The replaced metadata: it may exceed its limits, and keep that. */
  before?: ObjectMeta
}

/** Errors of a new object's metadata, after its name was generated. */
export function validateObjectMeta(meta: ObjectMeta, options: ObjectMetaOptions): FieldError[] {
  const errors: FieldError[] = []
  const rule =
    typeof options.nameRule === 'function' ? options.nameRule : nameRules[options.nameRule ?? 'dns1123Subdomain']
  const invalid = (field: string, value: unknown, messages: string[]) => {
    for (const message of messages) errors.push(fieldError.invalid(`metadata.${field}`, value, message))
  }
  if (meta.generateName) invalid('generateName', meta.generateName, rule(maskTrailingDash(meta.generateName)))
  if (!meta.name) errors.push(fieldError.required('metadata.name', 'name or generateName is required'))
  else invalid('name', meta.name, rule(meta.name))
  if (options.namespaced) {
    if (!meta.namespace) errors.push(fieldError.required('metadata.namespace'))
    else invalid('namespace', meta.namespace, dns1123Label(meta.namespace))
  } else if (meta.namespace) {
    errors.push(fieldError.forbidden('metadata.namespace', 'not allowed on this type'))
  }
  if (meta.generation !== undefined && meta.generation < 0) {
    invalid('generation', meta.generation, ['must be greater than or equal to 0'])
  }
  // nothing is looked at piece by piece whose size is refused
  const limits = metadataLimitErrors(meta, options.before)
  if (limits.length > 0) return errors.concat(limits)
  addMapErrors(meta, errors)
  if (meta.finalizers) errors.push(...validateFinalizers(meta.finalizers))
  return errors
}

/**
 * Errors of the change of metadata. Absent fields that only the server sets (uid, timestamps) count as unchanged: the
 * registry carries them over. `resourceVersion` is the registry's to judge.
 */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers ?? [])
    const added = [...new Set(meta.finalizers ?? [])].filter(f => !before.has(f)).sort()
    if (added.length > 0) {
      const shown = `[]string{${added.map(f => JSON.stringify(f)).join(', ')}}`
      errors.push(
        fieldError.forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
        ),
      )
    }
  }
  if (meta.generation !== undefined && meta.generation < (old.generation ?? 0)) {
    errors.push(fieldError.invalid('metadata.generation', meta.generation, 'must not be decremented'))
  }
  const immutable = (field: keyof ObjectMeta) =>
    errors.push(fieldError.invalid(`metadata.${field}`, meta[field] ?? '', 'field is immutable'))
  if ((meta.name ?? '') !== (old.name ?? '')) immutable('name')
  if ((meta.namespace ?? '') !== (old.namespace ?? '')) immutable('namespace')
  for (const field of ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (meta[field] !== undefined && meta[field] !== old[field]) immutable(field)
  }
  if (metadataLimitErrors(meta, old).length === 0) addMapErrors(meta, errors)
  return errors
}

/** Label keys and values, at the path of the map. */
export function validateLabels(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const key of Object.keys(labels)) {
    const value = labels[key]!
    for (const message of qualifiedName(key)) errors.push(fieldError.invalid(field, key, message))
    for (const message of labelValue(value)) errors.push(fieldError.invalid(field, value, message))
  }
  return errors
}

/** Annotation keys (any case) and their total size, of what is no object itself. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors = annotationKeyErrors(annotations, field)
  if (mayExceed(annotations, ANNOTATIONS_LIMIT_BYTES) && bytesOf(annotations) > ANNOTATIONS_LIMIT_BYTES)
    errors.push(fieldError.tooLong(field, ANNOTATIONS_LIMIT_BYTES))
  return errors
}

function annotationKeyErrors(annotations: Readonly<Record<string, string>>, field: string): FieldError[] {
  return Object.keys(annotations).flatMap(key =>
    qualifiedName(key.toLowerCase()).map(message => fieldError.invalid(field, key, message)),
  )
}

function addMapErrors({ labels, annotations, ownerReferences }: ObjectMeta, errors: FieldError[]): void {
  if (labels) errors.push(...validateLabels(labels, 'metadata.labels'))
  if (annotations)
    errors.push(...annotationKeyErrors(annotations, 'metadata.annotations'), ...annotationLimitErrors(annotations))
  if (ownerReferences) errors.push(...validateOwnerReferences(ownerReferences))
}

function validateOwnerReferences(references: readonly OwnerReference[]): FieldError[] {
  const field = 'metadata.ownerReferences'
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const reference of references) {
    if (!reference.apiVersion || !parseApiVersion(reference.apiVersion)) {
      errors.push(fieldError.invalid(`${field}.apiVersion`, reference.apiVersion ?? '', 'version must not be empty'))
    }
    for (const name of ['kind', 'name', 'uid'] as const) {
      if (!reference[name])
        errors.push(fieldError.invalid(`${field}.${name}`, reference[name] ?? '', 'must not be empty'))
    }
    if (reference.apiVersion === 'v1' && reference.kind === 'Event') {
      errors.push(fieldError.invalid(field, reference, '/v1, Kind=Event is disallowed from being an owner'))
    }
    if (reference.controller !== true) continue
    const name = `${reference.kind}/${reference.name}`
    if (controller === undefined) controller = name
    else {
      errors.push(
        fieldError.invalid(
          field,
          references,
          'Only one reference can have Controller set to true. ' +
            `Found "true" in references for ${controller} and ${name}`,
        ),
      )
    }
  }
  return errors
}

function validateFinalizers(finalizers: readonly string[]): FieldError[] {
  const field = 'metadata.finalizers'
  const errors = finalizers.flatMap(f => qualifiedName(f).map(message => fieldError.invalid(field, f, message)))
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(fieldError.invalid(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
  }
  return errors
}

/** A generateName may end with the dash that its suffix will follow. */
function maskTrailingDash(base: string): string {
  return base.length > 1 && base.endsWith('-') ? `${base.slice(0, -2)}a` : base
}
