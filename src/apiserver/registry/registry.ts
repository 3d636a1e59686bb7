/**
 * Creates and updates, in the orders that createPreparation.ts and updatePreparation.ts say, down to the store.
 *
 * An update is a function of the current object. Kinds without asynchronous admission run it inside the store's queue, so
 * chained updates never conflict; the others, what is large and what takes long to validate, compare-and-write and try again.
 * Writers of a large object stand in a line for that.
 */
import { setOfField } from '../../apimachinery/apply/fieldSet.ts'
import { copyToChange } from '../../apimachinery/copyToChange.ts'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { generateName } from '../../apimachinery/names.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import { hasMoreValues } from '../../apimachinery/objectSize.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { atOnce, inSlices, type Steps } from '../../apimachinery/steps.ts'
import { UnfinishedCheck } from '../../apimachinery/structural/effort.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Encoded, Key, Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { accepted, refusal } from './accepted.ts'
import { type Admission, type AdmissionRequest, Outcome, optionsOf, runStage, stepsFor } from './admission.ts'
import { sameObject } from './codec.ts'
import type { WriteContext } from './context.ts'
import { convertTo } from './convert.ts'
import { CreatePreparation } from './createPreparation.ts'
import { keyOf } from './keys.ts'
import { LARGE_BYTES, LARGE_VALUES } from './largeWrites.ts'
import { Preparation, type RegistryDeps, type TextMutation, type UpdateOptions } from './preparation.ts'
import type { Provenance } from './provenance.ts'
import { nameTaken, refuseVersion, requireNoObject } from './resourceVersions.ts'
import { Revisions } from './revisions.ts'
import { checkPreconditions } from './systemMetadata.ts'
import { type Identity, isPlain, isRepeatable, type Template, Templates, textOf } from './templates.ts'
import { UpdatePreparation } from './updatePreparation.ts'
import type { UpdateTrace } from './updateTrace.ts'
import { hasStorageVersion, objectInSteps, prepareViews, toStored, toStoredNow } from './views.ts'
import { WriterLines } from './writerLines.ts'

export type { Admission, AdmissionRequest } from './admission.ts'

export type { RegistryDeps, UpdateOptions }

export interface Written {
  stored: Stored
  created: boolean
}

/**
 * What an object shall become. Either way it waits for nothing and may be asked more than once, as each attempt uses up the
 * object that it gets.
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
  /** What the client makes of the current object, and that object. */
  ask(current: Stored): Steps<Asked>
  /** The same, readable and in the storage version. */
  receive(asked: Asked): Steps<KubeObject>
}

interface Asked {
  readonly asked: KubeObject
  readonly old: KubeObject
  readonly trace: UpdateTrace | undefined
}

/** One of many objects that are made by templates. */
export interface SharedCreation {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly namespace: string
  /** Nobody ever changes it. */
  readonly sent: Readonly<KubeObject>
}

interface Way {
  readonly template: Template
  readonly steps: readonly Admission[]
  /** The version in which its objects are handled. */
  readonly target: ResourceType
}

/** What a template makes of one. */
interface Templated {
  readonly template: Template
  readonly identity: Identity
  readonly steps: readonly Admission[]
  readonly request: AdmissionRequest & { readonly outcome: Outcome }
  readonly key: Key
}

/** One object on its way to be made. */
interface Creating {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly key: Key
  readonly text: Encoded
  readonly object: KubeObject
  readonly outcome: Outcome
}

const GENERATE_NAME_TRIES = 8

export class Registry {
  /** For operations that stand beside the registry (deletion). */
  readonly deps: RegistryDeps
  readonly #preparation: Preparation
  readonly #creates: CreatePreparation
  readonly #updates: UpdatePreparation
  readonly #lines = new WriterLines()
  readonly #templates = new Templates()
  readonly #revisions = new Revisions()

  /** What of objects nobody said. Absent where nothing travels. */
  get provenance(): Provenance | undefined {
    return this.#preparation.provenance
  }

  constructor(deps: RegistryDeps) {
    this.deps = deps
    this.#preparation = new Preparation(deps)
    this.#creates = new CreatePreparation(this.#preparation)
    this.#updates = new UpdatePreparation(this.#preparation)
  }

