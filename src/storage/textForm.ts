/**
 * What the texts of many objects have in common: the same JSON but for uids, times, the id of the space and the revision. A form
 * keeps it once. What stands in its gaps makes one text of it again, to the byte.
 *
 * Gaps are found by their looks alone: whole JSON strings that are a UUID, a time in whole seconds, or the space's id. Whatever
 * stands there in another text of the same length, that text is of this form, so nothing depends on what a gap means.
 */
import type { Revision, Stored } from './store.ts'

/** A stored version whose text is at hand. */
export type Whole = Pick<Stored, 'key' | 'revision' | 'bytes' | 'headBytes' | 'note'>

/** What one text says in the gaps of its form. */
export interface Said {
  /** The first UUID: what tells it from all others. */
  readonly own: string
  /** What else stands in gaps, each once; many texts say the same. */
  readonly rest: readonly string[]
}

const SPACE = -1
const REVISION = -2
const OWN = -3

interface Gap {
  /** Bytes of the form before it. */
  readonly at: number
  /** A place in {@link Said.rest}, or one of the constants above. */
  readonly slot: number
  /** Its bytes; 0 for the revision, whose digits grow. */
  readonly length: number
}

/** What is known of a text that was looked for in texts of a form. */
interface Asked {
  /** Whether it stands outside of the gaps. */
  readonly isSolid: boolean
  /** What stands between its quotes, where it has two and nothing else. */
  readonly word: string | undefined
  readonly isNumber: boolean
}

/** More than copies have in their metadata and in a short status; who is out for more gets a text of their own. */
const MOST_GAPS = 48
const MOST_ASKED = 16
const UUID_LENGTH = 36
const LOOKS =
  /(?<=")(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|[0-9a-z]{16})(?=")/g

export class TextForm {
  readonly note: string | undefined
  /** Where the revision begins, in each text. */
  readonly headBytes: number
  readonly #solid: Buffer
  readonly #gaps: readonly Gap[]
  readonly #saysSpace: boolean
  /** Without the revision. */
  readonly #length: number
  /** Texts that were looked for. */
  readonly #asked = new Map<string, Asked>()
  /** Current objects of this form. */
  users = 0

  /** `undefined` where nothing tells the text from others, or too much. */
  static of(whole: Whole): TextForm | undefined {
    const text = whole.bytes.toString('latin1')
    const found: { at: number; slot: number; length: number }[] = []
    const rest: string[] = []
    let own: string | undefined
    for (const { 0: value, index: at } of text.matchAll(LOOKS)) {
      const { length } = value
      let slot: number
      if (length === 16) {
        if (value !== whole.key.space) continue
        slot = SPACE
      } else if (value === own || (own === undefined && length === UUID_LENGTH)) {
        own = value
        slot = OWN
      } else {
        slot = rest.indexOf(value)
        if (slot === -1) slot = rest.push(value) - 1
      }
      if (found.push({ at, slot, length }) > MOST_GAPS) return undefined
    }
    const digits = String(whole.revision).length
    const isQuoted = text[whole.headBytes - 1] === '"' && text[whole.headBytes + digits] === '"'
    if (own === undefined || !isQuoted) return undefined
    found.push({ at: whole.headBytes, slot: REVISION, length: digits })
    found.sort((a, b) => a.at - b.at)
    return new TextForm(whole, found)
  }

