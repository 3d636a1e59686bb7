/**
 * Reports on each SyncTarget how its cluster keeps up: copies behind and since when, failures by reason, versions of cluster and syncer,
 * offered kinds. At most once in five seconds for each, and only when it is another thing than before. A cluster is behind after these five
 * seconds: a change that arrives at once in a thousand clusters is no news of any of them. An Event, too, reports that its syncer does not
 * reach it, or does again.
 */
import { at, record, str } from '../../../../apimachinery/fields.ts'
import { groupResourceName } from '../../../../apimachinery/object.ts'
import { timestamp } from '../../../../apimachinery/timestamp.ts'
import { equalJson } from '../../../../apimachinery/values.ts'
import type { Client } from '../../../../client/client.ts'
import type { Clock } from '../../../../client/clock.ts'
import { unlessGone } from '../../../../client/unlessGone.ts'
import type { ReconcileResult } from '../../../../client/workqueue.ts'
import type { LaggingCluster } from '../../../../placement/desks/carryFigures.ts'
import { type ClusterOutcome, isInDoubt } from '../../../../placement/outcome/clusterOutcome.ts'
import { DELETION_HELD, isDone } from '../../../../placement/outcome/outcome.ts'
import { FIELD_MANAGER } from '../../../../placement/words/names.ts'
import { SYNC_TARGETS } from '../../../../placement/words/placement.ts'
import type { EventRecorder, RecordedEvent } from '../../../eventRecorder.ts'
import { unlessSpaceGone } from '../../../spaceGone.ts'
import type { Inventory } from '../../inventory/inventory.ts'
import type { Mailbox } from '../../mailboxes/mailbox.ts'
import type { PendingChanges } from '../../mailboxes/pendingChanges.ts'
import { type EvictedMailbox, evictionOf } from './eviction.ts'
import { SyncedResources } from './syncedResources.ts'

export interface ReportedMailbox extends EvictedMailbox {
  readonly name: string
  readonly space: string
  readonly changes: PendingChanges
  /** Counts the changes of definitions in it. */
  readonly definitionChanges: number
}

export interface ClusterReportsDeps {
  client: Client
  inventory: Pick<Inventory, 'target'>
  outcome: (space: string) => ClusterOutcome
  /** As {@link OutcomeSource.restoredAt}. */
  restoredAt?: () => string | undefined
  events: Pick<EventRecorder, 'record'>
  clock: Clock
}

const INTERVAL_MS = 5000
/** For the time of an eviction: a timer bears no longer one. */
const LONGEST_WAIT_MS = 3_600_000
/** More reasons than these are reported as one. */
const MAX_REASONS = 20
const EXAMPLES = 5

const UNREACHABLE: RecordedEvent = { reason: 'ClusterUnreachable', message: 'the syncer does not reach its cluster' }
const REACHABLE: RecordedEvent = {
  type: 'Normal',
  reason: 'ClusterReachable',
  message: 'the syncer reaches its cluster again',
}
/** For fields of an outcome that are no news. */
const NO_NEWS = { unreachableSince: null, unlistedKinds: null, heldDeletions: null, eviction: null, sinceRestore: null }

interface Look {
  readonly atMs: number
  /** When it was first seen to be behind, if it still is. */
  readonly behindMs: number | undefined
}

export class ClusterReports {
  readonly #deps: ClusterReportsDeps
  readonly #synced: SyncedResources
  readonly #looks = new WeakMap<ReportedMailbox, Look>()
  readonly #awaited = new WeakSet<ReportedMailbox>()

  constructor(deps: ClusterReportsDeps) {
    this.#deps = deps
    this.#synced = new SyncedResources(deps.client)
  }

  /** Whether it is looked at anyway, as soon as that may be: until then nobody need ask. */
  isAwaited(mailbox: ReportedMailbox): boolean {
    return this.#awaited.has(mailbox)
  }

  async reconcile(mailbox: ReportedMailbox): Promise<ReconcileResult> {
    this.#awaited.delete(mailbox)
    const result = await this.#look(mailbox)
    if ((result.requeueAfterMs ?? Number.POSITIVE_INFINITY) <= INTERVAL_MS) this.#awaited.add(mailbox)
    return result
  }

