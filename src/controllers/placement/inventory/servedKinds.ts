/** Kinds that a space serves, from discovery, cached until they may have changed. */
import { groupResourceName } from '../../../apimachinery/object.ts'
import type { Client } from '../../../client/client.ts'

/** Spaces whose kinds are kept at hand. */
const KEPT = 1000

export interface ServedKind {
  readonly kind: string
  /** Whether it has a `status` sub-resource. */
  readonly hasStatus: boolean
}

export class ServedKinds {
  readonly #client: Client
  readonly #known = new Map<string, Promise<ReadonlyMap<string, ServedKind>>>()

  constructor(client: Client) {
    this.#client = client
  }

  forget(space: string): void {
    this.#known.delete(space)
  }

  /** By `resource.group`. */
  async of(space: string): Promise<ReadonlyMap<string, ServedKind>> {
    let discovery = this.#known.get(space)
    if (!discovery) {
      discovery = this.#discover(space)
      this.#known.set(space, discovery)
      if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value!)
    }
    try {
      return await discovery
    } catch (error) {
      if (this.#known.get(space) === discovery) this.#known.delete(space)
      throw error
    }
  }

  async #discover(space: string): Promise<ReadonlyMap<string, ServedKind>> {
    const served = await this.#client.in(space).discover()
    return new Map(
      served.map(resource => {
        const { kind, subresources } = resource
        return [groupResourceName(resource), { kind, hasStatus: subresources.includes('status') }]
      }),
    )
  }
}
