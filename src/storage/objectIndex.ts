/**
 * The current version of every object in memory, found by key, by space and by (group, resource) over all spaces, and
 * walked in key order. Changes and reads are synchronous, so every read is one instant of the store.
 */
import { compareKeys } from './keys.ts'
import { SharedStored } from './sharedStored.ts'
import { SortedList } from './sortedList.ts'
import type { Key, Range, Stored } from './store.ts'

/** Objects of one (space, group, resource); never empty while it is in the index. */
interface Bucket {
  readonly space: string
  readonly group: string
  readonly resource: string
  readonly items: SortedList
}

interface SpaceEntry {
  readonly space: string
  /** By `resource\0group`. */
  readonly byResource: Map<string, Bucket>
  /** By group, then resource. */
  readonly buckets: Bucket[]
}

export class ObjectIndex {
  readonly #spaces = new Map<string, SpaceEntry>()
  /** By space. */
  readonly #spaceOrder: SpaceEntry[] = []
  /** By `resource\0group`: the buckets of all spaces, by space. */
  readonly #resources = new Map<string, Bucket[]>()
  #size = 0
  #bytes = 0

  get size(): number {
    return this.#size
  }

  /** The sum of the bytes of objects with texts of their own. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: Key): Stored | undefined {
    return this.#bucket(key)?.items.find(key.namespace, key.name)
  }

  put(stored: Stored): void {
    const bucket = this.#bucket(stored.key) ?? this.#addBucket(stored.key)
    const replaced = bucket.items.set(stored)
    if (replaced === undefined) this.#size++
    this.#bytes += ownBytes(stored) - ownBytes(replaced)
  }

  delete(key: Key): void {
    const bucket = this.#bucket(key)
    const deleted = bucket?.items.delete(key.namespace, key.name)
    if (bucket === undefined || deleted === undefined) return
    this.#size--
    this.#bytes -= ownBytes(deleted)
    if (bucket.items.size === 0) this.#dropBucket(bucket)
  }

  /**
   * An equal key that shares its strings with the index where it can, and pins no longer string (a URL, a body). `name`: that of
   * others with the same one.
   */
  ownKey(key: Key, name = detached(key.name)): Key {
    const entry = this.#spaces.get(key.space)
    const siblings = this.#resources.get(resourceId(key))
    const bucket = entry?.byResource.get(resourceId(key))
    let namespace: string | undefined
    if (bucket !== undefined) {
      const rank = bucket.items.rank(key.namespace, '')
      bucket.items.visit(rank, rank + 1, stored => {
        if (stored.key.namespace === key.namespace) namespace = stored.key.namespace
        return false
      })
    }
    return {
      space: entry?.space ?? detached(key.space),
      group: siblings?.[0]?.group ?? detached(key.group),
      resource: siblings?.[0]?.resource ?? detached(key.resource),
      namespace: namespace ?? detached(key.namespace),
      name,
    }
  }

  /** The object with the same name in the space before that of `key` which has such objects. */
  neighbour(key: Key): Stored | undefined {
    const siblings = this.#resources.get(resourceId(key))
    const place = siblings && placeOf(siblings, other => other.space < key.space)
    return place ? siblings[place - 1]!.items.find(key.namespace, key.name) : undefined
  }

  /** Objects of `range` behind `after`, counted by chunk, not one by one. */
  count(range: Range, after?: Key): number {
    let count = 0
    for (const bucket of this.#bucketsOf(range, after)) {
      const [from, to] = ranksIn(bucket, range, after)
      count += Math.max(0, to - from)
    }
    return count
  }

  /** Calls `visit` for the objects of `range` behind `after`, in key order, until it answers false. */
  visit(range: Range, after: Key | undefined, visit: (stored: Stored) => boolean): void {
    for (const bucket of this.#bucketsOf(range, after)) {
      const [from, to] = ranksIn(bucket, range, after)
      if (from < to && !bucket.items.visit(from, to, visit)) return
    }
  }

