/**
 * Outcome in a cluster of its placed content, as its syncer reports it. Pure.
 *
 * A report belongs to a session, the life of one syncer process, and to the center's epoch, a life of its store. It gives the revision of
 * its mailbox up to which the syncer has processed every change, and names the exceptions: processed changes that failed. The first report
 * of a session is whole, later ones hold changes. Nothing counts before the syncer has compared all of its mailbox with the live cluster.
 *
 * Lists are bounded. Entries beyond the bound are counted by reason, and the center then claims nothing about unlisted objects.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { oneLine } from '../../apimachinery/oneLine.ts'
import { EDGE_API_VERSION } from '../words/placement.ts'
import { COPY_STATES, OUTCOME_STATES, type OutcomeState, stateReported } from './copyStates.ts'
import { type FieldDifference, type LiveField, readDifferences, readLiveFields } from './fieldDifference.ts'
import { HEALTHS, type HealthVerdict } from './health.ts'
import { type Offer, readOffer } from './offer.ts'

const DONE: ReadonlySet<OutcomeState> = new Set(
  OUTCOME_STATES.filter(state => COPY_STATES[stateReported(state)].count === 'applied'),
)

/** Whether nothing is left to be done: it counts as applied. */
export function isDone(state: OutcomeState): boolean {
  return DONE.has(state)
}

