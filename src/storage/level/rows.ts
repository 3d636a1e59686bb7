/**
 * The rows of a level store, format 3. Text keys, binary values; revisions in keys are 16 digits, so they sort as numbers.
 *
 * - `m/format`: decimal text and nothing else, so that programs of every format read it
 * - `m/compacted`: revision up to which history is forgotten
 * - `m/state`: written by every batch: the newest revision, how many objects there are, and their sum
 * - `o/<key>`: text of the current object
 * - `v/<revision>`: text of a replaced version, and of a deletion's last state where that differs
 * - `l/<revision>`: log of the events of a batch, up to this revision: their keys, their times, and the versions that they replaced
 *
 * `<key>` is space, group, resource, namespace and name joined by NUL: a space is one contiguous range of `o/`.
 *
 * Every value but the format's begins with the same 20 bytes, numbers big-endian:
 *
 * - 0, flags: in objects and versions, 2: a note, 8: an outline. Others are unknown here, and refused.
 * - 1, zero
 * - 2, key id: 16 bits; 0: the value is not encrypted. Others are unknown here, and refused.
 * - 4, head length: 32 bits; in objects and versions, where in the text the digits of the revision begin. In the log, how many entries.
 * - 8, number: float64, exact: revision of an object or version, or of m/; time of log entries, ms since 1970
 * - 16, checksum: CRC-32 of the text and the rest, begun with a mix of the 16 bytes before; in o/ then also of <key>. The short values of
 *   m/ and l/ count these four bytes as zero, and begin with their row's key or revision.
 * - 20, text: with the flag 8 then the outline of its body (body.ts) and the length of that in bytes (32 bits). With the flag 2 then the
 *   same of the note. In m/state count and sum (float64 each); in the log the entries.
 *
 * Entries of the log follow each other, as their revisions do. Each begins with 13 bytes:
 *
 * - 0, flags: 1: a deletion; 5: one whose last state is the version that it replaced, under its own revision. Others are refused.
 * - 1, replaced: float64: revision of the version that it replaced; 0: none
 * - 9, length: 32 bits: bytes of the <key> that follows
 */
import { crc32 } from 'node:zlib'
import type { Whole } from '../body.ts'
import { parseKeyText } from '../keys.ts'
import { sizeOf, writeText } from '../sharedStored.ts'
import { type Key, type Revision, StorageError, type StoreEvent } from '../store.ts'
import { keyChecksum } from './keyChecksum.ts'

/** Raise it when older programs must not open the data any more. */
export const FORMAT = 3

export const FORMAT_ROW = 'm/format'
export const COMPACTED_ROW = 'm/compacted'
export const STATE_ROW = 'm/state'

/** Behind all rows of the log. */
export const LOG_END = 'l0'

const DELETION = 1
const NOTED = 2
const AS_IT_WAS = 4
const OUTLINED = 8
/** Bytes of the length behind an outline or a note. */
const LENGTH = 4
const CHECKSUM_AT = 16
const HEAD = 20
const ENTRY_HEAD = 13

const OBJECTS = 'o/'

/** `id` is the text of the key. */
export function objectRow(id: string): string {
  return `${OBJECTS}${id}`
}

/** @throws TypeError when it is no key */
export function keyOfObjectRow(row: string): Key {
  return parseKeyText(row.slice(OBJECTS.length))
}

/** Bound on the retained parts of keys behind their spaces: most spaces have objects of the same few names. */
const KNOWN_PLACES = 1024

/** Keys of rows in order: parts that a key shares with the one before it, or with that of another space, are that one's strings. */
export class ObjectRowKeys {
  /** All of the last row but its name. */
  #start = ''
  #last: Key | undefined
  /** By the text behind the space. */
  readonly #places = new Map<string, Key>()

  /** @throws TypeError when it is no key */
  of(row: string): Key {
    const last = this.#last
    const start = this.#start
    if (last === undefined || !row.startsWith(start) || row.includes('\0', start.length)) return this.#learn(row)
    const { space, group, resource, namespace } = last
    return { space, group, resource, namespace, name: row.slice(start.length) }
  }

