/**
 * Bounds on a preview's disclosure. Spaces see the labels of their allowed Locations, and not the annotations, which are parameters of
 * customization all the same. Content is shown only where it is the same without them.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Allowance } from '../../../placement/consent/allowance.ts'
import { project, updatedCopy } from '../../../placement/content/projection.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import { adapt, adaptationOf } from '../copies/adaptations.ts'
import { SourceReader, type SourceReaderDeps } from '../copies/sourceReader.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { ObjectFact } from '../join/workload.ts'

interface DisclosureDeps extends SourceReaderDeps {
  /** Customizers as they are stored; the others are those of the question. */
  storedCustomizer: SourceReaderDeps['customizer']
  consents: { allowance(space: string, way: Destination): Allowance }
  join: Pick<PlacementJoin, 'adopts' | 'associatedOf' | 'fact' | 'sourcesOf' | 'spec' | 'workload'>
}

interface At {
  readonly space: string
  readonly fact: ObjectFact
  readonly location: Destination
}

export class PreviewDisclosure {
  readonly #deps: DisclosureDeps
  /** As if Locations had no annotations. */
  readonly #requested: SourceReader
  readonly #stored: SourceReader

  constructor(deps: DisclosureDeps) {
    this.#deps = deps
    const location: SourceReaderDeps['location'] = (cluster, name) => {
      const found = deps.location(cluster, name)
      if (!found) return undefined
      const annotations = Object.fromEntries(Object.entries(found.metadata.annotations ?? {}).filter(isDisclosed))
      return { ...found, metadata: { ...found.metadata, annotations } }
    }
    this.#requested = new SourceReader({ ...deps, location })
    this.#stored = new SourceReader({ ...deps, location, customizer: deps.storedCustomizer })
  }

  /** Whether what was made of an object for a destination says nothing of the Location's annotations. */
  async showsMade(
    at: At,
    object: KubeObject,
    made: { object: KubeObject; faults: readonly string[] },
  ): Promise<boolean> {
    if (!at.fact.customized || !this.#hasAnnotations(at.location)) return true
    const { object: without, faults } = await this.#requested.customize(at, object)
    return equalJson(without, made.object) && equalJson(faults, made.faults)
  }

  /** The same of a copy that is there: it has to be what the stored object makes of it without them. */
  async showsCopy({ space, fact: { key }, location }: At, copy: KubeObject): Promise<boolean> {
    if (!this.#hasAnnotations(location)) return true
    const { join, consents } = this.#deps
    const fact = join.fact(space, key)
    const source = fact && (await this.#stored.read(space, fact))
    if (!source) return false
    const { object, faults } = await this.#stored.customize({ space, fact, location }, source)
    if (faults.length > 0) return false
    const claim = join.sourcesOf(location.mailbox, key).find(one => one.space === space)
    if (!claim) return updatedCopy(project(space, object), copy) === undefined
    const secures = consents.allowance(space, location).clusterScoped
    const adaptation = adaptationOf(join, claim)
    const { mailbox } = location
    const projection = adapt(join, claim, { mailbox, object: source, customized: object, adaptation, secures })
    return updatedCopy(projection, copy) === undefined
  }

  #hasAnnotations({ cluster, locationName }: Destination): boolean {
    const { annotations = {} } = this.#deps.location(cluster, locationName)?.metadata ?? {}
    return !Object.entries(annotations).every(isDisclosed)
  }
}

/** The server's own marks for the place of an object, which spaces may see. */
function isDisclosed([key]: [string, string]): boolean {
  return key.startsWith('kcp.io/')
}
