/**
 * Reads DER, strictly: each value has one encoding.
 * @see https://www.itu.int/rec/T-REC-X.690
 */
export const TAGS = { integer: 2, bitString: 3, octetString: 4, objectIdentifier: 6, sequence: 16, set: 17 } as const

/** The data is not what it should be; the message is for users. */
export class DerError extends Error {}

const malformed = (what: string): DerError => new DerError(`malformed DER: ${what}`)

interface Element {
  /** 0 universal, 1 application, 2 context-specific, 3 private. */
  class: number
  tag: number
  compound: boolean
  content: Buffer
  /** Header and content. */
  whole: Buffer
}

interface Expected {
  /** Default 0. */
  class?: number
  tag: number
  compound?: boolean
}

interface Header {
  class: number
  tag: number
  compound: boolean
  length: number
  /** Where the content begins. */
  at: number
}

const LONGEST = 1 << 23

/** Reads the elements of one value, one after the other. */
export class DerReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get done(): boolean {
    return this.#at === this.#bytes.length
  }

  /** The next element, whatever it is. @throws DerError */
  any(): Element {
    const header = this.#header()
    return this.#element(header)
  }

  /** @throws DerError when the next element is not such a one */
  next({ class: wanted = 0, tag, compound = false }: Expected): Element {
    const header = this.#header()
    if (header.class !== wanted || header.tag !== tag || header.compound !== compound)
      throw malformed(`tag ${header.tag} of class ${header.class} at byte ${this.#at}, not ${tag} of class ${wanted}`)
    return this.#element(header)
  }

  sequence(): DerReader {
    return new DerReader(this.next({ tag: TAGS.sequence, compound: true }).content)
  }

  /** In dotted form. */
  objectIdentifier(): string {
    return identifierOf(this.next({ tag: TAGS.objectIdentifier }).content)
  }

  /** The bytes, padded at the left to whole ones. */
  bitString(): Buffer {
    const { content } = this.next({ tag: TAGS.bitString })
    if (content.length === 0) throw malformed('an empty bit string')
    const padding = content[0]!
    const stray = padding > 7 || (content.length === 1 && padding > 0)
    if (stray || (content.at(-1)! & ((1 << padding) - 1)) !== 0) {
      throw malformed('a bit string with wrong padding')
    }
    const bytes = content.subarray(1)
    if (padding === 0) return bytes
    return Buffer.from(bytes.map((byte, i) => (byte >> padding) | ((bytes[i - 1] ?? 0) << (8 - padding))))
  }

  #element(header: Header): Element {
    const start = this.#at
    const end = header.at + header.length
    if (end > this.#bytes.length) throw malformed('the data ends too early')
    this.#at = end
    const { class: kind, tag, compound, at } = header
    return {
      class: kind,
      tag,
      compound,
      content: this.#bytes.subarray(at, end),
      whole: this.#bytes.subarray(start, end),
    }
  }

  #header(): Header {
    if (this.done) throw malformed('the data ends too early')
    const bytes = this.#bytes
    const first = bytes[this.#at]!
    let at = this.#at + 1
    let tag = first & 0x1f
    if (tag === 0x1f) {
      ;[tag, at] = base128(bytes, at)
      if (tag < 0x1f) throw malformed('a tag that is longer than needed')
    }
    const byte = (): number => {
      if (at >= bytes.length) throw malformed('the data ends too early')
      return bytes[at++]!
    }
    let length = byte()
    if (length & 0x80) {
      const count = length & 0x7f
      if (count === 0) throw malformed('an indefinite length')
      length = 0
      for (let i = 0; i < count; i++) {
        const digit = byte()
        if (length >= LONGEST) throw malformed('a length of more than 31 bits')
        length = length * 256 + digit
        if (length === 0) throw malformed('a length that is longer than needed')
      }
      if (length < 0x80) throw malformed('a length that is longer than needed')
    }
    return { class: first >> 6, tag, compound: (first & 0x20) !== 0, length, at }
  }
}

/** @throws DerError when it is not an integer of at most 64 bits */
export function checkInteger(content: Buffer): void {
  if (content.length === 0) throw malformed('an empty integer')
  const [first = 0, second = 0] = content
  const padded = (first === 0 && (second & 0x80) === 0) || (first === 0xff && (second & 0x80) !== 0)
  if (content.length > 1 && padded) throw malformed('an integer that is longer than needed')
  if (content.length > 8) throw malformed('an integer of more than 64 bits')
}

function identifierOf(content: Buffer): string {
  if (content.length === 0) throw malformed('an empty object identifier')
  const arcs: number[] = []
  for (let at = 0; at < content.length; ) {
    const [value, next] = base128(content, at)
    if (at > 0) arcs.push(value)
    else if (value < 80) arcs.push(Math.floor(value / 40), value % 40)
    else arcs.push(2, value - 80)
    at = next
  }
  return arcs.join('.')
}

/** A number and where it ends. */
function base128(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0
  for (let at = start; at < bytes.length; at++) {
    if (at - start === 5) throw malformed('a number of more than 31 bits')
    const byte = bytes[at]!
    if (at === start && byte === 0x80) throw malformed('a number that is longer than needed')
    value = value * 128 + (byte & 0x7f)
    if ((byte & 0x80) !== 0) continue
    if (value > 0x7fff_ffff) throw malformed('a number of more than 31 bits')
    return [value, at + 1]
  }
  throw malformed('the data ends too early')
}
