/** Keys in one mailbox that need a check, and the tasks that follow from them. */
import { CRDS, NAMESPACES } from '../../../apimachinery/resources.ts'
import { resourceKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Task } from '../join/task.ts'
import type { ObjectFact } from '../join/workload.ts'
import { isContested } from './copiesInHand.ts'
import type { Mailbox } from './mailbox.ts'

/** Definers and Namespaces go first, so that what needs them does not fail first. */
const FIRST: ReadonlySet<string> = new Set([resourceKey(CRDS), resourceKey(NAMESPACES)])

/** Keys of what it should hold, and of what it holds when its turn comes. */
export function* contentKeys(join: PlacementJoin, { name, copies }: Mailbox): Generator<string> {
  const claims = join.claimsIn(name)
  const isFirst = ({ resource }: ObjectFact) => FIRST.has(resourceKey(resource))
  for (const [key, { fact }] of claims) if (isFirst(fact)) yield key
  for (const [key, { fact }] of claims) if (!isFirst(fact)) yield key
  for (const key of copies.keys()) if (!claims.has(key)) yield key
}

/**
 * Tasks for `keys` of a mailbox, and for the mailbox itself. Checks of copies that are there come behind all changes.
 * Spaces that compete for an object get a report anew: its owner may not have been known at the last one.
 */
export function* contentTasks(join: PlacementJoin, mailbox: Mailbox, keys?: readonly string[]): Generator<Task> {
  const { name } = mailbox
  const claims = keys?.length === 0 ? undefined : join.claimsIn(name)
  for (const key of keys ?? contentKeys(join, mailbox)) {
    const claim = claims?.get(key)
    const isFirst = claim !== undefined && FIRST.has(resourceKey(claim.fact.resource))
    const origin = claim?.space ?? mailbox.ownerOf(key)
    const isCheck = claim !== undefined && !isFirst && mailbox.copies.has(key)
    yield { type: 'copy', mailbox: name, key, origin, ...(isCheck && { isCheck }) }
    const sources = claim && mailbox.copies.has(key) ? join.sourcesOf(name, key) : []
    if (isContested(sources, mailbox.ownerOf(key)))
      for (const { space } of sources) yield { type: 'source', space, key }
  }
  yield { type: 'config', mailbox: name }
  if (mailbox.changes.unprocessed > 0) yield { type: 'cluster', mailbox: name }
}
