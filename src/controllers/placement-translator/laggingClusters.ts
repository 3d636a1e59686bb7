/** Which clusters are behind with what is placed in them. Pure. */
import type { LaggingCluster } from '../../apimachinery/carryFigures.ts'
import type { Mailbox } from './mailbox.ts'

/** The mailboxes whose syncers have most to look at, `most` of them at the most. */
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
  return behind.sort((a, b) => b.objects - a.objects).slice(0, most)
}