  /** `input` is in the version of `type`; it is taken over and changed. */
  async create(context: WriteContext, type: ResourceType, namespace: string, input: KubeObject): Promise<Written> {
    const base = input.metadata.generateName
    const generated = !input.metadata.name && typeof base === 'string' && base !== ''
    refuseVersion(input)
    const working = withWork(context, this.#workOf(context, hasMoreValues(input, LARGE_VALUES)))
    for (let attempt = 1; ; attempt++) {
      const object = generated ? cloneJson(input) : input
      if (generated) object.metadata.name = generateName(base, this.deps.random)
      if (working.work?.due) await working.work.rest()
      const { text, outcome } = await this.#creates.prepare(working, type, namespace, object)
      const key = keyOf(context.space, type, namespace, object.metadata.name ?? '')
      const made = await this.#put({ context, type, key, text, object, outcome })
      if ('created' in made) return made
      if (!generated || attempt === GENERATE_NAME_TRIES) throw this.#taken(type, object, made.taken)
    }
  }

  /**
   * The same of an object that goes into many spaces as it is: what is the same for all of them is done once, see templates.ts. Nobody
   * ever changes `sent`, nor the object that this answers with. For the server itself: nobody is warned of anything.
   */
  async createShared(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    sent: Readonly<KubeObject>,
  ): Promise<Written & { object?: KubeObject }> {
    const circumstances = this.#preparation.circumstances(context, type, sent)
    const steps = this.#stepsOfCreation({ context, type, namespace })
    if (!isRepeatable(circumstances, sent, steps)) return await this.create(context, type, namespace, cloneJson(sent))
    const template = this.#templates.get(sent, circumstances)
    if (template === undefined) {
      const object = cloneJson(sent)
      const made = await this.create(context, type, namespace, object)
      const { uid = '', creationTimestamp = '' } = object.metadata
      const identity = { uid, now: creationTimestamp, space: context.space }
      this.#templates.keep(sent, circumstances, { identity, text: textOf(made.stored), object })
      return made
    }
    const creation = { context, type, namespace, sent }
    const way = { template, steps, target: circumstances.target }
    const { identity, request, key } = this.#templated(creation, way)
    const { object, outcome } = request
    try {
      await runStage(steps, 'gate', request)
      await runStage(steps, 'validate', request)
    } catch (error) {
      outcome.settle(undefined)
      throw error
    }
    const made = await this.#put({ context, type, key, text: template.text(identity), object, outcome })
    if (!('created' in made)) throw this.#taken(type, object, made.taken)
    return { ...made, object: template.stored(identity, made.stored.revision) }
  }

  /**
   * The same of many at a time, of any spaces, with one wait for the disk: what is made, at its index. Absent is what has to go its own
   * way ({@link createShared}), which does it or says why not: what is the first of its kind, what somebody else has a say in, what
   * is refused.
   */
  async createManyShared(
    creations: readonly SharedCreation[],
  ): Promise<readonly ((Written & { object: KubeObject }) | undefined)[]> {
    const ways = creations.map(each => this.#swiftly(each))
    const passed = await Promise.all(ways.map(way => way !== undefined && passes(way)))
    const taken = ways.filter((way, i): way is Templated => way !== undefined && passed[i] === true)
    const results = await this.deps.store.writeMany(
      taken.map(({ key, template, identity }) => {
        return { key, mutation: { type: 'put', text: template.text(identity) }, expect: 0 }
      }),
    )
    const made = new Map<Templated, Written & { object: KubeObject }>()
    for (const [i, result] of results.entries()) {
      const way = taken[i]!
      const { template, identity, request } = way
      request.outcome.settle(result.ok ? result.stored : undefined)
      if (!result.ok) continue
      const object = template.stored(identity, result.stored.revision)
      made.set(way, { ...(await written(result.stored, true, request.type)), object })
    }
    return ways.map(way => way && made.get(way))
  }

  /** How one is made that waits for nobody; `undefined`: it has to go its own way. */
  #swiftly(creation: SharedCreation): Templated | undefined {
    const { context, type, namespace, sent } = creation
    // its definition may begin to go meanwhile
    if (type.custom !== undefined) return undefined
    const steps = this.#stepsOfCreation(creation)
    if (steps.some(({ isSwift }) => !isSwift)) return undefined
    const circumstances = this.#preparation.circumstances(context, type, sent)
    if (!isRepeatable(circumstances, sent, steps)) return undefined
    const template = this.#templates.get(sent, circumstances)
    const { space } = context
    if (!template || this.deps.shared?.of(type, namespace)?.has(space, sent.metadata.name ?? '')) return undefined
    return this.#templated(creation, { template, steps, target: circumstances.target })
  }

  #stepsOfCreation({ context: { space, user }, type, namespace }: Omit<SharedCreation, 'sent'>): readonly Admission[] {
    return stepsFor(this.deps.admission, type, 'CREATE', { space, namespace, subresource: '', user })
  }

