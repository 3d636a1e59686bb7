/**
 * The current version of every object in memory, found by key, by space and by (group, resource) over all spaces, and walked in key order.
 * Changes and reads are synchronous, so every read is one instant of the store. Fields of an object are in {@link ObjectSlots}; here the
 * fields of an object are the places, by the numbers that those gave.
 */
import { compareKeys } from './keys.ts'
import { type Kin, ObjectSlots, type ObjectSlotsOptions, type Placed } from './objectSlots.ts'
import type { SharedStored } from './sharedStored.ts'
import { ABSENT, type RunVisit, SortedList } from './sortedList.ts'
import { SpaceList, type SpaceMember } from './spaceList.ts'
import type { Key, Range, Stored } from './store.ts'

/** Objects of one (space, group, resource); never empty while it is in the index. */
interface Bucket extends SpaceMember<Bucket> {
  readonly group: string
  readonly resource: string
  readonly items: SortedList
  /** Those of all spaces, itself among them. */
  readonly siblings: SpaceList<Bucket>
}

/** Room for names; longer ones are rare. */
const SCRATCH_BYTES = 256

interface SpaceEntry extends SpaceMember<SpaceEntry> {
  /** By `resource\0group`. */
  readonly byResource: Map<string, Bucket>
  /** By group, then resource. */
  readonly buckets: Bucket[]
}

export class ObjectIndex {
  readonly #spaces = new Map<string, SpaceEntry>()
  readonly #spaceOrder = new SpaceList<SpaceEntry>(() => 0)
  /** By `resource\0group`: the buckets of all spaces. */
  readonly #resources = new Map<string, SpaceList<Bucket>>()
  readonly #slots: ObjectSlots
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  #size = 0
  /** The key that was made own last, as it was given and as it is here. */
  #owned: readonly [given: Key, own: Key] | undefined
  /** The latest result: the next look-up is often in the same one. */
  #found: Bucket | undefined
  /** The kind that was named last. */
  #named: { readonly group: string; readonly resource: string; readonly id: string } | undefined

  constructor(options: ObjectSlotsOptions = {}) {
    this.#slots = new ObjectSlots(options)
  }

  get size(): number {
    return this.#size
  }

  /** The sum of the bytes of objects with texts of their own. */
  get bytes(): number {
    return this.#slots.bytes
  }

  /** Objects that are kept as such. */
  get made(): number {
    return this.#slots.made
  }

  /** Pieces of memory and shared texts that it holds. */
  get referred(): number {
    return this.#slots.referred
  }

  get(key: Key): Stored | undefined {
    const bucket = this.#bucket(key)
    const slot = bucket?.items.find(key.namespace, key.name) ?? ABSENT
    return slot === ABSENT ? undefined : this.#slots.at(slot, bucket!)
  }

  /** Whether all others of its kind in its space come before it, so that it is not there. */
  isBehindAll(key: Key): boolean {
    return this.#bucket(key)?.items.isBehindAll(key.namespace, key.name) ?? true
  }

  put(stored: Stored): void {
    const { key } = stored
    const bucket = this.#bucket(key) ?? this.#addBucket(key)
    const slot = slotFor(bucket, key)
    if (slot === ABSENT) this.#add(bucket, this.#slots.add(stored))
    else this.#slots.replace(slot, stored)
  }

  /** The same without an object, for its first use. */
  place(key: Key, placed: Placed | SharedStored): void {
    const bucket = this.#bucket(key) ?? this.#addBucket(key)
    const slot = slotFor(bucket, key)
    if (slot === ABSENT) this.#add(bucket, this.#slots.addPlaced(key, placed))
    else this.#slots.replacePlaced(slot, placed)
  }

  delete(key: Key): void {
    const bucket = this.#bucket(key)
    const slot = bucket?.items.delete(key.namespace, key.name) ?? ABSENT
    if (bucket === undefined || slot === ABSENT) return
    this.#slots.remove(slot)
    this.#size--
    bucket.siblings.counted(bucket, -1)
    if (bucket.items.size === 0) this.#dropBucket(bucket)
  }

  /**
   * An equal key that shares its strings with the index where it can, and pins no longer string (a URL, a body). `name`: that of
   * others with the same one.
   */
  ownKey(key: Key, name = this.#detached(key.name)): Key {
    const [given, own] = this.#owned ?? []
    // objects come one behind the other: then their parts are the same strings
    const isSameKin = given?.space === key.space && given.group === key.group && given.resource === key.resource
    if (own !== undefined && isSameKin && given.namespace === key.namespace) {
      const { space, group, resource, namespace } = own
      return { space, group, resource, namespace, name }
    }
    const entry = this.#spaces.get(key.space)
    const sibling = this.#resources.get(this.#idOf(key))?.first
    const first = this.#bucket(key)?.items.first(key.namespace, '') ?? ABSENT
    const namespace = first === ABSENT ? undefined : this.#slots.namespace(first)
    const owned: Key = {
      space: entry?.space ?? this.#detached(key.space),
      group: sibling?.group ?? this.#detached(key.group),
      resource: sibling?.resource ?? this.#detached(key.resource),
      namespace: namespace === key.namespace ? namespace : this.#detached(key.namespace),
      name,
    }
    this.#owned = [key, owned]
    return owned
  }

