/**
 * Creates objects that go into many spaces as they are: what is the same for all of them is done once, see templates.ts. Nobody ever
 * changes what was sent, nor the objects that this answers with. For the server itself: nobody is warned of anything.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Key, Stored, Write } from '../../storage/store.ts'
import { type Admission, type AdmissionRequest, Outcome, optionsOf, runStage, stepsFor } from './admission.ts'
import type { WriteContext } from './context.ts'
import type { Creations } from './creations.ts'
import { keyOf } from './keys.ts'
import type { Preparation, RegistryDeps } from './preparation.ts'
import type { SharedLayer } from './sharedObjects.ts'
import { type Identity, isRepeatable, type Template, Templates } from './templates.ts'
import type { Written } from './written.ts'

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

/** What is the same for all that is made in one place. */
interface Place extends Omit<SharedCreation, 'sent'> {
  readonly target: ResourceType
  readonly steps: readonly Admission[]
  /** Of the kind, what every space has there without storing it. */
  readonly shared: SharedLayer | undefined
  /** Whether anything may be made there without asking anybody else. */
  isOpen: boolean | Promise<boolean>
}

interface Taken {
  /** Of its creation. */
  readonly i: number
  readonly template: Template
  readonly identity: Identity
}

/** One of many that say the same. */
export interface SharedlyMade {
  readonly stored: Stored
  readonly uid: string
  /** One that says the same, but for which one it is and its times, also those in a status. Nobody ever changes it. */
  readonly like: Readonly<KubeObject>
}

/** It has to go its own way; `first`: as nobody has written it so before, and nobody else has a say in it. */
export type Unshared = 'first' | undefined

/** What a template makes of one. */
interface Templated {
  readonly template: Template
  readonly identity: Identity
  readonly steps: readonly Admission[]
  readonly request: AdmissionRequest & { readonly outcome: Outcome }
  readonly key: Key
}

export class SharedCreations {
  readonly #deps: RegistryDeps
  readonly #preparation: Preparation
  readonly #creations: Creations
  readonly #templates = new Templates()

  constructor(preparation: Preparation, creations: Creations, deps: RegistryDeps) {
    this.#deps = deps
    this.#preparation = preparation
    this.#creations = creations
  }

  async create(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    sent: Readonly<KubeObject>,
  ): Promise<Written & { object?: KubeObject }> {
    const circumstances = this.#preparation.circumstances(context, type, sent)
    const steps = this.#stepsOfCreation({ context, type, namespace })
    if (!isRepeatable(circumstances, sent, steps))
      return await this.#creations.create(context, type, namespace, cloneJson(sent))
    const template = this.#templates.get(sent, circumstances)
    if (template === undefined) {
      const object = cloneJson(sent)
      const made = await this.#creations.create(context, type, namespace, object, { isShared: true })
      const { uid = '', creationTimestamp = '' } = object.metadata
      const identity = { uid, now: creationTimestamp, space: context.space }
      this.#templates.keep(sent, circumstances, { identity, stored: made.stored, object })
      return made
    }
    const creation = { context, type, namespace, sent }
    const way = { template, steps, target: circumstances.target }
    const { identity, request, key } = this.#templated(creation, way)
    const text = template.text(identity)
    if (text === undefined)
      return await this.#creations.create(context, type, namespace, cloneJson(sent), { isShared: true })
    const { object, outcome } = request
    try {
      await runStage(steps, 'gate', request)
      await runStage(steps, 'validate', request)
    } catch (error) {
      outcome.settle(undefined)
      throw error
    }
    const made = await this.#creations.put({ context, type, key, text, object, outcome })
    if (!('created' in made)) throw this.#creations.taken(type, object, made.taken)
    return { ...made, object: template.stored(identity, made.stored.revision) }
  }

