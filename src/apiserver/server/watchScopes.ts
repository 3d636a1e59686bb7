/** Ends watches when what they watch is gone: a custom resource's definition, or the whole space. */

export class WatchScopes {
  readonly #bySpace = new Map<string, Map<string, AbortController>>()

  /** Aborts when the resource is gone from the space. For `*` nothing ends it. */
  signal(space: string, group: string, resource: string): AbortSignal {
    let scopes = this.#bySpace.get(space)
    if (scopes === undefined) {
      scopes = new Map()
      this.#bySpace.set(space, scopes)
    }
    const key = `${group}/${resource}`
    let scope = scopes.get(key)
    if (scope === undefined) {
      scope = new AbortController()
      scopes.set(key, scope)
    }
    return scope.signal
  }

  endResource(space: string, group: string, resource: string): void {
    const scopes = this.#bySpace.get(space)
    const key = `${group}/${resource}`
    const scope = scopes?.get(key)
    scopes?.delete(key)
    // a replica may learn in one go that the last objects are gone and their definition, too: watches hear of both
    if (scope !== undefined) queueMicrotask(() => scope.abort())
  }

  endSpace(space: string): void {
    for (const scope of this.#bySpace.get(space)?.values() ?? []) scope.abort()
    this.#bySpace.delete(space)
  }
}