  #templated(creation: SharedCreation, { template, steps, target }: Way): Templated {
    const { context, type, namespace } = creation
    const { uuid, clock } = this.deps
    const { space } = context
    const identity = { uid: detached(uuid()), now: timestamp(clock()), space }
    const object = template.judged(identity)
    const request = {
      operation: 'CREATE',
      context,
      type: target,
      requestType: type,
      subresource: '',
      object,
      old: undefined,
      options: optionsOf('CreateOptions', context),
      outcome: new Outcome(),
    } as const
    const key = keyOf(space, type, namespace, object.metadata.name ?? '')
    return { template, identity, steps, request, key }
  }

  /**
   * Replaces an object by one that follows from `said` and from what it replaces alone: where that says the same in many spaces, the
   * way is gone once, see revisions.ts. Nobody ever changes `object`, nor the object that this answers with.
   */
  async updateShared(
    context: WriteContext,
    type: ResourceType,
    { namespace, name }: { namespace: string; name: string },
    { object, said }: { object: Readonly<KubeObject>; said: object },
  ): Promise<Written & { object?: KubeObject }> {
    const { store, admission, clock } = this.deps
    const { space, user } = context
    const change = { replacement: () => cloneJson(object) }
    const wholly = (): Promise<Written> => this.update(context, type, namespace, name, change)
    const current = await store.get(keyOf(space, type, namespace, name))
    const { metadata } = object
    const circumstances = this.#preparation.circumstances(context, type, object)
    const isAlike =
      current !== undefined &&
      String(current.revision) === metadata.resourceVersion &&
      metadata.deletionTimestamp === undefined &&
      isPlain(circumstances) &&
      // what an older schema let in is read by another one
      (type.custom?.generation ?? 1) === 1 &&
      hasStorageVersion(current, type) &&
      stepsFor(admission, type, 'UPDATE', { space, namespace, subresource: '', user }).length === 0
    if (!isAlike) return await wholly()
    const place = { current, metadata, now: timestamp(clock()) }
    const known = this.#revisions.of(said, circumstances, place)
    if (known === undefined) {
      const made = await wholly()
      const isNext = made.stored.revision > current.revision && made.stored.key === current.key
      if (isNext && place.now === timestamp(clock())) this.#revisions.learn(said, circumstances, place, made.stored)
      return made
    }
    const mutation = { type: 'put', text: known.text } as const
    const result = await store.write({ key: current.key, mutation, expect: current.revision })
    // somebody was quicker: told as ever
    if (!result.ok && !result.refused) return await wholly()
    if (!result.ok) throw refusal(result.refused!)
    return { stored: result.stored, created: false, object: known.stored(result.stored.revision) }
  }

  /** Stores what was prepared, unless the name is taken. */
  async #put({
    context,
    type,
    key,
    text,
    object,
    outcome,
  }: Creating): Promise<Written | { taken: Stored | undefined }> {
    let stored: Stored | undefined
    try {
      if (this.deps.shared?.of(type, key.namespace)?.has(key.space, key.name))
        throw this.#taken(type, object, undefined)
      if (context.dryRun) {
        const found = await this.deps.store.get(key)
        if (found !== undefined) throw this.#taken(type, object, found)
        // It has no resourceVersion, so no place for one either.
        const note = text.note !== undefined && { note: text.note }
        return {
          stored: { key, revision: 0, bytes: Buffer.from(JSON.stringify(object)), headBytes: 0, ...note },
          created: true,
        }
      }
      this.#requireMakeable(context.space, type)
      const result = await this.deps.store.write({ key, mutation: { type: 'put', text }, expect: 0 })
      if (result.ok) {
        stored = result.stored
        return await written(stored, true, type)
      }
      if (result.refused) throw refusal(result.refused)
      return { taken: result.current }
    } finally {
      outcome.settle(stored)
    }
  }

  #taken(type: ResourceType, wanted: KubeObject, by: Stored | undefined): StatusError {
    return nameTaken(type, wanted.metadata.name ?? '', wanted, by && this.deps.parsed.get(by))
  }

  /** `isLarge`: apart from what was sent, whose work there is already. */
  #workOf({ space, work, isAbandoned }: WriteContext, isLarge: boolean): Work | undefined {
    if (work !== undefined || !isLarge) return work
    return this.deps.turns?.begin({ owner: space, ...(isAbandoned && { isAbandoned }) })
  }

  /**
   * An instance whose definition began to go while the request was under way (a webhook was asked, say) would be left behind
   * unseen once its last instance is gone. What is in the store's queue before that begins goes with the others.
   * @throws StatusError NotFound, MethodNotAllowed
   */
  #requireMakeable(space: string, type: ResourceType): void {
    if (type.custom === undefined) return
    const served = this.deps.typeAt(space, type.group, type.version, type.resource)
    if (served === undefined) throw new StatusError('NotFound', 'the server could not find the requested resource')
    if (!served.verbs.includes('create')) throw statusError.methodNotAllowed(type, 'create')
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
      const own = await this.deps.store.get(updating.key)
      const current = own ?? (await this.#shared(updating.key, type))
      let written: Written | 'again' | 'concerned'
      if (current === undefined) written = await this.#createMissing(updating)
      else {
        const work = this.#workOf(context, current.bytes.length > LARGE_BYTES)
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
    const updates = this.#updates
    return {
      context,
      type,
      namespace,
      key: keyOf(context.space, type, namespace, name),
      subresource,
      options,
      steps: stepsFor(this.deps.admission, type, 'UPDATE', target),
      *ask(current) {
        const found = yield* objectInSteps(current, type)
        yield
        checkPreconditions(type, name, found, options.preconditions)
        const trace = updates.trace(context, type, current, found, subresource)
        const old = trace?.old ?? found
        if ('replacement' in change) {
          const asked = change.replacement()
          trace?.replacedBy(asked)
          return { asked, old, trace }
        }
        const make = (from: KubeObject): Steps<KubeObject> => changed(change, convertTo(from, apiVersionOf(type), type))
        const copy = copyToChange(old)
        yield
        const asked = yield* make(copy)
        if (options.view && type.scale) trace?.names(setOfField(...type.scale.specReplicasPath.split('.').slice(1)))
        else if (trace && options.fromPatch && !options.fromPatch.spares) {
          yield
          yield* trace.patchedBy(make)
        }
        return { asked, old, trace }
      },
      receive: ({ asked, old, trace }) => this.#updates.receive(context, type, asked, old, options, trace),
    }
  }

  /** There is nothing to update: makes the object where that is wanted. */
  async #createMissing({ context, type, namespace, key, options }: Updating): Promise<Written | 'again'> {
    if (!options.create) throw statusError.notFound(type, key.name)
    await options.mayCreate?.()
    const { create } = options
    const object = typeof create === 'function' ? create() : await inSlices(create.steps(), context.work)
    requireNoObject(type, key.name, object, options.managesFields === true)
    try {
      return await this.create(context, type, namespace, object)
    } catch (error) {
      // Somebody else created it meanwhile: then it is an update after all.
      if (error instanceof StatusError && error.reason === 'AlreadyExists') return 'again'
      throw error
    }
  }

  /** Compare and write, one writer of the object after the other. Admission that waits for others has no place in a line. */
  async #updateInLine(updating: Updating, work: Work | undefined): Promise<Written | 'again' | 'concerned'> {
    return await this.#lines.run(updating.key, async () => {
      const current = await this.deps.store.get(updating.key)
      return current === undefined ? 'again' : await this.#attempt(updating, current, { work, inLine: true })
    })
  }

  /**
   * Compare and write, for what waits on its way: admission steps, conversions, turns. `shared`: the space has no copy yet.
   * `inLine`: `concerned` where an admission step wants to be asked.
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
    const asked = await inSlices(updating.ask(current), work)
    if (work?.due) await work.rest()
    const { old, trace } = asked
    const object = await inSlices(updating.receive(asked), work)
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
      const { kept, note } = trace?.settle(object) ?? { kept: object }
      if (work?.due) await work.rest()
      const finishing = this.#updates.finish(await toStored(kept, type), {
        old,
        note,
        isLarge: work !== undefined,
      })
      const mutation = await inSlices(finishing, work)
      if (work?.due) await work.rest()
      if (isUnchanged(current, type, mutation, old, kept)) return { stored: current, created: false }
      if (context.dryRun) return { stored: versionOf(key, current.revision, mutation.text), created: false }
      const result = await this.deps.store.write({ key, mutation, expect: shared ? 0 : current.revision })
      if (result.ok) {
        stored = result.stored
        if (mutation.type === 'delete') await this.deps.shared?.deleted(key)
        return await written(stored, false, type)
      }
      if (result.refused) throw refusal(result.refused)
      if (result.current === undefined && !options.create) throw statusError.notFound(type, key.name)
      return 'again'
    } finally {
      outcome.settle(stored)
    }
  }

  /** Inside the store's own queue, where nothing comes between reading and writing, unless a step wants to be asked. */
  async #updateInQueue({
    context,
    type,
    key,
    options,
    steps,
    ask,
    receive,
  }: Updating): Promise<Written | 'again' | 'concerned'> {
    let stop: 'again' | 'concerned' | undefined
    let gone = false
    const outcome = await this.deps.store.update(key, now => {
      stop = undefined
      if (now === undefined) {
        stop = 'again'
        return undefined
      }
      const asked = atOnce(ask(now))
      const { old, trace } = asked
      const object = atOnce(receive(asked))
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
      const { kept, note } = trace?.settle(object) ?? { kept: object }
      const mutation = atOnce(this.#updates.finish(toStoredNow(kept, type), { old, note, isLarge: false }))
      gone = mutation.type === 'delete'
      return isUnchanged(now, type, mutation, old, kept) ? undefined : mutation
    })
    const stored = accepted(outcome)
    if (stop !== undefined || stored === undefined) return stop ?? 'again'
    if (gone) await this.deps.shared?.deleted(key)
    return { stored, created: false }
  }

  /** What every space shows under this name; a space that changes it stores its own. @throws StatusError Forbidden */
  async #shared(key: Key, type: ResourceType): Promise<Stored | undefined> {
    const layer = this.deps.shared?.of(type, key.namespace)
    const shared = await layer?.get(key.space, type, key.name)
    if (shared === undefined || layer!.changeable) return shared
    throw statusError.forbidden(type, key.name, 'it says what the server does, and cannot be changed')
  }
}

function withWork(context: WriteContext, work: Work | undefined): WriteContext {
  return work === context.work ? context : { ...context, work }
}

/** Whether nothing speaks against what a template makes. */
async function passes({ steps, request }: Templated): Promise<boolean> {
  try {
    await runStage(steps, 'gate', request)
    await runStage(steps, 'validate', request)
    return true
  } catch {
    request.outcome.settle(undefined)
    return false // said by the way of its own
  }
}

/** What the client makes of its copy of the current object. */
function* changed(change: Exclude<Change, { replacement: unknown }>, current: KubeObject): Steps<KubeObject> {
  return typeof change === 'function' ? change(current) : yield* change.steps(current)
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
  mutation: TextMutation,
  old: Readonly<KubeObject>,
  object: Readonly<KubeObject>,
): boolean {
  if (mutation.type !== 'put' || !hasStorageVersion(current, type)) return false
  // Whoever names what was a default says something: the clusters are told. That it is known from now on is no change.
  if (current.note !== undefined && current.note !== mutation.text.note) return false
  return sameObject(current, mutation.text, old, object)
}

/** Node joins a uid of 21 pieces, which stay as long as it does: ten times its size. */
function detached(uid: string): string {
  return Buffer.from(uid, 'latin1').toString('latin1')
}
