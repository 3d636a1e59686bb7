/** Way of a new object between a request and the store. */
import { EMPTY_SET, type FieldSet } from '../../apimachinery/apply/fieldSet.ts'
import { trackInSteps } from '../../apimachinery/apply/managedFields.ts'
import { statusError } from '../../apimachinery/errors.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { metadataLimitErrors } from '../../apimachinery/metadataLimits.ts'
import { validateObjectMeta } from '../../apimachinery/names.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Encoded } from '../../storage/store.ts'
import { type AdmissionRequest, type Outcome, optionsOf, runStage, stepsFor } from './admission.ts'
import type { WriteContext } from './context.ts'
import { convertTo } from './convert.ts'
import { FORMS } from './forms.ts'
import type { Verdict } from './longChecks.ts'
import { clearsStatus, errorsOf, metaRules } from './objectRules.ts'
import { encodeWithin, type Preparation } from './preparation.ts'
import { BARE, content, filledInSteps, noteOf, type Part, withoutUnset } from './provenance.ts'
import { setManaged, unwritable, wipeSystemMetadata } from './systemMetadata.ts'
import { toStored, workingApiVersion } from './views.ts'

interface Creation {
  context: WriteContext
  type: ResourceType
  namespace: string
  /** Receivers of its outcome. */
  outcome: Outcome
  /** Objects of other spaces say the same. */
  isShared: boolean
}

/**
 * For a small object nearly all is known at once, and it is awaited only where it is not. Each wait costs about as much as its result.
 *
 * Prune ▸ convert ▸ defaults ▸ admit (gate, mutate) ▸ system metadata ▸ strategy ▸ admit (prepare) ▸ validate ▸ managed fields ▸
 * admit (validate).
 */
export class CreatePreparation {
  readonly #base: Preparation

  constructor(base: Preparation) {
    this.#base = base
  }

