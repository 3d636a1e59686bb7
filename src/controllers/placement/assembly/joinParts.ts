/** Parts of the rooms inventory and join: the queue of tasks, consents, and the join that names the copies that a change touches. */

import { WorkQueue } from '../../../client/workqueue.ts'
import { MAILBOX_NAME } from '../../../placement/words/placement.ts'
import { remarkSetAside } from '../copies/copyRemarks.ts'
import { Consents } from '../inventory/consents.ts'
import { Inventory } from '../inventory/inventory.ts'
import { ObservedContent } from '../join/observedContent.ts'
import { PendingCopies } from '../join/pendingCopies.ts'
import { PlacementJoin } from '../join/placementJoin.ts'
import {
  configTasks,
  copyTasks,
  RUN,
  reportOwner,
  reportTasks,
  sourceTasks,
  type Task,
  taskId,
  taskLane,
  taskParty,
  taskPlace,
} from '../join/task.ts'
import { PendingMarks } from '../mailboxes/pendingChanges.ts'
import { Remarks } from '../mailboxes/remarks.ts'
import { Signals } from '../signals/signals.ts'
import type { JoinParts, Parts, Setup } from './parts.ts'

/** Made first: all others need these. */
export function joinParts(setup: Setup, parts: Parts): JoinParts {
  const { places, guard, turns, logger, clock, random } = setup
  const inventory = new Inventory(places)
  const queue = new WorkQueue<Task>({
    id: taskId,
    place: taskPlace,
    party: taskParty,
    lane: taskLane,
    run: RUN,
    guard,
    held: (task, hold) => remarkSetAside({ join, remarks }, task, hold),
    logger,
    turns,
    clock,
    random,
  })
  const report: Parts['report'] = (space, name) => queue.add({ type: 'report', space, name })
  const signals = new Signals()
  const { copyChanged, mailboxChanged, claimsChanged, waysChanged } = signals
  const remarks = new Remarks(copyChanged)
  const pendingMarks = new PendingMarks(owner => {
    if (MAILBOX_NAME.test(owner)) mailboxChanged.send(owner)
    else {
      parts.statuses.named(owner)
      parts.summaries.named(owner)
      parts.reports.named(owner)
    }
  })
  const naming: Parts['naming'] = (owner, tasks) =>
    pendingMarks.of(owner, tasks, task => {
      if (task.type === 'copy') parts.mailboxes.known(task.mailbox)?.changes.name(task.key)
    })
  function* markIn(keys: readonly string[], mailboxes: readonly string[]): Generator<void> {
    for (const mailbox of mailboxes) {
      const changes = parts.mailboxes.known(mailbox)?.changes
      for (let i = 0; i < keys.length; i++) {
        changes?.name(keys[i]!)
        if (i % RUN === 0) yield
      }
    }
  }
  const pendingCopies = new PendingCopies({
    isKnown: space => parts.workloads.isSynced(space),
    open: space => pendingMarks.open(space),
    name: (space, { keys, mailboxes, isNews }) => {
      // a check that is awaited looks at the whole mailbox
      const isLive = isNews && parts.readiness.isTopologyWhole
      const ready = mailboxes.filter(
        mailbox => parts.mailboxes.get(mailbox) && (isLive || !parts.checks.isAwaited(mailbox)),
      )
      if (ready.length === 0) return
      // all of them are named before any waits for the others to be done
      queue.addAll(copyTasks(ready, keys, space), space, pendingMarks.of(space, markIn(keys, ready)))
    },
    soon: queueMicrotask,
  })
  const consents: Consents = new Consents(places, inventory, (space, through) => join.touchConsent(space, through))
  const join: PlacementJoin = new PlacementJoin(
    {
      copies: (mailboxes, keys, origin) => {
        claimsChanged.send(origin, mailboxes, keys)
        pendingCopies.add(origin, keys, mailboxes)
      },
      configs: (mailboxes, origin) => queue.addAll(configTasks(mailboxes), reportOwner(origin)),
      sources: (space, keys) => queue.addAll(sourceTasks(space, keys), reportOwner(space)),
      ways: space => waysChanged.send(space),
      placement: report,
      placements: (space, names) => queue.addAll(reportTasks(space, names), reportOwner(space)),
      lost: (space, name, what) => {
        parts.brake.lost(space, name, what)
        if (join.workload(space).hasPaused) report(space, name)
      },
    },
    consents,
    new ObservedContent((space, name) => parts.reports.contentChanged(space, name)),
  )
  return { signals, inventory, queue, remarks, pendingMarks, consents, join, report, naming, pendingCopies }
}
