/** Kinds of the resources that a space serves, from discovery, cached until they may have changed. */
import { groupResourceName } from '../../../apimachinery/object.ts'
import type { Client } from '../../../client/client.ts'

/** Spaces whose kinds are kept at hand. */
const KEPT = 100

export class ServedKinds {
  readonly #client: Client
  readonly #known = new Map<string, Promise<ReadonlyMap<string, string>>>()

  constructor(client: Client) {
    this.#client = client
  }

  forget(space: string): void {
    this.#known.delete(space)
  }

  /** Kinds by `resource.group`. */
  async of(space: string): Promise<ReadonlyMap<string, string>> {
    let asked = this.#known.get(space)
    if (!asked) {
      asked = this.#discover(space)
      this.#known.set(space, asked)
      if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value!)
    }
    try {
      return await asked
    } catch (error) {
      if (this.#known.get(space) === asked) this.#known.delete(space)
      throw error
    }
  }

  async #discover(space: string): Promise<ReadonlyMap<string, string>> {
    const served = await this.#client.in(space).discover()
    return new Map(served.map(resource => [groupResourceName(resource), resource.kind]))
  }
}
