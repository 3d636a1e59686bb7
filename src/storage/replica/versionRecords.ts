/**
 * Versions of objects as bytes, one behind the other: what a writer and its replicas tell each other. All numbers are little-endian.
 * A text that many objects share is told whole, with what is its object's own: who reads it shares it anew.
 */
import { keyText, parseKeyText } from '../keys.ts'
import { SharedStored } from '../sharedStored.ts'
import type { Key, Revision, Stored, StoreEvent } from '../store.ts'

/** What a record says; the first two are versions, and a deletion's version is the last state. */
export const RECORDS = { put: 1, delete: 2, piece: 3, compacted: 4, forgotten: 5, next: 6, closed: 7 } as const
export type RecordType = (typeof RECORDS)[keyof typeof RECORDS]

/** Where in a record stands what: its length with all that follows, its type and flags, the revision, and the lengths of the parts. */
const LENGTH = 0
const TYPE = 4
const FLAGS = 5
const REVISION = 8
const HEAD = 16
const KEY = 20
const NOTE = 24
const OWN = 28
/** Then come key, note, what is its own, and the text to the end. */
export const RECORD_HEAD_BYTES = 32

const HAS_NOTE = 1
const HAS_OWN = 2

/** A version as it is read. `text` lies in the memory that it was read from, and is good for as long as the reader says. */
export interface ReadVersion {
  readonly key: Key
  readonly revision: Revision
  readonly headBytes: number
  readonly note: string | undefined
  /** Given where others share the text. */
  readonly own: string | undefined
  readonly text: Buffer
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

/** A version that is going to be written, and how long its record is. `text`: of the object's text, what goes into this record. */
export class VersionRecord {
  readonly #stored: Stored
  readonly #type: RecordType
  readonly #id: string
  readonly #own: string | undefined
  readonly #lengths: { key: number; note: number; own: number }

  constructor(type: StoreEvent['type'], stored: Stored) {
    this.#type = RECORDS[type]
    this.#stored = stored
    this.#id = keyText(stored.key)
    this.#own = stored instanceof SharedStored ? stored.own : undefined
    this.#lengths = {
      key: Buffer.byteLength(this.#id),
      note: Buffer.byteLength(stored.note ?? ''),
      own: Buffer.byteLength(this.#own ?? ''),
    }
  }

  /** Without a text. */
  get bytes(): number {
    return RECORD_HEAD_BYTES + this.#lengths.key + this.#lengths.note + this.#lengths.own
  }

  /** Answers the length of the record. */
  write(bytes: Buffer, at: number, text: Buffer): number {
    const { revision, headBytes, note } = this.#stored
    const { key, note: noteBytes, own } = this.#lengths
    const length = writeHead(bytes, at, this.#type, revision, this.bytes - RECORD_HEAD_BYTES + text.length)
    bytes[at + FLAGS] = (note === undefined ? 0 : HAS_NOTE) | (this.#own === undefined ? 0 : HAS_OWN)
    bytes.writeUInt32LE(headBytes, at + HEAD)
    bytes.writeUInt32LE(key, at + KEY)
    bytes.writeUInt32LE(noteBytes, at + NOTE)
    bytes.writeUInt32LE(own, at + OWN)
    let place = at + RECORD_HEAD_BYTES
    place += bytes.write(this.#id, place)
    if (noteBytes > 0) place += bytes.write(note!, place)
    if (own > 0) place += bytes.write(this.#own!, place)
    bytes.set(text, place)
    return length
  }
}

/** The version in a record of type `put` or `delete`. */
export function readVersion(bytes: Buffer, at: number): ReadVersion {
  const flags = bytes[at + FLAGS]!
  const keyEnd = at + RECORD_HEAD_BYTES + bytes.readUInt32LE(at + KEY)
  const noteEnd = keyEnd + bytes.readUInt32LE(at + NOTE)
  const ownEnd = noteEnd + bytes.readUInt32LE(at + OWN)
  return {
    key: parseKeyText(bytes.toString('utf8', at + RECORD_HEAD_BYTES, keyEnd)),
    revision: revisionAt(bytes, at),
    headBytes: bytes.readUInt32LE(at + HEAD),
    note: flags & HAS_NOTE ? bytes.toString('utf8', keyEnd, noteEnd) : undefined,
    own: flags & HAS_OWN ? bytes.toString('utf8', noteEnd, ownEnd) : undefined,
    text: bytes.subarray(ownEnd, at + lengthAt(bytes, at)),
  }
}

/** What lies behind the records before it: all bytes of a message, in memory of their own. */
export function versionsAsBytes(
  versions: readonly { type: StoreEvent['type']; stored: Stored }[],
): Uint8Array<ArrayBuffer> {
  const records = versions.map(({ type, stored }) => ({ record: new VersionRecord(type, stored), text: stored.bytes }))
  let length = 0
  for (const { record, text } of records) length += record.bytes + text.length
  const bytes = Buffer.from(new ArrayBuffer(length))
  let at = 0
  for (const { record, text } of records) at += record.write(bytes, at, text)
  return bytes
}

export function* versionsIn(message: Uint8Array): Generator<ReadVersion & { type: StoreEvent['type'] }> {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length)
  for (let at = 0; at < bytes.length; at += lengthAt(bytes, at)) {
    const type = typeAt(bytes, at) === RECORDS.put ? 'put' : 'delete'
    yield { type, ...readVersion(bytes, at) }
  }
}
