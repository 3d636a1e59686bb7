/**
 * Work of a kind's schema and strategy on an object: read, defaulted, validated. The order of these steps in a write is
 * `createPreparation.ts` and `updatePreparation.ts`.
 */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError, formatFieldError } from '../../apimachinery/fieldErrors.ts'
import { apiVersionOf, type GroupResource, type KubeObject } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { MAX_DEFAULTED } from '../../apimachinery/structural/defaults.ts'
import type { Effort } from '../../apimachinery/structural/effort.ts'
import { pruneUnknown } from '../../apimachinery/structural/prune.ts'
import { isTidy } from '../../apimachinery/structural/tidy.ts'
import { compileValidator } from '../../apimachinery/structural/validate.ts'
import type { ClientMetadata, Strategy } from '../../kinds/strategy.ts'
import type { WriteContext } from './context.ts'
import { dropEmptyMetadata } from './emptyFields.ts'
import { FORMS } from './forms.ts'
import type { LongChecks, Question, Verdict } from './longChecks.ts'
import { errorsBeside, type Parameterized, standIn, typed } from './parameters.ts'

export interface ObjectRulesDeps {
  strategyFor(type: { group: string; resource: string }): Strategy | undefined
  /** Whether objects show their space in the annotation `kcp.io/cluster`. */
  annotateSpace: boolean
  /** Absent: no object holds parameters. */
  parameterized?: (space: string, kind: GroupResource, object: Readonly<KubeObject>) => Parameterized
  /** Where comparing with a schema is done when it takes long. Absent: on the spot. */
  longChecks?: LongChecks
}

const NO_FIELDS: readonly string[] = []

export class ObjectRules {
  readonly #deps: ObjectRulesDeps
  readonly #zeros = new WeakMap<Schema, Record<string, unknown>>()

  constructor(deps: ObjectRulesDeps) {
    this.#deps = deps
  }

  /**
   * Decodes a client's body for `type`: unknown fields and wrong types are reported by the request's wish. Each step goes once over the
   * object.
   */
  *normalize(context: WriteContext, type: ResourceType, object: KubeObject, patch?: PatchSource): Steps<void> {
    const rules = FORMS[type.form]
    const { schema } = type
    // nearly all objects are: then one look is enough
    const tidy = schema !== undefined && isTidy(object, schema, rules.keepsEmpty)
    yield
    if (!tidy) rules.dropNulls(object, schema)
    yield
    const unknown = tidy ? NO_FIELDS : rules.inOrder(pruneUnknown(object, schema))
    yield
    const parameterized = this.#parameterized(context.space, type, object)
    if (schema && parameterized === 'expanded') typed(object, schema)
    const shown = schema && parameterized === 'described' ? standIn(object, schema) : object
    // an unreadable body gets no report about unknown fields
    let wrong = tidy ? undefined : rules.typeErrors(shown, schema)
    yield
    const decoding = wrong === undefined ? this.#deps.strategyFor(type)?.decode?.(shown) : undefined
    if (decoding !== undefined) wrong = yield* decoding
    if (wrong) throw unreadable(type, wrong, patch)
    yield
    if ((unknown.length > 0 || context.findings) && context.fieldValidation !== 'Ignore') {
      const texts = context.findings?.(unknown) ?? unknown.map(path => `unknown field "${path}"`)
      if (context.fieldValidation === 'Strict') {
        throw unreadable(type, `strict decoding error: ${texts.join(', ')}`, patch)
      }
      for (const text of texts) context.warn(text)
    }
    if (tidy) return
    if (schema) rules.dropEmpty(object, schema)
    dropEmptyMetadata(object.metadata)
  }

  /** Whether there may be unset fields. */
  hasDefaults({ form, schema }: ResourceType, strategy: Strategy | undefined): boolean {
    return strategy?.applyDefaults !== undefined || (schema !== undefined && FORMS[form].hasDefaults(schema))
  }

  /** @throws StatusError Invalid when the defaults would make the object too large */
  applyDefaults(type: ResourceType, strategy: Strategy | undefined, object: KubeObject): void {
    const { form, schema } = type
    if (schema && !FORMS[form].applyDefaults(object, schema)) {
      const why =
        `the defaults of its definition would add more than ${MAX_DEFAULTED} characters: give it fewer elements, or the ` +
        'definition fewer or shorter defaults inside of lists and maps'
      const error = { ...fieldError.invalid('', undefined, why), omitValue: true }
      throw statusError.invalid(type, object.metadata.name ?? '', [error])
    }
    strategy?.applyDefaults?.(object)
  }

