/** Tasks that news of a mailbox asks for, beside those of single copies. */
import { namespaceKey, resourceKey } from '../../../placement/words/names.ts'
import type { PendingMarks } from '../join/pendingMarks.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Task } from '../join/task.ts'
import type { Tasks } from '../join/tasks.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Mailbox, MailboxListener } from './mailbox.ts'

export class MailboxTasks implements MailboxListener {
  readonly #tasks: Tasks
  readonly #join: Pick<PlacementJoin, 'claimsIn' | 'placementsOf' | 'placementNames' | 'carriesUp'>
  readonly #pendingMarks: PendingMarks

  constructor(
    tasks: Tasks,
    join: Pick<PlacementJoin, 'claimsIn' | 'placementsOf' | 'placementNames' | 'carriesUp'>,
    pendingMarks: PendingMarks,
  ) {
    this.#tasks = tasks
    this.#join = join
    this.#pendingMarks = pendingMarks
  }

  configChanged({ name }: Mailbox): void {
    this.#tasks.add({ type: 'config', mailbox: name })
  }

  upsyncFilled({ name }: Mailbox): void {
    this.#tasks.reportAll(this.#join.placementsOf(name))
  }

  carriedUp({ name }: Mailbox, key: string): void {
    this.#tasks.add({ type: 'requesters', mailbox: name, key })
  }

  definesOther({ name }: Mailbox): void {
    this.#tasks.add({ type: 'cluster', mailbox: name })
    // of all that its spaces ask for: their other clusters may define it otherwise
    for (const space of new Set(this.#join.placementsOf(name).map(lead => lead.space)))
      if (this.#join.carriesUp(space)) this.#tasks.reports(space, this.#join.placementNames(space))
  }

  served(mailbox: Mailbox, resource: string): void {
    this.#claimed(mailbox, (key, fact) => resourceKey(fact.resource) === resource && !mailbox.copies.has(key))
  }

  namespaceGone(mailbox: Mailbox, namespace: string): void {
    const own = namespaceKey(namespace)
    this.#claimed(mailbox, (key, fact) => fact.namespace === namespace || key === own)
  }

  /** Copies of a mailbox that is not known yet are all looked at once it is: one that is named before stays pending for ever. */
  #claimed(mailbox: Mailbox, isOne: (key: string, fact: ObjectFact) => boolean): void {
    if (!mailbox.synced) return
    const tasks = claimedIn(mailbox.name, this.#join, isOne)
    this.#tasks.addAll(namedIn(mailbox, tasks, this.#pendingMarks), mailbox.name)
  }
}

function* claimedIn(
  mailbox: string,
  join: Pick<PlacementJoin, 'claimsIn'>,
  isOne: (key: string, fact: ObjectFact) => boolean,
): Generator<Task> {
  for (const [key, { space, fact }] of join.claimsIn(mailbox))
    if (isOne(key, fact)) yield { type: 'copy', mailbox, key, origin: space }
}

/** Passes on tasks of a mailbox, and names the copies in it: these may have to change. */
export function namedIn(
  mailbox: Mailbox,
  tasks: Iterable<Task>,
  pendingMarks: Pick<PendingMarks, 'of'>,
): Iterable<Task> {
  return pendingMarks.of(mailbox.name, tasks, task => {
    if (task.type === 'copy') mailbox.changes.name(task.key)
  })
}
