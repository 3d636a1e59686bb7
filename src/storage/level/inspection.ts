/**
 * One look at every row of a store. It hands over the current objects, and compares the rows with the newest batch, the log, and the
 * acknowledged revision. A mismatch is damage, and is reported in words.
 */
import { someOf } from '../../apimachinery/someOf.ts'
import { type Revision, StorageError } from '../store.ts'
import { type Database, type RowVisit, readAll } from './database.ts'
import { readCarefully } from './readCarefully.ts'
import {
  COMPACTED_ROW,
  FORMAT_ROW,
  keyOfObjectRow,
  nameOfRow,
  parseCompacted,
  parseLog,
  parseState,
  parseVersion,
  revisionOfRow,
  STATE_ROW,
  type StateRecord,
} from './rows.ts'
import { emptyTally, isDamaged, type LogTally, type Tally, type TallyOptions, tallyRows } from './tally.ts'

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

interface InspectionOptions extends TallyOptions {
  /** A revision that was acknowledged. */
  acknowledged: Revision | undefined
  /** LevelDB's lines about skipped records: not damage by itself, for a crash may tear a write without an acknowledgement. */
  complaints: readonly string[]
  /** Only tell whether there is damage: the findings may exaggerate it. */
  quick?: boolean | undefined
  /** Reads all quickly, in another way than here and now: then `each` gets only what a careful look meets. */
  readQuickly?: (() => Promise<Tally>) | undefined
}

/** Names in one finding; the rest is counted. */
const NAMED = 5

/**
 * Reads quickly first. When that meets damage, it reads again, carefully, and `each` gets what is intact a second time.
 * @throws StorageError `Format` when rows are written in a way that this program does not know
 */
export async function inspect(db: Database, options: InspectionOptions): Promise<Inspection> {
  const readQuickly = options.readQuickly ?? (() => look(db, options, readAll))
  const quick = judged(await readQuickly(), options)
  if (quick.findings.length === 0 || options.quick) return quick
  const careful = await inspectCarefully(db, options)
  if (careful.findings.length > 0) return careful
  // The damaged rows were replaced meanwhile, but stand in the way of LevelDB.
  const findings = [...unreadableFindings(quick.unreadable), ...badFindings(quick.badRows)]
  return { ...careful, findings: [...findings, 'all newest rows can be read in spite of it'] }
}

/** The same for a database that is known to be damaged. */
export async function inspectCarefully(db: Database, options: InspectionOptions): Promise<Inspection> {
  return judged(await look(db, options, (db, visit) => readCarefully(db, visit, isGoodRow)), options)
}

async function look(
  db: Database,
  options: InspectionOptions,
  readRows: (db: Database, visit: RowVisit) => Promise<string[]>,
): Promise<Tally> {
  const tally = emptyTally()
  tally.unreadable.push(...(await readRows(db, tallyRows(tally, options))))
  return tally
}

function judged(tally: Tally, { acknowledged, complaints }: InspectionOptions): Inspection {
  const { state, compacted, objects, versions, log, badRows, unreadable } = tally
  const compactedRevision = compacted ?? 0
  const findings = [
    ...unreadableFindings(unreadable),
    ...badFindings(badRows),
    ...stateFindings(state, compacted, badRows),
    ...logFindings(log, compactedRevision, state?.revision),
    ...(state === undefined ? [] : objectFindings(objects, state)),
    ...versionFindings(versions, log),
    ...acknowledgedFindings(acknowledged, state?.revision ?? Math.max(log.newest, compactedRevision)),
  ]
  return {
    state,
    compactedRevision,
    newestSeen: badRows.reduce(
      (newest, row) => Math.max(newest, revisionOfRow(row) || 0),
      Math.max(state?.revision ?? 0, compactedRevision, log.newest, objects.newest, acknowledged ?? 0),
    ),
    objects: objects.count,
    objectBytes: objects.bytes,
    logEntries: log.count,
    versions: versions.count,
    badRows,
    unreadable,
    findings: findings.length === 0 ? [] : [...findings, ...complaints.map(what => `LevelDB skipped records: ${what}`)],
  }
}

/** Whether a row is one of ours and matches its checksum. @throws StorageError `Format` */
function isGoodRow(row: string, value: Buffer): boolean {
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

/** Entries up to the compacted revision may be gone, in any order; all behind it must be there. */
function logFindings(log: LogTally, compacted: Revision, newest: Revision | undefined): string[] {
  const gaps: string[] = []
  let missing = 0
  let expected = compacted + 1
  const gap = (until: Revision): void => {
    if (until < expected) return
    missing += until - expected + 1
    gaps.push(until === expected ? `${until}` : `${expected}–${until}`)
  }
  for (const [first, last] of log.stretches) {
    if (last <= compacted) continue
    gap(first - 1)
    expected = last + 1
  }
  if (newest !== undefined) gap(newest)
  const findings =
    missing === 0 ? [] : [`${counted(missing, 'log entry', 'log entries')} missing: revision ${listed(gaps)}`]
  if (newest !== undefined && log.newest > newest)
    findings.push(`the log goes on to revision ${log.newest}, the newest batch to ${newest}`)
  return findings
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

function versionFindings(found: { count: number; sum: number }, { versions: wanted }: LogTally): string[] {
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
  return someOf(names, NAMED)
}
