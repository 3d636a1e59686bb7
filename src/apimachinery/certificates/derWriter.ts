/**
 * Writes DER: what {@link DerReader} reads.
 * @see https://www.itu.int/rec/T-REC-X.690
 */
import { TAGS } from './der.ts'

const COMPOUND = 0x20
const CONTEXT = 0x80
/** Characters of a PrintableString. */
const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/
/** Times before it are written with two digits of their year, as RFC 5280 wants them. */
const LONG_YEARS_FROM_MS = Date.UTC(2050, 0)

export const derWriter = {
  sequence: (...parts: readonly Buffer[]): Buffer => element(TAGS.sequence | COMPOUND, parts),
  set: (...parts: readonly Buffer[]): Buffer => element(TAGS.set | COMPOUND, parts),
  /** An explicit tag around its parts. */
  tagged: (tag: number, ...parts: readonly Buffer[]): Buffer => element(CONTEXT | COMPOUND | tag, parts),
  /** An implicit tag in the place of that of a plain value. */
  retagged: (tag: number, content: Buffer): Buffer => element(CONTEXT | tag, [content]),
  /** `content`: big-endian in two's complement, without needless bytes. */
  integer: (content: Buffer): Buffer => element(TAGS.integer, [content]),
  true: (): Buffer => element(TAGS.boolean, [Buffer.of(0xff)]),
  octetString: (content: Buffer): Buffer => element(TAGS.octetString, [content]),
  /** `unused`: number of bits at the end of the last byte that do not belong to it. */
  bitString: (content: Buffer, unused = 0): Buffer => element(TAGS.bitString, [Buffer.of(unused), content]),
  /** `text` in dotted form. */
  objectIdentifier: (text: string): Buffer => element(TAGS.objectIdentifier, [identifierBytes(text)]),
  text: (text: string): Buffer =>
    element(PRINTABLE.test(text) ? TAGS.printableString : TAGS.utf8String, [Buffer.from(text)]),
  /** In whole seconds. */
  time(date: Date): Buffer {
    const digits = `${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`
    const isLong = date.getTime() >= LONG_YEARS_FROM_MS
    return element(isLong ? TAGS.generalizedTime : TAGS.utcTime, [Buffer.from(isLong ? digits : digits.slice(2))])
  },
} as const

function element(tag: number, parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Buffer.of(tag), lengthBytes(length), ...parts])
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}

function identifierBytes(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return Buffer.from([first * 40 + second, ...rest].flatMap(base128))
}

/** Groups of seven bits; all but the last one are marked. */
function base128(number: number): number[] {
  const bytes = [number & 0x7f]
  for (let rest = number >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}
