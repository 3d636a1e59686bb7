/**
 * Protobuf scalars of the Kubernetes wire format and their JSON forms.
 * @see https://protobuf.dev/programming-guides/encoding/
 */
import protobuf from 'protobufjs/minimal.js'
import { holdsReference } from '../parameterReference.ts'

/** How many more fields and elements may be read of one body, whatever they are within. */
export interface Allowance {
  left: number
}

export interface Reader extends protobuf.Reader {
  /** Absent: any number. */
  allowance?: Allowance | undefined
}
export type Writer = protobuf.Writer

/** How deep messages may nest; as protobuf libraries have it. */
const NESTING_LIMIT = 100

/** Input that is not protobuf, or not of the shape that its kind has. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

/** Input that has more fields and elements than are wanted. */
export class TooManyFields extends Error {
  override readonly name = 'TooManyFields'
}

/** One protobuf type: how a value travels and what it is in JSON. */
export interface WireType {
  /** 0 varint, 1 eight bytes, 2 length-delimited. */
  readonly wire: 0 | 1 | 2
  /**
   * JSON form of a field that is there without a value: `''`, `0`, `false`. `undefined` for types without an empty form, such as messages:
   * those are written whenever the field is there.
   */
  readonly zero: unknown
  /** Reads the value after its tag. @throws WireError; RangeError at the end of the input */
  read(reader: Reader, depth: number): unknown
  /** Writes the value after its tag. `undefined` writes the zero value. @throws TypeError when JSON has another type */
  write(writer: Writer, value: unknown): void
}

export function newReader(bytes: Uint8Array, allowance?: Allowance): Reader {
  const reader: Reader = protobuf.Reader.create(bytes)
  reader.allowance = allowance
  return reader
}

/** Before each field and each element. @throws TooManyFields */
export function countField({ allowance }: Reader, fields = 1): void {
  if (allowance === undefined) return
  allowance.left -= fields
  if (allowance.left < 0) throw new TooManyFields()
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
  write: (writer, value) => writer.string(asString(value)),
}

export const BOOL: WireType = {
  wire: 0,
  zero: false,
  read: reader => reader.bool(),
  write: (writer, value) => writer.bool(asBoolean(value)),
}

export const INT32: WireType = {
  wire: 0,
  zero: 0,
  read: reader => reader.int32(),
  write: (writer, value) => writer.int32(asNumber(value)),
}

/** Beyond 2^53 the last digits are lost, as they are when JSON is parsed. */
export const INT64: WireType = {
  wire: 0,
  zero: 0,
  read: readInt64,
  write: (writer, value) => writer.int64(asNumber(value)),
}

export const DOUBLE: WireType = {
  wire: 1,
  zero: 0,
  read: reader => reader.double(),
  write: (writer, value) => writer.double(asNumber(value)),
}

/** Base64 text in JSON. */
export const BYTES: WireType = {
  wire: 2,
  zero: '',
  read: reader => Buffer.from(reader.bytes()).toString('base64'),
  write: (writer, value) => writer.bytes(Buffer.from(asString(value), 'base64')),
}

function asString(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : mismatch(value, 'string')
}

/** A reference to a parameter that is yet to be expanded has no form of its own here: readers of Protobuf see nothing. */
function asBoolean(value: unknown): boolean {
  if (value === undefined || value === null || holdsReference(value)) return false
  return typeof value === 'boolean' ? value : mismatch(value, 'boolean')
}

function asNumber(value: unknown): number {
  if (value === undefined || value === null || holdsReference(value)) return 0
  return typeof value === 'number' ? value : mismatch(value, 'number')
}

function mismatch(value: unknown, type: string): never {
  throw new TypeError(`cannot write ${JSON.stringify(value)} as a ${type}`)
}

/**
 * The end of a length-delimited value, whose length comes next in the input.
 * @throws WireError when it lies beyond the input or the value is nested too deeply
 */
export function enter(reader: Reader, depth: number): number {
  checkDepth(depth)
  const end = reader.uint32() + reader.pos
  if (end > reader.len) throw new WireError('unexpected EOF')
  return end
}

/** @throws WireError when a value lies too deep */
export function checkDepth(depth: number): void {
  if (depth > NESTING_LIMIT) throw new WireError(`messages are nested more than ${NESTING_LIMIT} levels deep`)
}

/** Calls `field` for every field up to `end`; it answers whether it has read the value, otherwise the value is skipped. */
export function eachField(reader: Reader, end: number, field: (number: number, wire: number) => boolean): void {
  while (reader.pos < end) {
    countField(reader)
    const tag = reader.uint32()
    const number = tag >>> 3
    const wire = tag & 7
    if (number === 0) throw new WireError(`proto: illegal tag ${number} (wire type ${wire})`)
    if (!field(number, wire)) skip(reader, wire)
  }
  if (reader.pos !== end) throw new WireError('unexpected EOF')
}

/** Beyond 2^53 the last digits are lost. */
export function readInt64(reader: Reader): number {
  const value = reader.int64()
  return typeof value === 'number' ? value : value.high * 2 ** 32 + (value.low >>> 0)
}

/** Refuses a known field of another wire type. */
export function checkWire(name: string, got: number, want: number): void {
  if (got !== want) throw new WireError(`proto: wrong wireType = ${got} for field ${goName(name)}`)
}

/** The field's name in upstream's messages. */
function goName(name: string): string {
  return name === 'metadata' ? 'ObjectMeta' : name.charAt(0).toUpperCase() + name.slice(1)
}

function skip(reader: Reader, wire: number): void {
  // Groups are obsolete and Kubernetes has none.
  if (wire === 3 || wire === 4 || wire > 5) throw new WireError(`proto: illegal wireType ${wire}`)
  reader.skipType(wire)
}
