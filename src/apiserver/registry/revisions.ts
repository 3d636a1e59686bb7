/**
 * Changing the same object in many spaces: where the objects that are there say the same, what one of them became says what the
 * next one becomes. The first one is changed as any object is. Objects that differ in more than who they are and when they were
 * made or changed (in a status, say) are changed each for themselves.
 *
 * What holds for templates.ts holds here: the same sender's object, the same writer, a kind with the same rules.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { KubeObject, ObjectMeta } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import { type AlikeText, alikeOf } from '../../storage/alikeText.ts'
import type { Body } from '../../storage/body.ts'
import type { SharedStored } from '../../storage/sharedStored.ts'
import type { Encoded, Revision, Stored, Gap as TextGap } from '../../storage/store.ts'
import { Filling } from './filling.ts'
import { type Circumstances, isSameWrite, textOf } from './templates.ts'

/** What tells an object from one that says the same: uid, space, and the different times in it, by number. */
type Slot = 'uid' | 'space' | 'now' | number

interface Cut {
  /** The text around the slots. */
  readonly pieces: readonly string[]
  readonly slots: readonly Slot[]
  readonly tail: string
  readonly note: string | undefined
  readonly declared: readonly TextGap[] | undefined
  readonly uid: string
  readonly space: string
  /** In the order in which they first stand in its metadata. */
  readonly times: readonly string[]
}

/** How an object that is there becomes the one that is wanted. */
interface Change {
  readonly circumstances: Circumstances
  readonly pieces: readonly string[]
  readonly slots: readonly Slot[]
  readonly tail: string
  readonly note: string | undefined
  /** Where its own values stand, in bytes. */
  readonly declared: readonly TextGap[] | undefined
  readonly object: KubeObject
  /** Of creation, and of the entries of its managedFields. */
  readonly created: Slot
  readonly claimed: readonly Slot[]
}

/** The same for objects whose texts the store keeps once: told by the words in which they differ. */
interface AlikeChange {
  readonly change: Change
  /** What stands in the gaps beside the uid. */
  readonly gaps: readonly Gap[]
  /** Where each time of the metadata stands first among them. */
  readonly places: readonly number[]
  readonly filling: Filling<Slot>
}

interface Gap {
  /** What all say there; `undefined` where it is a time of the metadata. */
  readonly fixed: string | undefined
  /** The first gap that says the same. */
  readonly first: number
  /** As {@link toNow} says; claims stand in the order of their times. */
  readonly toNow: number
}

interface Known {
  readonly changes: BoundedCache<string, Change>
  readonly alike: BoundedCache<Body, readonly AlikeChange[]>
}

export interface Changed {
  readonly text: Encoded
  /** The object once it is stored under a revision. */
  stored(revision: Revision): KubeObject
}

/** Different contents of the objects that one is to replace: more of them are changed each for themselves. */
const KEPT_CHANGES = 32
/** Of texts of one form: they differ in which times are the same. */
const KEPT_ALIKE = 8

/** What becomes of one of many that say the same. */
export interface ChangedAlike {
  readonly text: Encoded
  /** One that became the same, but for which one it is and its times. Nobody ever changes it. */
  readonly like: KubeObject
}

export class Revisions {
  readonly #known = new WeakMap<object, Known>()

  /** What `current` becomes at the time `now`, if that is known. `metadata` is its own. */
  of(said: object, circumstances: Circumstances, place: Place): Changed | undefined {
    const known = this.#known.get(said)
    if (!known) return undefined
    const shared = alikeOf(place.current)
    const alike = shared?.own === place.metadata.uid ? alikeIn(known, shared!, place.now) : undefined
    const text =
      alike && isSameWrite(alike.change.circumstances, circumstances) ? alikeText(alike, shared!, place.now) : undefined
    if (alike && shared && text) return { text, stored: revision => objectIn(alike, shared, place.now, revision) }
    const cut = cutOf(place)
    const change = cut && known.changes.get(shapeOf(cut, place.now))
    if (!cut || !change || !isSameWrite(change.circumstances, circumstances)) return undefined
    const textAt = (slot: Slot): string => (slot === 'now' ? place.now : valueIn(cut, slot))
    return {
      text: joined(change, textAt),
      stored: revision => objectOf(change, cut, textAt, revision),
    }
  }

