/**
 * Batches of copies that are written, or deleted because no placement wants them, with one wait for the disk. Consequences of all are
 * reported at once. A copy that anything blocks goes through {@link CopyReconciler.reconcile}, which reports the reason.
 */
import type { Together } from '../../../client/bundles.ts'
import type { Source } from '../join/placementProduct.ts'
import type { Task } from '../join/task.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyDeps } from './copyDeps.ts'
import type { CopyRemovals } from './copyRemovals.ts'
import type { GoingCopy, SharedCopy } from './copyWriter.ts'
import { decideInOpen, mailboxGate } from './decide.ts'
import type { SharedCopies, UnmadeCopy } from './sharedCopies.ts'

export interface CopiesTogetherDeps extends Pick<CopyDeps, 'facts' | 'mailbox' | 'remarks'> {
  sharedCopies: Pick<SharedCopies, 'toWrite' | 'write'>
  removals: Pick<CopyRemovals, 'toRemove' | 'toForget' | 'removeTogether'>
  /** Reports copies that are as they should be. */
  converged: (copies: readonly ConvergedCopy[]) => void
}

export interface ConvergedCopy {
  readonly mailbox: Mailbox
  readonly key: string
  /** Absent where none is wanted. */
  readonly source?: Source
}

type Prepared = SharedCopy | UnmadeCopy | GoingCopy

/** Copies in one batch, whose turn of the loop is some milliseconds at most. */
const MOST = 64
/** Batches that wait for the disk at the same time. */
const AT_ONCE = 2

export class CopiesTogether implements Together<Task, Prepared> {
  readonly most = MOST
  readonly atOnce = AT_ONCE
  readonly #deps: CopiesTogetherDeps
  /** Mailbox of the copy that was prepared last: copies of one mailbox follow each other, within one turn of the loop. */
  #mailbox: Mailbox | undefined

  constructor(deps: CopiesTogetherDeps) {
    this.#deps = deps
  }

  concerns(task: Task): boolean {
    return task.type === 'copy'
  }

  prepare(task: Task): Prepared | undefined {
    if (task.type !== 'copy') return undefined
    const mailbox = this.#mailbox?.name === task.mailbox ? this.#mailbox : this.#inOpen(task.mailbox)
    const copy = mailbox && this.#prepared(mailbox, task.key)
    if (copy) this.#mailbox = mailbox
    return copy
  }

  #inOpen(name: string): Mailbox | undefined {
    return mailboxGate(this.#deps.facts, name) === undefined ? this.#deps.mailbox(name) : undefined
  }

  #prepared(mailbox: Mailbox, key: string): Prepared | undefined {
    const { facts, remarks, sharedCopies, removals } = this.#deps
    if (mailbox.refused.has(key) || mailbox.unserved.has(key) || remarks.has(mailbox.name, key)) return undefined
    const decision = decideInOpen(facts, mailbox, key)
    if (decision.verb === 'write') return sharedCopies.toWrite(mailbox, key, decision.claims)
    if (decision.verb === 'remove') return removals.toRemove(mailbox, key, decision.copy)
    return decision.verb === 'none' ? removals.toForget(mailbox, key) : undefined
  }

  async work(copies: readonly Prepared[]): Promise<readonly boolean[]> {
    this.#mailbox = undefined
    const tickets = copies.map(({ mailbox, key }) => mailbox.changes.ticket(key))
    const done = await this.#write(copies)
    for (let i = 0; i < copies.length; i++) {
      const { mailbox, key } = copies[i]!
      const ticket = tickets[i]
      if (!done[i]) continue
      if (ticket !== undefined) mailbox.changes.converged(key, ticket)
      // all that are done are reported below
      mailbox.changes.wasReportedBehind(key)
    }
    this.#deps.converged(copies.filter((_, i) => done[i]))
    return done
  }

  async #write(copies: readonly Prepared[]): Promise<readonly boolean[]> {
    const { sharedCopies, removals } = this.#deps
    const wanted = copies.filter(isWanted)
    const going = copies.filter((one): one is GoingCopy => !isWanted(one))
    const [made, gone] = await Promise.all([
      wanted.length > 0 ? sharedCopies.write(wanted) : [],
      going.length > 0 ? removals.removeTogether(going) : [],
    ])
    if (going.length === 0) return made
    const [ofWanted, ofGoing] = [made.values(), gone.values()]
    return copies.map(one => (isWanted(one) ? ofWanted : ofGoing).next().value === true)
  }
}

function isWanted(one: Prepared): one is SharedCopy | UnmadeCopy {
  return 'source' in one
}
