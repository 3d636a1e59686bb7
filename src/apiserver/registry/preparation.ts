/**
 * What becomes of an object between a request and the store: prune ▸ convert ▸ defaults ▸ admit (gate, mutate) ▸ system
 * metadata ▸ strategy ▸ admit (prepare) ▸ validate ▸ managed fields ▸ admit (validate). Updates run `prepare` after managed fields.
 */
import { EMPTY_SET, type FieldSet } from '../../apimachinery/apply/fieldSet.ts'
import { trackInSteps } from '../../apimachinery/apply/managedFields.ts'
import { statusError } from '../../apimachinery/errors.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { metadataLimitErrors } from '../../apimachinery/metadataLimits.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../apimachinery/names.ts'
import { isRecord, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import { checkObjectSize } from '../../apimachinery/objectSize.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { atOnce, inSlices, type Steps } from '../../apimachinery/steps.ts'
import { pruneUnknown } from '../../apimachinery/structural/prune.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Strategy } from '../../kinds/strategy.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Encoded, Mutation, Store, Stored } from '../../storage/store.ts'
import {
  type Admission,
  type AdmissionRequest,
  Outcome,
  optionsOf,
  runMutations,
  runStage,
  type SubresourceView,
  stepsFor,
} from './admission.ts'
import { encodeObject, type ParsedCache } from './codec.ts'
import type { WriteContext } from './context.ts'
import { convertTo } from './convert.ts'
import { encodeInSteps } from './encodeInSteps.ts'
import { FORMS } from './forms.ts'
import { Judging } from './judging.ts'
import type { Verdict } from './longChecks.ts'
import {
  clearsStatus,
  errorsOf,
  keptByStatus,
  metaRules,
  ObjectRules,
  type ObjectRulesDeps,
  type PatchSource,
} from './objectRules.ts'
import { inVersionOf, otherVersions, type TypeLookup } from './otherVersions.ts'
import { BARE, content, filledIn, noteOf, type Part, Provenance, type Travel, withoutUnsaid } from './provenance.ts'
import { requireSameObject } from './resourceVersions.ts'
import type { SharedObjects } from './sharedObjects.ts'
import {
  hasNamespaceFinalizers,
  keepStatus,
  keepSystemMetadata,
  onlyStatus,
  setManaged,
  specChanged,
  unwritable,
  wipeSystemMetadata,
} from './systemMetadata.ts'
import type { Circumstances } from './templates.ts'
import { UpdateTrace } from './updateTrace.ts'
import { toStored, workingApiVersion } from './views.ts'

/** A mutation with the text that it leaves. */
export type TextMutation = Mutation & { readonly text: Encoded }

export interface RegistryDeps extends ObjectRulesDeps {
  store: Store
  parsed: ParsedCache
  /** Storage-version descriptor of a resource in a space. */
  storageType(space: string, type: ResourceType): ResourceType
  typeAt: TypeLookup
  admission: readonly Admission[]
  /** What every space has without storing it. */
  shared?: SharedObjects
  /** Which objects travel between spaces. Absent: none does. */
  travel?: Travel
  clock: () => Date
  uuid: () => string
  random: () => number
  /** In whose slices large objects are written. Absent: at once. */
  turns?: WorkTurns
}

export interface UpdateOptions {
  /** `''` for the object itself. */
  subresource?: string
  /** Makes the object when it is missing (server-side apply, and PUT for kinds that allow it). */
  create?: (() => KubeObject) | { readonly steps: () => Steps<KubeObject> } | undefined
  /** Asked before that. @throws StatusError Forbidden */
  mayCreate?: () => Promise<void>
  preconditions?: { uid?: string; resourceVersion?: string } | undefined
  /** The change is this patch: what it makes unreadable is an invalid patch (422) instead of a bad body (400). */
  fromPatch?: PatchSource | undefined
  /** The change brings its own managedFields (server-side apply). */
  managesFields?: boolean
  /** What becomes of what nobody said: one attempt's. */
  trace?: UpdateTrace | undefined
  /** How admission sees a change that came through a sub-resource with a kind of its own (`scale`). */
  view?: SubresourceView & { subresource: string }
}

interface Creation {
  context: WriteContext
  type: ResourceType
  namespace: string
  outcome: Outcome
}

export class Preparation {
  readonly #deps: RegistryDeps
  readonly #rules: ObjectRules
  readonly #judging: Judging
  /** Absent where nothing travels. */
  readonly provenance: Provenance | undefined

