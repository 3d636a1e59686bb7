/** Finds out, by live reads, what has become of the owners that an object names. */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import {
  type GroupVersionResource,
  type KubeObject,
  type OwnerReference,
  parseApiVersion,
} from '../../apimachinery/object.ts'
import type { Client, DiscoveredResource } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { DiscoveryError } from '../../client/discoveryError.ts'
import { FOREGROUND } from './dependencyGraph.ts'

export type OwnerState =
  /** It exists, and nothing says that its dependents should go. */
  | 'solid'
  /** A completed read found no object of this name and uid. */
  | 'absent'
  /** It is being deleted and waits for its dependents to go first. */
  | 'waiting'
  /** Its kind is not served, or is namespaced while the dependent is not: nothing can be known. */
  | 'unknown'

interface Kind {
  readonly resource: GroupVersionResource
  readonly namespaced: boolean
}

interface Remembered {
  readonly atMs: number
  readonly kinds: Promise<ReadonlyMap<string, Kind>>
}

/** Spaces whose kinds are remembered; the longest unused is forgotten first. */
const REMEMBERED_SPACES = 256
/** A kind that is missing is looked for again when the last look is older than this. */
const MISS_RECHECK_MS = 10_000

export class OwnerReader {
  readonly #client: Client
  readonly #clock: Clock
  readonly #remembered = new BoundedCache<string, Remembered>(REMEMBERED_SPACES)

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** @throws StatusError when the owner could not be read: nothing follows from that */
  async read(space: string, namespace: string, owner: OwnerReference): Promise<OwnerState> {
    const kind = await this.#kindOf(space, owner)
    if (!kind || (kind.namespaced && namespace === '')) return 'unknown'
    const ref = { name: owner.name, ...(kind.namespaced && { namespace }) }
    let found: KubeObject
    try {
      found = await this.#client.in(space).get(kind.resource, ref)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      // a NotFound that names the object is about the object; any other is about the path or the space
      const about = error.details?.name === owner.name && error.details.kind === kind.resource.resource
      if (about) return 'absent'
      this.forgetKinds(space)
      return 'unknown'
    }
    if (found.metadata.uid !== owner.uid) return 'absent'
    const leaving = found.metadata.deletionTimestamp !== undefined
    return leaving && found.metadata.finalizers?.includes(FOREGROUND) ? 'waiting' : 'solid'
  }

  forgetKinds(space: string): void {
    this.#remembered.delete(space)
  }

  async #kindOf(space: string, owner: OwnerReference): Promise<Kind | undefined> {
    const name = `${parseApiVersion(owner.apiVersion)?.group}/${owner.kind}`
    const remembered = this.#remember(space)
    const kind = (await remembered.kinds).get(name)
    if (kind || this.#clock.now() - remembered.atMs < MISS_RECHECK_MS) return kind
    if (this.#remembered.peek(space) === remembered) this.forgetKinds(space)
    return (await this.#remember(space).kinds).get(name)
  }

  #remember(space: string): Remembered {
    const known = this.#remembered.get(space)
    if (known !== undefined) return known
    const remembered = { atMs: this.#clock.now(), kinds: this.#discover(space) }
    this.#remembered.set(space, remembered)
    return remembered
  }

  async #discover(space: string): Promise<ReadonlyMap<string, Kind>> {
    let resources: readonly DiscoveredResource[]
    try {
      resources = await this.#client.in(space).discover()
    } catch (error) {
      this.forgetKinds(space)
      // kinds of the groups that failed stay unknown, which deletes nothing
      if (!(error instanceof DiscoveryError)) throw error
      resources = error.resources
    }
    const kinds = new Map<string, Kind>()
    for (const { group, version, resource, kind, namespaced } of resources) {
      kinds.set(`${group}/${kind}`, { resource: { group, version, resource }, namespaced })
    }
    return kinds
  }
}
