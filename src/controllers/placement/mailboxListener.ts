/** Tasks that news of mailboxes and of copies asks for. */

import { namespaceKey, resourceKey } from '../../placement/words/names.ts'
import type { PlacementJoin } from './join/placementJoin.ts'
import { reportOwner, reportTasks, type Task } from './join/task.ts'
import type { ObjectFact } from './join/workload.ts'
import type { Mailbox, MailboxListener } from './mailboxes/mailbox.ts'
import type { ClaimedBy, CopyChange } from './signals/signals.ts'

export interface MailboxListenerDeps {
  add(task: Task): void
  /** By and by, those of one owner in order. */
  addAll(tasks: Iterable<Task>, owner: string): void
  /** All of a mailbox is to be looked at. */
  look(mailbox: string): void
  join: PlacementJoin
  mailbox(name: string): Mailbox | undefined
}

/** Reads {@link Signals} of copies, too. */
export interface CopyTasks extends MailboxListener {
  copyChanged(mailbox: string, key: string, what: CopyChange, claims?: readonly ClaimedBy[]): void
  /** Everything reported of a cluster may be reported otherwise. */
  mailboxChanged(mailbox: string): void
  collectorsChanged(space: string, collector: string | undefined): void
}

export function mailboxListener({ add, addAll, look, join, mailbox: find }: MailboxListenerDeps): CopyTasks {
  const copy = (mailbox: string, key: string, origin = find(mailbox)?.ownerOf(key)): Task & { type: 'copy' } => ({
    type: 'copy',
    mailbox,
    key,
    origin,
  })
  function* claimed(mailbox: string, of: (key: string, fact: ObjectFact) => boolean): Generator<Task> {
    for (const [key, { space, fact }] of join.claimsIn(mailbox)) if (of(key, fact)) yield copy(mailbox, key, space)
  }
  return {
    synced: look,
    copyChanged(mailbox, key, what, claims) {
      switch (what) {
        case 'content':
          add(copy(mailbox, key))
          break
        case 'standing':
          for (const { space } of claims ?? join.sourcesOf(mailbox, key)) add({ type: 'source', space, key })
          break
        case 'status':
        case 'generation':
          for (const { space } of claims ?? join.sourcesOf(mailbox, key))
            if (join.wantedState(space, key) || join.fact(space, key)?.annotated) add({ type: 'source', space, key })
          break
        case 'health':
        case 'converged':
          for (const { space, placements } of claims ?? join.sourcesOf(mailbox, key))
            addAll(reportTasks(space, placements), reportOwner(space))
          break
        case 'remark':
          for (const { space, name } of join.leadsFor(mailbox, key)) add({ type: 'report', space, name })
      }
    },
    mailboxChanged(mailbox) {
      for (const { space, name } of join.placementsOf(mailbox)) add({ type: 'report', space, name })
    },
    collectorsChanged(space, collector) {
      for (const name of collector === undefined ? [] : join.placementNames(space))
        if (join.spec(space, name)?.collectors.includes(collector!)) add({ type: 'report', space, name })
    },
    carriedUp: (mailbox, key) => add({ type: 'asked', mailbox, key }),
    upsyncFilled(mailbox) {
      for (const { space, name } of join.placementsOf(mailbox)) add({ type: 'report', space, name })
    },
    configChanged: mailbox => add({ type: 'config', mailbox }),
    served(mailbox, resource) {
      const isMissing = (key: string) => !find(mailbox)?.copies.has(key)
      addAll(
        claimed(mailbox, (key, fact) => resourceKey(fact.resource) === resource && isMissing(key)),
        mailbox,
      )
    },
    definesOther: mailbox => add({ type: 'cluster', mailbox }),
    namespaceGone(mailbox, namespace) {
      const own = namespaceKey(namespace)
      addAll(
        claimed(mailbox, (key, fact) => fact.namespace === namespace || key === own),
        mailbox,
      )
    },
  }
}
