/** Makes copies what they should be, and signals which of them are. */
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { ConvergedCopy } from './copies/copiesTogether.ts'
import type { CopyReconciler } from './copies/copyReconciler.ts'
import type { Decision } from './copies/decide.ts'
import type { Task } from './join/task.ts'
import type { Mailbox } from './mailboxes/mailbox.ts'
import type { Signals } from './signals/signals.ts'

export interface ConvergenceDeps {
  copies: Pick<CopyReconciler, 'reconcile'>
  copyChanged: Signals['copyChanged']
  add(task: Task): void
  /** Whether the cluster's report is to be looked at later anyway. */
  isReportAwaited(mailbox: Mailbox): boolean
}

export class Convergence {
  readonly #deps: ConvergenceDeps

  constructor(deps: ConvergenceDeps) {
    this.#deps = deps
  }

  /** A copy that was neither named nor reported behind is no news when it is found right. */
  async copy(mailbox: Mailbox, key: string, decision: Decision): Promise<ReconcileResult> {
    const { copies, copyChanged, add } = this.#deps
    const ticket = mailbox.changes.ticket(key)
    const result = await copies
      .reconcile(mailbox, key, decision)
      .finally(() => copyChanged.send(mailbox.name, key, 'written'))
    if (result.behind || result.postponed || result.requeueAfterMs !== undefined) return result
    const wasReportedBehind = mailbox.changes.wasReportedBehind(key)
    if (this.#isBehind(mailbox)) add({ type: 'cluster', mailbox: mailbox.name })
    if (ticket === undefined && !wasReportedBehind) return result
    if (ticket !== undefined) mailbox.changes.converged(key, ticket)
    copyChanged.send(mailbox.name, key, 'converged', result.claims)
    return result
  }

  /** Copies of one batch. */
  converged(copies: readonly ConvergedCopy[]): void {
    const { copyChanged, add } = this.#deps
    const clusters = new Set<string>()
    for (const { mailbox, key, source } of copies) {
      if (this.#isBehind(mailbox)) clusters.add(mailbox.name)
      copyChanged.send(mailbox.name, key, 'converged', source ? [source] : [])
    }
    for (const mailbox of clusters) add({ type: 'cluster', mailbox })
  }

  /** Whether something is to be told of the cluster that is not about to be told. */
  #isBehind(mailbox: Mailbox): boolean {
    return mailbox.changes.unprocessed > 0 && !this.#deps.isReportAwaited(mailbox)
  }
}
