/** What follows when copies are as they should be: work statuses, the cluster's report and the placements' reports. */
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { ConvergedCopy } from './copies/copiesTogether.ts'
import type { CopyReconciler } from './copies/copyReconciler.ts'
import type { Decision } from './copies/decide.ts'
import type { PlacementJoin } from './join/placementJoin.ts'
import { reportTasks, type Task, told } from './join/task.ts'
import type { Mailbox } from './mailboxes/mailbox.ts'
import type { WorkStatusFollowers } from './status/workStatusFollowers.ts'

export interface ConvergenceDeps {
  copies: Pick<CopyReconciler, 'reconcile'>
  join: PlacementJoin
  statuses: WorkStatusFollowers
  add(task: Task): void
  addAll(tasks: Iterable<Task>, owner: string): void
  /** Whether the cluster's report is to be looked at later anyway. */
  isReportAwaited(mailbox: Mailbox): boolean
}

export class Convergence {
  readonly #deps: ConvergenceDeps

  constructor(deps: ConvergenceDeps) {
    this.#deps = deps
  }

  /** Makes a copy what it should be, and tells of it when it is. */
  async copy(mailbox: Mailbox, key: string, decision: Decision): Promise<ReconcileResult> {
    const { copies, join, statuses, add, addAll } = this.#deps
    const ticket = mailbox.changes.ticket(key)
    const result = await copies.reconcile(mailbox, key, decision).finally(() => statuses.touched(mailbox.name, key))
    if (result.behind || result.postponed || result.requeueAfterMs !== undefined) return result
    const wasToldBehind = mailbox.changes.wasToldBehind(key)
    if (this.#isBehind(mailbox)) add({ type: 'cluster', mailbox: mailbox.name })
    if (ticket === undefined && !wasToldBehind) return result
    if (ticket !== undefined) mailbox.changes.converged(key, ticket)
    statuses.touched(mailbox.name, key)
    for (const { space, placements } of result.claims ?? join.sourcesOf(mailbox.name, key))
      addAll(reportTasks(space, placements), told(space))
    return result
  }

  /** Whoever is told of copies that are as they should be, is told of many of them once. */
  converged(copies: readonly ConvergedCopy[]): void {
    const { statuses, add, addAll } = this.#deps
    const clusters = new Set<string>()
    const placements = new Map<string, Set<string>>()
    for (const { mailbox, key, source } of copies) {
      statuses.touched(mailbox.name, key)
      if (this.#isBehind(mailbox)) clusters.add(mailbox.name)
      if (!source) continue
      const names = placements.get(source.space) ?? new Set<string>()
      for (const name of source.placements) names.add(name)
      placements.set(source.space, names)
    }
    for (const mailbox of clusters) add({ type: 'cluster', mailbox })
    for (const [space, names] of placements) addAll(reportTasks(space, [...names]), told(space))
  }

  /** Whether something is to be told of the cluster that is not about to be told. */
  #isBehind(mailbox: Mailbox): boolean {
    return mailbox.changes.unprocessed > 0 && !this.#deps.isReportAwaited(mailbox)
  }
}
