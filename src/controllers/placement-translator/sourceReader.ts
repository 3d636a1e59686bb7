/** Reads objects of workload spaces, newest version as indexed, and customizes them for a Location. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Client } from '../../client/client.ts'
import { type Customization, customize } from './customize.ts'
import type { ObjectCache } from './objectCache.ts'
import type { Destination } from './placementJoin.ts'
import type { ObjectFact } from './workload.ts'

export interface SourceReaderDeps {
  client: Client
  cache: ObjectCache
  location: (cluster: string, name: string) => KubeObject | undefined
  /** `reference` is `namespace/name`. */
  customizer: (space: string, reference: string) => KubeObject | undefined
}

export class SourceReader {
  readonly #deps: SourceReaderDeps

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

  customize(at: { space: string; fact: ObjectFact; location: Destination }, object: KubeObject): Customization {
    if (!at.fact.customized) return { object, faults: [] }
    return customize(object, {
      location: this.#deps.location(at.location.cluster, at.location.locationName),
      locationName: at.location.locationName,
      customizer: at.fact.customizer === '' ? undefined : this.#deps.customizer(at.space, at.fact.customizer),
    })
  }
}
