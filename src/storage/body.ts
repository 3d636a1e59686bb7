/**
 * The part that the texts of many objects share: the same JSON but for gaps. The gaps hold uids, times, the id of the space and the
 * revision. A body keeps it once. The own values of an object in the gaps make its text again, to the byte.
 *
 * The writer of an object declares its gaps. Their outline and a digest of the text around them stand in the row of the object. A restart,
 * a thread or a replica reads the body of a text from these and never compares texts.
 */
import { hash } from 'node:crypto'
import { type Encoded, type Gap, type Key, type Revision, StorageError, type Stored } from './store.ts'

/** A stored version whose text is at hand, with the {@link Body.outline} of its body where its writer declared one. */
export interface Whole extends Stored {
  readonly outline?: Buffer | undefined
}

/** The own values of one object: what stands in the gaps of its body. */
export interface Own {
  readonly uid: string
  /** All times, in order, joined by {@link BETWEEN}; those of many objects are equal. */
  readonly times: string
}

/** All that makes a body, for another thread. */
export interface BodyParts {
  /** Without the digits of the revision; any values stand in the gaps. */
  readonly text: Uint8Array
  readonly outline: Uint8Array
  readonly headBytes: number
  readonly note: string | undefined
  /** The name of each of its objects. */
  readonly name: string
}

/** The results of a search for one text in the texts of a body. */
interface Sought {
  /** Whether it stands outside of the gaps. */
  readonly isSolid: boolean
  /** The text between its quotes, where it has two and nothing else. */
  readonly word: string | undefined
  readonly isNumber: boolean
}

/** The separator of times: no value in a gap holds it. */
const BETWEEN = '\0'
const KINDS = ['uid', 'space', 'time'] as const
const [UID, SPACE] = [0, 1]
/** A gap in an outline: where in the text (32 bits), its bytes and its kind (8 bits each). */
const [GAP_LENGTH, GAP_KIND, GAP_BYTES] = [4, 5, 6]
/** Bytes of SHA-256 that are kept: enough that no text is found which has the digest of another writer's. */
const DIGEST_BYTES = 16
const MOST_SOUGHT = 16
/** More than copies have in their metadata and in a short status; a text with more stays whole. */
const MOST_GAPS = 48
const LONGEST_VALUE = 64
const QUOTE = 0x22

export class Body {
  readonly note: string | undefined
  readonly name: string
  /** Where the revision begins, in each text. */
  readonly headBytes: number
  /** Its gaps and its digest, as they stand in rows. */
  readonly outline: Buffer
  readonly digest: string
  /** The place, the bytes and the kind of each gap. */
  readonly #gaps: readonly number[]
  /** One of its texts without the revision: in the gaps stand the last values. */
  readonly #text: Buffer
  #times: string | undefined
  #space: string | undefined
  #sought: Map<string, Sought> | undefined
  /** Current objects with this body. */
  users = 0

  constructor({ text, outline, headBytes, note, name }: BodyParts) {
    // memory of its own: what is pooled with others would keep all of that
    const memory = Buffer.allocUnsafeSlow(text.length + outline.length)
    memory.set(text)
    memory.set(outline, text.length)
    this.#text = memory.subarray(0, text.length)
    this.outline = memory.subarray(text.length)
    this.digest = digestIn(this.outline)
    this.#gaps = gapsOf(this.outline)
    this.headBytes = headBytes
    this.note = note
    this.name = name
  }

  get gaps(): readonly Gap[] {
    const gaps: Gap[] = []
    for (let i = 0; i < this.#gaps.length; i += 3) {
      const [at, length, kind] = this.#gaps.slice(i, i + 3) as [number, number, number]
      gaps.push({ at, length, kind: KINDS[kind]! })
    }
    return gaps
  }

  /** How many of {@link Own.times} stand before the revision. */
  get headTimes(): number {
    return this.gaps.filter(({ at, kind }) => kind === 'time' && at < this.headBytes).length
  }

  /** Whether the values are as long as the gaps for them. */
  holds({ uid, times: joint }: Own, space: string): boolean {
    const gaps = this.#gaps
    const times = timesOf({ times: joint })
    let next = 0
    for (let i = 0; i < gaps.length; i += 3) {
      const kind = gaps[i + 2]!
      const value = kind === UID ? uid : kind === SPACE ? space : times[next++]
      if (value?.length !== gaps[i + 1]) return false
    }
    return next === times.length
  }

