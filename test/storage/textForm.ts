/** The form of texts as an earlier store found it, by the looks of their values: an oracle for declared gaps. */
import type { Revision, Stored } from '../../src/storage/store.ts'

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
  /** Bytes of the text before it, but for the revision's digits. */
  readonly at: number
  /** A place in {@link Said.rest}, or one of the constants above. */
  readonly slot: number
  /** Its bytes; 0 for the revision, whose digits grow. */
  readonly length: number
}

interface FormParts {
  readonly text: Uint8Array
  readonly gaps: readonly Gap[]
  readonly headBytes: number
  readonly note: string | undefined
}

/** More than copies have in their metadata and in a short status; who is out for more gets a text of their own. */
const MOST_GAPS = 48
const UUID_LENGTH = 36
const LOOKS =
  /(?<=")(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|[0-9a-z]{16})(?=")/g

export class TextForm {
  readonly note: string | undefined
  /** Where the revision begins, in each text. */
  readonly headBytes: number
  /** A text of this form without its revision: in the gaps stands what was said last. */
  readonly #text: Buffer
  readonly #gaps: readonly Gap[]
  /** What of that stands in the gaps beside {@link Said.own}. */
  #rest: readonly string[] | undefined
  #space: string | undefined
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
    return new TextForm(partsOf(whole, found))
  }

  private constructor({ text, gaps, headBytes, note }: FormParts) {
    this.#text = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
    this.#gaps = gaps
    this.headBytes = headBytes
    this.note = note
  }

  /** What a text of this form says; `undefined`: it is of another one. */
  read({ key, revision, bytes, headBytes, note }: Whole): Said | undefined {
    const digits = String(revision).length
    const text = this.#text
    if (bytes.length !== text.length + digits || headBytes !== this.headBytes || note !== this.note) return undefined
    const rest: string[] = []
    let own: string | undefined
    /** Behind the last gap, in the form's text; the other one is ahead by the digits once they have come. */
    let from = 0
    let ahead = 0
    for (const { at, slot, length } of this.#gaps) {
      if (!isSame(bytes, from + ahead, text, from, at - from)) return undefined
      from = at + length
      if (slot === REVISION) {
        ahead = digits
        continue
      }
      const place = at + ahead
      const before = slot === SPACE ? key.space : slot === OWN ? own : rest[slot]
      if (before !== undefined) {
        if (!says(bytes, place, before, length)) return undefined
      } else if (slot === OWN) own = bytes.toString('latin1', place, place + length)
      else rest[slot] = bytes.toString('latin1', place, place + length)
    }
    return isSame(bytes, from + ahead, text, from, text.length - from) ? { own: own!, rest } : undefined
  }

  /** Bytes of the text of this form under a revision. */
  size(revision: Revision): number {
    return this.#text.length + digitsOf(revision)
  }

  text({ own, rest }: Said, space: string, revision: Revision): Buffer {
    const bytes = Buffer.allocUnsafe(this.size(revision))
    this.write({ own, rest }, space, revision, bytes, 0)
    return bytes
  }

  /** Writes it into what has room for it: what is said by the next one is mostly its own word. */
  write({ own, rest }: Said, space: string, revision: Revision, into: Buffer, start: number): void {
    const text = this.#text
    const isSameRest = rest === this.#rest
    const isSameSpace = space === this.#space
    for (const { at, slot } of this.#gaps) {
      if (slot === OWN) text.write(own, at, 'latin1')
      else if (slot === SPACE && !isSameSpace) text.write(space, at, 'latin1')
      else if (slot >= 0 && !isSameRest) text.write(rest[slot]!, at, 'latin1')
    }
    this.#rest = rest
    this.#space = space
    const head = this.headBytes
    text.copy(into, start, 0, head)
    const at = start + head
    text.copy(into, at + into.write(String(revision), at, 'latin1'), head)
  }
}

function partsOf({ bytes, headBytes, note }: Whole, found: readonly Gap[]): FormParts {
  const digits = found.find(({ slot }) => slot === REVISION)!.length
  // memory of its own: what is pooled with others would keep all of that
  const text = Buffer.allocUnsafeSlow(bytes.length - digits)
  bytes.copy(text, 0, 0, headBytes)
  bytes.copy(text, headBytes, headBytes + digits)
  const gaps = found.map(({ at, slot, length }) => {
    return slot === REVISION ? { at, slot, length: 0 } : { at: at > headBytes ? at - digits : at, slot, length }
  })
  return { text, gaps, headBytes, note }
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

/** Of a number above 0. */
function digitsOf(revision: Revision): number {
  let digits = 1
  for (let above = 10; above <= revision; above *= 10) digits++
  return digits
}