  private constructor({ bytes, headBytes, note }: Whole, found: readonly Gap[]) {
    const pieces: Buffer[] = []
    const gaps: Gap[] = []
    let solid = 0
    let from = 0
    for (const { at, slot, length } of found) {
      pieces.push(bytes.subarray(from, at))
      solid += at - from
      gaps.push({ at: solid, slot, length: slot === REVISION ? 0 : length })
      from = at + length
    }
    pieces.push(bytes.subarray(from))
    // memory of its own: what is pooled with others would keep all of that
    this.#solid = Buffer.allocUnsafeSlow(solid + bytes.length - from)
    let to = 0
    for (const piece of pieces) to += piece.copy(this.#solid, to)
    this.#gaps = gaps
    this.#saysSpace = gaps.some(({ slot }) => slot === SPACE)
    this.#length = gaps.reduce((sum, { length }) => sum + length, to)
    this.headBytes = headBytes
    this.note = note
  }

  /** What a text of this form says; `undefined`: it is of another one. */
  read({ key, revision, bytes, headBytes, note }: Whole): Said | undefined {
    const digits = String(revision).length
    if (bytes.length !== this.#length + digits || headBytes !== this.headBytes || note !== this.note) return undefined
    const solid = this.#solid
    const rest: string[] = []
    let own: string | undefined
    let from = 0
    let at = 0
    for (const gap of this.#gaps) {
      const piece = gap.at - from
      if (!isSame(bytes, at, solid, from, piece)) return undefined
      from = gap.at
      at += piece
      const { slot, length } = gap
      if (slot === REVISION) {
        at += digits
        continue
      }
      const before = slot === SPACE ? key.space : slot === OWN ? own : rest[slot]
      if (before !== undefined) {
        if (!says(bytes, at, before, length)) return undefined
      } else if (slot === OWN) own = bytes.toString('latin1', at, at + length)
      else rest[slot] = bytes.toString('latin1', at, at + length)
      at += length
    }
    return isSame(bytes, at, solid, from, solid.length - from) ? { own: own!, rest } : undefined
  }

  /** Bytes of the text of this form under a revision. */
  size(revision: Revision): number {
    return this.#length + digitsOf(revision)
  }

  text({ own, rest }: Said, space: string, revision: Revision): Buffer {
    const bytes = Buffer.allocUnsafe(this.size(revision))
    this.write({ own, rest }, space, revision, bytes, 0)
    return bytes
  }

  /** Writes it into what has room for it. */
  write({ own, rest }: Said, space: string, revision: Revision, into: Buffer, start: number): void {
    const digits = String(revision)
    const solid = this.#solid
    let from = 0
    let at = start
    for (const gap of this.#gaps) {
      at += solid.copy(into, at, from, gap.at)
      from = gap.at
      at += into.write(saidIn(gap.slot, own, rest, space, digits), at, 'latin1')
    }
    solid.copy(into, at, from)
  }

  /** Whether a text stands in the one that is said; `undefined` where only that one tells: the text may begin or end in a gap. */
  mentions(text: string, { own, rest }: Said, space: string, revision: Revision): boolean | undefined {
    let asked = this.#asked.get(text)
    if (asked === undefined) {
      if (this.#asked.size >= MOST_ASKED) this.#asked.clear()
      asked = { isSolid: this.#isSolid(text), word: /^"([^"]*)"$/.exec(text)?.[1], isNumber: /^"\d+"$/.test(text) }
      this.#asked.set(text, asked)
    }
    if (asked.isSolid) return true
    // each gap stands between quotes, which are solid: a quoted word can be nothing but all of what stands in one
    const { word, isNumber } = asked
    if (word !== undefined) {
      const isElsewhere = own === word || (this.#saysSpace && space === word) || rest.includes(word)
      return isElsewhere || (isNumber && String(revision) === word)
    }
    if (text.includes('"')) return undefined
    return (
      own.includes(text) ||
      (this.#saysSpace && space.includes(text)) ||
      String(revision).includes(text) ||
      rest.some(value => value.includes(text))
    )
  }

  #isSolid(text: string): boolean {
    let from = 0
    for (const { at } of this.#gaps) {
      if (this.#solid.subarray(from, at).includes(text)) return true
      from = at
    }
    return this.#solid.subarray(from).includes(text)
  }
}

/** Shorter runs are compared byte by byte: a call costs more. */
const SHORT = 48

function isSame(bytes: Buffer, at: number, others: Buffer, from: number, length: number): boolean {
  if (length > SHORT) return bytes.compare(others, from, from + length, at, at + length) === 0
  for (let i = 0; i < length; i++) if (bytes[at + i] !== others[from + i]) return false
  return true
}

function says(bytes: Buffer, at: number, value: string, length: number): boolean {
  if (value.length !== length) return false
  for (let i = 0; i < length; i++) if (bytes[at + i] !== value.charCodeAt(i)) return false
  return true
}

function saidIn(slot: number, own: string, rest: readonly string[], space: string, digits: string): string {
  if (slot >= 0) return rest[slot]!
  if (slot === OWN) return own
  return slot === SPACE ? space : digits
}

/** Of a number above 0. */
function digitsOf(revision: Revision): number {
  let digits = 1
  for (let above = 10; above <= revision; above *= 10) digits++
  return digits
}
