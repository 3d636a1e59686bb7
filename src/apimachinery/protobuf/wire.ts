/**
 * Protobuf scalars of the Kubernetes wire format and their JSON forms.
 * @see https://protobuf.dev/programming-guides/encoding/
 */
import protobuf from 'protobufjs'

export type Reader = protobuf.Reader
export type Writer = protobuf.Writer

/** How deep messages may nest; as protobuf libraries have it. */
export const NESTING_LIMIT = 100

/** Input that is not protobuf, or not of the shape that its kind has. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

/** One protobuf type: how a value travels and what it is in JSON. */
export interface WireType {
  /** 0 varint, 1 eight bytes, 2 length-delimited. */
  readonly wire: 0 | 1 | 2
  /**
   * What JSON says when a field is there without a value: `''`, `0`, `false`. `undefined` for what has no empty form,
   * such as messages: those are written whenever the field is there.
   */
  readonly zero: unknown
  /** Reads the value after its tag. @throws WireError; RangeError at the end of the input */
  read(reader: Reader, depth: number): unknown
  /** Writes the value after its tag. `undefined` writes the zero value. @throws TypeError when JSON has another type */
  write(writer: Writer, value: unknown): void
}

export function newReader(bytes: Uint8Array): Reader {
  return protobuf.Reader.create(bytes)
}

export function newWriter(): Writer {
  return protobuf.Writer.create()
}

export function finish(writer: Writer): Buffer {
  const bytes = writer.finish()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export const STRING: WireType = {
  wire: 2,
  zero: '',
  read: reader => reader.string(),
  write: (writer, value) => writer.string(expect('string', value, '')),
}

export const BOOL: WireType = {
  wire: 0,
  zero: false,
  read: reader => reader.bool(),
  write: (writer, value) => writer.bool(expect('boolean', value, false)),
}

export const INT32: WireType = {
  wire: 0,
  zero: 0,
  read: reader => reader.int32(),
  write: (writer, value) => writer.int32(expect('number', value, 0)),
}

/** Beyond 2^53 the last digits are lost, as they are when JSON is parsed. */
export const INT64: WireType = {
  wire: 0,
  zero: 0,
  read: reader => Number(reader.int64()),
  write: (writer, value) => writer.int64(expect('number', value, 0)),
}

export const DOUBLE: WireType = {
  wire: 1,
  zero: 0,
  read: reader => reader.double(),
  write: (writer, value) => writer.double(expect('number', value, 0)),
}

/** Base64 text in JSON. */
export const BYTES: WireType = {
  wire: 2,
  zero: '',
  read: reader => Buffer.from(reader.bytes()).toString('base64'),
  write: (writer, value) => writer.bytes(Buffer.from(expect('string', value, ''), 'base64')),
}

interface Scalars {
  string: string
  boolean: boolean
  number: number
}

function expect<T extends keyof Scalars>(type: T, value: unknown, fallback: Scalars[T]): Scalars[T] {
  if (value === undefined || value === null) return fallback
  // biome-ignore lint/suspicious/useValidTypeof: `type` is one of the names that typeof answers
  if (typeof value !== type) throw new TypeError(`cannot write ${JSON.stringify(value)} as a ${type}`)
  return value as Scalars[T]
}

/**
 * The end of a length-delimited value, whose length comes next in the input.
 * @throws WireError when it lies beyond the input or the value is nested too deeply
 */
export function enter(reader: Reader, depth: number): number {
  if (depth > NESTING_LIMIT) throw new WireError(`messages are nested more than ${NESTING_LIMIT} levels deep`)
  const end = reader.uint32() + reader.pos
  if (end > reader.len) throw new WireError('unexpected EOF')
  return end
}

/** Calls `field` for every field up to `end`; it answers whether it has read the value, otherwise the value is skipped. */
export function eachField(reader: Reader, end: number, field: (number: number, wire: number) => boolean): void {
  while (reader.pos < end) {
    const tag = reader.uint32()
    const number = tag >>> 3
    const wire = tag & 7
    if (number === 0) throw new WireError(`illegal tag ${number} (wire type ${wire})`)
    if (!field(number, wire)) skip(reader, wire)
  }
  if (reader.pos !== end) throw new WireError('unexpected EOF')
}

/** Refuses a known field of another wire type. */
export function checkWire(name: string, got: number, want: number): void {
  if (got !== want) throw new WireError(`wrong wireType = ${got} for field ${name}`)
}

function skip(reader: Reader, wire: number): void {
  // Groups are obsolete and Kubernetes has none.
  if (wire === 3 || wire === 4 || wire > 5) throw new WireError(`illegal wireType ${wire}`)
  reader.skipType(wire)
}
