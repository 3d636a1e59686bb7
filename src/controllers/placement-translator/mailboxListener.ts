/** What news from a mailbox asks for. */
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import type { Mailbox, MailboxListener } from './mailboxes.ts'
import { namespaceKey, resourceKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import { reportTasks, type Task } from './task.ts'
import type { ObjectFact } from './workload.ts'

export interface MailboxListenerDeps {
  add(task: Task): void
  /** By and by, those of one owner in order. */
  addAll(tasks: Iterable<Task>, owner: string): void
  join: PlacementJoin
  mailbox(name: string): Mailbox | undefined
  /** What became of one object in one cluster may be something else now. */
  touched(mailbox: string, key: string): void
}

/** Definers and Namespaces go first, so that what needs them does not fail first. */
const FIRST: ReadonlySet<string> = new Set([resourceKey(CRDS), resourceKey(NAMESPACES)])

export function mailboxListener({ add, addAll, join, mailbox: find, touched }: MailboxListenerDeps): MailboxListener {
  const copy = (mailbox: string, key: string, origin = find(mailbox)?.ownersOf(key)[0]): Task & { type: 'copy' } => ({
    type: 'copy',
    mailbox,
    key,
    origin,
  })
  /** What it should hold, and what it holds when its turn comes. What it holds already is looked at behind all that changes. */
  function* content(mailbox: string): Generator<Task> {
    const claims = join.claimsIn(mailbox)
    const isThere = (key: string) => find(mailbox)?.copies.has(key) === true
    const isFirst = ({ resource }: ObjectFact) => FIRST.has(resourceKey(resource))
    for (const [key, { space, fact }] of claims) if (isFirst(fact)) yield copy(mailbox, key, space)
    for (const [key, { space, fact }] of claims) {
      if (!isFirst(fact)) yield { ...copy(mailbox, key, space), isCheck: isThere(key) }
    }
    for (const key of find(mailbox)?.copies.keys() ?? []) if (!claims.has(key)) yield copy(mailbox, key)
    yield { type: 'config', mailbox }
    yield { type: 'refused', mailbox }
  }
  function* claimed(mailbox: string, of: (key: string, fact: ObjectFact) => boolean): Generator<Task> {
    for (const [key, { space, fact }] of join.claimsIn(mailbox)) if (of(key, fact)) yield copy(mailbox, key, space)
  }
  return {
    synced: mailbox => addAll(content(mailbox), mailbox),
    changed(mailbox, key) {
      touched(mailbox, key)
      add(copy(mailbox, key))
    },
    processed: touched,
    reported(mailbox, key) {
      touched(mailbox, key)
      for (const { space } of join.sourcesOf(mailbox, key)) {
        if (join.wantsState(space, key) || join.fact(space, key)?.annotated) add({ type: 'source', space, key })
      }
    },
    healthChanged(mailbox, key) {
      for (const { space, placements } of join.sourcesOf(mailbox, key)) addAll(reportTasks(space, placements), space)
    },
    carriedUp: (mailbox, key) => add({ type: 'asked', mailbox, key }),
    clusterRefuses: mailbox => add({ type: 'refused', mailbox }),
    configChanged: mailbox => add({ type: 'config', mailbox }),
    served(mailbox, resource) {
      const isMissing = (key: string) => !find(mailbox)?.copies.has(key)
      addAll(
        claimed(mailbox, (key, fact) => resourceKey(fact.resource) === resource && isMissing(key)),
        mailbox,
      )
    },
    namespaceGone(mailbox, namespace) {
      const own = namespaceKey(namespace)
      addAll(
        claimed(mailbox, (key, fact) => fact.namespace === namespace || key === own),
        mailbox,
      )
    },
  }
}
