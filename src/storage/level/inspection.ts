/**
 * One look at every row of a store: hands over the current objects, and holds what is there against what the newest batch
 * said, against the log, and against what was acknowledged. What does not fit is damage, and is told in words.
 */
import { isStorageError, type Revision, StorageError, type Stored } from '../store.ts'
import { type Database, type RowVisit, readAll } from './database.ts'
import { readCarefully } from './readCarefully.ts'
import {
  addToSum,
  COMPACTED_ROW,
  FORMAT_ROW,
  keyOfObjectRow,
  type LogRecord,
  nameOfRow,
  ObjectRowKeys,
  parseCompacted,
  parseLog,
  parseLogHead,
  parseState,
  parseVersion,
  revisionOfRow,
  STATE_ROW,
  type StateRecord,
} from './rows.ts'

export interface Inspection {
  /** As the newest batch wrote it; `undefined` when that is not readable. */
  readonly state: StateRecord | undefined
  readonly compactedRevision: Revision
  /** The newest revision that anything in the store speaks of. */
  readonly newestSeen: Revision
  readonly objects: number
  readonly objectBytes: number
  readonly logEntries: number
  readonly versions: number
  /** Rows that do not match their checksums, by key. */
  readonly badRows: readonly string[]
  /** LevelDB's words about what it could not read. */
  readonly unreadable: readonly string[]
  /** Each one kind of damage, in words; empty when all is well. */
  readonly findings: readonly string[]
}

export interface InspectionOptions {
  /** A revision that was acknowledged. */
  acknowledged: Revision | undefined
  /** What LevelDB said about records that it skipped: not damage by itself, for a crash may tear a write that nobody was told of. */
  complaints: readonly string[]
  /** Only tell whether there is damage: the findings may exaggerate it. */
  quick?: boolean | undefined
  /** Gets each entry of the log that matches its checksum, before the objects. */
  log?: (entry: LogRecord) => void
  /** Gets each current object that matches its checksum. */
  each: (stored: Stored) => void
}

/** Names in one finding; the rest is counted. */
const NAMED = 5

/**
 * Reads quickly first. When that meets damage, it reads again, carefully, and `each` gets what is intact a second time.
 * @throws StorageError `Format` when rows are written in a way that this program does not know
 */
export async function inspect(db: Database, options: InspectionOptions): Promise<Inspection> {
  const quick = await look(db, options, readAll)
  if (quick.findings.length === 0 || options.quick) return quick
  const careful = await inspectCarefully(db, options)
  if (careful.findings.length > 0) return careful
  // What is damaged was replaced meanwhile, but stands in the way of LevelDB.
  const findings = [...unreadableFindings(quick.unreadable), ...badFindings(quick.badRows)]
  return { ...careful, findings: [...findings, 'all newest rows can be read in spite of it'] }
}

/** The same for a database that is known to be damaged. */
export async function inspectCarefully(db: Database, options: InspectionOptions): Promise<Inspection> {
  return await look(db, options, (db, visit) => readCarefully(db, visit, isGoodRow))
}

async function look(
  db: Database,
  options: InspectionOptions,
  readRows: (db: Database, visit: RowVisit) => Promise<string[]>,
): Promise<Inspection> {
  const log = new LogRows()
  const versions = { count: 0, sum: 0 }
  const objects = { count: 0, sum: 0, bytes: 0, newest: 0 }
  const badRows: string[] = []
  let state: StateRecord | undefined
  let compacted: Revision | undefined
  const keys = new ObjectRowKeys()
  const read = (row: string, value: Buffer): void => {
    if (row.startsWith('o/')) {
      const { checksum, revision, headBytes, bytes, note } = parseVersion(row, value)
      const key = keys.of(row)
      options.each(note === undefined ? { key, revision, headBytes, bytes } : { key, revision, headBytes, bytes, note })
      objects.count++
      objects.sum = addToSum(objects.sum, checksum)
      objects.bytes += bytes.length
      if (revision > objects.newest) objects.newest = revision
    } else if (row.startsWith('v/')) {
      const { revision } = parseVersion(row, value)
      versions.count++
      versions.sum += revision
    } else if (row.startsWith('l/')) {
      log.add(parseLogHead(row, value))
      options.log?.(parseLog(row, value))
    } else if (row === STATE_ROW) state = parseState(value)
    else if (row === COMPACTED_ROW) compacted = parseCompacted(value)
    else if (row !== FORMAT_ROW) throw new StorageError('Damaged', 'it is no row of ours')
  }
  const unreadable = await readRows(db, (row, value) => {
    const good = !isDamaged(() => read(row, value))
    if (!good) badRows.push(row)
    return good
  })
  const compactedRevision = compacted ?? 0
  const findings = [
    ...unreadableFindings(unreadable),
    ...badFindings(badRows),
    ...stateFindings(state, compacted, badRows),
    ...log.findings(compactedRevision, state?.revision),
    ...(state === undefined ? [] : objectFindings(objects, state)),
    ...versionFindings(versions, log),
    ...acknowledgedFindings(options.acknowledged, state?.revision ?? Math.max(log.newest, compactedRevision)),
  ]
  return {
    state,
    compactedRevision,
    newestSeen: badRows.reduce(
      (newest, row) => Math.max(newest, revisionOfRow(row) || 0),
      Math.max(state?.revision ?? 0, compactedRevision, log.newest, objects.newest, options.acknowledged ?? 0),
    ),
    objects: objects.count,
    objectBytes: objects.bytes,
    logEntries: log.count,
    versions: versions.count,
    badRows,
    unreadable,
    findings:
      findings.length === 0 ? [] : [...findings, ...options.complaints.map(what => `LevelDB skipped records: ${what}`)],
  }
}

