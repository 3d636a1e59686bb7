/**
 * Findings in rows of a store: enough to decide whether all of it is there. Rows may be read in parts, in other threads too; what was found
 * in each part is put together.
 */
import type { Whole } from '../body.ts'
import { isStorageError, type Revision, StorageError } from '../store.ts'
import {
  addToSum,
  COMPACTED_ROW,
  FORMAT_ROW,
  type LogRecord,
  ObjectRowKeys,
  parseCompacted,
  parseLog,
  parseState,
  parseVersion,
  STATE_ROW,
  type StateRecord,
} from './rows.ts'

/** Plain data, which can cross to another thread. */
export interface Tally {
  /** As the newest batch wrote it; `undefined` when it is not readable or not in this part. */
  state: StateRecord | undefined
  compacted: Revision | undefined
  readonly objects: { count: number; sum: number; bytes: number; newest: Revision }
  readonly versions: { count: number; sum: number }
  readonly log: LogTally
  /** Rows that do not match their checksums, by key. */
  readonly badRows: string[]
  /** LevelDB's words about what it could not read. */
  readonly unreadable: string[]
}

export interface LogTally {
  count: number
  newest: Revision
  /** First and last revision of each stretch without a gap, in order. */
  readonly stretches: [first: Revision, last: Revision][]
  /** Old versions that its entries speak of: how many, and the sum of their revisions. */
  readonly versions: { count: number; sum: number }
}

export interface TallyOptions {
  /** Gets each entry of the log that matches its checksum. */
  log?: ((entry: LogRecord) => void) | undefined
  /** Gets each current object that matches its checksum. */
  each: (stored: Whole) => void
}

export function emptyTally(): Tally {
  return {
    state: undefined,
    compacted: undefined,
    objects: { count: 0, sum: 0, bytes: 0, newest: 0 },
    versions: { count: 0, sum: 0 },
    log: { count: 0, newest: 0, stretches: [], versions: { count: 0, sum: 0 } },
    badRows: [],
    unreadable: [],
  }
}

/** Takes rows in order; answers whether each is good. @throws StorageError `Format` */
export function tallyRows(tally: Tally, { log, each }: TallyOptions): (row: string, value: Buffer) => boolean {
  const { objects, versions } = tally
  const keys = new ObjectRowKeys()
  const read = (row: string, value: Buffer): void => {
    if (row.startsWith('o/')) {
      const { checksum, ...version } = parseVersion(row, value)
      const { revision, bytes } = version
      each({ key: keys.of(row), ...version })
      objects.count++
      objects.sum = addToSum(objects.sum, checksum)
      objects.bytes += bytes.length
      if (revision > objects.newest) objects.newest = revision
    } else if (row.startsWith('v/')) {
      const { revision } = parseVersion(row, value)
      versions.count++
      versions.sum += revision
    } else if (row.startsWith('l/')) {
      for (const entry of parseLog(row, value)) {
        addToLog(tally.log, entry)
        log?.(entry)
      }
    } else if (row === STATE_ROW) tally.state = parseState(value)
    else if (row === COMPACTED_ROW) tally.compacted = parseCompacted(value)
    else if (row !== FORMAT_ROW) throw new StorageError('Damaged', 'it is no row of ours')
  }
  return (row, value) => {
    const good = !isDamaged(() => read(row, value))
    if (!good) tally.badRows.push(row)
    return good
  }
}

/** Tally of parts that follow each other. */
export function togetherOf(parts: readonly Tally[]): Tally {
  const all = emptyTally()
  for (const part of parts) {
    all.state ??= part.state
    all.compacted ??= part.compacted
    all.objects.count += part.objects.count
    all.objects.sum = addToSum(all.objects.sum, part.objects.sum)
    all.objects.bytes += part.objects.bytes
    all.objects.newest = Math.max(all.objects.newest, part.objects.newest)
    all.versions.count += part.versions.count
    all.versions.sum += part.versions.sum
    all.log.count += part.log.count
    all.log.newest = Math.max(all.log.newest, part.log.newest)
    all.log.stretches.push(...part.log.stretches)
    all.log.versions.count += part.log.versions.count
    all.log.versions.sum += part.log.versions.sum
    all.badRows.push(...part.badRows)
    all.unreadable.push(...part.unreadable)
  }
  return all
}

export function isDamaged(parse: () => void): boolean {
  try {
    parse()
    return false
  } catch (error) {
    if (isStorageError(error, 'Damaged') || error instanceof TypeError) return true
    throw error
  }
}

function addToLog(log: LogTally, { revision, type, previous, isAsItWas }: LogRecord): void {
  log.count++
  log.newest = revision
  const last = log.stretches.at(-1)
  if (last?.[1] === revision - 1) last[1] = revision
  else log.stretches.push([revision, revision])
  for (const version of [previous, type === 'delete' && !isAsItWas ? revision : 0])
    if (version !== 0) {
      log.versions.count++
      log.versions.sum += version
    }
}
