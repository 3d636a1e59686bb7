import { trackInSteps } from '../../apimachinery/apply/managedFields.ts'
import { statusError } from '../../apimachinery/errors.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../apimachinery/names.ts'
import { isRecord, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { atOnce, inSlices, type Steps } from '../../apimachinery/steps.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Strategy } from '../../kinds/strategy.ts'
import type { Stored } from '../../storage/store.ts'
import { type Admission, type AdmissionRequest, runStage } from './admission.ts'
import { encodeObject } from './codec.ts'
import type { WriteContext } from './context.ts'
import { convertTo } from './convert.ts'
import { FORMS } from './forms.ts'
import type { Verdict } from './longChecks.ts'
import { errorsOf, keptByStatus, metaRules } from './objectRules.ts'
import { inVersionOf } from './otherVersions.ts'
import { encodeWithin, type Preparation, type TextMutation, type UpdateOptions } from './preparation.ts'
import { requireSameObject } from './resourceVersions.ts'
import {
  hasNamespaceFinalizers,
  keepStatus,
  keepSystemMetadata,
  onlyStatus,
  setManaged,
  specChanged,
  unwritable,
} from './systemMetadata.ts'
import { UpdateTrace } from './updateTrace.ts'
import { workingApiVersion } from './views.ts'

/** An update that is admitted: `begin` ▸ `check` ▸ `end`. */
interface Completing {
  readonly context: WriteContext
  readonly type: ResourceType
  /** In the version in which it is handled. */
  readonly target: ResourceType
  readonly strategy: Strategy | undefined
  readonly object: KubeObject
  readonly old: KubeObject
  readonly options: UpdateOptions
  readonly subresource: string
}

/**
 * Prune ▸ convert ▸ defaults (`receive`) ▸ admit (gate, mutate) ▸ strategy ▸ validate ▸ managed fields ▸ admit (prepare, validate)
 * (`admit`, or `complete` without a step that waits) ▸ text (`finish`).
 */
export class UpdatePreparation {
  readonly #base: Preparation

  constructor(base: Preparation) {
    this.#base = base
  }

  /**
   * Follows an update's effect on unset fields; `undefined` where that does not matter. `stored` is the present version.
   */
  trace(
    { space }: WriteContext,
    type: ResourceType,
    current: Stored,
    stored: KubeObject,
    subresource: string,
  ): UpdateTrace | undefined {
    const { provenance } = this.#base
    const target = this.#base.target(space, type)
    const part = provenance?.partOf(space, target, stored)
    if (provenance === undefined || part === undefined) return undefined
    return new UpdateTrace({ provenance, type: target, part, current, stored, subresource })
  }

  /** The client's object, readable and in the storage version, before any additions or checks. */
  *receive(
    context: WriteContext,
    type: ResourceType,
    requested: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
    trace?: UpdateTrace,
  ): Steps<KubeObject> {
    const versioned =
      FORMS[type.form].requireResourceVersion || this.#base.deps.strategyFor(type)?.requireResourceVersion === true
    requireSameObject(type, requested, old, versioned)
    yield* this.#base.rules.normalize(context, type, requested, options.fromPatch)
    const target = this.#base.target(context.space, type)
    const object = convertTo(requested, workingApiVersion(target), target)
    keepSystemMetadata(object, old)
    const strategy = this.#base.deps.strategyFor(target)
    strategy?.takeIn?.(object)
    trace?.requested(object)
    if (trace) yield
    this.#base.rules.applyDefaults(target, strategy, object)
    if (trace) yield
    if (trace) yield* trace.defaulted(object)
    return object
  }

  async admit(steps: readonly Admission[], request: AdmissionRequest, options: UpdateOptions): Promise<void> {
    const { type, object } = request
    let { context } = request
    let { work } = context
    const old = request.old!
    const target = this.#base.target(context.space, type)
    const strategy = this.#base.deps.strategyFor(target)
    await runStage(steps, 'gate', request)
    if (work?.due) await work.rest()
    let own = options
    if (steps.some(step => step.stage === 'mutate')) {
      this.#base.rules.complete(target, object)
      if (!options.managesFields) {
        // nobody comes to own what admission changes
        const untouched = cloneJson(object)
        this.#carryOver(target, untouched, old, options)
        if (work?.due) await work.rest()
        setManaged(object, await inSlices(this.#track(context, type, untouched, old, options), work))
      }
      own = { ...options, managesFields: true }
      if (work?.due) await work.rest()
      const admitted = await this.#base.mutate(steps, request, target, strategy, options.trace?.filled)
      options.trace?.admitted(admitted.unset)
      context = admitted.context
      work = context.work
      keepSystemMetadata(object, old)
    }
    const completing = this.#completing(context, type, object, old, own)
    await inSlices(this.#begin(completing), work)
    if (work?.due) await work.rest()
    const { subresource = '' } = options
    const judged =
      subresource === 'status'
        ? strategy
        : await this.#base.judging.before(context, target, { object, old, subresource })
    const check = (verdict?: Verdict): FieldError[] => this.#check(completing, verdict, judged)
    const errors = await this.#base.judging.checked(check, context, target, object, old)
    if (work?.due) await work.rest()
    await inSlices(this.#end(completing, errors, judged), work)
    await runStage(steps, 'prepare', request)
    await runStage(steps, 'validate', request)
    if (work?.due) await work.rest()
  }

  #carryOver(
    target: ResourceType,
    object: KubeObject,
    old: KubeObject,
    { subresource = '', withStatus = false }: UpdateOptions,
  ): void {
    const strategy = this.#base.deps.strategyFor(target)
    if (subresource === 'status') onlyStatus(object, old, keptByStatus(target, strategy))
    else if (subresource === '') {
      const kept = withStatus ? sayingStatus(old, object) : old
      if (target.subresources.includes('status')) keepStatus(object, kept)
      strategy?.prepareForUpdate?.(object, kept)
    }
    strategy?.subresources?.[subresource]?.prepareForUpdate(object, old)
  }

  *#track(
    context: WriteContext,
    type: ResourceType,
    after: KubeObject,
    before: KubeObject,
    { subresource = '', withStatus = false }: UpdateOptions,
  ): Steps<ManagedFieldsEntry[] | undefined> {
    const target = this.#base.target(context.space, type)
    const requested = this.#base.asRequested(context.space, type, target, after)
    return yield* trackInSteps({
      ...requested,
      before: requested.inVersion ? inVersionOf(type, before) : before,
      manager: context.fieldManager,
      ignored: withStatus ? [] : unwritable(target, subresource),
      isSmall: context.work === undefined,
      ...(subresource && { subresource }),
      now: timestamp(this.#base.deps.clock()),
    })
  }

  /**
   * Prepares, validates and signs the object that is to replace `old`.
   * @throws UnfinishedCheck when validating takes longer than it may here
   */
  complete(
    context: WriteContext,
    type: ResourceType,
    object: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
  ): void {
    const completing = this.#completing(context, type, object, old, options)
    atOnce(this.#begin(completing))
    atOnce(this.#end(completing, this.#check(completing)))
  }

  #completing(
    context: WriteContext,
    type: ResourceType,
    object: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
  ): Completing {
    const target = this.#base.target(context.space, type)
    const strategy = this.#base.deps.strategyFor(target)
    return { context, type, target, strategy, object, old, options, subresource: options.subresource ?? '' }
  }

  *#begin({ context, target, strategy, object, old, options, subresource }: Completing): Steps<void> {
    const { rules } = this.#base
    // before anything is compared: clients need not send it
    rules.annotate(object, context.space)
    this.#carryOver(target, object, old, options)
    rules.complete(target, object)
    options.trace?.keepBare(object)
    yield
    if (
      !strategy?.noGeneration &&
      subresource !== 'status' &&
      specChanged(object, old, strategy?.generationOnMetadata === true)
    ) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
  }

  /** `verdict`: of a thread. `judged`: the strategy, when it has judged already. @throws UnfinishedCheck without a verdict */
  #check(
    { context, target, strategy, object, old, subresource }: Completing,
    verdict?: Verdict,
    judged = strategy,
  ): FieldError[] {
    const { rules } = this.#base
    return errorsOf(() => [
      // the name was right when it was given
      ...validateObjectMeta(object.metadata, {
        ...metaRules(target, strategy),
        nameRule: 'pathSegment',
        before: old.metadata,
      }),
      ...FORMS[target.form].finalizerErrors(target, object.metadata, old.metadata),
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...(subresource === 'status'
        ? (strategy?.validateStatusUpdate?.(object, old) ?? rules.validateSchema(context, target, object, old, verdict))
        : rules.validate(context, target, judged, object, old, subresource, verdict)),
    ])
  }

  *#end(
    { context, type, target, strategy, object, old, options, subresource }: Completing,
    errors: FieldError[],
    judged = strategy,
  ): Steps<void> {
    const { rules } = this.#base
    if (errors.length > 0) throw statusError.invalid(target, object.metadata.name ?? '', errors)
    if (subresource === '') {
      const warnings =
        judged?.warnings?.(object, old) ?? FORMS[target.form].finalizerWarnings(object.metadata, old.metadata)
      for (const text of warnings) context.warn(text)
    }
    yield
    if (!options.managesFields) setManaged(object, yield* this.#track(context, type, object, old, options))
    yield
    rules.finish(target, object)
    options.trace?.keepBare(object)
  }

  /** An object on its way out goes with its last finalizer. */
  *finish(object: KubeObject, { old, note, isLarge, isShared }: Finishing): Steps<TextMutation> {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
    const gone =
      deletionTimestamp !== undefined &&
      deletionGracePeriodSeconds === 0 &&
      finalizers.length === 0 &&
      !hasNamespaceFinalizers(object)
    if (gone) return { type: 'delete', text: encodeObject(object) }
    const text = yield* encodeWithin(object, { old, isLarge, isShared })
    const leadsOut = deletionTimestamp !== undefined && finalizersOf(object) < finalizersOf(old)
    return {
      type: 'put',
      text: note === undefined ? text : { ...text, note },
      ...(leadsOut && { leads: 'out' }),
    }
  }
}

interface Finishing {
  readonly old: KubeObject
  readonly note: string | undefined
  /** Work on it goes in slices. */
  readonly isLarge: boolean
  /** Objects of other spaces say the same, or did so before. */
  readonly isShared?: boolean | undefined
}

/** `old`, as if the status had been that of `object`. */
function sayingStatus({ status: _former, ...old }: KubeObject, { status }: KubeObject): KubeObject {
  return { ...old, ...(status !== undefined && { status }) }
}

/** How many hold the object, its kind's own among them. */
function finalizersOf(object: KubeObject): number {
  const own = object.kind === 'Namespace' && isRecord(object.spec) ? object.spec.finalizers : undefined
  return (object.metadata.finalizers?.length ?? 0) + (Array.isArray(own) ? own.length : 0)
}
