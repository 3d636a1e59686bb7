/**
 * Rewrites the rows of a format-1 store as format 2, in place. Every step is one synced batch that also says, in m/upgrade, up
 * to which row it has come: interrupted anywhere, the next start goes on behind that row. The new format number is on disk
 * before the first row changes, so an older program never meets half a store.
 */
import { keyText } from '../keys.ts'
import type { Revision } from '../store.ts'
import type { Database } from './database.ts'
import { compactedOfOne, logOfOne, objectOfOne } from './formatOne.ts'
import { revisionPlace } from './revisionPlace.ts'
import {
  addToSum,
  COMPACTED_ROW,
  compactedValue,
  FORMAT,
  FORMAT_ROW,
  logValue,
  objectChecksum,
  revisionOfRow,
  STATE_ROW,
  sealed,
  stateValue,
  UPGRADE_ROW,
  versionValue,
} from './rows.ts'

interface Progress {
  /** Rows up to this one are rewritten. */
  after: string
  /** What m/state will say. */
  revision: Revision
  count: number
  sum: number
}

/** Rows and bytes in one step. */
const STEP_ROWS = 1000
const STEP_BYTES = 4 * 1024 * 1024

/** Begins, or goes on. */
export async function upgradeFromOne(db: Database): Promise<void> {
  const begun = await db.get(UPGRADE_ROW)
  let progress: Progress = { after: '', revision: 0, count: 0, sum: 0 }
  if (begun === undefined)
    await db
      .batch()
      .put(FORMAT_ROW, Buffer.from(String(FORMAT)))
      .put(UPGRADE_ROW, encode(progress))
      .write({ sync: true })
  else progress = JSON.parse(begun.toString()) as Progress
  // It reads the database as it is now: what is rewritten meanwhile does not show.
  const iterator = db.iterator({ gt: progress.after, highWaterMarkBytes: STEP_BYTES })
  try {
    for (;;) {
      const rows = await iterator.nextv(STEP_ROWS)
      if (rows.length === 0) break
      const batch = db.batch()
      for (const [row, value] of rows) {
        const changed = rewrite(row, value, progress)
        if (changed !== undefined) batch.put(row, changed)
      }
      progress.after = rows.at(-1)![0]
      await batch.put(UPGRADE_ROW, encode(progress)).write({ sync: true })
    }
  } finally {
    await iterator.close()
  }
  const last = db.batch().put(STATE_ROW, stateValue(progress)).del(UPGRADE_ROW)
  // A store that had never forgotten history did not have this row.
  if ((await db.get(COMPACTED_ROW)) === undefined) last.put(COMPACTED_ROW, compactedValue(0))
  await last.write({ sync: true })
}

/** The value in the new format; counts it into `progress`. `undefined` for what stays as it is. */
function rewrite(row: string, value: Buffer, progress: Progress): Buffer | undefined {
  try {
    return rewritten(row, value, progress)
  } catch (error) {
    // Too short, or without a key: what cannot be read must not end the upgrade, it is found behind it and named.
    if (error instanceof RangeError || error instanceof TypeError) return Buffer.of(UNREADABLE)
    throw error
  }
}

function rewritten(row: string, value: Buffer, progress: Progress): Buffer | undefined {
  if (row === COMPACTED_ROW) {
    const compacted = compactedOfOne(value)
    progress.revision = Math.max(progress.revision, compacted)
    return compactedValue(compacted)
  }
  const revision = revisionOfRow(row)
  if (row.startsWith('l/')) {
    progress.revision = Math.max(progress.revision, revision)
    const { key, type, previous, timeMs } = logOfOne(revision, value)
    return logValue([{ type, previous, isAsItWas: false, id: keyText(key) }], revision, timeMs)
  }
  if (row.startsWith('v/')) return version(revision, value)
  if (!row.startsWith('o/')) return undefined
  const object = objectOfOne(value)
  const current = version(object.revision, object.bytes)
  const checksum = objectChecksum(row.slice(2), current)
  progress.count++
  progress.sum = addToSum(progress.sum, checksum)
  return sealed(current, checksum)
}

function version(revision: Revision, bytes: Buffer): Buffer {
  const headBytes = revisionPlace(bytes, revision)
  if (headBytes !== undefined) return versionValue({ revision, bytes, headBytes })
  // A text that does not say its revision was damaged before: it gets a checksum that does not match, so it is found.
  const value = versionValue({ revision, bytes, headBytes: 0 })
  value[0] = UNREADABLE
  return value
}

/** Flags that nothing has; not counted in the checksum, so it does not match. */
const UNREADABLE = 0xff

function encode(progress: Progress): Buffer {
  return Buffer.from(JSON.stringify(progress))
}
