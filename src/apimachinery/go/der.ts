/**
 * Reads DER as Go's `encoding/asn1` does, in its words: they are what kube-apiserver tells of a request that it cannot read.
 * @see https://www.itu.int/rec/T-REC-X.690
 */
export const TAGS = { integer: 2, bitString: 3, octetString: 4, objectIdentifier: 6, sequence: 16, set: 17 } as const

/** The data is not what it should be; the message is for users. */
export class DerError extends Error {}

export interface Element {
  /** 0 universal, 1 application, 2 context-specific, 3 private. */
  class: number
  tag: number
  compound: boolean
  content: Buffer
  /** Header and content. */
  whole: Buffer
}

export interface Expected {
  /** Default 0. */
  class?: number
  tag: number
  compound?: boolean
  /** What Go calls the field's type. */
  name: string
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
const PARAMETERS =
  '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}'

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
  next({ class: wanted = 0, tag, compound = false, name }: Expected): Element {
    const header = this.#header()
    if (header.class !== wanted || header.tag !== tag || header.compound !== compound) {
      const found = `{class:${header.class} tag:${header.tag} length:${header.length} isCompound:${header.compound}}`
      throw new DerError(
        `asn1: structure error: tags don't match (${tag} vs ${found}) ${PARAMETERS} ${name} @${header.at}`,
      )
    }
    return this.#element(header)
  }

  sequence(name: string): DerReader {
    return new DerReader(this.next({ tag: TAGS.sequence, compound: true, name }).content)
  }

  /** In dotted form. */
  objectIdentifier(): string {
    return identifierOf(this.next({ tag: TAGS.objectIdentifier, name: 'ObjectIdentifier' }).content)
  }

  /** The bytes, padded at the left to whole ones. */
  bitString(): Buffer {
    const { content } = this.next({ tag: TAGS.bitString, name: 'BitString' })
    if (content.length === 0) throw new DerError('asn1: syntax error: zero length BIT STRING')
    const padding = content[0]!
    const stray = padding > 7 || (content.length === 1 && padding > 0)
    if (stray || (content.at(-1)! & ((1 << padding) - 1)) !== 0) {
      throw new DerError('asn1: syntax error: invalid padding bits in BIT STRING')
    }
    const bytes = content.subarray(1)
    if (padding === 0) return bytes
    return Buffer.from(bytes.map((byte, i) => (byte >> padding) | ((bytes[i - 1] ?? 0) << (8 - padding))))
  }

  #element(header: Header): Element {
    const start = this.#at
    const end = header.at + header.length
    if (end > this.#bytes.length) throw new DerError('asn1: syntax error: data truncated')
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
    if (this.done) throw new DerError('asn1: syntax error: sequence truncated')
    const bytes = this.#bytes
    const first = bytes[this.#at]!
    let at = this.#at + 1
    let tag = first & 0x1f
    if (tag === 0x1f) {
      ;[tag, at] = base128(bytes, at)
      if (tag < 0x1f) throw new DerError('asn1: syntax error: non-minimal tag')
    }
    const byte = (): number => {
      if (at >= bytes.length) throw new DerError('asn1: syntax error: truncated tag or length')
      return bytes[at++]!
    }
    let length = byte()
    if (length & 0x80) {
      const count = length & 0x7f
      if (count === 0) throw new DerError('asn1: syntax error: indefinite length found (not DER)')
      length = 0
      for (let i = 0; i < count; i++) {
        const digit = byte()
        if (length >= LONGEST) throw new DerError('asn1: structure error: length too large')
        length = length * 256 + digit
        if (length === 0) throw new DerError('asn1: structure error: superfluous leading zeros in length')
      }
      if (length < 0x80) throw new DerError('asn1: structure error: non-minimal length')
    }
    return { class: first >> 6, tag, compound: (first & 0x20) !== 0, length, at }
  }
}

/** @throws DerError when it is not an integer of at most 64 bits */
export function checkInteger(content: Buffer): void {
  if (content.length === 0) throw new DerError('asn1: structure error: empty integer')
  const [first = 0, second = 0] = content
  const padded = (first === 0 && (second & 0x80) === 0) || (first === 0xff && (second & 0x80) !== 0)
  if (content.length > 1 && padded) throw new DerError('asn1: structure error: integer not minimally-encoded')
  if (content.length > 8) throw new DerError('asn1: structure error: integer too large')
}

function identifierOf(content: Buffer): string {
  if (content.length === 0) throw new DerError('asn1: syntax error: zero length OBJECT IDENTIFIER')
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
    if (at - start === 5) throw new DerError('asn1: structure error: base 128 integer too large')
    const byte = bytes[at]!
    if (at === start && byte === 0x80) throw new DerError('asn1: syntax error: integer is not minimally encoded')
    value = value * 128 + (byte & 0x7f)
    if ((byte & 0x80) !== 0) continue
    if (value > 0x7fff_ffff) throw new DerError('asn1: structure error: base 128 integer too large')
    return [value, at + 1]
  }
  throw new DerError('asn1: syntax error: truncated base 128 integer')
}
