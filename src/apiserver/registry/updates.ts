/**
 * Updates one object, in the order that updatePreparation.ts says, down to the store.
 *
 * An update is a function of the current object. Kinds without asynchronous admission run it inside the store's queue, so chained updates
 * never conflict. The others, large objects and those with a long validation, compare-and-write and retry. Writers of a large object stand
 * in a line for that.
 */
import { setOfField } from '../../apimachinery/apply/fieldSet.ts'
import { copyToChange } from '../../apimachinery/copyToChange.ts'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { atOnce, inSlices, type Steps } from '../../apimachinery/steps.ts'
import { UnfinishedCheck } from '../../apimachinery/structural/effort.ts'
import type { Work } from '../../program/workTurns.ts'
import { copyIn } from '../../storage/copyText.ts'
import type { Key, Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { accepted, refusal } from './accepted.ts'
import { type Admission, type AdmissionRequest, Outcome, optionsOf, stepsFor } from './admission.ts'
import { sameObject } from './codec.ts'
import type { WriteContext } from './context.ts'
import { convertTo } from './convert.ts'
import type { Creations } from './creations.ts'
import { keyOf } from './keys.ts'
import { LARGE_BYTES } from './largeWrites.ts'
import type { Preparation, RegistryDeps, TextMutation, UpdateOptions } from './preparation.ts'
import { BARE } from './provenance.ts'
import { requireNoObject } from './resourceVersions.ts'
import { checkPreconditions } from './systemMetadata.ts'
import { UpdatePreparation } from './updatePreparation.ts'
import type { UpdateTrace } from './updateTrace.ts'
import { hasStorageVersion, objectInSteps, prepareViews, toStored, toStoredNow } from './views.ts'
import { withWork, workOf } from './works.ts'
import { WriterLines } from './writerLines.ts'
import { type Written, written } from './written.ts'

/**
 * Future of an object. Either way it waits for nothing and may be called more than once, as each attempt uses up the object that it gets.
 */
export type Change =
  /** Gets a private copy of the current object, in the version of the type. */
  | ((current: KubeObject) => KubeObject)
  /** The same in steps. */
  | { readonly steps: (current: KubeObject) => Steps<KubeObject> }
  /** Makes the whole object, whatever the current one says: nothing is copied for it. */
  | { readonly replacement: () => KubeObject }

/** One update on its way, whichever way that is. */
interface Updating {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly namespace: string
  readonly key: Key
  /** `''` for the object itself. */
  readonly subresource: string
  readonly options: UpdateOptions
  readonly steps: readonly Admission[]
  readonly change: Change
}

interface Requested {
  readonly requested: KubeObject
  readonly old: KubeObject
  readonly trace: UpdateTrace | undefined
}

export class Updates {
  readonly #deps: RegistryDeps
  readonly #creations: Creations
  readonly #updates: UpdatePreparation
  readonly #lines = new WriterLines()

  constructor(preparation: Preparation, creations: Creations, deps: RegistryDeps) {
    this.#deps = deps
    this.#creations = creations
    this.#updates = new UpdatePreparation(preparation)
  }

  /** Updates that change nothing write nothing. */
  async update(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    name: string,
    change: Change,
    options: UpdateOptions = {},
  ): Promise<Written> {
    const updating = this.#updating(context, type, namespace, name, change, options)
    let byAttempts =
      context.dryRun || type.custom?.convert !== undefined || updating.steps.some(step => step.concerns === undefined)
    for (;;) {
      const found = this.#deps.store.get(updating.key)
      const own = found instanceof Promise ? await found : found
      const current = own ?? (await this.#shared(updating.key, type))
      let written: Written | 'again' | 'concerned'
      if (current === undefined) written = await this.#createMissing(updating)
      else {
        const isLarge = current.bytes.length > LARGE_BYTES || options.fromPatch?.grows === true
        const work = workOf(this.#deps.turns, context, isLarge)
        if (byAttempts || own === undefined)
          written = await this.#attempt(updating, current, { shared: own === undefined, work })
        else if (work || this.#lines.has(updating.key)) written = await this.#updateInLine(updating, work)
        else written = await this.#updateInQueue(updating)
      }
      if (typeof written === 'object') return written
      if (written === 'concerned') byAttempts = true
    }
  }

  #updating(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    name: string,
    change: Change,
    options: UpdateOptions,
  ): Updating {
    const subresource = options.view?.subresource ?? options.subresource ?? ''
    const target = { space: context.space, namespace, subresource, user: context.user }
    return {
      context,
      type,
      namespace,
      key: keyOf(context.space, type, namespace, name),
      subresource,
      options,
      steps: stepsFor(this.#deps.admission, type, 'UPDATE', target),
      change,
    }
  }

  /**
   * The client's version of the current object, and that object. It is a method, as is whatever else goes in steps. A generator function
   * that were made for each update would have a prototype made with it. The collector then keeps all that it refers to.
   */
  *#ask({ context, type, key, subresource, options, change }: Updating, current: Stored): Steps<Requested> {
    const found = yield* objectInSteps(current, type)
    yield
    checkPreconditions(type, key.name, found, options.preconditions)
    const trace = this.#updates.trace(context, type, current, found, subresource)
    const old = trace?.old ?? found
    if ('replacement' in change) {
      const requested = change.replacement()
      trace?.replacedBy(requested)
      return { requested, old, trace }
    }
    const make = (from: KubeObject): Steps<KubeObject> => changed(change, convertTo(from, apiVersionOf(type), type))
    const copy = copyToChange(old)
    yield
    const requested = yield* make(copy)
    if (options.view && type.scale) trace?.names(setOfField(...type.scale.specReplicasPath.split('.').slice(1)))
    else if (trace && options.fromPatch && !options.fromPatch.spares) {
      yield
      yield* trace.patchedBy(make)
    }
    return { requested, old, trace }
  }

  /** The same, readable and in the storage version. */
  #receive({ context, type, options }: Updating, { requested, old, trace }: Requested): Steps<KubeObject> {
    return this.#updates.receive(context, type, requested, old, options, trace)
  }

  /** There is nothing to update: makes the object where that is wanted. */
  async #createMissing({ context, type, namespace, key, options }: Updating): Promise<Written | 'again'> {
    if (!options.create) throw statusError.notFound(type, key.name)
    await options.mayCreate?.()
    const { create } = options
    const object = typeof create === 'function' ? create() : await inSlices(create.steps(), context.work)
    requireNoObject(type, key.name, object, options.managesFields === true)
    try {
      return await this.#creations.create(context, type, namespace, object)
    } catch (error) {
      // Somebody else created it meanwhile: then it is an update after all.
      if (error instanceof StatusError && error.reason === 'AlreadyExists') return 'again'
      throw error
    }
  }

  /** Compare and write, one writer of the object after the other. Admission that waits for others has no place in a line. */
  async #updateInLine(updating: Updating, work: Work | undefined): Promise<Written | 'again' | 'concerned'> {
    return await this.#lines.run(updating.key, updating.context.request, async () => {
      const current = await this.#deps.store.get(updating.key)
      return current === undefined ? 'again' : await this.#attempt(updating, current, { work, inLine: true })
    })
  }

  /**
   * Compare and write, for what waits on its way: admission steps, conversions, turns. `shared`: the space has no copy yet. `inLine`:
   * `concerned` where an admission step has to be called.
   */
  async #attempt(
    updating: Updating,
    current: Stored,
    { shared = false, work, inLine = false }: { shared?: boolean; work: Work | undefined; inLine?: boolean },
  ): Promise<Written | 'again' | 'concerned'> {
    const { type, key, options, steps, subresource } = updating
    const context = withWork(updating.context, work)
    const { view } = options
    await prepareViews([current], type)
    if (work?.due) await work.rest()
    const requested = await inSlices(this.#ask(updating, current), work)
    if (work?.due) await work.rest()
    const { old, trace } = requested
    const object = await inSlices(this.#receive(updating, requested), work)
    if (work?.due) await work.rest()
    const outcome = new Outcome()
    const request: AdmissionRequest = {
      operation: 'UPDATE',
      context,
      type,
      requestType: type,
      subresource,
      object,
      old,
      options: optionsOf(options.fromPatch || options.managesFields ? 'PatchOptions' : 'UpdateOptions', context),
      outcome,
      ...(view && { view }),
    }
    let stored: Stored | undefined
    try {
      const concerned = steps.filter(step => step.concerns?.(request) !== false)
      if (inLine && concerned.length > 0) return 'concerned'
      await this.#updates.admit(concerned, request, { ...options, trace })
      const isLarge = work !== undefined
      const { kept, note } = trace ? await inSlices(trace.settle(object), work) : { kept: object }
      if (work?.due) await work.rest()
      const finishing = this.#updates.finish(await toStored(kept, type), {
        old,
        note,
        isLarge,
        isShared: options.isShared || copyIn(current) !== undefined,
      })
      const mutation = await inSlices(finishing, work)
      if (work?.due) await work.rest()
      if (isUnchanged(current, type, mutation, old, kept)) return { stored: current, created: false }
      if (context.dryRun) return { stored: versionOf(key, current.revision, mutation.text), created: false }
      const result = await this.#deps.store.write({ key, mutation, expect: shared ? 0 : current.revision })
      if (result.ok) {
        stored = result.stored
        if (mutation.type === 'delete') await this.#deps.shared?.deleted(key)
        return await written(stored, false, type)
      }
      if (result.refused) throw refusal(result.refused)
      if (result.current === undefined && !options.create) throw statusError.notFound(type, key.name)
      return 'again'
    } finally {
      outcome.settle(stored)
    }
  }

  /** Inside the store's own queue, where nothing comes between reading and writing, unless a step has to be called. */
  async #updateInQueue(updating: Updating): Promise<Written | 'again' | 'concerned'> {
    const { context, type, key, options, steps } = updating
    let stop: 'again' | 'concerned' | undefined
    let gone = false
    const outcome = await this.#deps.store.update(key, now => {
      stop = undefined
      if (now === undefined) {
        stop = 'again'
        return undefined
      }
      const requested = atOnce(this.#ask(updating, now))
      const { old, trace } = requested
      const object = atOnce(this.#receive(updating, requested))
      if (steps.some(step => step.concerns?.({ object, old, context }) !== false)) {
        stop = 'concerned'
        return undefined
      }
      try {
        this.#updates.complete(context, type, object, old, { ...options, trace })
      } catch (error) {
        if (!(error instanceof UnfinishedCheck)) throw error
        stop = 'concerned'
        return undefined
      }
      const { kept, note } = trace ? atOnce(trace.settle(object)) : { kept: object }
      const isShared = options.isShared || copyIn(now) !== undefined
      const finished = { old, note, isLarge: false, isShared }
      const mutation = atOnce(this.#updates.finish(toStoredNow(kept, type), finished))
      gone = mutation.type === 'delete'
      return isUnchanged(now, type, mutation, old, kept) ? undefined : mutation
    })
    const stored = accepted(outcome)
    if (stop !== undefined || stored === undefined) return stop ?? 'again'
    if (gone) await this.#deps.shared?.deleted(key)
    return { stored, created: false }
  }

  /** Object of every space under this name; a space that changes it stores its own. @throws StatusError Forbidden */
  async #shared(key: Key, type: ResourceType): Promise<Stored | undefined> {
    const layer = this.#deps.shared?.of(type, key.namespace)
    const shared = await layer?.get(key.space, type, key.name)
    if (shared === undefined || layer!.changeable) return shared
    throw statusError.forbidden(type, key.name, 'it says what the server does, and cannot be changed')
  }
}

/** The client's version of its copy of the current object. */
function* changed(change: Exclude<Change, { replacement: unknown }>, current: KubeObject): Steps<KubeObject> {
  return typeof change === 'function' ? change(current) : yield* change.steps(current)
}

/** Objects in an older storage version are written again, whatever else a write changes. */
function isUnchanged(
  current: Stored,
  type: ResourceType,
  mutation: TextMutation,
  old: Readonly<KubeObject>,
  object: Readonly<KubeObject>,
): boolean {
  if (mutation.type !== 'put' || !hasStorageVersion(current, type)) return false
  // A write that names a default sets it: the clusters get it. Its note alone is no change.
  if (current.note !== undefined && current.note !== mutation.text.note) return false
  const isAsStored = type.custom === undefined && current.note !== BARE
  return sameObject({ current, old, isAsStored, text: mutation.text, now: object })
}