  /** The same of one of many, without looking at what it says. */
  alike(said: object, circumstances: Circumstances, stored: SharedStored, now: string): ChangedAlike | undefined {
    const known = this.#known.get(said)
    const alike = known && alikeIn(known, stored, now)
    if (!alike || !isSameWrite(alike.change.circumstances, circumstances)) return undefined
    const text = alikeText(alike, stored, now)
    return text && { text, like: alike.change.object }
  }

  /** What it has become, to be known for the next one. */
  learn(said: object, circumstances: Circumstances, place: Place, became: Stored): void {
    const before = cutOf(place)
    const object = JSON.parse(became.bytes.toString()) as KubeObject
    const after = cutOf({ current: became, metadata: object.metadata, now: place.now })
    if (!before || !after) return
    if (before.uid !== after.uid || object.metadata.deletionTimestamp !== undefined) return
    // one that was there and is the present one could be either: what this is learned for has it there, too, so it is the same
    const timeOf = (time: string): Slot | undefined => {
      if (time === place.now) return 'now'
      const index = before.times.indexOf(time)
      return index === -1 ? undefined : index
    }
    const slots = after.slots.map(slot => (typeof slot === 'number' ? timeOf(after.times[slot]!) : slot))
    const { creationTimestamp = '', managedFields = [] } = object.metadata
    const created = timeOf(creationTimestamp)
    const claimed = managedFields.map(({ time = '' }) => timeOf(time))
    if (created === undefined || !slots.every(isKnown) || !claimed.every(isKnown)) return
    const { pieces, tail, note, declared } = after
    const known = this.#known.get(said) ?? {
      changes: new BoundedCache<string, Change>(KEPT_CHANGES),
      alike: new BoundedCache<Body, readonly AlikeChange[]>(KEPT_CHANGES),
    }
    this.#known.set(said, known)
    const change = { circumstances, pieces, slots, tail, note, declared, object, created, claimed }
    known.changes.set(shapeOf(before, place.now), change)
    const shared = alikeOf(place.current)
    const alike = shared && alikeChange(change, { shared, before, now: place.now, became })
    if (!alike) return
    const others = (known.alike.get(shared.body) ?? []).filter(other => !fits(other, shared, place.now))
    known.alike.set(shared.body, [alike, ...others.slice(0, KEPT_ALIKE - 1)])
  }
}

/** `undefined` where the texts are kept each for itself, or a gap is about something else than it seems. */
function alikeChange(
  change: Change,
  { shared, before, now, became }: { shared: SharedStored; before: Cut; now: string; became: Stored },
): AlikeChange | undefined {
  const { uid, times } = before
  const { own, rest } = shared
  const places = times.map(time => rest.indexOf(time))
  if (own !== uid || places.includes(-1)) return undefined
  const filling = Filling.of<Slot>(became, {
    slotOf(word) {
      if (word === uid) return 'uid'
      if (word === now) return 'now'
      const time = times.indexOf(word)
      return time === -1 ? undefined : time
    },
    example: (wordFor, space) => joined(change, slot => (slot === 'space' ? space : wordFor(slot))),
  })
  const gaps = rest.map(word => {
    const first = rest.indexOf(word)
    return { fixed: places.includes(first) ? undefined : word, first, toNow: toNow(word, now) }
  })
  return filling && { change, gaps, places, filling }
}

/** What was learned of one that says the same, and of whose times the same ones are the same, and as now. */
function alikeIn({ alike }: Known, stored: SharedStored, now: string): AlikeChange | undefined {
  return alike.get(stored.body)?.find(one => fits(one, stored, now))
}

function fits({ gaps }: AlikeChange, { rest }: SharedStored, now: string): boolean {
  for (let i = 0; i < rest.length; i++) {
    const { fixed, first, toNow: then } = gaps[i]!
    const word = rest[i]!
    if (fixed !== undefined && fixed !== word) return false
    if (toNow(word, now) !== then || rest.indexOf(word) !== first) return false
  }
  return true
}

/** Below, at or above 0 for a time before, at or after now. */
function toNow(time: string, now: string): number {
  return time === now ? 0 : time < now ? -1 : 1
}

