/**
 * What the schema and the strategy of a kind make of an object: read, defaulted, validated. The order of these steps in a write
 * is `preparation.ts`.
 */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError, formatFieldError } from '../../apimachinery/fieldErrors.ts'
import { valuesAsGo } from '../../apimachinery/go/goValues.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { applyDefaults } from '../../apimachinery/structural/defaults.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'
import { inOrderOfText, pruneUnknown } from '../../apimachinery/structural/prune.ts'
import { scaleErrors } from '../../apimachinery/structural/scaleRules.ts'
import { typeErrors } from '../../apimachinery/structural/typeErrors.ts'
import { compileValidator } from '../../apimachinery/structural/validate.ts'
import { CLIENT_METADATA, type ClientMetadata, type Strategy } from '../../kinds/strategy.ts'
import { readProtobufFields } from '../../program/dataFiles.ts'
import { CLUSTER_ANNOTATION } from './codec.ts'
import type { WriteContext } from './context.ts'
import { dropEmpty, dropEmptyMetadata, fillEmpty, fillStored, zeroObject } from './emptyFields.ts'
import { dropNulls } from './nulls.ts'

export interface ObjectRulesDeps {
  strategyFor(type: { group: string; resource: string }): Strategy | undefined
  /** Whether objects show their space in the annotation `kcp.io/cluster`. */
  annotateSpace: boolean
}

export class ObjectRules {
  readonly #deps: ObjectRulesDeps
  readonly #zeros = new WeakMap<Schema, Record<string, unknown>>()

  constructor(deps: ObjectRulesDeps) {
    this.#deps = deps
  }

  /** Decodes what a client sent for `type`: unknown fields and wrong types are reported as the client asked. */
  normalize(context: WriteContext, type: ResourceType, object: KubeObject, patch?: PatchSource): void {
    if (type.origin === 'builtin') dropNulls(object, type.schema)
    else dropNulls(object.metadata, objectMetaSchema)
    const pruned = pruneUnknown(object, type.schema)
    const unknown = type.origin === 'crd' && pruned.length > 1 ? inOrderOfText(pruned) : pruned
    // what cannot be read at all is not told about its unknown fields
    const wrong = this.#wrongTypes(type, object)
    if (wrong) throw unreadable(type, wrong, patch)
    if ((unknown.length > 0 || context.findings) && context.fieldValidation !== 'Ignore') {
      const texts = context.findings?.(unknown) ?? unknown.map(path => `unknown field "${path}"`)
      if (context.fieldValidation === 'Strict') {
        throw unreadable(type, `strict decoding error: ${texts.join(', ')}`, patch)
      }
      for (const text of texts) context.warn(text)
    }
    if (type.origin === 'builtin' && type.schema && !isOwnGroup(type.group)) dropEmpty(object, type.schema)
    dropEmptyMetadata(object.metadata)
  }

