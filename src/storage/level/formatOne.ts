/**
 * Rows of format 1, the one before checksums: the same keys, and values without a head.
 *
 *   m/compacted   decimal text
 *   o/<key>       revision (float64), text
 *   v/<revision>  text
 *   l/<revision>  0 put or 1 delete, time and replaced revision (float64 each), key
 */
import { parseKeyText } from '../keys.ts'
import type { Revision, StoreEvent } from '../store.ts'

const LOG_HEAD = 17

/** @throws RangeError when it is no number */
export function compactedOfOne(value: Buffer): Revision {
  const text = value.toString()
  if (!/^\d{1,16}$/.test(text)) throw new RangeError(`${JSON.stringify(text)} is no revision`)
  return Number(text)
}

/** @throws RangeError when it is too short */
export function objectOfOne(value: Buffer): { revision: Revision; bytes: Buffer } {
  return { revision: value.readDoubleBE(0), bytes: value.subarray(8) }
}

/** @throws RangeError when it is too short, TypeError when what it names is no key */
export function logOfOne(revision: Revision, value: Buffer) {
  return {
    revision,
    type: (value[0] === 0 ? 'put' : 'delete') as StoreEvent['type'],
    timeMs: value.readDoubleBE(1),
    previous: value.readDoubleBE(9),
    key: parseKeyText(value.toString('utf8', LOG_HEAD)),
  }
}