/** Of what it {@link fits}; `undefined` where a word is longer or shorter than there is room for. */
function alikeText(alike: AlikeChange, stored: SharedStored, now: string): AlikeText | undefined {
  return alike.filling.text(slot => wordAt(alike, stored, now, slot), stored.key.space)
}

function wordAt({ places }: AlikeChange, { key, own, rest }: SharedStored, now: string, slot: Slot): string {
  if (slot === 'now') return now
  if (slot === 'uid') return own
  return slot === 'space' ? key.space : rest[places[slot]!]!
}

function objectIn(alike: AlikeChange, stored: SharedStored, now: string, revision: Revision): KubeObject {
  const { own: uid, key } = stored
  return objectOf(alike.change, { uid, space: key.space }, slot => wordAt(alike, stored, now, slot), revision)
}

function joined({ pieces, slots, tail, note, declared }: Change, textAt: (slot: Slot) => string): Encoded {
  let head = pieces[0]!
  for (let i = 1; i < pieces.length; i++) head += textAt(slots[i - 1]!) + pieces[i]!
  return { head, tail, note, gaps: declared }
}

/** An object where it stands, with its metadata, at a time. */
export interface Place {
  readonly current: Stored
  readonly metadata: ObjectMeta
  readonly now: string
}

const isKnown = (slot: Slot | undefined): slot is Slot => slot !== undefined

function objectOf(
  { object, created, claimed }: Change,
  { uid, space }: Pick<Cut, 'uid' | 'space'>,
  textAt: (slot: Slot) => string,
  revision: Revision,
): KubeObject {
  const { annotations, managedFields } = object.metadata
  const metadata: ObjectMeta = { ...object.metadata, uid, creationTimestamp: textAt(created) }
  metadata.resourceVersion = String(revision)
  if (annotations?.[CLUSTER_ANNOTATION] !== undefined)
    metadata.annotations = { ...annotations, [CLUSTER_ANNOTATION]: space }
  if (managedFields) metadata.managedFields = managedFields.map((entry, i) => ({ ...entry, time: textAt(claimed[i]!) }))
  return { ...object, metadata }
}

function valueIn({ uid, space, times }: Cut, slot: Exclude<Slot, 'now'>): string {
  if (slot === 'uid') return uid
  return slot === 'space' ? space : times[slot]!
}

/** Equal for objects that say the same, and were made or changed just now in the same places. */
function shapeOf({ pieces, slots, tail, note, times }: Cut, now: string): string {
  return [slots.join(), times.map(time => toNow(time, now)).join(), note, ...pieces, tail].join('\0')
}

/** `undefined` where the text says its uid, its space or one of its times anywhere but where its metadata does. */
function cutOf({ current, metadata }: Place): Cut | undefined {
  const { uid = '', creationTimestamp = '', annotations = {}, managedFields = [] } = metadata
  const { space } = current.key
  const all = [creationTimestamp, ...managedFields.map(({ time = '' }) => time)]
  const times = [...new Set(all)]
  if (uid === '' || times.includes('')) return undefined
  const { head, tail, note, gaps: declared } = textOf(current)
  const values: [slot: Exclude<Slot, 'now'>, value: string, expected: number][] = [
    ['uid', uid, 1],
    ['space', space, annotations[CLUSTER_ANNOTATION] === undefined ? 0 : 1],
    ...times.map((time, i): [number, string, number] => [i, time, all.filter(other => other === time).length]),
  ]
  const found: { at: number; slot: Exclude<Slot, 'now'>; length: number }[] = []
  for (const [slot, value, expected] of values) {
    if (tail.includes(value)) return undefined
    let count = 0
    for (let at = head.indexOf(value); at !== -1; at = head.indexOf(value, at + value.length)) {
      found.push({ at, slot, length: value.length })
      count++
    }
    if (count !== expected) return undefined
  }
  found.sort((a, b) => a.at - b.at)
  const pieces: string[] = []
  let start = 0
  for (const { at, length } of found) {
    pieces.push(head.slice(start, at))
    start = at + length
  }
  pieces.push(head.slice(start))
  return { pieces, slots: found.map(({ slot }) => slot), tail, note, declared, uid, space, times }
}
