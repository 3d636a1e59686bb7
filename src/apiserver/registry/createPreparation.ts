/** What becomes of a new object between a request and the store. */
import { EMPTY_SET, type FieldSet } from '../../apimachinery/apply/fieldSet.ts'
import { trackInSteps } from '../../apimachinery/apply/managedFields.ts'
import { statusError } from '../../apimachinery/errors.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { metadataLimitErrors } from '../../apimachinery/metadataLimits.ts'
import { validateObjectMeta } from '../../apimachinery/names.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Encoded } from '../../storage/store.ts'
import { type AdmissionRequest, Outcome, optionsOf, runStage, stepsFor } from './admission.ts'
import type { WriteContext } from './context.ts'
import { convertTo } from './convert.ts'
import { FORMS } from './forms.ts'
import type { Verdict } from './longChecks.ts'
import { clearsStatus, errorsOf, metaRules } from './objectRules.ts'
import { encodeWithin, type Preparation } from './preparation.ts'
import { BARE, content, filledIn, noteOf, type Part, withoutUnsaid } from './provenance.ts'
import { setManaged, unwritable, wipeSystemMetadata } from './systemMetadata.ts'
import { toStored, workingApiVersion } from './views.ts'

interface Creation {
  context: WriteContext
  type: ResourceType
  namespace: string
  outcome: Outcome
}

/**
 * Prune ▸ convert ▸ defaults ▸ admit (gate, mutate) ▸ system metadata ▸ strategy ▸ admit (prepare) ▸ validate ▸ managed fields ▸
 * admit (validate).
 */
export class CreatePreparation {
  readonly #base: Preparation

  constructor(base: Preparation) {
    this.#base = base
  }

  /** What is to be stored, and who has to be told what became of it. */
  async prepare(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    object: KubeObject,
  ): Promise<{ text: Encoded; outcome: Outcome }> {
    const outcome = new Outcome()
    try {
      return { text: await this.#prepare({ context, type, namespace, outcome }, object), outcome }
    } catch (error) {
      outcome.settle(undefined)
      throw error
    }
  }

  async #prepare({ context, type, namespace, outcome }: Creation, object: KubeObject): Promise<Encoded> {
    const { clock, uuid } = this.#base.deps
    const { work } = context
    await inSlices(this.#base.rules.normalize(context, type, object), work)
    const target = this.#base.target(context.space, type)
    convertTo(object, workingApiVersion(target), target)
    const strategy = this.#base.deps.strategyFor(target)
    wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
    strategy?.takeIn?.(object)
    const part = this.#base.provenance?.partOf(context.space, target, object)
    const asked = part && cloneJson(content(object))
    if (work?.due) await work.rest()
    this.#base.rules.applyDefaults(target, strategy, object)
    if (work?.due) await work.rest()
    const unsaid = asked && filledIn(asked, object, target.schema)
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
    await runStage(steps, 'gate', request)
    // of what is refused for its size anyway nothing is worked out
    if (work !== undefined) requireWithinLimits(target, object)
    const now = timestamp(clock())
    let claims: ManagedFieldsEntry[] | undefined
    /** Nobody comes to own what is added behind this. */
    const claim = async (): Promise<void> => {
      this.#base.rules.annotate(object, space)
      this.#base.rules.complete(target, object)
      if (work?.due) await work.rest()
      const tracking = trackInSteps({
        before: undefined,
        ...this.#base.asAsked(space, type, target, object),
        manager: context.fieldManager,
        ignored: unwritable(target, ''),
        now,
      })
      claims = await inSlices(tracking, work)
    }
    const mutates = steps.some(step => step.stage === 'mutate')
    if (work?.due) await work.rest()
    if (mutates) {
      await claim()
      if (work?.due) await work.rest()
      if (!isApplied(object)) setManaged(object, claims)
      await this.#base.mutate(steps, request, target, strategy)
      wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
      this.#base.rules.annotate(object, space)
    }
    const { metadata } = object
    metadata.uid = uuid()
    metadata.creationTimestamp = now
    if (!strategy?.noGeneration) metadata.generation = 1
    if (target.subresources.includes('status') && clearsStatus(target, strategy)) delete object.status
    if (!mutates) await claim()
    const { finalizers } = metadata
    strategy?.prepareForCreate?.(object)
    // what protects an object where it is used would hold a picture of it for ever: nobody uses that
    if (part === 'copy') {
      delete metadata.finalizers
      if (finalizers !== undefined) metadata.finalizers = finalizers
    }
    await runStage(steps, 'prepare', request)
    if (work?.due) await work.rest()
    const judged = await this.#base.judging.before(context, target, { object, old: undefined, subresource: '' })
    const check = (verdict?: Verdict): FieldError[] =>
      errorsOf(() => [
        ...validateObjectMeta(metadata, metaRules(target, strategy)),
        ...FORMS[target.form].finalizerErrors(target, metadata),
        ...this.#base.rules.validate(context, target, judged, object, undefined, '', verdict),
      ])
    const errors = await this.#base.judging.checked(check, context, target, object)
    if (errors.length > 0)
      throw statusError.invalid(target, metadata.name ?? '', errors, this.#base.rules.shown(target))
    if (work?.due) await work.rest()
    for (const text of judged?.warnings?.(object) ?? FORMS[target.form].finalizerWarnings(metadata)) context.warn(text)
    if (work?.due) await work.rest()
    this.#base.rules.finish(target, object)
    if (!isApplied(object)) setManaged(object, claims)
    await runStage(steps, 'validate', request)
    if (work?.due) await work.rest()
    const kept = part === 'copy' ? withoutUnsaid(object, unsaid!, target.schema) : object
    const stored = await toStored(kept, target)
    if (work?.due) await work.rest()
    return noted(await inSlices(encodeWithin(stored, { isLarge: work !== undefined }), work), part, unsaid)
  }
}

/** Of managers that is known only when this write has been counted among them. @throws StatusError Invalid */
function requireWithinLimits(type: ResourceType, { metadata }: KubeObject): void {
  const { managedFields: _, ...written } = metadata
  const errors = metadataLimitErrors(written, undefined)
  if (errors.length > 0) throw statusError.invalid(type, metadata.name ?? '', errors)
}

function noted(text: Encoded, part: Part | undefined, unsaid: FieldSet | undefined): Encoded {
  if (unsaid === undefined) return text
  if (part === 'source') return { ...text, note: noteOf(unsaid) }
  return unsaid === EMPTY_SET ? text : { ...text, note: BARE }
}

/** Whether server-side apply made the object: it brings its own managedFields. */
function isApplied({ metadata }: KubeObject): boolean {
  return metadata.managedFields?.some(entry => entry.operation === 'Apply') === true
}
