/**
 * Readers of each signal of the translator, in the order in which they get it, and of the topology. Each hands a fact of one room to a
 * later room, or makes a task of it.
 */
import type { Parts } from './assembly.ts'
import { ChangedCopies } from './changedCopies.ts'
import { remarkSetAside } from './copies/copyRemarks.ts'
import type { TopologyFacts } from './inventory/topologyFacts.ts'
import { TopologyIntake } from './topologyIntake.ts'

export function readSignals(parts: Parts, topology: TopologyFacts): void {
  const { signals, join, tasks, mailboxes, readiness, inHand, remarks, unschedulable, closing, pendingCopies } = parts
  const { locations, brake, checks, marks, followers, reports, summaryFollowers, rollouts } = parts
  const { copyChanged, mailboxChanged, copiesNamed, known } = signals
  const changedCopies = new ChangedCopies(tasks, join, mailboxes)

  signals.consentChanged.on((space, through) => join.touchConsent(space, through))
  for (const reader of [followers, summaryFollowers])
    signals.claimsChanged.on((space, names, keys) => reader.claimsChanged(space, names, keys))
  signals.claimsChanged.on((space, names, keys) => pendingCopies.add(space, names, keys, readiness.isTopologyWhole))
  signals.claimsLost.on((space, placement, lost) => {
    brake.lost(space, placement, lost)
    if (join.workload(space).hasPaused) tasks.report(space, placement)
  })
  signals.spaceChanged.on((space, what, name) => {
    switch (what) {
      case 'ways':
        locations.changed.send(space)
        summaryFollowers.waysChanged(space)
        rollouts.spaceChanged(space)
        break
      case 'content':
        reports.contentChanged(space, name)
        break
      case 'collecting':
        summaryFollowers.lost(space)
        break
      case 'collector': {
        summaryFollowers.lost(space)
        const collects = (placement: string) => join.spec(space, placement)?.collectors.includes(name)
        tasks.reports(space, join.placementNames(space).filter(collects))
      }
    }
  })
  signals.sourceChanged.on((space, key, what) => {
    brake.sourceChanged(space, key, what)
    if (what === 'paused') {
      tasks.reports(space, join.placementNames(space))
      const names = Array.from(mailboxes.all(), ({ name }) => name)
      tasks.addAll(inHand.ownedBy(space, names, key), space)
    }
    if (what !== 'indexed') return
    // whoever no longer selects it, and whoever wrote its feedback
    if (join.fact(space, key)?.annotated) tasks.add({ type: 'source', space, key })
    closing.closeIfIdle(space)
  })
  copiesNamed.on((space, names, keys, isNews) => checks.copiesNamed(space, names, keys, isNews))
  signals.copyHeld.on((mailbox, key, isHeld) => remarkSetAside({ join, remarks }, mailbox, key, isHeld))
  known.on((what, space) => {
    switch (what) {
      case 'topology':
        readiness.release()
        checks.release()
        break
      case 'space':
        locations.changed.send(space)
        pendingCopies.release(space)
        readiness.release()
        checks.release()
        brake.release()
        closing.closeIfIdle(space)
        break
      case 'named':
        followers.named(space)
        summaryFollowers.named(space)
        reports.named(space)
        rollouts.spaceChanged(space)
        break
      case 'start':
        // also where nobody has anything to be judged: copies of the start are looked at now
        tasks.add({ type: 'judge', space: '' })
        brake.release()
    }
  })
  for (const reader of [followers, summaryFollowers, marks, changedCopies, rollouts])
    copyChanged.on((mailbox, key, what, claims) => reader.copyChanged(mailbox, key, what, claims))
  mailboxChanged.on((name, what) => {
    switch (what) {
      case 'opened':
        for (const space of new Set(join.placementsOf(name).map(lead => lead.space))) locations.changed.send(space)
        break
      case 'known': {
        const opened = mailboxes.get(name)
        if (opened) unschedulable.opened(opened)
        checks.ask(name)
        readiness.moreIsKnown()
        break
      }
      case 'gate':
        checks.ask(name)
        break
      case 'closed':
        remarks.forget(name)
        marks.mailboxChanged(name)
    }
  })
  mailboxChanged.on(name => rollouts.mailboxChanged(name))
  for (const reader of [followers, summaryFollowers, marks, changedCopies])
    mailboxChanged.on((name, what) => {
      if (what === 'gate' || what === 'outcome' || what === 'named') reader.mailboxChanged(name)
    })
  topology.read(new TopologyIntake(parts))
}