  get parts(): BodyParts {
    const { outline, headBytes, note, name } = this
    return { text: this.#text, outline, headBytes, note, name }
  }

  /** Bytes of its text under a revision. */
  size(revision: Revision): number {
    return this.#text.length + digitsOf(revision)
  }

  text(own: Own, space: string, revision: Revision): Buffer {
    const bytes = Buffer.allocUnsafe(this.size(revision))
    this.write(own, space, revision, bytes, 0)
    return bytes
  }

  /** Its text with `~` in each gap, which no label, uid or time holds, under revision 1. */
  get blank(): Buffer {
    const blanks = (kind: Gap['kind']): string[] =>
      this.gaps.flatMap(gap => (gap.kind === kind ? ['~'.repeat(gap.length)] : []))
    const [uid = ''] = blanks('uid')
    const [space = ''] = blanks('space')
    return this.text({ uid, times: joined(blanks('time')) }, space, 1)
  }

  /** Writes its text into what has room for it: objects that follow each other mostly differ in their uids alone. */
  write({ uid, times }: Own, space: string, revision: Revision, into: Buffer, start: number): void {
    const text = this.#text
    const gaps = this.#gaps
    let next = 0
    for (let i = 0; i < gaps.length; i += 3) {
      const [at, length, kind] = [gaps[i]!, gaps[i + 1]!, gaps[i + 2]!]
      if (kind === SPACE) {
        if (space !== this.#space) text.write(space, at, length, 'latin1')
      } else if (kind === UID) text.write(uid, at, length, 'latin1')
      else {
        if (times !== this.#times) text.write(times.slice(next, next + length), at, length, 'latin1')
        next += length + BETWEEN.length
      }
    }
    this.#times = times
    this.#space = space
    const head = this.headBytes
    text.copy(into, start, 0, head)
    const at = start + head
    text.copy(into, at + into.write(String(revision), at, 'latin1'), head)
  }

  /** Whether a text stands in that of an object; `undefined` where only that one tells: the text may begin or end in a gap. */
  mentions(text: string, { uid, times }: Own, space: string, revision: Revision): boolean | undefined {
    this.#sought ??= new Map()
    let sought = this.#sought.get(text)
    if (sought === undefined) {
      if (this.#sought.size >= MOST_SOUGHT) this.#sought.clear()
      sought = { isSolid: this.isSolid(text), word: /^"([^"]*)"$/.exec(text)?.[1], isNumber: /^"\d+"$/.test(text) }
      this.#sought.set(text, sought)
    }
    if (sought.isSolid) return true
    // each gap stands between quotes, which are solid: a quoted word is all of what stands in one, or in none
    const { word, isNumber } = sought
    if (word !== undefined) {
      if (uid === word || timesOf({ times }).includes(word) || (isNumber && String(revision) === word)) return true
      return space === word && this.#saysSpace
    }
    if (text.includes('"')) return undefined
    const isOwn = uid.includes(text) || times.includes(text) || String(revision).includes(text)
    return isOwn || (space.includes(text) && this.#saysSpace)
  }

  get #saysSpace(): boolean {
    for (let i = 2; i < this.#gaps.length; i += 3) if (this.#gaps[i] === SPACE) return true
    return false
  }

  /** Whether a text stands outside of the gaps. */
  isSolid(text: string): boolean {
    let from = 0
    for (const { at, length } of [...this.gaps, { at: this.headBytes, length: 0 }].sort((a, b) => a.at - b.at)) {
      if (this.#text.subarray(from, at).includes(text)) return true
      from = at + length
    }
    return this.#text.subarray(from).includes(text)
  }
}

/** The times of an object, one for each gap for one. */
export function timesOf({ times }: Pick<Own, 'times'>): string[] {
  return times === '' ? [] : times.split(BETWEEN)
}

/** As {@link Own.times} has them. */
export function joined(times: readonly string[]): string {
  return times.join(BETWEEN)
}

/** The digest at the end of an outline, as a key of maps. */
export function digestIn(outline: Buffer): string {
  return outline.toString('latin1', outline.length - DIGEST_BYTES)
}

/**
 * The own values of a text; `digits`: those of the revision in it, 0 in a text without.
 * @throws StorageError `Damaged` for an outline of another text
 */
export function valuesIn(bytes: Buffer, outline: Buffer, headBytes: number, digits: number): Own {
  const end = outline.length - DIGEST_BYTES
  const times: string[] = []
  let uid: string | undefined
  for (let gap = 0; gap < end; gap += GAP_BYTES) {
    const kind = outline[gap + GAP_KIND]!
    if (kind === SPACE) continue
    const start = outline.readUInt32BE(gap)
    const at = start < headBytes ? start : start + digits
    const value = bytes.toString('latin1', at, at + outline[gap + GAP_LENGTH]!)
    if (kind === UID) uid = value
    else times.push(value)
  }
  if (uid === undefined) throw new StorageError('Damaged', 'the data dir is damaged: an outline has no uid')
  return { uid, times: joined(times) }
}

/** A text as its writer declares it. */
interface DeclaredText {
  readonly outline: Buffer
  readonly headBytes: number
  /** Without the revision, and with zeros in the gaps. */
  readonly text: Buffer
  readonly own: Own
}

/**
 * The outline of a text whose gaps are declared in order, by byte, and its own values. `undefined` where the text does not say there
 * what was declared: the same uid, the space of the key, whole plain JSON strings everywhere.
 */
export function declaredOf(key: Key, { head, tail, note, gaps }: Encoded): DeclaredText | undefined {
  if (gaps === undefined || gaps.length > MOST_GAPS) return undefined
  const { group, resource, namespace, name } = key
  const headBytes = Buffer.byteLength(head)
  const place = JSON.stringify([gaps.length, headBytes, note, group, resource, namespace, name])
  const placeBytes = Buffer.byteLength(place)
  const start = placeBytes + gaps.length * GAP_BYTES
  // all of which the digest is, in one piece of memory: no part of a pool, as the body may keep it
  const whole = Buffer.allocUnsafeSlow(start + headBytes + Buffer.byteLength(tail))
  whole.write(place)
  const text = whole.subarray(start)
  text.write(tail, text.write(head))
  const isQuoted = (at: number, end: number): boolean => text[at - 1] === QUOTE && text[end] === QUOTE
  if (!isQuoted(headBytes, headBytes)) return undefined
  let gap = placeBytes
  let from = 0
  let uid: string | undefined
  const times: string[] = []
  for (const { at, length, kind } of gaps) {
    const end = at + length
    if (at < from || length > LONGEST_VALUE || !isQuoted(at, end) || !isPlain(text, at, end)) return undefined
    if (at < headBytes ? end >= headBytes : at === headBytes) return undefined
    const value = text.toString('latin1', at, end)
    if (kind === 'uid') uid ??= value
    else if (kind === 'time') times.push(value)
    if ((kind === 'space' && value !== key.space) || (kind === 'uid' && value !== uid)) return undefined
    whole.writeUInt32BE(at, gap)
    whole[gap + GAP_LENGTH] = length
    whole[gap + GAP_KIND] = KINDS.indexOf(kind)
    text.fill(0, at, end)
    gap += GAP_BYTES
    from = end + 1
  }
  if (uid === undefined) return undefined
  const outline = Buffer.allocUnsafeSlow(start - placeBytes + DIGEST_BYTES)
  whole.copy(outline, 0, placeBytes, start)
  hash('sha256', whole, 'buffer').copy(outline, start - placeBytes, 0, DIGEST_BYTES)
  return { outline, headBytes, text, own: { uid, times: joined(times) } }
}

/** Whether all of it is ASCII that JSON does not escape. */
function isPlain(text: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const byte = text[at]!
    if (byte < 0x20 || byte > 0x7e || byte === QUOTE || byte === 0x5c) return false
  }
  return true
}

function gapsOf(outline: Buffer): number[] {
  const gaps: number[] = []
  for (let gap = 0; gap < outline.length - DIGEST_BYTES; gap += GAP_BYTES)
    gaps.push(outline.readUInt32BE(gap), outline[gap + GAP_LENGTH]!, outline[gap + GAP_KIND]!)
  return gaps
}

/** Digits of a number above 0. */
function digitsOf(revision: Revision): number {
  let digits = 1
  for (let above = 10; above <= revision; above *= 10) digits++
  return digits
}