  #wrongTypes(type: ResourceType, object: KubeObject): string | undefined {
    if (type.origin === 'builtin' && type.schema)
      return typeErrors(object, type.schema) ?? this.#deps.strategyFor(type)?.decode?.(object)
    // whatever their schemas say, metadata is the server's own business
    if (type.origin === 'crd') return typeErrors(object.metadata, objectMetaSchema)
    return undefined
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
    context: WriteContext,
    type: ResourceType,
    strategy: Strategy | undefined,
    object: KubeObject,
    old: KubeObject | undefined,
    subresource = '',
  ): FieldError[] {
    const errors = this.validateSchema(context, type, object, old)
    errors.push(...(strategy?.validate?.(object, old) ?? []))
    const change = strategy?.subresources?.[subresource] ?? strategy
    if (old) errors.push(...(change?.validateUpdate?.(object, old) ?? []))
    return errors
  }

  /** Errors with their values as upstream shows them. */
  shown({ origin, group, schema }: ResourceType): ((error: FieldError) => FieldError) | undefined {
    return origin !== 'builtin' || schema === undefined || isOwnGroup(group)
      ? undefined
      : valuesAsGo(schema, readProtobufFields)
  }

  /** What was wrong before and stays as it is, is told as a warning. */
  validateSchema(context: WriteContext, type: ResourceType, object: KubeObject, old?: KubeObject): FieldError[] {
    if (type.schema === undefined || (type.origin !== 'crd' && !isOwnGroup(type.group))) return []
    const warn = (error: FieldError): void => context.warn(formatFieldError(error))
    const errors = compileValidator(type.schema)(object, undefined, old, warn)
    return type.origin === 'crd' && type.scale ? [...errors, ...scaleErrors(object, type.scale)] : errors
  }

  /** Adds what upstream's servers always write of a built-in kind. */
  complete(type: ResourceType, object: KubeObject): void {
    this.#fill(type, object, fillEmpty)
  }

  /** The same, at the end of a write: as upstream's store hands it out. */
  finish(type: ResourceType, object: KubeObject): void {
    this.#fill(type, object, fillStored)
  }

  #fill(type: ResourceType, object: KubeObject, fill: typeof fillEmpty): void {
    if (type.origin !== 'builtin' || type.schema === undefined || isOwnGroup(type.group)) return
    // an event that is written as a core one has what the other form has always said, and is completed when it is shown
    if (object.apiVersion === apiVersionOf(type)) fill(object, type.schema)
  }

  /** Custom resources, and our own kinds, are no structs anywhere. */
  zeroOf({ origin, group, schema }: ResourceType): { zero?: Record<string, unknown> } {
    if (origin !== 'builtin' || schema === undefined || isOwnGroup(group)) return {}
    let zero = this.#zeros.get(schema)
    if (zero === undefined) {
      zero = zeroObject(schema)
      this.#zeros.set(schema, zero)
    }
    return { zero }
  }

  annotate(object: KubeObject, space: string): void {
    if (!this.#deps.annotateSpace) return
    object.metadata.annotations = { ...object.metadata.annotations, [CLUSTER_ANNOTATION]: space }
  }
}

/** The patch that made an object. */
export interface PatchSource {
  /** The patch as refusals show it; absent where they do not. */
  shown?: () => string
}

/** 400 for a body, 422 for a patch. */
export function unreadable(
  type: Pick<ResourceType, 'kind' | 'version'>,
  why: string,
  patch: PatchSource | undefined,
): StatusError {
  if (patch) return invalidPatch(why, patch)
  return statusError.badRequest(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`)
}

/** 422 for a patch whose outcome is no object of its kind. */
export function invalidPatch(why: string, { shown }: PatchSource = {}): StatusError {
  const value = shown === undefined ? { omitValue: true } : { value: shown() }
  return statusError.invalid({ group: '', kind: '' }, '', [{ type: 'Invalid', field: 'patch', ...value, detail: why }])
}

/** Our own kinds are built in, and their definitions are structural schemas like those of CRDs. */
export function isOwnGroup(group: string): boolean {
  return group === 'edge.kubestellar.io' || group.endsWith('.kcp.io')
}

/** Whether creation starts without a status; the strategies of Kubernetes' own kinds see to it themselves. */
export function clearsStatus(type: ResourceType): boolean {
  return type.origin === 'crd' || (isOwnGroup(type.group) && type.group !== 'core.kcp.io')
}

/** What `/status` of a kind does not change. */
export function keptByStatus(type: ResourceType, strategy: Strategy | undefined): readonly ClientMetadata[] {
  const { statusKeeps } = strategy ?? {}
  return statusKeeps ?? (type.origin === 'builtin' && !isOwnGroup(type.group) ? [] : CLIENT_METADATA)
}

export function metaRules(type: ResourceType, strategy: Strategy | undefined) {
  return { namespaced: type.namespaced, nameRule: strategy?.nameRule ?? ('dns1123Subdomain' as const) }
}

/**
 * What `check` finds wrong. Errors are handed on as arguments, of which the engine takes some hundred thousand: an object with
 * more of them is told so.
 */
export function found(check: () => FieldError[]): FieldError[] {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof RangeError && error.message.includes('call stack'))) throw error
    return [fieldError.invalid('', '', 'there are too many errors to tell')]
  }
}