  constructor(deps: RegistryDeps) {
    this.#deps = deps
    this.#rules = new ObjectRules(deps)
    this.#judging = new Judging(deps, this.#rules)
    this.provenance =
      deps.travel &&
      new Provenance(deps.travel, (type, object) => this.#rules.applyDefaults(type, deps.strategyFor(type), object))
  }

  /** What an object that somebody sends is made by. */
  circumstances(context: WriteContext, type: ResourceType, sent: KubeObject): Circumstances {
    const { space } = context
    const target = this.#target(space, type)
    const part = this.provenance?.partOf(space, target, sent)
    return { context, type, target, part, parameterized: this.#deps.parameterized?.(space, target, sent) }
  }

  /** The descriptor of the version that objects of `type` are handled in. */
  #target(space: string, type: ResourceType): ResourceType {
    return type.custom ? type : this.#deps.storageType(space, type)
  }

  /** What is to be stored, and who has to be told what became of it. */
  async prepareCreate(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    object: KubeObject,
  ): Promise<{ text: Encoded; outcome: Outcome }> {
    const outcome = new Outcome()
    try {
      return { text: await this.#prepareCreate({ context, type, namespace, outcome }, object), outcome }
    } catch (error) {
      outcome.settle(undefined)
      throw error
    }
  }

  async #prepareCreate({ context, type, namespace, outcome }: Creation, object: KubeObject): Promise<Encoded> {
    const { clock, uuid } = this.#deps
    const { work } = context
    await inSlices(this.#rules.normalize(context, type, object), work)
    const target = this.#target(context.space, type)
    convertTo(object, workingApiVersion(target), target)
    const strategy = this.#deps.strategyFor(target)
    wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
    strategy?.takeIn?.(object)
    const part = this.provenance?.partOf(context.space, target, object)
    const asked = part && cloneJson(content(object))
    if (work?.due) await work.rest()
    this.#rules.applyDefaults(target, strategy, object)
    if (work?.due) await work.rest()
    const unsaid = asked && filledIn(asked, object, target.schema)
    const { space, user } = context
    const steps = stepsFor(this.#deps.admission, type, 'CREATE', { space, namespace, subresource: '', user })
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
      this.#rules.annotate(object, space)
      this.#rules.complete(target, object)
      if (work?.due) await work.rest()
      const tracking = trackInSteps({
        before: undefined,
        ...this.#asAsked(space, type, target, object),
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
      await this.#mutate(steps, request, target, strategy)
      wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
      this.#rules.annotate(object, space)
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
    const judged = await this.#judging.before(context, target, { object, old: undefined, subresource: '' })
    const check = (verdict?: Verdict): FieldError[] =>
      errorsOf(() => [
        ...validateObjectMeta(metadata, metaRules(target, strategy)),
        ...FORMS[target.form].finalizerErrors(target, metadata),
        ...this.#rules.validate(context, target, judged, object, undefined, '', verdict),
      ])
    const errors = await this.#judging.checked(check, context, target, object)
    if (errors.length > 0) throw statusError.invalid(target, metadata.name ?? '', errors, this.#rules.shown(target))
    if (work?.due) await work.rest()
    for (const text of judged?.warnings?.(object) ?? FORMS[target.form].finalizerWarnings(metadata)) context.warn(text)
    if (work?.due) await work.rest()
    this.#rules.finish(target, object)
    if (!isApplied(object)) setManaged(object, claims)
    await runStage(steps, 'validate', request)
    if (work?.due) await work.rest()
    const kept = part === 'copy' ? withoutUnsaid(object, unsaid!, target.schema) : object
    const stored = await toStored(kept, target)
    if (work?.due) await work.rest()
    return noted(await inSlices(encodeWithin(stored, { isLarge: work !== undefined }), work), part, unsaid)
  }

  /** Follows what an update makes of what nobody said; `undefined` where that is not at stake. `stored` is what is there. */
  trace(
    { space }: WriteContext,
    type: ResourceType,
    current: Stored,
    stored: KubeObject,
    subresource: string,
  ): UpdateTrace | undefined {
    const { provenance } = this
    const target = this.#target(space, type)
    const part = provenance?.partOf(space, target, stored)
    if (provenance === undefined || part === undefined) return undefined
    return new UpdateTrace({ provenance, type: target, part, current, stored, subresource })
  }

  /** What a client asked for, readable and in the storage version, before anything is added or checked. */
  *receiveUpdate(
    context: WriteContext,
    type: ResourceType,
    asked: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
    trace?: UpdateTrace,
  ): Steps<KubeObject> {
    const versioned =
      FORMS[type.form].requireResourceVersion || this.#deps.strategyFor(type)?.requireResourceVersion === true
    requireSameObject(type, asked, old, versioned)
    yield* this.#rules.normalize(context, type, asked, options.fromPatch)
    const target = this.#target(context.space, type)
    const object = convertTo(asked, workingApiVersion(target), target)
    keepSystemMetadata(object, old)
    const strategy = this.#deps.strategyFor(target)
    strategy?.takeIn?.(object)
    trace?.asked(object)
    if (trace) yield
    this.#rules.applyDefaults(target, strategy, object)
    if (trace) yield
    trace?.defaulted(object)
    return object
  }

  async admitUpdate(steps: readonly Admission[], request: AdmissionRequest, options: UpdateOptions): Promise<void> {
    const { context, type, object } = request
    const old = request.old!
    const target = this.#target(context.space, type)
    const strategy = this.#deps.strategyFor(target)
    await runStage(steps, 'gate', request)
    const { work } = context
    if (work?.due) await work.rest()
    let own = options
    if (steps.some(step => step.stage === 'mutate')) {
      this.#rules.complete(target, object)
      if (!options.managesFields) {
        // nobody comes to own what admission changes
        const untouched = cloneJson(object)
        this.#carryOver(target, untouched, old, options.subresource ?? '')
        if (work?.due) await work.rest()
        setManaged(object, await inSlices(this.#track(context, type, untouched, old, options), work))
      }
      own = { ...options, managesFields: true }
      if (work?.due) await work.rest()
      await this.#mutate(steps, request, target, strategy)
      keepSystemMetadata(object, old)
    }
    const update = this.#update(context, type, object, old, own)
    await inSlices(update.begin(), work)
    if (work?.due) await work.rest()
    const { subresource = '' } = options
    const judged =
      subresource === 'status' ? strategy : await this.#judging.before(context, target, { object, old, subresource })
    const check = (verdict?: Verdict): FieldError[] => update.check(verdict, judged)
    const errors = await this.#judging.checked(check, context, target, object, old)
    if (work?.due) await work.rest()
    await inSlices(update.end(errors, judged), work)
    await runStage(steps, 'prepare', request)
    await runStage(steps, 'validate', request)
    if (work?.due) await work.rest()
  }

  /** The `mutate` steps, once or twice; the object's managedFields stay as they are. */
  async #mutate(
    steps: readonly Admission[],
    request: AdmissionRequest,
    target: ResourceType,
    strategy: Strategy | undefined,
  ): Promise<void> {
    const { object } = request
    const { managedFields } = object.metadata
    const settle = (changed: KubeObject): void => {
      const rules = FORMS[target.form]
      rules.dropNulls(changed, target.schema)
      pruneUnknown(changed, target.schema)
      const wrong = this.#rules.typeErrors(request.context.space, target, changed)
      if (wrong) throw new Error(wrong)
      this.#rules.applyDefaults(target, strategy, changed)
    }
    await runMutations(steps, request, settle)
    setManaged(object, managedFields)
  }

  #carryOver(target: ResourceType, object: KubeObject, old: KubeObject, subresource: string): void {
    const strategy = this.#deps.strategyFor(target)
    if (subresource === 'status') onlyStatus(object, old, keptByStatus(target, strategy))
    else if (subresource === '') {
      if (target.subresources.includes('status')) keepStatus(object, old)
      strategy?.prepareForUpdate?.(object, old)
    }
    strategy?.subresources?.[subresource]?.prepareForUpdate(object, old)
  }

  *#track(
    context: WriteContext,
    type: ResourceType,
    after: KubeObject,
    before: KubeObject,
    { subresource = '' }: UpdateOptions,
  ): Steps<ManagedFieldsEntry[] | undefined> {
    const target = this.#target(context.space, type)
    const asked = this.#asAsked(context.space, type, target, after)
    return yield* trackInSteps({
      ...asked,
      before: asked.inVersion ? inVersionOf(type, before) : before,
      manager: context.fieldManager,
      ignored: unwritable(target, subresource),
      ...(subresource && { subresource }),
      now: timestamp(this.#deps.clock()),
    })
  }

  /** An object in the version in which it is handled, as its fields are claimed: in the version of the request. */
  #asAsked(space: string, type: ResourceType, target: ResourceType, object: KubeObject) {
    const others = otherVersions(this.#deps.typeAt, space, type)
    const shown = others.inVersion ? type : target
    const after = others.inVersion ? inVersionOf(type, object) : object
    return { ...others, ...this.#rules.zeroOf(shown), after, schema: shown.schema, apiVersion: after.apiVersion }
  }

  /**
   * Prepares, validates and signs the object that is to replace `old`.
   * @throws UnfinishedCheck when validating takes longer than it may here
   */
  completeUpdate(
    context: WriteContext,
    type: ResourceType,
    object: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
  ): void {
    const update = this.#update(context, type, object, old, options)
    atOnce(update.begin())
    atOnce(update.end(update.check()))
  }

  #update(
    context: WriteContext,
    type: ResourceType,
    object: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
  ): UpdateSteps {
    const subresource = options.subresource ?? ''
    const target = this.#target(context.space, type)
    const strategy = this.#deps.strategyFor(target)
    const { space } = context
    const rules = this.#rules
    const carryOver = (): void => this.#carryOver(target, object, old, subresource)
    const track = (): Steps<ManagedFieldsEntry[] | undefined> => this.#track(context, type, object, old, options)
    return {
      *begin() {
        // before anything is compared: clients need not send it
        rules.annotate(object, space)
        carryOver()
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
      },
      check: (verdict, judged = strategy) =>
        errorsOf(() => [
          // the name was right when it was given
          ...validateObjectMeta(object.metadata, {
            ...metaRules(target, strategy),
            nameRule: 'pathSegment',
            before: old.metadata,
          }),
          ...FORMS[target.form].finalizerErrors(target, object.metadata, old.metadata),
          ...validateObjectMetaUpdate(object.metadata, old.metadata),
          ...(subresource === 'status'
            ? (strategy?.validateStatusUpdate?.(object, old) ??
              this.#rules.validateSchema(context, target, object, old, verdict))
            : this.#rules.validate(context, target, judged, object, old, subresource, verdict)),
        ]),
      *end(errors, judged = strategy) {
        if (errors.length > 0)
          throw statusError.invalid(target, object.metadata.name ?? '', errors, rules.shown(target))
        if (subresource === '') {
          const warnings =
            judged?.warnings?.(object, old) ?? FORMS[target.form].finalizerWarnings(object.metadata, old.metadata)
          for (const text of warnings) context.warn(text)
        }
        yield
        if (!options.managesFields) setManaged(object, yield* track())
        yield
        rules.finish(target, object)
        options.trace?.keepBare(object)
      },
    }
  }

  /** An object on its way out goes with its last finalizer. `isLarge`: what is done with it is done in slices. */
  *finishUpdate(
    object: KubeObject,
    { old, note, isLarge }: { old: KubeObject; note: string | undefined; isLarge: boolean },
  ): Steps<TextMutation> {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
    const gone =
      deletionTimestamp !== undefined &&
      deletionGracePeriodSeconds === 0 &&
      finalizers.length === 0 &&
      !hasNamespaceFinalizers(object)
    if (gone) return { type: 'delete', text: encodeObject(object) }
    const text = yield* encodeWithin(object, { old, isLarge })
    const leadsOut = deletionTimestamp !== undefined && finalizersOf(object) < finalizersOf(old)
    return {
      type: 'put',
      text: note === undefined ? text : { ...text, note },
      ...(leadsOut && { leads: 'out' }),
    }
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

/** @throws StatusError RequestEntityTooLarge */
function* encodeWithin(object: KubeObject, { old, isLarge }: { old?: KubeObject; isLarge: boolean }): Steps<Encoded> {
  const text = isLarge ? yield* encodeInSteps(object) : encodeObject(object)
  yield
  yield* checkObjectSize(object, text.head.length + text.tail.length, old)
  return text
}

/** How many hold the object, its kind's own among them. */
function finalizersOf(object: KubeObject): number {
  const own = object.kind === 'Namespace' && isRecord(object.spec) ? object.spec.finalizers : undefined
  return (object.metadata.finalizers?.length ?? 0) + (Array.isArray(own) ? own.length : 0)
}

/** What an update goes through, in this order. */
interface UpdateSteps {
  begin(): Steps<void>
  /** `verdict`: of a thread. `judged`: the strategy, when it has judged already. @throws UnfinishedCheck without a verdict */
  check(verdict?: Verdict, judged?: Strategy): FieldError[]
  end(errors: FieldError[], judged?: Strategy): Steps<void>
}

/** Whether server-side apply made the object: it brings its own managedFields. */
function isApplied({ metadata }: KubeObject): boolean {
  return metadata.managedFields?.some(entry => entry.operation === 'Apply') === true
}
