/**
 * Versions of objects as bytes, one behind the other: what a writer and its replicas tell each other. All numbers are little-endian. A text
 * in shared memory is given by its place there. One with a body that many objects share is sent whole, with its outline.
 */
import { keyText, parseKeyText } from '../keys.ts'
import type { Memory } from '../objectSlots.ts'
import { SharedStored } from '../sharedStored.ts'
import type { Key, Revision, Stored, StoreEvent } from '../store.ts'

/**
 * Types of records. The first three are of versions: a deletion holds the last state, and a move the current version whose text lies
 * elsewhere now.
 */
export const RECORDS = {
  put: 1,
  delete: 2,
  moved: 3,
  piece: 4,
  compacted: 5,
  forgotten: 6,
  packed: 7,
  next: 8,
  closed: 9,
} as const
export type RecordType = (typeof RECORDS)[keyof typeof RECORDS]

/** Where in a record stands what: its length with all that follows, its type and flags, the revision, and the lengths of the parts. */
const LENGTH = 0
const TYPE = 4
const FLAGS = 5
const REVISION = 8
const HEAD = 16
const KEY = 20
const NOTE = 24
const OUTLINE = 28
/** Then come key, note, outline, and the text, or its place, to the end. */
export const RECORD_HEAD_BYTES = 32

const HAS_NOTE = 1
const HAS_OUTLINE = 2
const HAS_PLACE = 4
/** Offset of a place: the number of the slab, where in it, and how long the text is. */
const PLACE_AT = 8
const PLACE_LENGTH = 12
const PLACE_BYTES = 16

/** The number under which a slab is referred to. */
type Refer = (memory: SharedArrayBuffer, length: number) => number
/** The slab of a number. */
type Slab = (number: number) => SharedArrayBuffer

/** A version as it is read. */
export interface ReadVersion {
  readonly key: Key
  readonly revision: Revision
  readonly headBytes: number
  readonly note: string | undefined
  /** Given where others share the body. */
  readonly outline: Buffer | undefined
  /** Where the text lies. */
  readonly memory: Memory
  readonly at: number
  readonly length: number
  /** Nothing else will ever lie there; otherwise it is good for as long as the reader says. */
  readonly isLasting: boolean
}

/** The text, where it lies. */
export function textOf({ memory, at, length }: Pick<ReadVersion, 'memory' | 'at' | 'length'>): Buffer {
  // Buffer.from takes both kinds
  return Buffer.from(memory as ArrayBuffer, at, length)
}

export const typeAt = (bytes: Buffer, at: number): RecordType => bytes[at + TYPE]! as RecordType
export const lengthAt = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + LENGTH)
export const revisionAt = (bytes: Buffer, at: number): Revision => bytes.readDoubleLE(at + REVISION)

/** A record without a version, but for `extra` bytes that its writer puts behind it. Answers its length. */
export function writeHead(bytes: Buffer, at: number, type: RecordType, revision: Revision, extra = 0): number {
  bytes.fill(0, at, at + RECORD_HEAD_BYTES)
  bytes.writeUInt32LE(RECORD_HEAD_BYTES + extra, at + LENGTH)
  bytes[at + TYPE] = type
  bytes.writeDoubleLE(revision, at + REVISION)
  return RECORD_HEAD_BYTES + extra
}

/** Fields of a version in a record, beside its text. */
type VersionFields = Pick<Stored, 'key' | 'revision' | 'headBytes' | 'note'>

/** A version that is going to be written, and how long its record is. `text`: of the object's text, what goes into this record. */
export class VersionRecord {
  readonly #fields: VersionFields
  readonly #type: RecordType
  readonly #id: string
  readonly #outline: Buffer | undefined
  readonly #lengths: { key: number; note: number; outline: number }

  constructor(type: StoreEvent['type'] | 'moved', fields: VersionFields) {
    this.#type = RECORDS[type]
    this.#fields = fields
    this.#id = keyText(fields.key)
    this.#outline = fields instanceof SharedStored ? fields.outline : undefined
    this.#lengths = {
      key: Buffer.byteLength(this.#id),
      note: Buffer.byteLength(fields.note ?? ''),
      outline: this.#outline?.length ?? 0,
    }
  }

  /** Without a text. */
  get bytes(): number {
    return RECORD_HEAD_BYTES + this.#lengths.key + this.#lengths.note + this.#lengths.outline
  }

  /** With the place of its text. */
  get placedBytes(): number {
    return this.bytes + PLACE_BYTES
  }

  /** Answers the length of the record. */
  write(bytes: Buffer, at: number, text: Buffer): number {
    const place = this.#write(bytes, at, text.length, 0)
    bytes.set(text, place)
    return place + text.length - at
  }

