/** Parts of the room status: syncers' outcomes, reports on EdgePlacements and SyncTargets, work statuses that changed. */

import { isInDoubt } from '../../../placement/outcome/clusterOutcome.ts'
import { SpaceLocations } from '../join/spaceLocations.ts'
import { ClusterOutcomes } from '../status/clusterOutcomes.ts'
import { ClusterReports } from '../status/clusterReports.ts'
import { CopyMarks } from '../status/copyMarks.ts'
import { OutageEvents } from '../status/outageEvents.ts'
import type { PlacementOutcomeDeps } from '../status/placementOutcome.ts'
import { PlacementReports } from '../status/placementReports.ts'
import { grantFindings } from '../status/spaceCluster.ts'
import { TroubleEvents } from '../status/troubleEvents.ts'
import { WithheldStatuses } from '../status/withheldStatuses.ts'
import { WorkStatusFollowers } from '../status/workStatusFollowers.ts'
import { Collectors } from '../summaries/collectors.ts'
import type { Parts, Setup, StatusParts } from './parts.ts'

/** Made after {@link joinParts}. */
export function statusParts(setup: Setup, parts: Parts): StatusParts {
  const { client, places, clock, epoch, events } = setup
  const { signals, inventory, join, consents, queue, report } = parts
  const locations = new SpaceLocations({
    join: {
      placementNames: id => join.placementNames(id),
      waysOf: (...what) => join.waysOf(...what),
      version: () => join.version,
    },
    inventory,
    bindingTo: (...what) => consents.bindingTo(...what),
    renamed: space => {
      statuses.lost(space)
      parts.summaries.lost(space)
    },
  })
  const statuses: WorkStatusFollowers = new WorkStatusFollowers({
    join,
    locations,
    isNamed: space => !parts.pendingMarks.isOpen(space),
  })
  const mailboxAt = (space: string): string => places.pathOf(space)?.split(':').at(-1) ?? ''
  const outcome: PlacementOutcomeDeps['outcome'] = space => outcomes.of(space)
  const outcomes: ClusterOutcomes = new ClusterOutcomes({
    clock,
    epoch,
    isAwaited: space => (parts.mailboxes.known(mailboxAt(space))?.changes.unprocessed ?? 1) > 0,
    changed: (space, keys) => {
      const mailbox = mailboxAt(space)
      if (keys === 'all') signals.mailboxChanged.send(mailbox)
      else for (const key of keys) signals.copyChanged.send(mailbox, key, 'outcome')
      const reported = outcome(space)
      if (reported.live && reported.compared)
        parts.mailboxes.get(mailbox)?.changes.processed(reported.processed, isInDoubt(reported))
      queue.add({ type: 'cluster', mailbox })
      parts.listener.mailboxChanged(mailbox)
    },
  })
  const marks = new CopyMarks({ inventory, mailbox: name => parts.mailboxes.get(name), outcome })
  const clusterReports = new ClusterReports({ client, inventory, outcome, events, clock })
  const clusters: PlacementOutcomeDeps = {
    join,
    mailbox: name => parts.mailboxes.get(name),
    outcome,
    isNamed: owner => !parts.pendingMarks.isOpen(owner) && !parts.checks.isOpen(owner),
    ...grantFindings(join, consents),
    remarks: parts.remarks,
    pauses: { locationOf: name => parts.pauses.locationOf(name) },
    pathOf: space => places.pathOf(space),
  }
  const withheld = new WithheldStatuses((space, key) => {
    for (const name of join.workload(space).selectionOf(key).placements) report(space, name)
  })
  const collectors = new Collectors(signals.collectorsChanged)
  const reports: PlacementReports = new PlacementReports({
    client,
    join,
    allowances: consents,
    holds: {
      waits: (...what) => parts.holds.waits(...what),
      holdOf: (...what) => parts.holds.holdOf(...what),
      conditions: (...what) => parts.holds.conditions(...what),
      reported: (...what) => parts.holds.reported(...what),
    },
    behindPause: (...what) => parts.retained.behindPauseOf(...what),
    withheld: (space, name) => {
      const { wantSingletonReportedState, wantMultiWECReportedState } = join.spec(space, name) ?? {}
      if (!wantSingletonReportedState && !wantMultiWECReportedState) return undefined
      return withheld.of(space, key => join.workload(space).names(name, key))
    },
    uncollected: (space, name) => collectors.problem(space, join.spec(space, name)?.collectors ?? []),
    outcomes: clusters,
    clock,
    events: new TroubleEvents({
      events,
      read: async (space, key) => {
        const fact = join.fact(space, key)
        return fact && (await parts.sources.read(space, fact))
      },
    }),
    outages: new OutageEvents({ events, clock }),
    again: report,
  })
  return { locations, statuses, outcomes, marks, clusterReports, clusters, withheld, collectors, reports }
}