export interface OutcomeKey {
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

export interface Exception extends OutcomeKey {
  /** Revision of the mailbox's object that it is about. */
  readonly seq: number
  readonly state: OutcomeState
  readonly reason: string
  /** In the cluster's words where it gave any. */
  readonly message: string
  /** RFC 3339. */
  readonly since: string
  /** Differences between the cluster's object and the sent one. */
  readonly differences?: readonly FieldDifference[] | undefined
  /** Fields that are left to the cluster. */
  readonly liveFields?: readonly LiveField[] | undefined
  /** By what the cluster holds, where that is another spec than the center's. End of a finished object. */
  readonly health?: HealthVerdict | undefined
}

export interface OutcomeReport {
  readonly session: string
  /** Counts the reports of a session, from 1. */
  readonly number: number
  /** Whether it says all, not what changed since the report before. */
  readonly whole: boolean
  /** Epoch of the stream that `processed` comes from; `''` before any. */
  readonly epoch: string
  /** Whether all of the mailbox was compared with the live cluster in this session. */
  readonly compared: boolean
  /** The syncer does not reach its cluster: it knows nothing of now. Absent: it does. */
  readonly unreachable?: boolean | undefined
  /** Every change of the mailbox up to this revision was looked at. */
  readonly processed: number
  readonly exceptions: readonly Exception[]
  /** Keys that are no exception any more. */
  readonly settled: readonly OutcomeKey[]
  /** How many exceptions found no place in the list, by state. */
  readonly unlisted: Readonly<Partial<Record<OutcomeState, number>>>
  /** Absent: it does not say. */
  readonly versions?: ClusterVersions | undefined
  /** Offer of the cluster. Absent: none in a whole report, unchanged in a partial one. */
  readonly offer?: Offer | undefined
}

/** Versions of a cluster and its syncer. */
export interface ClusterVersions {
  /** As the cluster's API server says it, such as v1.34.1. */
  readonly kubernetes: string
  readonly syncer: string
}

export interface OutcomeAnswer {
  readonly epoch: string
  /** Whether the next report has to be whole: this one did not count. */
  readonly again: boolean
  /** A word about nothing new is early enough after so long. Absent: as the syncer thinks right. */
  readonly quietSeconds?: number
  /** Delay in which changes gather before the listener gets them. Absent: none arrive. */
  readonly gatherMilliseconds?: number
}

/** Mailboxes are named by the ids of their spaces. */
export interface OutcomeReceiver {
  /** Takes what the syncer of a mailbox says. */
  take(space: string, report: OutcomeReport): OutcomeAnswer
  /** The session reads the mailbox no more. */
  silent(space: string, session: string): void
  /** The restore that the store began with is settled. */
  settled(): void
}

/** Listener for connections of syncers. Mailboxes are named by the ids of their spaces. */
export interface SyncerListener {
  /** Its syncer reads the mailbox from now on, and speaks this protocol. */
  opened(space: string, protocol: number): void
  /** Its syncer was turned away: there is no protocol that both can. `why` is for people. */
  turnedAway(space: string, why: string): void
  /** A sign of life, whatever its content. */
  seen(space: string): void
  /** It reads no more; it may come back. */
  closed(space: string): void
}

/** Where reports come in; they go to one receiver. Presence of syncers is open to any listener. */
export interface OutcomeSource {
  /** Epoch of the center; its streams carry the same. */
  readonly epoch: string
  /** The moment of the restore that its store began with, RFC 3339. `undefined`: there was none, or it is settled. */
  readonly restoredAt?: string | undefined
  deliverTo(receiver: OutcomeReceiver | undefined): void
  /** Tells of those that are connected now, and from then on; the answer ends that. */
  follow(listener: SyncerListener): () => void
}

/** Reason of an exception: the cluster's own definition of the kind does not serve the placed version. */
export const VERSION_NOT_SERVED = 'VersionNotServed'
/** Reason of an exception, with `applied`: the cluster reports more of the object than the center takes, so its health is unknown. */
export const STATUS_TOO_LARGE = 'StatusTooLarge'
/**
 * Reason of an exception: the cluster keeps the object although its mailbox does not hold it, so it is no copy. Its message counts all of
 * them.
 */
export const DELETION_HELD = 'DeletionHeld'
export const OUTCOME_SUBRESOURCE = 'outcome'
export const OUTCOME_FORM = { apiVersion: EDGE_API_VERSION, kind: 'SyncerOutcome' }
/**
 * Between two words about nothing new; each costs 2 KB. The end of a connection is known at once, and a lost network mostly, too. Only
 * these reports reveal a process that stands still behind a good connection.
 */
export const QUIET_SECONDS = 70
/**
 * A silence of so long is an outage, so that operators learn of each within two minutes. A report that a slow link delays by 45 seconds is
 * still in time, and a lost one is repeated within seconds.
 */
export const OUTCOME_SILENCE_MS = 115_000
/** Idle time of a connection before it closes; longer than the interval of a syncer with fewer reports. */
export const OUTCOME_CONNECTION_MS = 420_000
/** Exceptions of one cluster that are listed. */
export const MAX_EXCEPTIONS = 300
export const MAX_MESSAGE = 300
const MAX_REASON = 60
/** More than any release knows. */
const MAX_STATES = 40
/** Bound on the count of one state beyond the list: more than a mailbox can hold. */
export const MAX_UNLISTED = 10_000_000
/** Some kinds have names of any length; what has a longer one is counted as unlisted. */
export const MAX_NAME = 253
const MAX_ID = 64
const MAX_VERSION = 64
const DNS_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
const ID = /^[\w.-]+$/
const WORD = /^[A-Za-z][A-Za-z0-9]*$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** From `spec` of what a syncer sends. @throws StatusError BadRequest, naming the field */
export function readOutcomeReport(spec: unknown): OutcomeReport {
  if (!isRecord(spec)) throw bad('spec', 'must be an object')
  const exceptions = listOf(spec, 'exceptions', MAX_EXCEPTIONS).map((item, i) =>
    readException(item, `exceptions[${i}]`),
  )
  const settled = listOf(spec, 'settled', 2 * MAX_EXCEPTIONS).map((item, i) => readKey(item, `settled[${i}]`))
  return {
    session: id(spec, 'session'),
    number: count(spec, 'number'),
    whole: spec.whole === true,
    epoch: spec.epoch === undefined || spec.epoch === '' ? '' : id(spec, 'epoch'),
    compared: spec.compared === true,
    processed: count(spec, 'processed'),
    ...(spec.unreachable === true && { unreachable: true }),
    exceptions,
    settled,
    unlisted: readUnlisted(spec.unlisted),
    ...(spec.versions !== undefined && { versions: readVersions(spec.versions) }),
    ...(spec.offer !== undefined && { offer: readOffer(spec.offer, bad) }),
  }
}

function readException(item: unknown, at: string): Exception {
  const key = readKey(item, at)
  if (!isRecord(item)) throw bad(at, 'must be an object')
  const reason = text(item, 'reason', MAX_REASON, '', at)
  if (!WORD.test(reason)) throw bad(`${at}.reason`, 'must be one word of letters and digits')
  const since = text(item, 'since', 32, '', at)
  if (!TIME.test(since) || Number.isNaN(Date.parse(since)))
    throw bad(`${at}.since`, 'must be a time such as 2026-01-31T12:00:00Z')
  // on one line, whatever a cluster says
  const message = oneLine(text(item, 'message', MAX_MESSAGE, '', at))
  const { differences, liveFields, health } = item
  return {
    ...key,
    seq: count(item, 'seq', at),
    state: stateOf(text(item, 'state', MAX_REASON, undefined, at)),
    reason,
    message,
    since,
    ...(differences !== undefined && { differences: readDifferences(differences, `${at}.differences`, bad) }),
    ...(liveFields !== undefined && { liveFields: readLiveFields(liveFields, `${at}.liveFields`, bad) }),
    ...(health !== undefined && { health: readHealth(health, `${at}.health`) }),
  }
}

function readHealth(value: unknown, at: string): HealthVerdict {
  if (!isRecord(value)) throw bad(at, 'must be an object')
  const named = text(value, 'health', MAX_REASON, undefined, at)
  // a later release may know more: nobody is well by a word that nobody knows
  const health = HEALTHS.find(one => one === named) ?? 'Progressing'
  return { health, message: oneLine(text(value, 'message', MAX_MESSAGE, '', at)) }
}

function readKey(item: unknown, at: string): OutcomeKey {
  if (!isRecord(item)) throw bad(at, 'must be an object')
  const key = {
    group: text(item, 'group', MAX_NAME, '', at),
    resource: text(item, 'resource', MAX_NAME, undefined, at),
    namespace: text(item, 'namespace', MAX_NAME, '', at),
    name: text(item, 'name', MAX_NAME, undefined, at),
  }
  for (const field of ['group', 'resource', 'namespace'] as const) {
    if (key[field] !== '' && !DNS_NAME.test(key[field])) throw bad(`${at}.${field}`, 'must be a DNS name')
  }
  return key
}

function readUnlisted(value: unknown): OutcomeReport['unlisted'] {
  if (value === undefined) return {}
  if (!isRecord(value)) throw bad('unlisted', 'must be an object')
  const unlisted: Partial<Record<OutcomeState, number>> = {}
  const words = Object.keys(value)
  if (words.length > MAX_STATES) throw bad('unlisted', `has ${words.length} states; at most ${MAX_STATES}`)
  for (const word of words) {
    const shown = word.slice(0, MAX_REASON)
    if (!WORD.test(word)) throw bad('unlisted', `${JSON.stringify(shown)} is no state`)
    const number = count(value, word, 'unlisted')
    if (number > MAX_UNLISTED) throw bad(`unlisted.${shown}`, `must be at most ${MAX_UNLISTED}`)
    const state = stateOf(word)
    // none is nothing to tell
    if (number > 0) unlisted[state] = Math.min((unlisted[state] ?? 0) + number, MAX_UNLISTED)
  }
  return unlisted
}

function readVersions(value: unknown): ClusterVersions {
  if (!isRecord(value)) throw bad('versions', 'must be an object')
  const version = (field: string): string => oneLine(text(value, field, MAX_VERSION, '', 'versions'))
  return { kubernetes: version('kubernetes'), syncer: version('syncer') }
}

/**
 * A syncer processes the center's changes, so its reports concern no revision later than `newest`.
 * @throws StatusError BadRequest, naming the field
 */
export function requireReached({ processed, exceptions }: OutcomeReport, newest: number): void {
  const why = `is a revision that the center has not reached: its newest is ${newest}`
  if (processed > newest) throw bad('processed', `${processed} ${why}`)
  for (const [i, { seq }] of exceptions.entries()) if (seq > newest) throw bad(`exceptions[${i}].seq`, `${seq} ${why}`)
}

/** A syncer of a later release may know more states: one that this center does not know is none that is done. */
function stateOf(word: string): OutcomeState {
  return OUTCOME_STATES.find(one => one === word) ?? 'waiting'
}

function listOf(from: Record<string, unknown>, field: string, limit: number): unknown[] {
  const value = from[field] ?? []
  if (!Array.isArray(value)) throw bad(field, 'must be a list')
  if (value.length > limit)
    throw bad(field, `has ${value.length} items; at most ${limit}, and the rest is counted in unlisted`)
  return value
}

function text(from: Record<string, unknown>, field: string, limit: number, otherwise?: string, at = ''): string {
  const value = from[field] ?? otherwise
  const path = at ? `${at}.${field}` : field
  if (typeof value !== 'string' || (otherwise === undefined && value === '')) throw bad(path, 'must be a text')
  if (value.length > limit) throw bad(path, `must have at most ${limit} characters`)
  return value
}

/** Session in the query of a stream. @throws StatusError BadRequest */
export function readSession(value: string | null): string | undefined {
  return value ? id({ session: value }, 'session') : undefined
}

function id(from: Record<string, unknown>, field: string): string {
  const value = text(from, field, MAX_ID)
  if (!ID.test(value)) throw bad(field, 'must have letters, digits, ".", "_" and "-" only')
  return value
}

function count(from: Record<string, unknown>, field: string, at = ''): number {
  const value = from[field]
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw bad(at ? `${at}.${field}` : field, 'must be a whole number from 0')
  return value as number
}

function bad(field: string, why: string): StatusError {
  return new StatusError('BadRequest', `the report of a syncer is malformed: ${field}: ${why}`)
}