  #learn(row: string): Key {
    const key = this.#keyOf(row)
    this.#last = key
    this.#start = row.slice(0, row.length - key.name.length)
    return key
  }

  #keyOf(row: string): Key {
    const end = row.indexOf('\0')
    const place = row.slice(end)
    const known = this.#places.get(place)
    if (known === undefined || end === -1) return this.#remember(place, keyOfObjectRow(row))
    const before = this.#last!.space
    const isSameSpace = end === OBJECTS.length + before.length && row.startsWith(before, OBJECTS.length)
    const { group, resource, namespace, name } = known
    return { space: isSameSpace ? before : row.slice(OBJECTS.length, end), group, resource, namespace, name }
  }

  #remember(place: string, key: Key): Key {
    if (this.#places.size >= KNOWN_PLACES) this.#places.clear()
    this.#places.set(place, key)
    return key
  }
}

export function versionRow(revision: Revision): string {
  return `v/${digits(revision)}`
}

/** Row of entries that end with this revision. */
export function logRow(revision: Revision): string {
  return `l/${digits(revision)}`
}

/** The revision in the key of a version, or the last one in a row of the log; NaN when there is none. */
export function revisionOfRow(row: string): Revision {
  return row.length === 18 && (row.startsWith('l/') || row.startsWith('v/')) ? Number(row.slice(2)) : Number.NaN
}

/** Value of an old version, complete; and of an object, when it is {@link sealed} with that one's checksum. */
export function versionValue(stored: Omit<Whole, 'key'>): Buffer {
  const { revision, headBytes, note, outline } = stored
  const textEnd = HEAD + sizeOf(stored)
  const outlineEnd = outline === undefined ? textEnd : textEnd + outline.length + LENGTH
  const noteBytes = note === undefined ? 0 : Buffer.byteLength(note)
  const value = Buffer.allocUnsafe(note === undefined ? outlineEnd : outlineEnd + noteBytes + LENGTH)
  writeHead(value, (note === undefined ? 0 : NOTED) + (outline === undefined ? 0 : OUTLINED), headBytes, revision)
  writeText(stored, value, HEAD)
  if (outline !== undefined) {
    outline.copy(value, textEnd)
    value.writeUInt32BE(outline.length, outlineEnd - LENGTH)
  }
  if (note !== undefined) {
    value.write(note, outlineEnd)
    value.writeUInt32BE(noteBytes, outlineEnd + noteBytes)
  }
  return sealed(value, crc32(value.subarray(HEAD), mixedHead(value)))
}

/** Checksum of a version as the row of the current object. */
export function objectChecksum(id: string, version: Buffer): number {
  return keyChecksum(id, 0, version.readUInt32BE(CHECKSUM_AT))
}

/** Puts the checksum in. */
export function sealed(value: Buffer, checksum: number): Buffer {
  value.writeUInt32BE(checksum, CHECKSUM_AT)
  return value
}

export interface VersionRecord {
  readonly revision: Revision
  readonly headBytes: number
  readonly bytes: Buffer
  readonly note?: string
  readonly outline?: Buffer
  readonly checksum: number
}

/** Reads a current object or an old version. @throws StorageError `Damaged`, or `Format` when it is unknown how to read it */
export function parseVersion(row: string, value: Buffer): VersionRecord {
  if (value.length < HEAD) throw damaged(row)
  const checksum = value.readUInt32BE(CHECKSUM_AT)
  const revision = value.readDoubleBE(8)
  const text = value.subarray(HEAD)
  const found = crc32(text, mixedHead(value))
  const isObject = row.startsWith(OBJECTS)
  if ((isObject ? keyChecksum(row, OBJECTS.length, found) : found) !== checksum) throw damaged(row)
  if (!isObject && revision !== revisionOfRow(row)) throw damaged(row)
  const headBytes = value.readUInt32BE(4)
  const flags = value.readUInt32BE(0) / 2 ** 24
  if (flags === 0) return { revision, headBytes, bytes: text, checksum }
  if (flags !== NOTED && flags !== OUTLINED && flags !== NOTED + OUTLINED) throw unknownForm(row)
  const [beforeNote, note] = flags & NOTED ? cutLast(row, text) : [text]
  const [bytes, outline] = flags & OUTLINED ? cutLast(row, beforeNote) : [beforeNote]
  const [noted, outlined] = [note && { note: note.toString('utf8') }, outline && { outline }]
  return { revision, headBytes, bytes, ...noted, ...outlined, checksum }
}