  /**
   * Many at a time, of any spaces, with one wait for the disk: what is made, at its index. Other is what has to go its own
   * way ({@link create}), which does it or says why not: what is the first of its kind, what somebody else has a say in, what
   * is refused.
   */
  async createMany(creations: readonly SharedCreation[]): Promise<readonly (SharedlyMade | Unshared)[]> {
    const { store, clock } = this.#deps
    const now = timestamp(clock())
    const places: Place[] = []
    for (const each of creations) {
      const before = places.at(-1)
      // what goes to one place comes in runs
      places.push(before && isAtOnce(before, each) ? before : this.#placeOf(each))
    }
    for (const place of places) if (typeof place.isOpen !== 'boolean') place.isOpen = await place.isOpen
    const made = creations.map((): SharedlyMade | Unshared => undefined)
    const taken: Taken[] = []
    const writes: Write[] = []
    for (let i = 0; i < creations.length; i++) {
      const { sent } = creations[i]!
      const place = places[i]!
      const template = place.isOpen ? this.#templateAt(place, sent) : undefined
      if (template === 'first') made[i] = template
      if (template === undefined || template === 'first') continue
      const identity = { uid: this.#deps.uuid(), now, space: place.context.space }
      const text = template.text(identity)
      if (text === undefined) continue
      const key = keyOf(identity.space, place.type, place.namespace, sent.metadata.name ?? '')
      taken.push({ i, template, identity })
      writes.push({ key, mutation: { type: 'put', text }, expect: 0 })
    }
    const results = await store.writeMany(writes)
    for (let j = 0; j < results.length; j++) {
      const result = results[j]!
      const { i, template, identity } = taken[j]!
      if (!result.ok) continue
      made[i] = { stored: result.stored, uid: identity.uid, like: template.sample }
    }
    return made
  }

  /** Who judges what is made there judges by the place alone: they are asked once for what comes in a row, in its turn. */
  #placeOf({ context, type, namespace, sent }: SharedCreation): Place {
    const steps = this.#stepsOfCreation({ context, type, namespace })
    const target = this.#preparation.target(context.space, type)
    const place = {
      context,
      type,
      namespace,
      target,
      steps,
      isOpen: false,
      shared: this.#deps.shared?.of(type, namespace),
    }
    // the definition of a kind may begin to go meanwhile
    if (type.custom !== undefined || steps.some(({ judgesPlaces }) => !judgesPlaces)) return place
    return { ...place, isOpen: isOpen(steps, requestOf(place, sent)) }
  }

  #templateAt({ context, type, steps, shared }: Place, sent: Readonly<KubeObject>): Template | Unshared {
    const circumstances = this.#preparation.circumstances(context, type, sent)
    if (!isRepeatable(circumstances, sent, steps)) return undefined
    if (shared?.has(context.space, sent.metadata.name ?? '')) return undefined
    return this.#templates.get(sent, circumstances) ?? 'first'
  }

  #stepsOfCreation({ context: { space, user }, type, namespace }: Omit<SharedCreation, 'sent'>): readonly Admission[] {
    return stepsFor(this.#deps.admission, type, 'CREATE', { space, namespace, subresource: '', user })
  }

  #templated(creation: SharedCreation, { template, steps, target }: Way): Templated {
    const { context, type, namespace } = creation
    const { uuid, clock } = this.#deps
    const { space } = context
    const identity = { uid: uuid(), now: timestamp(clock()), space }
    const object = template.judged(identity)
    const key = keyOf(space, type, namespace, object.metadata.name ?? '')
    return { template, identity, steps, request: requestOf({ context, type, target }, object), key }
  }
}

function isAtOnce(a: Place, b: SharedCreation): boolean {
  return a.context === b.context && a.type === b.type && a.namespace === b.namespace
}

function requestOf({ context, type, target }: Pick<Place, 'context' | 'type' | 'target'>, object: KubeObject) {
  return {
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
}

/** Whether nothing may be said against what is made there; a promise only where a step waits. Never throws nor rejects. */
function isOpen(steps: readonly Admission[], request: AdmissionRequest): boolean | Promise<boolean> {
  // said by the way of its own
  const refused = (): false => false
  const validated = (): Promise<void> | undefined => runStage(steps, 'validate', request)
  try {
    const gated = runStage(steps, 'gate', request)
    const waits = gated ? gated.then(validated) : validated()
    return waits ? waits.then(() => true, refused) : true
  } catch {
    return refused()
  }
}