  /** The same with a place instead of the text. */
  writePlaced(bytes: Buffer, at: number, slab: number, text: { at: number; length: number }): number {
    const place = this.#write(bytes, at, PLACE_BYTES, HAS_PLACE)
    bytes.writeDoubleLE(slab, place)
    bytes.writeUInt32LE(text.at, place + PLACE_AT)
    bytes.writeUInt32LE(text.length, place + PLACE_LENGTH)
    return place + PLACE_BYTES - at
  }

  /** Answers where its text is to stand. */
  #write(bytes: Buffer, at: number, textBytes: number, flag: number): number {
    const { revision, headBytes, note } = this.#fields
    const { key, note: noteBytes, outline } = this.#lengths
    writeHead(bytes, at, this.#type, revision, this.bytes - RECORD_HEAD_BYTES + textBytes)
    bytes[at + FLAGS] = (note === undefined ? 0 : HAS_NOTE) | (this.#outline === undefined ? 0 : HAS_OUTLINE) | flag
    bytes.writeUInt32LE(headBytes, at + HEAD)
    bytes.writeUInt32LE(key, at + KEY)
    bytes.writeUInt32LE(noteBytes, at + NOTE)
    bytes.writeUInt32LE(outline, at + OUTLINE)
    let place = at + RECORD_HEAD_BYTES
    place += bytes.write(this.#id, place)
    if (noteBytes > 0) place += bytes.write(note!, place)
    if (this.#outline !== undefined) place += this.#outline.copy(bytes, place)
    return place
  }
}

/** The version in a record of type `put`, `delete` or `moved`. */
export function readVersion(bytes: Buffer, at: number, slab: Slab): ReadVersion {
  const flags = bytes[at + FLAGS]!
  const keyEnd = at + RECORD_HEAD_BYTES + bytes.readUInt32LE(at + KEY)
  const noteEnd = keyEnd + bytes.readUInt32LE(at + NOTE)
  const outlineEnd = noteEnd + bytes.readUInt32LE(at + OUTLINE)
  const isPlaced = (flags & HAS_PLACE) !== 0
  return {
    key: parseKeyText(bytes.toString('utf8', at + RECORD_HEAD_BYTES, keyEnd)),
    revision: revisionAt(bytes, at),
    headBytes: bytes.readUInt32LE(at + HEAD),
    note: flags & HAS_NOTE ? bytes.toString('utf8', keyEnd, noteEnd) : undefined,
    outline: flags & HAS_OUTLINE ? bytes.subarray(noteEnd, outlineEnd) : undefined,
    memory: isPlaced ? slab(bytes.readDoubleLE(outlineEnd)) : bytes.buffer,
    at: isPlaced ? bytes.readUInt32LE(outlineEnd + PLACE_AT) : bytes.byteOffset + outlineEnd,
    length: isPlaced ? bytes.readUInt32LE(outlineEnd + PLACE_LENGTH) : at + lengthAt(bytes, at) - outlineEnd,
    isLasting: isPlaced,
  }
}

/** Where the text of a version lies, if that is in shared memory and not shared with other objects. */
export function placeOf(stored: Stored): { memory: SharedArrayBuffer; at: number; length: number } | undefined {
  if (stored instanceof SharedStored) return undefined
  const { buffer: memory, byteOffset: at, length } = stored.bytes
  return memory instanceof SharedArrayBuffer ? { memory, at, length } : undefined
}

type Version = { readonly type: StoreEvent['type']; readonly stored: Stored }

/** Bytes behind the earlier records: all of a message, in memory of their own. */
export function versionsAsBytes(versions: readonly Version[], refer?: Refer): Uint8Array<ArrayBuffer> {
  const records = versions.map(({ type, stored }) => {
    const record = new VersionRecord(type, stored)
    const place = refer && placeOf(stored)
    const bytes = place ? record.placedBytes : record.bytes + stored.bytes.length
    return { record, stored, place, bytes }
  })
  const length = records.reduce((sum, { bytes }) => sum + bytes, 0)
  const message = Buffer.from(new ArrayBuffer(length))
  let at = 0
  for (const { record, stored, place } of records)
    at += place
      ? record.writePlaced(message, at, refer!(place.memory, place.length), place)
      : record.write(message, at, stored.bytes)
  return message
}

/** `slabs`: by their numbers, those that the message refers to. Texts are good for as long as the message is. */
export function* versionsIn(
  message: Uint8Array,
  slabs: readonly SharedArrayBuffer[] = [],
): Generator<ReadVersion & { type: StoreEvent['type'] }> {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length)
  for (let at = 0; at < bytes.length; at += lengthAt(bytes, at)) {
    const type = typeAt(bytes, at) === RECORDS.put ? 'put' : 'delete'
    yield { type, ...readVersion(bytes, at, number => slabs[number]!) }
  }
}
