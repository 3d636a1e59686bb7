/**
 * Reads at an older revision: the current index, with the changes since then undone.
 */
import { compareKeys, keyText, rangeHolds } from './keys.ts'
import type { ObjectIndex } from './objectIndex.ts'
import type { Key, ListOptions, Page, Range, Stored, StoreEvent } from './store.ts'

interface Change {
  readonly key: Key
  /** Before its first change. */
  readonly stored: Stored | undefined
}

/** State of each changed key before its first change. */
export class Undo {
  readonly #was = new Map<string, Change>()
  /** The same in key order, from the first {@link takeBetween} on: each stretch is searched, and not all changes for each of them. */
  #ordered: Change[] | undefined

  /** Events in revision order. */
  add({ key, previous }: StoreEvent): void {
    const id = keyText(key)
    if (this.#was.has(id)) return
    const change = { key, stored: previous }
    this.#was.set(id, change)
    this.#ordered?.splice(countThrough(this.#ordered, key), 0, change)
  }

  get isEmpty(): boolean {
    return this.#was.size === 0
  }

  /** Changes behind `after` and no further than `through`; those up to `passed` are forgotten. */
  takeBetween(after: Key | undefined, through: Key | undefined, passed: Key | undefined): Undo {
    this.#ordered ??= this.behind(undefined)
    const ordered = this.#ordered
    if (passed !== undefined)
      for (const { key } of ordered.splice(0, countThrough(ordered, passed))) this.#was.delete(keyText(key))
    const start = after === undefined ? 0 : countThrough(ordered, after)
    const end = through === undefined ? ordered.length : countThrough(ordered, through)
    const some = new Undo()
    for (const change of ordered.slice(start, end)) some.#was.set(keyText(change.key), change)
    return some
  }

  /** The changed keys behind `after`, in key order. */
  behind(after: Key | undefined): Change[] {
    const changed = [...this.#was.values()].filter(c => after === undefined || compareKeys(c.key, after) > 0)
    return changed.sort((a, b) => compareKeys(a.key, b.key))
  }
}

/** How many of some changes in key order are of no later key. */
function countThrough(ordered: readonly Change[], key: Key): number {
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(ordered[middle]!.key, key) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

interface PastOptions extends ListOptions {
  /** No further than this key; `undo` has nothing behind it. */
  through?: Key | undefined
  isScan?: boolean | undefined
}

/** A page of the index as it was before the changes of `undo`, all of which lie in `range`. Synchronous. */
export function listAt(index: ObjectIndex, undo: Undo, range: Range, options: PastOptions): Omit<Page, 'revision'> {
  const { after, through, limit = Number.POSITIVE_INFINITY } = options
  const changed = undo.behind(after)
  const items: Stored[] = []
  let more = false
  let next = 0
  /** Answers whether there is room for another. The first without room tells that there are more. */
  const take = (stored: Stored | undefined): boolean => {
    if (stored === undefined) return true
    if (items.length < limit) items.push(stored)
    else more = true
    return !more
  }
  index.visit(
    range,
    after,
    stored => {
      if (through !== undefined && compareKeys(stored.key, through) > 0) return false
      let order = -1
      while (next < changed.length) {
        order = compareKeys(stored.key, changed[next]!.key)
        if (order <= 0) break
        if (!take(changed[next++]!.stored)) return false
      }
      return take(next < changed.length && order === 0 ? changed[next++]!.stored : stored)
    },
    options.isScan,
  )
  while (next < changed.length && !more) take(changed[next++]!.stored)
  if (!more) return { items, more, remaining: 0 }
  return {
    items,
    more,
    remaining: options.uncounted ? undefined : countAt(index, changed, range, after) - items.length,
  }
}

/**
 * The same, not counted, a stretch of keys at a time: as long as the present demand. Only changes within it are undone. A snapshot in pages
 * would else undo with each of them all writes since it began. `undo` answers the changes of a stretch.
 */
export function stretchesAt(
  index: ObjectIndex,
  undo: (after: Key | undefined, through: Key | undefined) => Undo,
  range: Range,
  { after, limit }: { after?: Key | undefined; limit: number },
): Omit<Page, 'revision'> {
  const items: Stored[] = []
  for (let from = after; ; ) {
    const through = keyBehind(index, range, from, limit)
    const options = { limit: limit - items.length, uncounted: true, through, ...(from && { after: from }) }
    const page = listAt(index, undo(from, through), range, options)
    items.push(...page.items)
    if (page.more) return { items, more: true, remaining: undefined }
    if (through === undefined) return { items, more: false, remaining: 0 }
    from = through
  }
}

/** Size of a list from which its objects are not kept for another one. */
const SCANNED = 32_768

/** A list that is read in slices while others write: what they change ahead of it is undone. */
export class SlicedRead {
  readonly #index: ObjectIndex
  readonly #range: Range
  readonly #undo: Undo
  readonly #uncounted: boolean
  readonly #isScan: boolean
  #after: Key | undefined
  #left: number

  /** `undo` leads back from this very instant. From then on the read has to get each change ({@link changed}). */
  constructor(index: ObjectIndex, undo: Undo, range: Range, { after, limit, uncounted }: ListOptions) {
    this.#index = index
    this.#undo = undo
    this.#range = range
    this.#after = after
    this.#left = limit ?? Number.POSITIVE_INFINITY
    this.#uncounted = uncounted ?? false
    this.#isScan = index.count(range) > SCANNED
  }

  changed(event: StoreEvent): void {
    const { key } = event
    const isAhead = this.#after === undefined || compareKeys(key, this.#after) > 0
    if (isAhead && rangeHolds(this.#range, key)) this.#undo.add(event)
  }

  /** At most so many objects; it is the last one where it counts what is left, or there is no more. */
  next(most: number): Omit<Page, 'revision'> & { isLast: boolean } {
    const isLast = this.#left <= most
    const after = this.#after
    const limit = Math.min(this.#left, most)
    const page =
      isLast || this.#undo.isEmpty
        ? listAt(this.#index, this.#undo, this.#range, {
            limit,
            uncounted: this.#uncounted || !isLast,
            isScan: this.#isScan,
            ...(after && { after }),
          })
        : stretchesAt(this.#index, (behind, through) => this.#undo.takeBetween(behind, through, after), this.#range, {
            after,
            limit,
          })
    this.#left -= page.items.length
    this.#after = page.items.at(-1)?.key ?? after
    return { ...page, isLast: isLast || !page.more }
  }
}

/** Key of the object so many places behind; `undefined` where there are fewer. */
function keyBehind(index: ObjectIndex, range: Range, after: Key | undefined, places: number): Key | undefined {
  let left = places
  let key: Key | undefined
  index.visit(range, after, stored => {
    if (--left > 0) return true
    key = stored.key
    return false
  })
  return key
}

function countAt(
  index: ObjectIndex,
  changed: ReturnType<Undo['behind']>,
  range: Range,
  after: Key | undefined,
): number {
  let total = index.count(range, after)
  for (const { key, stored } of changed) {
    const was = stored === undefined ? 0 : 1
    const is = index.get(key) === undefined ? 0 : 1
    total += was - is
  }
  return total
}
