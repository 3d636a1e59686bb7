/** What a server serves, from discovery, asked again when its CRDs change or something expected is missing. */
import { type GroupResource, groupResourceName } from '../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../client/client.ts'

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
    const resources = await this.#client.discover()
    this.#byName = new Map(resources.map(resource => [groupResourceName(resource), resource]))
    for (const listener of this.#listeners) listener()
  }
}
