/**
 * The order of a write: decode ▸ convert ▸ prune ▸ system metadata ▸ defaults ▸ strategy ▸ validate ▸ admit ▸ managed fields ▸ store.
 *
 * An update is a function of the current object. Kinds without asynchronous admission run it inside the store's queue, so
 * chained updates never conflict; the others compare-and-write and try again.
 */
import { trackUpdate } from '../../apimachinery/apply/managedFields.ts'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, formatFieldError } from '../../apimachinery/fieldErrors.ts'
import { generateName, validateObjectMeta, validateObjectMetaUpdate } from '../../apimachinery/names.ts'
import { apiVersionOf, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'
import { pruneUnknown } from '../../apimachinery/structural/prune.ts'
import { typeErrors } from '../../apimachinery/structural/typeErrors.ts'
import type { Encoded, Mutation, Store, Stored } from '../../storage/store.ts'
import {
  type Admission,
  type AdmissionRequest,
  optionsOf,
  runStage,
  type SubresourceView,
  stepsFor,
} from './admission.ts'
import { encodeObject, type ParsedCache, sameObject } from './codec.ts'
import type { WriteContext } from './context.ts'
import { convertTo } from './convert.ts'
import { unqualifiedFinalizers } from './finalizerNames.ts'
import { dropNulls } from './nulls.ts'
import { clearsStatus, metaRules, ObjectRules, type ObjectRulesDeps } from './objectRules.ts'
import { keyOf } from './reader.ts'
import type { Strategy } from './strategy.ts'
import {
  checkPreconditions,
  hasNamespaceFinalizers,
  keepStatus,
  keepSystemMetadata,
  onlyStatus,
  setManaged,
  specChanged,
  timestamp,
  unwritable,
  wipeSystemMetadata,
} from './systemMetadata.ts'
import { hasStorageVersion, objectFor, prepareViews, toStored, toStoredNow, workingApiVersion } from './views.ts'

export type { Admission, AdmissionRequest } from './admission.ts'

export interface RegistryDeps extends ObjectRulesDeps {
  store: Store
  parsed: ParsedCache
  /** Storage-version descriptor of a resource in a space. */
  storageType(space: string, type: ResourceType): ResourceType
  admission: readonly Admission[]
  clock: () => Date
  uuid: () => string
  random: () => number
}

export interface UpdateOptions {
  /** `''` for the object itself. */
  subresource?: string
  /** Makes the object when it is missing (server-side apply, and PUT for kinds that allow it). */
  create?: (() => KubeObject) | undefined
  preconditions?: { uid?: string; resourceVersion?: string } | undefined
  /** The change is a patch: what it makes unreadable is an invalid patch (422) instead of a bad body (400). */
  fromPatch?: boolean
  /** The change brings its own managedFields (server-side apply). */
  managesFields?: boolean
  /** How admission sees a change that came through a sub-resource with a kind of its own (`scale`). */
  view?: SubresourceView & { subresource: string }
}

export interface Written {
  stored: Stored
  created: boolean
}

const GENERATE_NAME_TRIES = 8
const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

export class Registry {
  /** For operations that stand beside the registry (deletion). */
  readonly deps: RegistryDeps
  readonly #rules: ObjectRules

  constructor(deps: RegistryDeps) {
    this.deps = deps
    this.#rules = new ObjectRules(deps)
  }

  /** `input` is in the version of `type`; it is taken over and changed. */
  async create(context: WriteContext, type: ResourceType, namespace: string, input: KubeObject): Promise<Written> {
    const base = input.metadata.generateName
    const generated = !input.metadata.name && typeof base === 'string' && base !== ''
    if (input.metadata.resourceVersion)
      throw statusError.badRequest('resourceVersion should not be set on objects to be created')
    for (let attempt = 1; ; attempt++) {
      const object = generated ? structuredClone(input) : input
      if (generated) object.metadata.name = generateName(base, this.deps.random)
      const text = await this.#prepareCreate(context, type, namespace, object)
      const key = keyOf(context.space, type, namespace, object.metadata.name ?? '')
      if (context.dryRun) {
        if ((await this.deps.store.get(key)) !== undefined) throw statusError.alreadyExists(type, key.name)
        return { stored: { key, revision: 0, bytes: Buffer.from(JSON.stringify(object)) }, created: true }
      }
      const result = await this.deps.store.write({ key, mutation: { type: 'put', text }, expect: 0 })
      if (result.ok) return await written(result.stored, true, type)
      if (!generated || attempt === GENERATE_NAME_TRIES) throw statusError.alreadyExists(type, key.name)
    }
  }

  /**
   * `change` gets a private copy of the current object in the version of `type` and returns what it shall become; it must be
   * synchronous and may run more than once. Updates that change nothing write nothing.
   */
  async update(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    name: string,
    change: (current: KubeObject) => KubeObject,
    options: UpdateOptions = {},
  ): Promise<Written> {
    const key = keyOf(context.space, type, namespace, name)
    const { store } = this.deps
    const receive = (current: Stored): { object: KubeObject; old: KubeObject } => {
      const old = objectFor(current, type)
      checkPreconditions(type, name, old, options.preconditions)
      const asked = change(convertTo(structuredClone(old), apiVersionOf(type), type))
      return { object: this.#receiveUpdate(context, type, asked, old, options), old }
    }
    const { view } = options
    const subresource = view?.subresource ?? options.subresource ?? ''
    const target = { space: context.space, namespace, subresource, user: context.user }
    const steps = stepsFor(this.deps.admission, type, 'UPDATE', target)
    let careful =
      context.dryRun || type.custom?.convert !== undefined || steps.some(step => step.concerns === undefined)
    for (;;) {
      const current = await store.get(key)
      if (current === undefined) {
        if (!options.create) throw statusError.notFound(type, name)
        try {
          return await this.create(context, type, namespace, options.create())
        } catch (error) {
          // Somebody else created it meanwhile: then it is an update after all.
          if (error instanceof StatusError && error.reason === 'AlreadyExists') continue
          throw error
        }
      }
      if (careful) {
        await prepareViews([current], type)
        const { object, old } = receive(current)
        const request: AdmissionRequest = {
          operation: 'UPDATE',
          context,
          type,
          requestType: type,
          subresource,
          object,
          old,
          options: optionsOf(options.fromPatch || options.managesFields ? 'PatchOptions' : 'UpdateOptions', context),
          ...(view && { view }),
        }
        const concerned = steps.filter(step => step.concerns?.(request) !== false)
        await this.#admitUpdate(concerned, request, options)
        const mutation = this.#finishUpdate(await toStored(object, type))
        if (isUnchanged(current, type, mutation, old, object)) return { stored: current, created: false }
        if (context.dryRun) {
          const { head, tail } = mutation.text
          return {
            stored: { key, revision: current.revision, bytes: Buffer.from(head + current.revision + tail) },
            created: false,
          }
        }
        const result = await store.write({ key, mutation, expect: current.revision })
        if (result.ok) return await written(result.stored, false, type)
        if (result.current === undefined && !options.create) throw statusError.notFound(type, name)
        continue
      }
      let missing = false
      const stored = await store.update(key, now => {
        missing = now === undefined
        if (now === undefined) return undefined
        const { object, old } = receive(now)
        careful = steps.some(step => step.concerns?.({ object, old, context }) !== false)
        if (careful) return undefined
        this.#completeUpdate(context, type, object, old, options)
        const mutation = this.#finishUpdate(toStoredNow(object, type))
        return isUnchanged(now, type, mutation, old, object) ? undefined : mutation
      })
      if (!careful && !missing && stored !== undefined) return { stored, created: false }
    }
  }

  /** The descriptor of the version that objects of `type` are handled in. */
  #target(space: string, type: ResourceType): ResourceType {
    return type.custom ? type : this.deps.storageType(space, type)
  }

  async #prepareCreate(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    object: KubeObject,
  ): Promise<Encoded> {
    const { clock, uuid } = this.deps
    this.#rules.normalize(context, type, object)
    const target = this.#target(context.space, type)
    convertTo(object, workingApiVersion(target), target)
    const strategy = this.deps.strategyFor(target)
    wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
    this.#rules.applyDefaults(target, strategy, object)
    const { space, user } = context
    const steps = stepsFor(this.deps.admission, type, 'CREATE', { space, namespace, subresource: '', user })
    const request: AdmissionRequest = {
      operation: 'CREATE',
      context,
      type: target,
      requestType: type,
      subresource: '',
      object,
      old: undefined,
      options: optionsOf('CreateOptions', context),
    }
    await runStage(steps, 'gate', request)
    const now = timestamp(clock())
    let claims: ManagedFieldsEntry[] | undefined
    const track = (): ManagedFieldsEntry[] | undefined =>
      trackUpdate({
        before: undefined,
        after: object,
        ...this.#rules.zeroOf(target),
        schema: target.schema,
        manager: context.fieldManager,
        apiVersion: object.apiVersion,
        ignored: unwritable(target, ''),
        now,
      })
    const mutated = steps.some(step => step.stage === 'mutate')
    if (mutated) {
      this.#rules.annotate(object, context.space)
      claims = track()
      if (!object.metadata.managedFields?.some(entry => entry.operation === 'Apply')) setManaged(object, claims)
      await this.#mutate(steps, request, target, strategy)
      wipeSystemMetadata(object, type.namespaced ? namespace : undefined)
    }
    const { metadata } = object
    metadata.uid = uuid()
    metadata.creationTimestamp = now
    if (!strategy?.noGeneration) metadata.generation = 1
    if (target.subresources.includes('status') && clearsStatus(target)) delete object.status
    // nobody comes to own what the server adds from here on
    if (!mutated) {
      this.#rules.annotate(object, context.space)
      claims = track()
    }
    strategy?.prepareForCreate?.(object)
    await runStage(steps, 'prepare', request)
    const errors = [
      ...validateObjectMeta(metadata, metaRules(target, strategy)),
      ...unqualifiedFinalizers(target, metadata),
      ...this.#rules.validate(target, strategy, object, undefined),
    ]
    if (errors.length > 0) throw statusError.invalid(target, metadata.name ?? '', errors)
    this.#rules.annotate(object, context.space)
    setManaged(
      object,
      object.metadata.managedFields?.some(entry => entry.operation === 'Apply')
        ? object.metadata.managedFields
        : claims,
    )
    await runStage(steps, 'validate', request)
    return encodeObject(await toStored(object, target))
  }

  /** What a client asked for, readable and in the storage version, before anything is added or checked. */
  #receiveUpdate(
    context: WriteContext,
    type: ResourceType,
    asked: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
  ): KubeObject {
    const sent = asked.metadata.resourceVersion
    if (sent !== undefined && sent !== '' && sent !== old.metadata.resourceVersion) {
      throw statusError.conflict(type, old.metadata.name ?? '', MODIFIED)
    }
    if (asked.metadata.uid && asked.metadata.uid !== old.metadata.uid) {
      throw statusError.conflict(
        type,
        old.metadata.name ?? '',
        `Precondition failed: UID in precondition: ${asked.metadata.uid}, UID in object meta: ${old.metadata.uid}`,
      )
    }
    this.#rules.normalize(context, type, asked, options.fromPatch)
    const target = this.#target(context.space, type)
    const object = convertTo(asked, workingApiVersion(target), target)
    keepSystemMetadata(object, old)
    this.#rules.applyDefaults(target, this.deps.strategyFor(target), object)
    return object
  }

  async #admitUpdate(steps: readonly Admission[], request: AdmissionRequest, options: UpdateOptions): Promise<void> {
    const { context, type, object } = request
    const old = request.old!
    const target = this.#target(context.space, type)
    const strategy = this.deps.strategyFor(target)
    await runStage(steps, 'gate', request)
    let own = options
    if (steps.some(step => step.stage === 'mutate')) {
      // nobody comes to own what admission changes
      const untouched = structuredClone(object)
      this.#carryOver(target, untouched, old, options.subresource ?? '')
      if (!options.managesFields) setManaged(object, this.#track(context, target, untouched, old, options))
      own = { ...options, managesFields: true }
      await this.#mutate(steps, request, target, strategy)
      keepSystemMetadata(object, old)
    }
    this.#completeUpdate(context, type, object, old, own)
    await runStage(steps, 'prepare', request)
    await runStage(steps, 'validate', request)
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
    const memory = new Map<object, unknown>()
    const settle = (changed: KubeObject): void => {
      if (target.origin === 'builtin') dropNulls(changed, target.schema)
      else dropNulls(changed.metadata, objectMetaSchema)
      pruneUnknown(changed, target.schema)
      const wrong = target.origin === 'builtin' && target.schema ? typeErrors(changed, target.schema) : undefined
      if (wrong) throw new Error(wrong)
      this.#rules.applyDefaults(target, strategy, changed)
    }
    let again = true
    for (let round = 1; again && round <= 2; round++) {
      again = false
      const runAgain = (): void => {
        again = true
      }
      await runStage(steps, 'mutate', { ...request, rounds: { round, memory, runAgain, settle } })
    }
    setManaged(object, managedFields)
  }

  #carryOver(target: ResourceType, object: KubeObject, old: KubeObject, subresource: string): void {
    if (subresource === 'status') onlyStatus(object, old)
    else if (subresource === '') {
      if (target.subresources.includes('status')) keepStatus(object, old)
      this.deps.strategyFor(target)?.prepareForUpdate?.(object, old)
    }
  }

  #track(
    context: WriteContext,
    target: ResourceType,
    after: KubeObject,
    before: KubeObject,
    { subresource = '' }: UpdateOptions,
  ): ManagedFieldsEntry[] | undefined {
    return trackUpdate({
      before,
      after,
      schema: target.schema,
      manager: context.fieldManager,
      apiVersion: after.apiVersion,
      ignored: unwritable(target, subresource),
      ...(subresource && { subresource }),
      now: timestamp(this.deps.clock()),
    })
  }

  /** Prepares, validates and signs the object that is to replace `old`. */
  #completeUpdate(
    context: WriteContext,
    type: ResourceType,
    object: KubeObject,
    old: KubeObject,
    options: UpdateOptions,
  ): void {
    const subresource = options.subresource ?? ''
    const target = this.#target(context.space, type)
    const strategy = this.deps.strategyFor(target)
    // before anything is compared: clients need not send it
    this.#rules.annotate(object, context.space)
    this.#carryOver(target, object, old, subresource)
    if (
      !strategy?.noGeneration &&
      subresource !== 'status' &&
      specChanged(object, old, strategy?.generationOnMetadata === true)
    ) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
    const errors = [
      ...validateObjectMeta(object.metadata, metaRules(target, strategy)),
      ...unqualifiedFinalizers(target, object.metadata, old.metadata),
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...(subresource === 'status'
        ? (strategy?.validateStatusUpdate?.(object, old) ?? this.#rules.validateSchema(target, object, old))
        : this.#rules.validate(target, strategy, object, old)),
    ]
    if (errors.length > 0) throw statusError.invalid(target, object.metadata.name ?? '', distinct(errors))
    if (!options.managesFields) setManaged(object, this.#track(context, target, object, old, options))
  }

  /** An object on its way out goes with its last finalizer. */
  #finishUpdate(object: KubeObject): Mutation {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
    const gone =
      deletionTimestamp !== undefined &&
      deletionGracePeriodSeconds === 0 &&
      finalizers.length === 0 &&
      !hasNamespaceFinalizers(object)
    return { type: gone ? 'delete' : 'put', text: encodeObject(object) }
  }
}

async function written(stored: Stored, created: boolean, type: ResourceType): Promise<Written> {
  const views = prepareViews([stored], type)
  if (views) await views
  return { stored, created }
}

/** Objects in an older storage version are written again, whatever else a write changes. */
function isUnchanged(
  current: Stored,
  type: ResourceType,
  mutation: Mutation,
  old: Readonly<KubeObject>,
  object: Readonly<KubeObject>,
): boolean {
  if (mutation.type !== 'put' || !hasStorageVersion(current, type)) return false
  return sameObject(current, mutation.text, old, object)
}

/** An update checks metadata twice, as a new object's and as a change; each error is told once. */
function distinct(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map(error => [formatFieldError(error), error])).values()]
}
