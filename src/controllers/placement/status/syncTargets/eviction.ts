/**
 * Eviction of a cluster, as its SyncTarget reports it once the time in `spec.evictAfter` has come: how many copies are still there. A
 * cluster is empty when its mailbox is, its syncer has looked at all that left, and no deletion waits in the cluster. Pure.
 */
import { num, str } from '../../../../apimachinery/fields.ts'
import type { ClusterOutcome } from '../../../../placement/outcome/clusterOutcome.ts'
import type { OutcomeState } from '../../../../placement/outcome/copyStates.ts'
import { isDone } from '../../../../placement/outcome/outcome.ts'
import { namespaceKey } from '../../../../placement/words/names.ts'
import type { Mailbox } from '../../mailboxes/mailbox.ts'

export type EvictedMailbox = Pick<Mailbox, 'namespaces'> & {
  readonly copies: Pick<Mailbox['copies'], 'size' | 'has' | 'hasIn'>
  readonly carried: Pick<Mailbox['carried'], 'hasIn'>
  readonly others: Pick<Mailbox['others'], 'hasIn'>
  readonly changes: Pick<Mailbox['changes'], 'removed'>
}

/** A syncer that counts more has miscounted. */
const MOST_UNLISTED = 100_000

export interface Eviction {
  /** `spec.evictAfter`: a report speaks of that time alone. */
  readonly after: string
  /** Copies in the mailbox, or perhaps still in the cluster. */
  readonly remaining: number
}

/** @param before as the SyncTarget reports it now */
export function evictionOf(mailbox: EvictedMailbox, outcome: ClusterOutcome, after: string, before: unknown): Eviction {
  const there = mailbox.copies.size - keptNamespaces(mailbox)
  // a syncer that is silent, or has not compared yet, says nothing new
  if (!outcome.live || !outcome.compared) {
    const reported = str(before, 'after') === after ? num(before, 'remaining') : 0
    return { after, remaining: Math.max(there + mailbox.changes.removed, reported) }
  }
  let waiting = 0
  for (const [key, { state }] of outcome.exceptions) if (!isDone(state) && !mailbox.copies.has(key)) waiting++
  for (const [state, count] of Object.entries(outcome.unlisted))
    if (!isDone(state as OutcomeState)) waiting += Math.min(count, MOST_UNLISTED)
  return { after, remaining: there + Math.max(waiting, mailbox.changes.removed) }
}

/** Namespaces in which nothing is left but what others put there: those stay. */
function keptNamespaces({ copies, carried, others, namespaces }: EvictedMailbox): number {
  let kept = 0
  for (const name of namespaces) {
    const isOthers = carried.hasIn(name) || others.hasIn(name)
    if (isOthers && !copies.hasIn(name) && copies.has(namespaceKey(name))) kept++
  }
  return kept
}
