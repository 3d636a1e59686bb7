/**
 * Copies that are made many at a time: of content that goes everywhere as it is, into mailboxes that do not hold it yet. They have
 * one wait for the disk, and what follows from each is told once for all of them. What anything speaks against is not made so,
 * but each by itself ({@link CopyReconciler.reconcile}), where what speaks against it is told.
 */
import type { Together } from '../../client/workqueue.ts'
import type { CopyReconciler } from './copyReconciler.ts'
import type { NewCopy } from './copyWriter.ts'
import type { Mailbox } from './mailbox.ts'
import type { Task } from './task.ts'

export interface CopiesTogetherDeps {
  copies: Pick<CopyReconciler, 'toMake' | 'make'>
  /** The mailbox, if its copies may be worked on now. */
  mailbox: (name: string) => Mailbox | undefined
  /** Copies are as they should be. */
  converged: (copies: readonly NewCopy[]) => void
}

/** A turn of this is some milliseconds at most. */
const MOST = 32

export class CopiesTogether implements Together<Task, NewCopy> {
  readonly most = MOST
  readonly #deps: CopiesTogetherDeps

  constructor(deps: CopiesTogetherDeps) {
    this.#deps = deps
  }

  prepare(task: Task): NewCopy | undefined {
    if (task.type !== 'copy') return undefined
    const mailbox = this.#deps.mailbox(task.mailbox)
    return mailbox && this.#deps.copies.toMake(mailbox, task.key)
  }

  async work(copies: readonly NewCopy[]): Promise<readonly boolean[]> {
    const tickets = copies.map(({ mailbox, key }) => mailbox.desired.ticket(key))
    const done = await this.#deps.copies.make(copies)
    const made = copies.filter((_, i) => done[i])
    for (const [i, { mailbox, key }] of copies.entries()) {
      const ticket = tickets[i]
      if (done[i] && ticket !== undefined) mailbox.desired.converged(key, ticket)
    }
    this.#deps.converged(made)
    return done
  }
}
