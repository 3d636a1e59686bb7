/** Makes copies what they should be, and signals which of them are. */
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { ConvergedCopy } from './copies/copiesTogether.ts'
import type { CopyReconciler } from './copies/copyReconciler.ts'
import type { Decision } from './copies/decide.ts'
import type { Tasks } from './join/tasks.ts'
import type { Mailbox } from './mailboxes/mailbox.ts'
import type { Signals } from './signals/signals.ts'
import type { ClusterReports } from './status/syncTargets/clusterReports.ts'

export interface ConvergenceDeps {
  copies: Pick<CopyReconciler, 'reconcile'>
  copyChanged: Signals['copyChanged']
  tasks: Pick<Tasks, 'add'>
  /** Knows whether the cluster's report is due later anyway. */
  clusterReports: Pick<ClusterReports, 'isAwaited'>
}

export class Convergence {
  readonly #deps: ConvergenceDeps

  constructor(deps: ConvergenceDeps) {
    this.#deps = deps
  }

  /** A copy that was neither named nor reported behind is no news when it is found right. */
  async copy(mailbox: Mailbox, key: string, decision: Decision): Promise<ReconcileResult> {
    const { copies, copyChanged, tasks } = this.#deps
    const ticket = mailbox.changes.ticket(key)
    const result = await copies
      .reconcile(mailbox, key, decision)
      .catch((error: unknown) => {
        this.#looked(mailbox, key)
        throw error
      })
      .finally(() => copyChanged.send(mailbox.name, key, 'written'))
    if (result.behind || result.postponed || result.requeueAfterMs !== undefined) {
      if (!result.postponed) this.#looked(mailbox, key)
      return result
    }
    const wasReportedBehind = mailbox.changes.wasReportedBehind(key)
    if (this.#isBehind(mailbox)) tasks.add({ type: 'cluster', mailbox: mailbox.name })
    if (ticket === undefined && !wasReportedBehind) return result
    if (ticket !== undefined) mailbox.changes.converged(key, ticket)
    copyChanged.send(mailbox.name, key, 'converged', result.claims)
    return result
  }

  /** A reason that an earlier run has reported may be gone, although the copy is not right. */
  #looked(mailbox: Mailbox, key: string): void {
    if (mailbox.changes.looked(key)) this.#deps.copyChanged.send(mailbox.name, key, 'remark')
  }

  /** Copies of one batch. */
  converged(copies: readonly ConvergedCopy[]): void {
    const { copyChanged, tasks } = this.#deps
    const clusters = new Set<string>()
    for (const { mailbox, key, source } of copies) {
      if (this.#isBehind(mailbox)) clusters.add(mailbox.name)
      copyChanged.send(mailbox.name, key, 'converged', source ? [source] : [])
    }
    for (const mailbox of clusters) tasks.add({ type: 'cluster', mailbox })
  }

  /** Whether a change of the cluster still lacks a scheduled report. */
  #isBehind(mailbox: Mailbox): boolean {
    return mailbox.changes.unprocessed > 0 && !this.#deps.clusterReports.isAwaited(mailbox)
  }
}