/** Whether a row is one of ours and matches its checksum. @throws StorageError `Format` */
export function isGoodRow(row: string, value: Buffer): boolean {
  const kind = row.slice(0, 2)
  return !isDamaged(() => {
    if (kind === 'o/') keyOfObjectRow(row)
    if (kind === 'o/' || kind === 'v/') parseVersion(row, value)
    else if (kind === 'l/') parseLog(row, value)
    else if (row === STATE_ROW) parseState(value)
    else if (row === COMPACTED_ROW) parseCompacted(value)
    else if (row !== FORMAT_ROW) throw new StorageError('Damaged', 'it is no row of ours')
  })
}

function isDamaged(parse: () => void): boolean {
  try {
    parse()
    return false
  } catch (error) {
    if (isStorageError(error, 'Damaged') || error instanceof TypeError) return true
    throw error
  }
}

/** What the log says must be there. */
class LogRows {
  readonly #revisions: Revision[] = []
  newest: Revision = 0
  /** Old versions that its entries speak of: how many, and the sum of their revisions. */
  readonly versions = { count: 0, sum: 0 }

  get count(): number {
    return this.#revisions.length
  }

  add({ revision, type, previous }: { revision: Revision; type: string; previous: Revision }): void {
    this.#revisions.push(revision)
    this.newest = revision
    for (const version of [previous, type === 'delete' ? revision : 0])
      if (version !== 0) {
        this.versions.count++
        this.versions.sum += version
      }
  }

  /** Entries up to the compacted revision may be gone, in any order; all behind it must be there. */
  findings(compacted: Revision, newest: Revision | undefined): string[] {
    const gaps: string[] = []
    let missing = 0
    let expected = compacted + 1
    const gap = (until: Revision): void => {
      if (until < expected) return
      missing += until - expected + 1
      gaps.push(until === expected ? `${until}` : `${expected}–${until}`)
    }
    for (const revision of this.#revisions) {
      if (revision <= compacted) continue
      gap(revision - 1)
      expected = revision + 1
    }
    if (newest !== undefined) gap(newest)
    const findings =
      missing === 0 ? [] : [`${counted(missing, 'log entry', 'log entries')} missing: revision ${listed(gaps)}`]
    if (newest !== undefined && this.newest > newest)
      findings.push(`the log goes on to revision ${this.newest}, the newest batch to ${newest}`)
    return findings
  }
}

function unreadableFindings(unreadable: readonly string[]): string[] {
  return unreadable.map(why => `LevelDB cannot read a part of it: ${why}`)
}

function badFindings(badRows: readonly string[]): string[] {
  if (badRows.length === 0) return []
  const names = listed(badRows.map(nameOfRow))
  return [`${counted(badRows.length, 'row does', 'rows do', '')} not match the checksum: ${names}`]
}

function stateFindings(
  state: StateRecord | undefined,
  compacted: Revision | undefined,
  bad: readonly string[],
): string[] {
  const findings: string[] = []
  if (state === undefined && !bad.includes(STATE_ROW)) findings.push('the record of the newest batch is missing')
  if (compacted === undefined && !bad.includes(COMPACTED_ROW))
    findings.push('the record of how much history is kept is missing')
  return findings
}

function objectFindings(found: { count: number; sum: number; newest: Revision }, state: StateRecord): string[] {
  const findings: string[] = []
  const missing = state.count - found.count
  if (missing > 0) findings.push(`${counted(missing, 'object')} missing: ${found.count} of ${state.count} are there`)
  else if (missing < 0) findings.push(`${counted(-missing, 'object')} there that had been deleted`)
  else if (found.sum !== state.sum) findings.push('objects are not in the state in which they were last written')
  if (found.newest > state.revision)
    findings.push(`an object has revision ${found.newest}, the newest batch ended with ${state.revision}`)
  return findings
}

function versionFindings(found: { count: number; sum: number }, { versions: wanted }: LogRows): string[] {
  if (found.count === wanted.count && found.sum === wanted.sum) return []
  const missing = wanted.count - found.count
  if (missing > 0) return [`${counted(missing, 'old version')} missing from the history`]
  return ['old versions are there that the log does not know']
}

function acknowledgedFindings(acknowledged: Revision | undefined, newest: Revision): string[] {
  if (acknowledged === undefined || acknowledged <= newest) return []
  const missing = counted(acknowledged - newest, 'acknowledged write')
  return [`${missing} missing: revision ${acknowledged} was acknowledged, the newest here is ${newest}`]
}

function counted(count: number, one: string, many = `${one}s`, is?: ''): string {
  return `${count} ${count === 1 ? one : many}${is ?? (count === 1 ? ' is' : ' are')}`
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED
  return names.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
