/**
 * Waiting items by owner. Turns go round among tenants, within a tenant among its owners (spaces), and within an owner in order of arrival.
 * A tenant with many spaces has no more turns than others.
 */
export class TurnLine<T> {
  /** In the order of their turns. Never empty. */
  readonly #tenants = new Map<string, Map<string, T[]>>()

  get isEmpty(): boolean {
    return this.#tenants.size === 0
  }

  /** Next item. */
  get first(): T | undefined {
    for (const owners of this.#tenants.values()) for (const line of owners.values()) return line[0]
    return undefined
  }

  add(tenant: string, owner: string, item: T): void {
    const owners = this.#tenants.get(tenant)
    const line = owners?.get(owner)
    if (line !== undefined) line.push(item)
    else if (owners !== undefined) owners.set(owner, [item])
    else this.#tenants.set(tenant, new Map([[owner, [item]]]))
  }

  /** Takes whoever's turn it is; their tenant goes behind all others then, and in it their owner. */
  shift(): T | undefined {
    for (const [tenant, owners] of this.#tenants) {
      this.#tenants.delete(tenant)
      for (const [owner, line] of owners) {
        const item = line.shift()
        owners.delete(owner)
        if (line.length > 0) owners.set(owner, line)
        if (owners.size > 0) this.#tenants.set(tenant, owners)
        return item
      }
    }
    return undefined
  }
}