  /** Objects of `range` behind `after`, counted by chunk, not one by one; of a resource in all spaces, by some hundred spaces. */
  count(range: Range, after?: Key): number {
    if (range.space === undefined && range.resource !== undefined && range.namespace === undefined) {
      const siblings = this.#resources.get(resourceId(range as Key))
      if (siblings === undefined || after === undefined) return siblings?.objects ?? 0
      return this.count({ ...range, space: after.space }, after) + siblings.objectsBehind(after.space)
    }
    let count = 0
    for (const bucket of this.#bucketsOf(range, after)) {
      const [from, to] = ranksIn(bucket, range, after)
      count += Math.max(0, to - from)
    }
    return count
  }

  /** Calls `visit` for the objects of `range` behind `after`, in key order, until it answers false. `isScan`: as {@link Run.isScan}. */
  visit(range: Range, after: Key | undefined, visit: (stored: Stored) => boolean, isScan?: boolean): void {
    for (const bucket of this.#bucketsOf(range, after)) {
      const [from, to] = ranksIn(bucket, range, after)
      if (from >= to) continue
      const run: RunVisit = (slots, start, end) => this.#slots.visit({ slots, start, end, kin: bucket, isScan }, visit)
      if (!bucket.items.visit(from, to, run)) return
    }
  }

  /** A name that pins no longer string. */
  ownName(name: string): string {
    return this.#detached(name)
  }

  /** A copy with memory of its own: an engine's substring may keep the whole string alive that it was cut from. */
  #detached(text: string): string {
    if (text.length < 13) return text
    const scratch = this.#scratch
    if (text.length > SCRATCH_BYTES) return Buffer.from(text).toString()
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) return Buffer.from(text).toString()
      scratch[i] = code
    }
    return scratch.toString('latin1', 0, text.length)
  }

  #add(bucket: Bucket, slot: number): void {
    bucket.items.add(slot)
    this.#size++
    bucket.siblings.counted(bucket, 1)
  }

  #bucket({ space, group, resource }: Kin): Bucket | undefined {
    const last = this.#found
    if (last?.space === space && last.resource === resource && last.group === group) return last
    const found = this.#spaces.get(space)?.byResource.get(this.#idOf({ group, resource }))
    if (found !== undefined) this.#found = found
    return found
  }

  /** The same as {@link resourceId}, joined once for several questions about one kind. */
  #idOf({ group, resource }: Pick<Key, 'group' | 'resource'>): string {
    const last = this.#named
    if (last?.resource === resource && last.group === group) return last.id
    const id = resourceId({ group, resource })
    this.#named = { group, resource, id }
    return id
  }

  #addBucket(key: Key): Bucket {
    const { space, group, resource } = key
    const id = this.#idOf(key)
    let siblings = this.#resources.get(id)
    if (siblings === undefined) {
      siblings = new SpaceList<Bucket>(sibling => sibling.items.size)
      this.#resources.set(id, siblings)
    }
    const bucket: Bucket = { space, group, resource, items: new SortedList(this.#slots), siblings, part: undefined }
    let entry = this.#spaces.get(space)
    if (entry === undefined) {
      entry = { space, byResource: new Map(), buckets: [], part: undefined }
      this.#spaces.set(space, entry)
      this.#spaceOrder.add(entry)
    }
    entry.byResource.set(id, bucket)
    this.#found = bucket
    entry.buckets.splice(
      placeOf(entry.buckets, other => isBucketBefore(other, group, resource)),
      0,
      bucket,
    )
    siblings.add(bucket)
    return bucket
  }

  #dropBucket(bucket: Bucket): void {
    const { space, group, resource } = bucket
    const id = this.#idOf(bucket)
    if (this.#found === bucket) this.#found = undefined
    const entry = this.#spaces.get(space)!
    entry.byResource.delete(id)
    entry.buckets.splice(
      placeOf(entry.buckets, other => isBucketBefore(other, group, resource)),
      1,
    )
    if (entry.buckets.length === 0) {
      this.#spaces.delete(space)
      this.#spaceOrder.delete(entry)
    }
    const { siblings } = bucket
    siblings.delete(bucket)
    if (siblings.isEmpty) this.#resources.delete(id)
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
      yield* this.#resources.get(resourceId(range as Key))?.from(after?.space) ?? []
    } else {
      for (const { buckets } of this.#spaceOrder.from(after?.space)) yield* buckets
    }
  }
}

/** Slot of a present object; the name is often absent, behind all others. */
function slotFor({ items }: Bucket, { namespace, name }: Key): number {
  return items.isBehindAll(namespace, name) ? ABSENT : items.find(namespace, name)
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
