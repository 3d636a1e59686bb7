/** Which clusters are behind with what is placed in them. Pure. */
import type { LaggingCluster } from '../../../placement/desks/carryFigures.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'

/**
 * `most` mailboxes at the most: those whose syncers have most to look at, and those that are behind for longest, in turns. One
 * object that is stuck is not hidden by clusters that are merely busy.
 */
export function laggingClusters(
  mailboxes: Iterable<Pick<Mailbox, 'name' | 'desired'>>,
  nowMs: number,
  most: number,
): LaggingCluster[] {
  const behind: LaggingCluster[] = []
  for (const { name, desired } of mailboxes) {
    const { behindSinceMs, unprocessed: objects } = desired
    if (behindSinceMs !== undefined) behind.push({ mailbox: name, objects, seconds: (nowMs - behindSinceMs) / 1000 })
  }
  const byObjects = behind.toSorted((a, b) => b.objects - a.objects)
  const byTime = behind.toSorted((a, b) => b.seconds - a.seconds)
  const chosen = new Set<LaggingCluster>()
  for (let i = 0; i < behind.length && chosen.size < most; i++) chosen.add(byObjects[i]!).add(byTime[i]!)
  return [...chosen].slice(0, most)
}
