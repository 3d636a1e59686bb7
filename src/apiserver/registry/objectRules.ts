/**
 * What the schema and the strategy of a kind make of an object: read, defaulted, validated. The order of these steps in a write
 * is `generic.ts`.
 */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { applyDefaults } from '../../apimachinery/structural/defaults.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'
import { pruneUnknown } from '../../apimachinery/structural/prune.ts'
import { typeErrors } from '../../apimachinery/structural/typeErrors.ts'
import { compileValidator } from '../../apimachinery/structural/validate.ts'
import { CLUSTER_ANNOTATION } from './codec.ts'
import type { WriteContext } from './context.ts'
import { dropEmpty, dropEmptyMetadata } from './emptyFields.ts'
import { dropNulls } from './nulls.ts'
import type { Strategy } from './strategy.ts'
import { zeroObject } from './zeroObject.ts'

export interface ObjectRulesDeps {
  strategyFor(type: { group: string; resource: string }): Strategy | undefined
  /** Whether objects show their space in the annotation `kcp.io/cluster`. */
  annotateSpace: boolean
}

const METADATA_TYPES: Schema = { type: 'object', properties: { metadata: objectMetaSchema } }

export class ObjectRules {
  readonly #deps: ObjectRulesDeps
  readonly #zeros = new WeakMap<Schema, Record<string, unknown>>()

  constructor(deps: ObjectRulesDeps) {
    this.#deps = deps
  }

  /** Decodes what a client sent for `type`: unknown fields and wrong types are reported as the client asked. */
  normalize(context: WriteContext, type: ResourceType, object: KubeObject, fromPatch = false): void {
    if (type.origin === 'builtin') dropNulls(object, type.schema)
    else dropNulls(object.metadata, objectMetaSchema)
    const unknown = pruneUnknown(object, type.schema)
    if (unknown.length > 0 && context.fieldValidation !== 'Ignore') {
      const texts = unknown.map(path => `unknown field "${path}"`)
      if (context.fieldValidation === 'Strict') {
        throw unreadable(type, `strict decoding error: ${texts.join(', ')}`, fromPatch)
      }
      for (const text of texts) context.warn(text)
    }
    if (type.origin === 'builtin' && type.schema) {
      const wrong = typeErrors(object, type.schema) ?? this.#deps.strategyFor(type)?.decode?.(object)
      if (wrong) throw unreadable(type, wrong, fromPatch)
      if (!isOwnGroup(type.group)) dropEmpty(object, type.schema)
    } else if (type.origin === 'crd') {
      // whatever their schemas say, metadata is the server's own business
      const wrong = typeErrors({ kind: type.kind, metadata: object.metadata }, METADATA_TYPES)
      if (wrong) throw unreadable(type, wrong, fromPatch)
    }
    dropEmptyMetadata(object.metadata)
  }

  applyDefaults(type: ResourceType, strategy: Strategy | undefined, object: KubeObject): void {
    // a struct is there even when nothing is in it
    if (type.origin === 'builtin' && !isOwnGroup(type.group) && type.schema?.properties?.spec) object.spec ??= {}
    if (type.schema && type.origin === 'crd') applyDefaults(object, type.schema)
    else if (type.schema && strategy?.applyDefaults === undefined && type.group.includes('.'))
      applyDefaults(object, type.schema)
    strategy?.applyDefaults?.(object)
  }

  validate(
    type: ResourceType,
    strategy: Strategy | undefined,
    object: KubeObject,
    old: KubeObject | undefined,
  ): FieldError[] {
    const errors = this.validateSchema(type, object, old)
    errors.push(...(strategy?.validate?.(object) ?? []))
    if (old) errors.push(...(strategy?.validateUpdate?.(object, old) ?? []))
    return errors
  }

  validateSchema(type: ResourceType, object: KubeObject, old?: KubeObject): FieldError[] {
    return type.schema && (type.origin === 'crd' || isOwnGroup(type.group))
      ? compileValidator(type.schema)(object, undefined, old)
      : []
  }

  /** Custom resources, and our own kinds, are no structs anywhere. */
  zeroOf({ kind, origin, group, schema }: ResourceType): { zero?: Record<string, unknown> } {
    if (origin !== 'builtin' || schema === undefined || isOwnGroup(group)) return {}
    let zero = this.#zeros.get(schema)
    if (zero === undefined) {
      zero = zeroObject(kind, schema)
      this.#zeros.set(schema, zero)
    }
    return { zero }
  }

  annotate(object: KubeObject, space: string): void {
    if (!this.#deps.annotateSpace) return
    object.metadata.annotations = { ...object.metadata.annotations, [CLUSTER_ANNOTATION]: space }
  }
}

export function unreadable(type: ResourceType, why: string, fromPatch: boolean): StatusError {
  if (fromPatch) return invalidPatch(why)
  return statusError.badRequest(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`)
}

/** 422 for a patch whose outcome is no object of its kind. */
export function invalidPatch(why: string): StatusError {
  return statusError.invalid({ group: '', kind: '' }, '', [
    { type: 'Invalid', field: 'patch', omitValue: true, detail: why },
  ])
}

/** Our own kinds are built in, and their definitions are structural schemas like those of CRDs. */
export function isOwnGroup(group: string): boolean {
  return group === 'edge.kubestellar.io' || group.endsWith('.kcp.io')
}

/** Whether creation starts without a status; the strategies of Kubernetes' own kinds see to it themselves. */
export function clearsStatus(type: ResourceType): boolean {
  return type.origin === 'crd' || (isOwnGroup(type.group) && type.group !== 'core.kcp.io')
}

export function metaRules(type: ResourceType, strategy: Strategy | undefined) {
  return { namespaced: type.namespaced, nameRule: strategy?.nameRule ?? ('dns1123Subdomain' as const) }
}
