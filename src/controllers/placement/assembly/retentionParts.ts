/** Parts of the room retention, and the reports on holds and waiting intakes of the room status. */
import { CrowdLog } from '../../../client/crowdLog.ts'
import { isUnwanted } from '../copies/decide.ts'
import { copiesAgain } from '../mailboxes/copiesInHand.ts'
import { Brake } from '../retention/brake.ts'
import { Pauses } from '../retention/pauses.ts'
import { RetainedCopies } from '../retention/retainedCopies.ts'
import { HoldReports } from '../status/holdReports.ts'
import { WaitingIntakes } from '../status/waitingIntakes.ts'
import type { Parts, RetentionParts, Setup } from './parts.ts'

/** Made after {@link statusParts}. */
export function retentionParts(setup: Setup, parts: Parts): RetentionParts {
  const { places, clock, logger, events } = setup
  const { claimsChanged } = parts.signals
  const { inventory, join, queue, pendingCopies, report } = parts
  const brake = new Brake({
    join,
    clock,
    mailboxes: () => parts.mailboxes.all(),
    mailbox: name => parts.mailboxes.known(name),
    isWhole: () => parts.readiness.isStartWhole,
    isKnown: space => !join.isWorkloadSpace(space) || parts.workloads.isSynced(space),
    isOpen: mailbox => parts.pendingMarks.isOpen(mailbox) || parts.checks.isOpen(mailbox),
    isGoing: space => places.isDeleting(space) || places.pathOf(space) === undefined,
    isEvicted: mailbox => inventory.isEvicted(mailbox, clock.now()),
    isLeaving: mailbox => inventory.isLeaving(mailbox),
    isUnwanted: (mailbox, key) => !inventory.isLeaving(mailbox.name) && isUnwanted(parts.facts, mailbox, key),
    keepsAll: (space, mailbox) => pauses.locationOf(mailbox) !== undefined || pauses.leadsPaused(space, mailbox),
    // behind all that the space's changes have named
    ask: space => {
      pendingCopies.settle(space)
      queue.addAll([{ type: 'judge', space }], space)
    },
    again: (copies, space) => queue.addAll(copiesAgain(copies, space), space),
    stays: (space, copies) => {
      for (const [mailbox, of] of Map.groupBy(copies, copy => copy.mailbox))
        claimsChanged.send(
          space,
          [mailbox],
          of.map(({ key }) => key),
        )
      queue.addAll(parts.inHand.claimantsOf(copies), space)
      for (const mailbox of new Set(copies.map(copy => copy.mailbox)))
        for (const one of join.placementsOf(mailbox)) if (one.space === space) report(space, one.name)
    },
    emptied: space => parts.closing.closeIfIdle(space),
    report,
  })
  const pauses = new Pauses({
    inventory,
    join,
    changed: mailbox => {
      for (const { space, name } of join.placementsOf(mailbox)) report(space, name)
      if (parts.mailboxes.get(mailbox)) parts.listener.synced(mailbox)
    },
  })
  const retained = new RetainedCopies({
    join,
    brake,
    pauses,
    mailbox: name => parts.mailboxes.get(name),
  })
  const crowdLog = new CrowdLog(logger, clock)
  const intakes = new WaitingIntakes({ join, inventory, report })
  const holds = new HoldReports({
    join,
    pauses,
    brake,
    intakes,
    clusterOf: mailbox => inventory.clusterName(mailbox),
    events,
    log: crowdLog,
  })
  return { brake, pauses, retained, crowdLog, intakes, holds }
}