  async #look(mailbox: ReportedMailbox): Promise<ReconcileResult> {
    const { client, inventory, outcome, events, clock } = this.#deps
    const before = this.#looks.get(mailbox)
    const nowMs = clock.now()
    const waitMs = (before?.atMs ?? Number.NEGATIVE_INFINITY) + INTERVAL_MS - nowMs
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    const reported = outcome(mailbox.space)
    if (reported.compared) mailbox.changes.processed(reported.processed, isInDoubt(reported))
    const { unprocessed } = mailbox.changes
    const behindMs = unprocessed > 0 ? (before?.behindMs ?? nowMs) : undefined
    this.#looks.set(mailbox, { atMs: nowMs, behindMs })
    const isBehind = behindMs !== undefined && nowMs - behindMs >= INTERVAL_MS
    const synced = await unlessSpaceGone(mailbox.space, this.#synced.of(mailbox, reported))
    const indexed = inventory.target(mailbox.name)
    const later = laterOf(behindMs !== undefined && !isBehind ? INTERVAL_MS : untilEviction(indexed?.evictAtMs, nowMs))
    if (!indexed) return later
    const { space, name, uid } = indexed
    const api = client.in(space)
    const ref = { name }
    const target = await unlessGone(unlessSpaceGone(space, api.get(SYNC_TARGETS, ref)))
    if (target?.metadata.uid !== uid) return later
    const known = at(target.status, 'outcome')
    const wasReachable = at(known, 'reachable') !== false
    const unlistedKinds = reported.offer?.unlisted ?? at(target.status, 'outcome', 'unlistedKinds') ?? 0
    const evictAfter = str(target.spec, 'evictAfter')
    const isEvicted = Date.parse(evictAfter) <= nowMs
    const eviction = isEvicted ? evictionOf(mailbox, reported, evictAfter, at(known, 'eviction')) : undefined
    // of a cluster whose syncer is silent, or has not found all of them yet, it stays as it was
    const isWhole = reported.live && reported.compared
    const heldDeletions = heldDeletionsOf(reported) ?? (isWhole ? undefined : at(known, 'heldDeletions'))
    const restoredAt = this.#deps.restoredAt?.()
    // what stands there may be from the archive, or from an earlier restore
    const hasCompared = isWhole || str(known, 'sinceRestore') === restoredAt
    const sinceRestore = hasCompared ? restoredAt : undefined
    // the last report stands for a cluster whose syncer is silent
    const isReachable = reported.live ? reported.unreachable !== true : wasReachable
    const unreachableSince = isReachable
      ? undefined
      : str(known, 'unreachableSince') || timestamp(new Date(clock.now()))
    const news = {
      reporting: reported.live,
      reachable: isReachable,
      ...(unreachableSince !== undefined && { unreachableSince }),
      lag: isBehind ? { objects: unprocessed, since: timestamp(new Date(behindMs)) } : { objects: 0 },
      failures: failuresOf(reported, mailbox.copies.size),
      ...(unlistedKinds !== 0 && { unlistedKinds }),
      ...(heldDeletions !== undefined && { heldDeletions }),
      ...(eviction && { eviction }),
      ...(sinceRestore !== undefined && { sinceRestore }),
    }
    const next = eviction && eviction.remaining > 0 ? laterOf(INTERVAL_MS) : later
    const syncedResources = synced ?? at(target.status, 'syncedResources')
    const versions = reported.versions ?? at(target.status, 'versions')
    // a cluster without any report so far needs none here
    const isSame =
      equalJson(news, known) &&
      equalJson(versions, at(target.status, 'versions')) &&
      equalJson(syncedResources, at(target.status, 'syncedResources'))
    if (isSame || (known === undefined && !reported.live && !eviction)) return next
    const lag = { since: null, ...news.lag }
    const gone = Object.fromEntries(Object.keys(record(known, 'failures', 'reasons')).map(reason => [reason, null]))
    const failures = { ...news.failures, reasons: { ...gone, ...news.failures.reasons } }
    const body = {
      metadata: { uid },
      status: {
        outcome: { ...NO_NEWS, ...news, lag, failures },
        ...(versions !== undefined && { versions }),
        ...(synced && { syncedResources: synced }),
      },
    }
    // before the status has it, as no later step would record it; recorded twice it is the same Event
    if (isReachable !== wasReachable) await events.record(space, target, isReachable ? REACHABLE : UNREACHABLE)
    await unlessGone(
      api.patch(SYNC_TARGETS, ref, 'merge', body, { subresource: 'status', fieldManager: FIELD_MANAGER }),
    )
    return next
  }
}