/** Both parts of bytes that end with the length of the second one. */
function cutLast(row: string, bytes: Buffer): [before: Buffer, last: Buffer] {
  const end = bytes.length - LENGTH
  const start = end < 0 ? -1 : end - bytes.readUInt32BE(end)
  if (start < 0) throw damaged(row)
  return [bytes.subarray(0, start), bytes.subarray(start, end)]
}

/** Bound on a row of the log: few enough to be read for one of them, many enough to be cheap. */
export const LOG_ENTRIES = 256

export interface LogEntry {
  readonly type: StoreEvent['type']
  /** The version that it replaced; 0 for none. */
  readonly previous: Revision
  /** A deletion's last state is that version, under the deletion's revision: it has no row. */
  readonly isAsItWas: boolean
  /** The text of its key. */
  readonly id: string
}

export interface LogRecord extends LogEntry {
  readonly revision: Revision
  readonly timeMs: number
}

/** Value of the row of entries that end with `last`. */
export function logValue(entries: readonly LogEntry[], last: Revision, timeMs: number): Buffer {
  const lengths = entries.map(({ id }) => Buffer.byteLength(id))
  const value = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length + ENTRY_HEAD, HEAD))
  writeHead(value, 0, entries.length, timeMs)
  let at = HEAD
  for (const [i, { type, previous, isAsItWas, id }] of entries.entries()) {
    value[at] = type === 'put' ? 0 : isAsItWas ? DELETION + AS_IT_WAS : DELETION
    value.writeDoubleBE(previous, at + 1)
    value.writeUInt32BE(lengths[i]!, at + 9)
    value.write(id, at + ENTRY_HEAD)
    at += ENTRY_HEAD + lengths[i]!
  }
  return sealedWhole(value, mixedRevision(last))
}

/** In order. @throws StorageError `Damaged` or `Format` */
export function parseLog(row: string, value: Buffer): LogRecord[] {
  const last = revisionOfRow(row)
  assertWhole(row, value, { minLength: HEAD, seed: mixedRevision(last) })
  const count = value.readUInt32BE(4)
  const timeMs = value.readDoubleBE(8)
  if (count === 0 || count > last) throw damaged(row)
  const records: LogRecord[] = []
  let at = HEAD
  for (let revision = last - count + 1; revision <= last; revision++) {
    if (at + ENTRY_HEAD > value.length) throw damaged(row)
    const flags = value[at]!
    if (flags !== 0 && flags !== DELETION && flags !== DELETION + AS_IT_WAS) throw unknownForm(row)
    const from = at + ENTRY_HEAD
    const previous = value.readDoubleBE(at + 1)
    at = from + value.readUInt32BE(at + 9)
    if (at > value.length) throw damaged(row)
    const type = flags === 0 ? 'put' : 'delete'
    records.push({
      revision,
      timeMs,
      type,
      previous,
      isAsItWas: flags > DELETION,
      id: value.toString('utf8', from, at),
    })
  }
  if (at !== value.length) throw damaged(row)
  return records
}

/** State of the whole store after a batch. */
export interface StateRecord {
  /** The newest revision. */
  readonly revision: Revision
  /** Current objects. */
  readonly count: number
  /** Sum of the checksums of current objects, by {@link addToSum}. */
  readonly sum: number
}

export function stateValue({ revision, count, sum }: StateRecord): Buffer {
  const value = Buffer.allocUnsafe(HEAD + 16)
  writeHead(value, 0, 0, revision)
  value.writeDoubleBE(count, HEAD)
  value.writeDoubleBE(sum, HEAD + 8)
  return sealedWhole(value, crc32(STATE_ROW))
}

/** @throws StorageError `Damaged` or `Format` */
export function parseState(value: Buffer): StateRecord {
  assertWhole(STATE_ROW, value, { minLength: HEAD + 16, seed: crc32(STATE_ROW) })
  return { revision: value.readDoubleBE(8), count: value.readDoubleBE(HEAD), sum: value.readDoubleBE(HEAD + 8) }
}

