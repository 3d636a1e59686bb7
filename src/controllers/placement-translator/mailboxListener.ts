/** What news from a mailbox asks for. */
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import type { Mailbox, MailboxListener } from './mailboxes.ts'
import { namespaceKey, resourceKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Task } from './task.ts'

export interface MailboxListenerDeps {
  add(task: Task): void
  join: PlacementJoin
  mailbox(name: string): Mailbox | undefined
}

/** Definers and Namespaces go first, so that what needs them does not fail first. */
const FIRST: ReadonlySet<string> = new Set([resourceKey(CRDS), resourceKey(NAMESPACES)])

export function mailboxListener({ add, join, mailbox: find }: MailboxListenerDeps): MailboxListener {
  const copy = (mailbox: string, key: string) => add({ type: 'copy', mailbox, key })
  return {
    synced(mailbox) {
      const facts = [...join.contentOf(mailbox).values()]
      for (const fact of facts) if (FIRST.has(resourceKey(fact.resource))) copy(mailbox, fact.key)
      for (const fact of facts) if (!FIRST.has(resourceKey(fact.resource))) copy(mailbox, fact.key)
      for (const key of find(mailbox)?.copies.keys() ?? []) copy(mailbox, key)
      add({ type: 'config', mailbox })
    },
    changed: copy,
    reported(mailbox, key) {
      for (const { space } of join.sourcesOf(mailbox, key)) {
        if (join.wantsState(space, key) || join.fact(space, key)?.annotated) add({ type: 'source', space, key })
      }
    },
    carriedUp: (mailbox, key) => add({ type: 'asked', mailbox, key }),
    configChanged: mailbox => add({ type: 'config', mailbox }),
    served(mailbox, resource) {
      for (const [key, fact] of join.contentOf(mailbox)) {
        if (resourceKey(fact.resource) === resource && !find(mailbox)?.copies.has(key)) copy(mailbox, key)
      }
    },
    namespaceGone(mailbox, namespace) {
      const own = namespaceKey(namespace)
      for (const [key, fact] of join.contentOf(mailbox)) {
        if (fact.namespace === namespace || key === own) copy(mailbox, key)
      }
    },
  }
}