function laterOf(requeueAfterMs: number | undefined): ReconcileResult {
  return requeueAfterMs === undefined ? {} : { requeueAfterMs }
}

/** Until the time of an eviction comes. */
function untilEviction(evictAtMs = Number.POSITIVE_INFINITY, nowMs: number): number | undefined {
  const waitMs = evictAtMs - nowMs
  return waitMs > 0 && Number.isFinite(waitMs) ? Math.min(waitMs, LONGEST_WAIT_MS) : undefined
}

/** Bounded by the number of copies: a syncer that counts more than there are has miscounted. */
function failuresOf(
  { exceptions, unlisted }: ClusterOutcome,
  copies: number,
): { count: number; reasons: Record<string, number> } {
  const reasons: Record<string, number> = {}
  let count = 0
  const add = (reason: string, number: number): void => {
    count += number
    const slot = Object.hasOwn(reasons, reason) || Object.keys(reasons).length < MAX_REASONS - 1 ? reason : 'Other'
    reasons[slot] = (reasons[slot] ?? 0) + number
  }
  // what is there was done
  for (const { state, reason } of exceptions.values()) if (!isDone(state)) add(reason, 1)
  const uncounted = Object.values(unlisted).reduce((sum, number) => sum + number, 0)
  if (uncounted > 0) add('Unlisted', Math.max(1, Math.min(uncounted, copies - count)))
  return { count, reasons }
}

/** Removals that the syncer holds, because the center lacks objects that it once placed. */
function heldDeletionsOf({ exceptions }: ClusterOutcome): object | undefined {
  const held = [...exceptions].filter(([, { reason }]) => reason === DELETION_HELD)
  if (held.length === 0) return undefined
  const examples = held.slice(0, EXAMPLES).map(([, { group, resource, namespace, name }]) => {
    const place = namespace === '' ? name : `${namespace}/${name}`
    return `${groupResourceName({ group, resource })} ${place}`
  })
  // others are from before there were so many; where more are held than a report lists, the message alone counts them
  const newest = held.find(([, { message }]) => message?.startsWith(`${held.length} `)) ?? held.at(-1)!
  const { message = '' } = newest[1]
  return { objects: Math.max(held.length, Number.parseInt(message, 10) || 0), examples, message }
}

/**
 * `most` mailboxes at the most: those whose syncers have most to look at, and those that are behind for longest, in turns. One
 * object that is stuck is not hidden by clusters that are merely busy.
 */
export function laggingClusters(
  mailboxes: Iterable<Pick<Mailbox, 'name' | 'changes'>>,
  nowMs: number,
  most: number,
): LaggingCluster[] {
  const behind: LaggingCluster[] = []
  for (const { name, changes } of mailboxes) {
    const { behindSinceMs, unprocessed: objects } = changes
    if (behindSinceMs !== undefined) behind.push({ mailbox: name, objects, seconds: (nowMs - behindSinceMs) / 1000 })
  }
  const byObjects = behind.toSorted((a, b) => b.objects - a.objects)
  const byTime = behind.toSorted((a, b) => b.seconds - a.seconds)
  const chosen = new Set<LaggingCluster>()
  for (let i = 0; i < behind.length && chosen.size < most; i++) chosen.add(byObjects[i]!).add(byTime[i]!)
  return [...chosen].slice(0, most)
}
