/** Signals that end watches: their space is gone, or the resource is gone from it. */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'

export interface WatchScope {
  /** Aborts when the space is gone. */
  readonly gone: AbortSignal
  /** Aborts when the space, or all spaces together, cease to serve the resource: the watch ends behind all that happened before. */
  readonly closing: AbortSignal
}

interface SpaceScopes {
  readonly gone: AbortController
  /** By group and resource. */
  readonly closing: Map<string, AbortController>
}

export class WatchScopes {
  readonly #bySpace = new Map<string, SpaceScopes>()

  of(space: string, group: string, resource: string): WatchScope {
    const scopes = getOrInsert(this.#bySpace, space, () => ({ gone: new AbortController(), closing: new Map() }))
    const key = `${group}/${resource}`
    const closing = getOrInsert(scopes.closing, key, () => new AbortController())
    return { gone: scopes.gone.signal, closing: closing.signal }
  }

  /** Whether a watch may be open. */
  has(space: string, group: string, resource: string): boolean {
    return this.#bySpace.get(space)?.closing.has(`${group}/${resource}`) ?? false
  }

  endResource(space: string, group: string, resource: string): void {
    const scopes = this.#bySpace.get(space)
    const key = `${group}/${resource}`
    const scope = scopes?.closing.get(key)
    scopes?.closing.delete(key)
    // a replica may learn in one go that the last objects are gone and their definition, too: watches are given both by then
    if (scope !== undefined) queueMicrotask(() => scope.abort())
  }

  endSpace(space: string): void {
    this.#bySpace.get(space)?.gone.abort()
    this.#bySpace.delete(space)
  }
}

/** Never aborts. */
export const ENDLESS: AbortSignal = new AbortController().signal
