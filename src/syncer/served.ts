/** What a server serves, from discovery, asked again when its CRDs change or something expected is missing. */
import { type GroupResource, groupResourceName } from '../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../client/client.ts'
import { DiscoveryError } from '../client/discoveryError.ts'

export class ServedResources {
  readonly #client: SpaceClient
  #byName: ReadonlyMap<string, DiscoveredResource> = new Map<string, DiscoveredResource>()
  #refreshing: Promise<void> | undefined
  readonly #listeners = new Set<() => void>()

  constructor(client: SpaceClient) {
    this.#client = client
  }

  find(resource: GroupResource): DiscoveredResource | undefined {
    return this.#byName.get(groupResourceName(resource))
  }

  all(): Iterable<DiscoveredResource> {
    return this.#byName.values()
  }

  /** Calls back after each refresh. */
  onRefresh(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** At most one question at a time. @throws StatusError; what was known before stays */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#ask().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #ask(): Promise<void> {
    let resources: readonly DiscoveredResource[]
    const kept: DiscoveredResource[] = []
    try {
      resources = await this.#client.discover()
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error
      // A group that does not answer (an aggregated API without its server) is unknown, not gone.
      resources = error.resources
      const unknown = new Set(error.failed.map(failure => failure.group))
      for (const resource of this.#byName.values()) if (unknown.has(resource.group)) kept.push(resource)
    }
    this.#byName = new Map([...kept, ...resources].map(resource => [groupResourceName(resource), resource]))
    for (const listener of this.#listeners) listener()
  }
}
