/** Reads objects of workload spaces, newest version as indexed, and customizes them for a Location. */
import { setImmediate } from 'node:timers/promises'
import { isStatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Client } from '../../client/client.ts'
import { asDescribed } from './asDescribed.ts'
import { type Customization, customize } from './customize.ts'
import { isSystemObject } from './eligibility.ts'
import type { ObjectCache } from './objectCache.ts'
import type { Destination } from './ways.ts'
import type { ObjectFact } from './workload.ts'

export interface SourceReaderDeps {
  client: Client
  cache: ObjectCache
  location: (cluster: string, name: string) => KubeObject | undefined
  /** `reference` is `namespace/name`. */
  customizer: (space: string, reference: string) => KubeObject | undefined
}

const STAYS = 'it would be what never travels: a token Secret, or an object that acts in its space'

/** Of customizations, between two turns of the event loop: a few milliseconds. */
const TURN_WORK = 50_000

export class SourceReader {
  readonly #deps: SourceReaderDeps
  #work = 0
  #turn: Promise<void> | undefined

  constructor(deps: SourceReaderDeps) {
    this.#deps = deps
  }

  /** The object, shared: nobody changes it. `undefined` when it is gone or going. */
  async read(space: string, fact: ObjectFact): Promise<KubeObject | undefined> {
    const cached = this.#deps.cache.get(space, fact.key, String(fact.revision))
    if (cached) return cached
    try {
      const ref = { ...(fact.namespace && { namespace: fact.namespace }), name: fact.name }
      const object = await this.#deps.client.in(space).get(fact.resource, ref)
      if (object.metadata.deletionTimestamp !== undefined) return undefined
      this.#deps.cache.set(space, fact.key, object)
      return object
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  /**
   * `source` is as {@link read} gives it: what its own server added stays there. What is dear is done one at a time, so that
   * requests are answered between the destinations.
   */
  async customize(
    at: { space: string; fact: ObjectFact; location: Destination },
    source: KubeObject,
  ): Promise<Customization> {
    const object = asDescribed(source)
    if (!at.fact.customized) return { object, faults: [], work: 0 }
    while (this.#work >= TURN_WORK) await this.#nextTurn()
    const customized = customize(object, {
      location: this.#deps.location(at.location.cluster, at.location.locationName),
      locationName: at.location.locationName,
      customizer: at.fact.customizer === '' ? undefined : this.#deps.customizer(at.space, at.fact.customizer),
    })
    this.#work += customized.work
    // what stays at home is left out before anybody customizes
    if (!isSystemObject(at.fact.resource, customized.object)) return customized
    return { ...customized, faults: [...customized.faults, STAYS] }
  }

  /** Shared by all who wait; the first of them to go on may keep the others waiting for another one. */
  #nextTurn(): Promise<void> {
    this.#turn ??= setImmediate().then(() => {
      this.#turn = undefined
      this.#work = 0
    })
    return this.#turn
  }
}
