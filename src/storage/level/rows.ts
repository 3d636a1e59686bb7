/**
 * The rows of a level store. Text keys, binary values; revisions in keys are 16 digits, so they sort as numbers.
 *
 *   m/format, m/compacted   decimal text
 *   o/<key>                 current object: revision (float64, exact), JSON
 *   v/<revision>            JSON of a version that is no longer current, and of a deletion's last state
 *   l/<revision>            log: what happened to which key, when, and which version it replaced
 *
 * `<key>` is space, group, resource, namespace and name joined by NUL: a space is one contiguous range of `o/`.
 */
import { keyText, parseKeyText } from '../keys.ts'
import type { Key, Revision, Stored, StoreEvent } from '../store.ts'

/** Raise it when older programs must not open the data any more. */
export const FORMAT = 1

export const FORMAT_ROW = 'm/format'
export const COMPACTED_ROW = 'm/compacted'

/** All object rows lie in [first, end). */
export const OBJECT_ROWS = { gte: 'o/', lt: 'o0' }

export function objectRow(key: Key): string {
  return `o/${keyText(key)}`
}

export function keyOfObjectRow(row: string): Key {
  return parseKeyText(row.slice(2))
}

export function versionRow(revision: Revision): string {
  return `v/${digits(revision)}`
}

export function logRow(revision: Revision): string {
  return `l/${digits(revision)}`
}

export function objectValue(stored: Stored): Buffer {
  const value = Buffer.allocUnsafe(8 + stored.bytes.length)
  value.writeDoubleBE(stored.revision, 0)
  stored.bytes.copy(value, 8)
  return value
}

export function parseObjectValue(value: Buffer): { revision: Revision; bytes: Buffer } {
  return { revision: value.readDoubleBE(0), bytes: value.subarray(8) }
}

export interface LogRecord {
  readonly revision: Revision
  readonly type: 'put' | 'delete'
  readonly timeMs: number
  /** The version that it replaced; 0 for none. */
  readonly previous: Revision
  readonly key: Key
}

const LOG_HEAD = 17

export function logValue(event: StoreEvent, timeMs: number): Buffer {
  const key = keyText(event.key)
  const value = Buffer.allocUnsafe(LOG_HEAD + Buffer.byteLength(key))
  value[0] = event.type === 'put' ? 0 : 1
  value.writeDoubleBE(timeMs, 1)
  value.writeDoubleBE(event.previous?.revision ?? 0, 9)
  value.write(key, LOG_HEAD)
  return value
}

export function parseLog(row: string, value: Buffer): LogRecord {
  return {
    revision: Number(row.slice(2)),
    type: value[0] === 0 ? 'put' : 'delete',
    timeMs: value.readDoubleBE(1),
    previous: value.readDoubleBE(9),
    key: parseKeyText(value.toString('utf8', LOG_HEAD)),
  }
}

function digits(revision: Revision): string {
  return String(revision).padStart(16, '0')
}