export function compactedValue(revision: Revision): Buffer {
  const value = Buffer.allocUnsafe(HEAD)
  writeHead(value, 0, 0, revision)
  return sealedWhole(value, crc32(COMPACTED_ROW))
}

/** @throws StorageError `Damaged` or `Format` */
export function parseCompacted(value: Buffer): Revision {
  assertWhole(COMPACTED_ROW, value, { minLength: HEAD, seed: crc32(COMPACTED_ROW) })
  return value.readDoubleBE(8)
}

const SUM_RANGE = 2 ** 48

/** Sums are exact, whatever the order of additions, and never grow too long for a number. */
export function addToSum(sum: number, checksum: number): number {
  return (sum + checksum + SUM_RANGE) % SUM_RANGE
}

/** A row in words. */
export function nameOfRow(row: string): string {
  if (row.startsWith('o/')) {
    try {
      return nameOfKey(keyOfObjectRow(row))
    } catch {
      return `an object whose name is not readable, ${JSON.stringify(row)}`
    }
  }
  const revision = revisionOfRow(row)
  if (row.startsWith('v/') && !Number.isNaN(revision)) return `the old version of revision ${revision}`
  if (row.startsWith('l/') && !Number.isNaN(revision)) return `the log up to revision ${revision}`
  return `the record ${JSON.stringify(row)}`
}

/** `configmaps default/x of space root`. */
export function nameOfKey({ space, group, resource, namespace, name }: Key): string {
  return `${group === '' ? resource : `${resource}.${group}`} ${namespace === '' ? name : `${namespace}/${name}`} of space ${space}`
}

function writeHead(value: Buffer, flags: number, headBytes: number, number: number): void {
  value.writeUInt32BE(flags * 2 ** 24, 0)
  value.writeUInt32BE(headBytes, 4)
  value.writeDoubleBE(number, 8)
}

/** A start for a CRC: a change of any one of the words changes it. Cheaper than another call of `crc32`. */
function mixed(a: number, b: number, c = 0, d = 0): number {
  let mix = Math.imul(a, 0x9e3779b1)
  mix = Math.imul(((mix << 15) | (mix >>> 17)) ^ b, 0x85ebca6b)
  mix = Math.imul(((mix << 15) | (mix >>> 17)) ^ c, 0xc2b2ae35)
  mix = Math.imul(((mix << 15) | (mix >>> 17)) ^ d, 0x27d4eb2f)
  return mix >>> 0
}

function mixedHead(value: Buffer): number {
  return mixed(value.readUInt32BE(0), value.readUInt32BE(4), value.readUInt32BE(8), value.readUInt32BE(12))
}

function mixedRevision(revision: Revision): number {
  return mixed(revision >>> 0, Math.floor(revision / 2 ** 32))
}

/** The checksum of a short value, in one go. */
function sealedWhole(value: Buffer, seed: number): Buffer {
  return sealed(value, crc32(sealed(value, 0), seed))
}

function assertWhole(row: string, value: Buffer, { minLength, seed }: { minLength: number; seed: number }): void {
  if (value.length < minLength) throw damaged(row)
  const checksum = value.readUInt32BE(CHECKSUM_AT)
  value.writeUInt32BE(0, CHECKSUM_AT)
  const found = crc32(value, seed)
  value.writeUInt32BE(checksum, CHECKSUM_AT)
  if (found !== checksum) throw damaged(row)
  assertKnown(row, value)
}

function assertKnown(row: string, value: Buffer): void {
  if (value.readUInt32BE(0) !== 0) throw unknownForm(row)
}

function unknownForm(row: string): StorageError {
  return new StorageError(
    'Format',
    `${nameOfRow(row)} is written in a way that this program does not know: use the newer Orrery`,
  )
}

function damaged(row: string): StorageError {
  return new StorageError('Damaged', `the data dir is damaged: ${nameOfRow(row)} does not match its checksum`)
}

function digits(revision: Revision): string {
  return String(revision).padStart(16, '0')
}
