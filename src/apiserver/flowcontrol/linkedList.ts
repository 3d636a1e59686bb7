/**
 * Items in the order in which they came, each of which may leave from anywhere. Not a Set: the tables that a Set leaves behind as it turns
 * over hold each other and their items. Once one of them is old the collector of young garbage frees none of the items. The links are the
 * items' own, so that being in a list allocates nothing; an item of two lists has a link for each.
 */

/** Where an item stands in one list. */
export interface Link<T> {
  older: T | undefined
  newer: T | undefined
}

export function newLink<T>(): Link<T> {
  return { older: undefined, newer: undefined }
}

export class LinkedList<T> {
  readonly #linkOf: (item: T) => Link<T>
  oldest: T | undefined
  newest: T | undefined

  /** `linkOf`: the link that is for this list, or for others that the item is never in at the same time. */
  constructor(linkOf: (item: T) => Link<T>) {
    this.#linkOf = linkOf
  }

  append(item: T): void {
    const link = this.#linkOf(item)
    const { newest } = this
    link.older = newest
    link.newer = undefined
    if (newest === undefined) this.oldest = item
    else this.#linkOf(newest).newer = item
    this.newest = item
  }

  /** Removes an item that is in this list only. */
  remove(item: T): void {
    const link = this.#linkOf(item)
    const { older, newer } = link
    if (older === undefined) this.oldest = newer
    else this.#linkOf(older).newer = newer
    if (newer === undefined) this.newest = older
    else this.#linkOf(newer).older = older
    link.older = undefined
    link.newer = undefined
  }
}
