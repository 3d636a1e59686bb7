/**
 * The condition `RestoreUnsettled` of a placement: after a restore its clusters may keep objects that the archive does not know. It ends
 * when all of them have reported that they keep none, or with the restore itself.
 */
import type { Condition } from '../../../../apimachinery/conditions.ts'
import { someOf } from '../../../../apimachinery/someOf.ts'
import type { ClusterOutcome } from '../../../../placement/outcome/clusterOutcome.ts'
import { DELETION_HELD } from '../../../../placement/outcome/outcome.ts'
import type { Inventory } from '../../inventory/inventory.ts'

export interface RestoreReportsDeps {
  /** As {@link OutcomeSource.restoredAt}. */
  restoredAt: () => string | undefined
  outcome: (mailbox: string) => ClusterOutcome
  inventory: Pick<Inventory, 'target' | 'clusterName'>
}

const RESTORE_UNSETTLED = 'RestoreUnsettled'
/** Clusters that a message names. */
const NAMED = 5
const SETTLED: Condition = { type: RESTORE_UNSETTLED, status: 'False', reason: 'NothingHeld', message: '' }
const REMEDY =
  'Make again what shall stay. An administrator of the server lists the rest by "orrery restore status"; "orrery restore settle" ends this'

export class RestoreReports {
  readonly #deps: RestoreReportsDeps

  constructor(deps: RestoreReportsDeps) {
    this.#deps = deps
  }

  /** @param mailboxes where the placement leads */
  condition(mailboxes: Iterable<string>): Condition {
    const restoredAt = this.#deps.restoredAt()
    if (restoredAt === undefined) return SETTLED
    const holding: string[] = []
    const silent: string[] = []
    for (const mailbox of mailboxes) {
      const holds = this.#holds(mailbox, restoredAt)
      if (holds !== false) (holds ? holding : silent).push(this.#deps.inventory.clusterName(mailbox))
    }
    const parts = [
      ...(holding.length > 0 ? [`kept in ${someOf(holding.sort(), NAMED)}`] : []),
      ...(silent.length > 0 ? [`not known of ${someOf(silent.sort(), NAMED)}, without a report since`] : []),
    ]
    if (parts.length === 0) return SETTLED
    return {
      type: RESTORE_UNSETTLED,
      status: 'True',
      reason: holding.length > 0 ? 'DeletionHeld' : 'NotReported',
      message: `the server was restored; objects that its archive does not know are ${parts.join(', and ')}. ${REMEDY}`,
      lastTransitionTime: restoredAt,
    }
  }

  /** `undefined`: its syncer has not compared the cluster since the restore. A silent one keeps what it reported. */
  #holds(mailbox: string, restoredAt: string): boolean | undefined {
    const { compared, exceptions } = this.#deps.outcome(mailbox)
    if (compared) return [...exceptions.values()].some(({ reason }) => reason === DELETION_HELD)
    const { sinceRestore, holdsDeletions } = this.#deps.inventory.target(mailbox) ?? {}
    return sinceRestore === restoredAt ? holdsDeletions : undefined
  }
}