  /** The object to store. */
  async prepare(
    { context: given, type, namespace, outcome, isShared }: Creation,
    object: KubeObject,
  ): Promise<Encoded> {
    const { clock, uuid } = this.#base.deps
    let context = given
    let { work } = context
    const normalized = inSlices(this.#base.rules.normalize(context, type, object), work)
    if (normalized) await normalized
    const target = this.#base.target(context.space, type)
    convertTo(object, workingApiVersion(target), target)
    const strategy = this.#base.deps.strategyFor(target)
    wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
    strategy?.takeIn?.(object)
    const part = this.#base.provenance?.partOf(context.space, target, object)
    const sent = part && this.#base.rules.hasDefaults(target, strategy) ? cloneJson(content(object)) : undefined
    if (work?.due) await work.rest()
    this.#base.rules.applyDefaults(target, strategy, object)
    if (work?.due) await work.rest()
    const filled = sent ? inSlices(filledInSteps(sent, object, target.schema), work) : part && EMPTY_SET
    let unset = filled instanceof Promise ? await filled : filled
    const { space, user } = context
    const steps = stepsFor(this.#base.deps.admission, type, 'CREATE', { space, namespace, subresource: '', user })
    const request: AdmissionRequest = {
      operation: 'CREATE',
      context,
      type: target,
      requestType: type,
      subresource: '',
      object,
      old: undefined,
      options: optionsOf('CreateOptions', context),
      outcome,
    }
    const gated = runStage(steps, 'gate', request)
    if (gated) await gated
    // of what is refused for its size anyway nothing is worked out
    if (work !== undefined) requireWithinLimits(target, object)
    const now = timestamp(clock())
    /** Nobody comes to own what is added behind this. */
    const claim = (): Soon<ManagedFieldsEntry[] | undefined> => {
      this.#base.rules.annotate(object, space)
      this.#base.rules.complete(target, object)
      return whenKnown(work?.due ? work.rest() : undefined, () => {
        const tracking = trackInSteps({
          before: undefined,
          ...this.#base.asRequested(space, type, target, object),
          manager: context.fieldManager,
          ignored: unwritable(target, ''),
          isSmall: work === undefined,
          now,
        })
        return inSlices(tracking, work)
      })
    }
    let claimed: Soon<ManagedFieldsEntry[] | undefined>
    const mutates = steps.some(step => step.stage === 'mutate')
    if (work?.due) await work.rest()
    if (mutates) {
      claimed = await claim()
      if (work?.due) await work.rest()
      if (!isApplied(object)) setManaged(object, claimed)
      const admitted = await this.#base.mutate(steps, request, target, strategy, unset)
      unset = admitted.unset
      context = admitted.context
      work = context.work
      wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
      this.#base.rules.annotate(object, space)
    }
    const { metadata } = object
    metadata.uid = uuid()
    metadata.creationTimestamp = now
    if (!strategy?.noGeneration) metadata.generation = 1
    if (target.subresources.includes('status') && clearsStatus(target, strategy)) delete object.status
    if (!mutates) claimed = claim()
    const claims = claimed instanceof Promise ? await claimed : claimed
    const { finalizers } = metadata
    strategy?.prepareForCreate?.(object)
    // what protects an object where it is used would hold a picture of it for ever: nobody uses that
    if (part === 'copy') {
      delete metadata.finalizers
      if (finalizers !== undefined) metadata.finalizers = finalizers
    }
    const prepared = runStage(steps, 'prepare', request)
    if (prepared) await prepared
    if (work?.due) await work.rest()
    const judging = this.#base.judging.before(context, target, { object, old: undefined, subresource: '' })
    const judged = judging instanceof Promise ? await judging : judging
    const check = (verdict?: Verdict): FieldError[] =>
      errorsOf(() => [
        ...validateObjectMeta(metadata, metaRules(target, strategy)),
        ...FORMS[target.form].finalizerErrors(target, metadata),
        ...this.#base.rules.validate(context, target, judged, object, undefined, '', verdict),
      ])
    const checked = this.#base.judging.checked(check, context, target, object)
    const errors = checked instanceof Promise ? await checked : checked
    if (errors.length > 0) throw statusError.invalid(target, metadata.name ?? '', errors)
    if (work?.due) await work.rest()
    for (const text of judged?.warnings?.(object) ?? FORMS[target.form].finalizerWarnings(metadata)) context.warn(text)
    if (work?.due) await work.rest()
    this.#base.rules.finish(target, object)
    if (!isApplied(object)) setManaged(object, claims)
    const validated = runStage(steps, 'validate', request)
    if (validated) await validated
    if (work?.due) await work.rest()
    const kept = part === 'copy' ? withoutUnset(object, unset!, target.schema) : object
    const converted = toStored(kept, target)
    const stored = converted instanceof Promise ? await converted : converted
    if (work?.due) await work.rest()
    const encoded = inSlices(encodeWithin(stored, { isLarge: work !== undefined, isShared }), work)
    return noted(encoded instanceof Promise ? await encoded : encoded, part, unset)
  }
}

/** The size of managers is known only when this write has been counted among them. @throws StatusError Invalid */
function requireWithinLimits(type: ResourceType, { metadata }: KubeObject): void {
  const { managedFields: _, ...written } = metadata
  const errors = metadataLimitErrors(written, undefined)
  if (errors.length > 0) throw statusError.invalid(type, metadata.name ?? '', errors)
}

function noted(text: Encoded, part: Part | undefined, unset: FieldSet | undefined): Encoded {
  if (unset === undefined) return text
  if (part === 'source') return { ...text, note: noteOf(unset) }
  return unset === EMPTY_SET ? text : { ...text, note: BARE }
}

/** Whether server-side apply made the object: it brings its own managedFields. */
function isApplied({ metadata }: KubeObject): boolean {
  return metadata.managedFields?.some(entry => entry.operation === 'Apply') === true
}
