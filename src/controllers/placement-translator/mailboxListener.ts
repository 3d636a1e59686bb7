/** What news from a mailbox asks for. */
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import type { Mailbox, MailboxListener } from './mailboxes.ts'
import { namespaceKey, resourceKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Task } from './task.ts'
import type { ObjectFact } from './workload.ts'

export interface MailboxListenerDeps {
  add(task: Task): void
  join: PlacementJoin
  mailbox(name: string): Mailbox | undefined
}

/** Definers and Namespaces go first, so that what needs them does not fail first. */
const FIRST: ReadonlySet<string> = new Set([resourceKey(CRDS), resourceKey(NAMESPACES)])

export function mailboxListener({ add, join, mailbox: find }: MailboxListenerDeps): MailboxListener {
  const copy = (mailbox: string, key: string, origin = find(mailbox)?.ownersOf(key)[0]) =>
    add({ type: 'copy', mailbox, key, origin })
  return {
    synced(mailbox) {
      const claims = [...join.claimsIn(mailbox)]
      const isFirst = ({ resource }: ObjectFact) => FIRST.has(resourceKey(resource))
      for (const [key, { space, fact }] of claims) if (isFirst(fact)) copy(mailbox, key, space)
      for (const [key, { space, fact }] of claims) if (!isFirst(fact)) copy(mailbox, key, space)
      for (const key of find(mailbox)?.copies.keys() ?? []) copy(mailbox, key)
      add({ type: 'config', mailbox })
      add({ type: 'refused', mailbox })
    },
    changed: (mailbox, key) => copy(mailbox, key),
    reported(mailbox, key) {
      for (const { space } of join.sourcesOf(mailbox, key)) {
        if (join.wantsState(space, key) || join.fact(space, key)?.annotated) add({ type: 'source', space, key })
      }
    },
    carriedUp: (mailbox, key) => add({ type: 'asked', mailbox, key }),
    clusterRefuses: mailbox => add({ type: 'refused', mailbox }),
    configChanged: mailbox => add({ type: 'config', mailbox }),
    served(mailbox, resource) {
      for (const [key, { space, fact }] of join.claimsIn(mailbox)) {
        if (resourceKey(fact.resource) === resource && !find(mailbox)?.copies.has(key)) copy(mailbox, key, space)
      }
    },
    namespaceGone(mailbox, namespace) {
      const own = namespaceKey(namespace)
      for (const [key, { space, fact }] of join.claimsIn(mailbox)) {
        if (fact.namespace === namespace || key === own) copy(mailbox, key, space)
      }
    },
  }
}
