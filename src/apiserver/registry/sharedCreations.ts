/**
 * Creates objects that go into many spaces as they are: what is the same for all of them is done once, see templates.ts. Nobody ever
 * changes what was sent, nor the objects that this answers with. For the server itself: nobody is warned of anything.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Key } from '../../storage/store.ts'
import { type Admission, type AdmissionRequest, Outcome, optionsOf, runStage, stepsFor } from './admission.ts'
import type { WriteContext } from './context.ts'
import type { Creations } from './creations.ts'
import { keyOf } from './keys.ts'
import type { Preparation, RegistryDeps } from './preparation.ts'
import { type Identity, isRepeatable, type Template, Templates, textOf } from './templates.ts'
import { type Written, written } from './written.ts'

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

interface Stepped {
  readonly creation: SharedCreation
  readonly steps: readonly Admission[]
}

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
      const made = await this.#creations.create(context, type, namespace, object)
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
    const made = await this.#creations.put({ context, type, key, text: template.text(identity), object, outcome })
    if (!('created' in made)) throw this.#creations.taken(type, object, made.taken)
    template.learn(identity, made.stored)
    return { ...made, object: template.stored(identity, made.stored.revision) }
  }

  /**
   * Many at a time, of any spaces, with one wait for the disk: what is made, at its index. Absent is what has to go its own
   * way ({@link create}), which does it or says why not: what is the first of its kind, what somebody else has a say in, what
   * is refused.
   */
  async createMany(
    creations: readonly SharedCreation[],
  ): Promise<readonly ((Written & { object: KubeObject }) | undefined)[]> {
    let before: Stepped | undefined
    const ways = creations.map(each => {
      // what goes to one place comes in runs
      if (!before || !isAtOnce(before.creation, each)) before = { creation: each, steps: this.#stepsOfCreation(each) }
      return this.#swiftly(each, before.steps)
    })
    const passed: (boolean | Promise<boolean>)[] = ways.map(way => way !== undefined && passes(way))
    for (const [i, one] of passed.entries()) if (typeof one !== 'boolean') passed[i] = await one
    const taken = ways.filter((way, i): way is Templated => way !== undefined && passed[i] === true)
    const results = await this.#deps.store.writeMany(
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
      template.learn(identity, result.stored)
      const object = template.stored(identity, result.stored.revision)
      made.set(way, { ...(await written(result.stored, true, request.type)), object })
    }
    return ways.map(way => way && made.get(way))
  }

  /** How one is made that waits for nobody; `undefined`: it has to go its own way. */
  #swiftly(creation: SharedCreation, steps: readonly Admission[]): Templated | undefined {
    const { context, type, namespace, sent } = creation
    // its definition may begin to go meanwhile
    if (type.custom !== undefined) return undefined
    if (steps.some(({ isSwift }) => !isSwift)) return undefined
    const circumstances = this.#preparation.circumstances(context, type, sent)
    if (!isRepeatable(circumstances, sent, steps)) return undefined
    const template = this.#templates.get(sent, circumstances)
    const { space } = context
    if (!template || this.#deps.shared?.of(type, namespace)?.has(space, sent.metadata.name ?? '')) return undefined
    return this.#templated(creation, { template, steps, target: circumstances.target })
  }

  #stepsOfCreation({ context: { space, user }, type, namespace }: Omit<SharedCreation, 'sent'>): readonly Admission[] {
    return stepsFor(this.#deps.admission, type, 'CREATE', { space, namespace, subresource: '', user })
  }

  #templated(creation: SharedCreation, { template, steps, target }: Way): Templated {
    const { context, type, namespace } = creation
    const { uuid, clock } = this.#deps
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
}

/** Whether both pass the same steps. */
function isAtOnce(a: SharedCreation, b: SharedCreation): boolean {
  return a.context === b.context && a.type === b.type && a.namespace === b.namespace
}

/** Whether nothing speaks against what a template makes; a promise only where a step waits. Never throws nor rejects. */
function passes({ steps, request }: Templated): boolean | Promise<boolean> {
  // said by the way of its own
  const refused = (): false => {
    request.outcome.settle(undefined)
    return false
  }
  const validated = (): Promise<void> | undefined => runStage(steps, 'validate', request)
  try {
    const gated = runStage(steps, 'gate', request)
    const waits = gated ? gated.then(validated) : validated()
    return waits ? waits.then(() => true, refused) : true
  } catch {
    return refused()
  }
}

/** Node joins a uid of 21 pieces, which stay as long as it does: ten times its size. */
function detached(uid: string): string {
  return Buffer.from(uid, 'latin1').toString('latin1')
}