  validate(
    context: WriteContext,
    type: ResourceType,
    strategy: Strategy | undefined,
    object: KubeObject,
    old: KubeObject | undefined,
    subresource = '',
    verdict?: Verdict,
  ): FieldError[] {
    const change = strategy?.subresources?.[subresource] ?? strategy
    const judge = (judged: KubeObject): FieldError[] => {
      const errors = this.validateSchema(context, type, judged, old, verdict)
      errors.push(...(strategy?.validate?.(judged, old) ?? []))
      if (old) errors.push(...(change?.validateUpdate?.(judged, old) ?? []))
      return errors
    }
    const errors = judge(object)
    // judged where the values are known: in the mailbox of each destination
    return this.#parameterized(context.space, type, object) === 'described'
      ? errorsBeside(errors, () => judge(this.#standIn(context.space, type, object)))
      : errors
  }

  /** The object that is judged too, where its values are known only in other places. */
  standInFor(space: string, type: ResourceType, object: KubeObject): KubeObject | undefined {
    return this.#parameterized(space, type, object) === 'described' ? this.#standIn(space, type, object) : undefined
  }

  /** Types that cannot be read, in words of Go's JSON package. */
  typeErrors(space: string, type: ResourceType, object: KubeObject): string | undefined {
    return FORMS[type.form].typeErrors(this.#standIn(space, type, object), type.schema)
  }

  /** The object as its schema can judge it: with values for references to parameters. */
  #standIn(space: string, type: ResourceType, object: KubeObject): KubeObject {
    if (!type.schema || this.#parameterized(space, type, object) !== 'described') return object
    return standIn(object, type.schema)
  }

  #parameterized(space: string, type: ResourceType, object: KubeObject): Parameterized {
    return this.#deps.parameterized?.(space, type, object)
  }

  /**
   * Earlier faults that stay unchanged are warnings. `verdict`: that of the comparison with the schema, where it is done already.
   * @throws UnfinishedCheck when it takes longer than the space may hold up others with it now
   */
  validateSchema(
    context: WriteContext,
    type: ResourceType,
    object: KubeObject,
    old?: KubeObject,
    verdict?: Verdict,
  ): FieldError[] {
    if (type.schema === undefined) return []
    const compare = (schema: Schema): FieldError[] => {
      const shown = this.#standIn(context.space, type, object)
      const { errors, warned } = verdict ?? this.#tried(context.space, { schema, object: shown, old })
      for (const error of warned) context.warn(formatFieldError(error))
      return errors
    }
    return FORMS[type.form].validate(type, type.schema, { object, old, compare })
  }

  #tried(space: string, { schema, object, old }: Question): Verdict {
    const warned: FieldError[] = []
    const validate = compileValidator(schema)
    const check = (effort?: Effort): Verdict => ({
      errors: validate(object, undefined, old, error => warned.push(error), effort),
      warned,
    })
    const { longChecks } = this.#deps
    return longChecks === undefined ? check() : longChecks.try(space, check)
  }

  /** Adds what upstream's servers always write of the kind. */
  complete(type: ResourceType, object: KubeObject): void {
    if (isOfVersion(object, type)) FORMS[type.form].complete(object, type.schema)
  }

  /** The same, at the end of a write: as upstream's store hands it out. */
  finish(type: ResourceType, object: KubeObject): void {
    if (isOfVersion(object, type)) FORMS[type.form].finish(object, type.schema)
  }

  zeroOf({ form, schema }: ResourceType): Record<string, unknown> | undefined {
    const make = FORMS[form].zeroObject
    if (make === undefined || schema === undefined) return undefined
    let zero = this.#zeros.get(schema)
    if (zero === undefined) {
      zero = make(schema)
      this.#zeros.set(schema, zero)
    }
    return zero
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
  /** It touches nothing but metadata and the status. Absent: it may touch anything. */
  spares?: boolean
  /** It copies what is there more than once, and may make much of little. Absent: it does not. */
  grows?: boolean
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

/** Whether creation starts without a status; the strategies of Kubernetes' own kinds see to it themselves. */
export function clearsStatus({ form }: ResourceType, strategy: Strategy | undefined): boolean {
  return FORMS[form].clearsStatus && !strategy?.createdWithStatus
}

/** Fields that `/status` of a kind does not change. */
export function keptByStatus({ form }: ResourceType, strategy: Strategy | undefined): readonly ClientMetadata[] {
  return strategy?.statusKeeps ?? FORMS[form].statusKeeps
}

export function metaRules(type: ResourceType, strategy: Strategy | undefined) {
  return { namespaced: type.namespaced, nameRule: strategy?.nameRule ?? ('dns1123Subdomain' as const) }
}

/**
 * Errors of `check`. Errors are handed on as arguments, of which the engine takes some hundred thousand: an object with more of them gets
 * that as its error.
 */
export function errorsOf(check: () => FieldError[]): FieldError[] {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof RangeError && error.message.includes('call stack'))) throw error
    return [fieldError.invalid('', '', 'there are too many errors to tell')]
  }
}

/** An event that is written as a core one has the fields of the other form, and is completed when it is shown. */
function isOfVersion(object: KubeObject, type: ResourceType): type is ResourceType & { schema: Schema } {
  return type.schema !== undefined && object.apiVersion === apiVersionOf(type)
}