  #bucket(key: Key): Bucket | undefined {
    return this.#spaces.get(key.space)?.byResource.get(resourceId(key))
  }

  #addBucket(key: Key): Bucket {
    const { space, group, resource } = key
    const bucket: Bucket = { space, group, resource, items: new SortedList() }
    let entry = this.#spaces.get(space)
    if (entry === undefined) {
      entry = { space, byResource: new Map(), buckets: [] }
      this.#spaces.set(space, entry)
      this.#spaceOrder.splice(
        placeOf(this.#spaceOrder, other => other.space < space),
        0,
        entry,
      )
    }
    entry.byResource.set(resourceId(key), bucket)
    entry.buckets.splice(
      placeOf(entry.buckets, other => isBucketBefore(other, group, resource)),
      0,
      bucket,
    )
    let siblings = this.#resources.get(resourceId(key))
    if (siblings === undefined) {
      siblings = []
      this.#resources.set(resourceId(key), siblings)
    }
    siblings.splice(
      placeOf(siblings, other => other.space < space),
      0,
      bucket,
    )
    return bucket
  }

  #dropBucket(bucket: Bucket): void {
    const { space, group, resource } = bucket
    const id = resourceId(bucket)
    const entry = this.#spaces.get(space)!
    entry.byResource.delete(id)
    entry.buckets.splice(
      placeOf(entry.buckets, other => isBucketBefore(other, group, resource)),
      1,
    )
    if (entry.buckets.length === 0) {
      this.#spaces.delete(space)
      this.#spaceOrder.splice(
        placeOf(this.#spaceOrder, other => other.space < space),
        1,
      )
    }
    const siblings = this.#resources.get(id)!
    siblings.splice(
      placeOf(siblings, other => other.space < space),
      1,
    )
    if (siblings.length === 0) this.#resources.delete(id)
  }

  /** Buckets that may hold objects of the range behind `after`, in key order. */
  *#bucketsOf(range: Range, after: Key | undefined): Iterable<Bucket> {
    if (range.space !== undefined) {
      const entry = this.#spaces.get(range.space)
      if (entry === undefined) return
      if (range.resource === undefined) yield* entry.buckets
      else {
        const bucket = entry.byResource.get(resourceId(range as Key))
        if (bucket !== undefined) yield bucket
      }
    } else if (range.resource !== undefined) {
      const siblings = this.#resources.get(resourceId(range as Key)) ?? []
      const first = after === undefined ? 0 : placeOf(siblings, other => other.space < after.space)
      for (let i = first; i < siblings.length; i++) yield siblings[i]!
    } else {
      const first = after === undefined ? 0 : placeOf(this.#spaceOrder, other => other.space < after.space)
      for (let i = first; i < this.#spaceOrder.length; i++) yield* this.#spaceOrder[i]!.buckets
    }
  }
}

/** The ranks [from, to) of a bucket's objects that are in `range` and behind `after`. */
function ranksIn(bucket: Bucket, range: Range, after: Key | undefined): [number, number] {
  const { items } = bucket
  let from = 0
  let to = items.size
  if (range.namespace !== undefined) {
    from = items.rank(range.namespace, range.name ?? '')
    // The least string behind a string is that string and NUL, which no part holds.
    if (range.name === undefined) to = items.rank(`${range.namespace}\0`, '')
    else to = items.rank(range.namespace, `${range.name}\0`)
  }
  if (after !== undefined) {
    const place = compareKeys({ ...bucket, namespace: after.namespace, name: after.name }, after)
    if (place < 0) return [0, 0]
    if (place === 0) from = Math.max(from, items.rank(after.namespace, `${after.name}\0`))
  }
  return [from, to]
}

function ownBytes(stored: Stored | undefined): number {
  return stored === undefined || stored instanceof SharedStored ? 0 : stored.bytes.length
}

function resourceId(gr: { group: string; resource: string }): string {
  return `${gr.resource}\0${gr.group}`
}

function isBucketBefore(bucket: Bucket, group: string, resource: string): boolean {
  return bucket.group === group ? bucket.resource < resource : bucket.group < group
}

function placeOf<T>(sorted: readonly T[], isBefore: (item: T) => boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}

/** A copy with memory of its own: an engine's substring may keep the whole string alive that it was cut from. */
function detached(text: string): string {
  return text.length < 13 ? text : Buffer.from(text).toString()
}
