/**
 * The parts of the translator. Each is made with {@link Parts}: parts made before it exist when it is made, later ones when it works.
 * translator.ts has the order.
 */

import type { Client } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import type { CrowdLog } from '../../../client/crowdLog.ts'
import type { Logger } from '../../../client/logger.ts'
import type { KeyGuard } from '../../../client/setAside/keyGuard.ts'
import type { StreamSource } from '../../../client/streamSource.ts'
import type { WorkQueue } from '../../../client/workqueue.ts'
import type { FigureDesk } from '../../../placement/desks/carryFigures.ts'
import type { BuiltinSchema } from '../../../placement/desks/desks.ts'
import type { OutcomeSource } from '../../../placement/outcome/outcome.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { EventRecorder } from '../../eventRecorder.ts'
import type { PlacedSource, SpacePlaces } from '../../placedSource.ts'
import type { CopiesTogether } from '../copies/copiesTogether.ts'
import type { CopyChecks } from '../copies/copyChecks.ts'
import type { DecisionFacts } from '../copies/decide.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import type { FeedbackReconciler } from '../feedback/feedbackReconciler.ts'
import type { Consents } from '../inventory/consents.ts'
import type { Inventory } from '../inventory/inventory.ts'
import type { ServedKinds } from '../inventory/servedKinds.ts'
import type { ObjectCache } from '../join/objectCache.ts'
import type { PendingCopies } from '../join/pendingCopies.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Readiness } from '../join/readiness.ts'
import type { SpaceClosing } from '../join/spaceClosing.ts'
import type { SpaceLocations } from '../join/spaceLocations.ts'
import type { Task } from '../join/task.ts'
import type { Workloads } from '../join/workloads.ts'
import type { CopiesInHand } from '../mailboxes/copiesInHand.ts'
import type { newStageTimes } from '../mailboxes/copyTimings.ts'
import type { MailboxChecks } from '../mailboxes/mailboxChecks.ts'
import type { Mailboxes } from '../mailboxes/mailboxes.ts'
import type { PendingMarks } from '../mailboxes/pendingChanges.ts'
import type { Remarks } from '../mailboxes/remarks.ts'
import type { UnschedulableMailboxes } from '../mailboxes/unschedulableMailboxes.ts'
import type { UpsyncRecords } from '../mailboxes/upsyncRecords.ts'
import type { CopyTasks } from '../mailboxListener.ts'
import type { Brake } from '../retention/brake.ts'
import type { Pauses } from '../retention/pauses.ts'
import type { RetainedCopies } from '../retention/retainedCopies.ts'
import type { Signals } from '../signals/signals.ts'
import type { ClusterOutcomes } from '../status/clusterOutcomes.ts'
import type { ClusterReports } from '../status/clusterReports.ts'
import type { CopyMarks } from '../status/copyMarks.ts'
import type { HoldReports } from '../status/holdReports.ts'
import type { PlacementOutcomeDeps } from '../status/placementOutcome.ts'
import type { PlacementReports } from '../status/placementReports.ts'
import type { WaitingIntakes } from '../status/waitingIntakes.ts'
import type { WithheldStatuses } from '../status/withheldStatuses.ts'
import type { WorkStatusFollowers } from '../status/workStatusFollowers.ts'
import type { Collectors } from '../summaries/collectors.ts'
import type { Summaries } from '../summaries/summaries.ts'
import type { TaskRouter } from '../taskRouter.ts'
import type { TopologyIntake } from '../topologyIntake.ts'

/** Dependencies of all parts. */
export interface Setup {
  readonly client: Client
  readonly places: SpacePlaces
  readonly logger: Logger
  readonly guard: KeyGuard | undefined
  readonly turns: WorkTurns
  readonly clock: Clock
  readonly random: () => number
  readonly events: EventRecorder
  readonly signal: AbortSignal
  /** The life of the store in which reports of syncers count. */
  readonly epoch: OutcomeSource['epoch'] | undefined
  /** Finds how a kind merges strategically. */
  readonly schema: BuiltinSchema
  /** Dependencies of all that follow a stream. */
  readonly common: Common
  readonly writtenAtMs: FigureDesk['writtenAtMs']
}

export interface Common {
  readonly client: Client
  readonly guard: KeyGuard | undefined
  readonly logger: Logger
  readonly turns: WorkTurns
  readonly clock: Clock
  readonly random: () => number
}

export interface JoinParts {
  readonly signals: Signals
  readonly inventory: Inventory
  readonly queue: WorkQueue<Task>
  readonly pendingMarks: PendingMarks
  readonly remarks: Remarks
  readonly consents: Consents
  readonly join: PlacementJoin
  /** Queues a look at the outcome, holds and pauses of an EdgePlacement. */
  report(this: void, space: string, name: string): void
  /** Passes tasks on, and marks the copies that they name: these may have to change. */
  naming(this: void, owner: string, tasks: Iterable<Task>): Iterable<Task>
  /** Copies about to be queued. */
  readonly pendingCopies: PendingCopies
}

export interface StatusParts {
  readonly locations: SpaceLocations
  readonly statuses: WorkStatusFollowers
  readonly outcomes: ClusterOutcomes
  readonly marks: CopyMarks
  readonly clusterReports: ClusterReports
  /** Facts from which each cluster is seen as one space sees it. */
  readonly clusters: PlacementOutcomeDeps
  readonly withheld: WithheldStatuses
  readonly collectors: Collectors
  readonly reports: PlacementReports
}

export interface RetentionParts {
  readonly brake: Brake
  readonly pauses: Pauses
  readonly retained: RetainedCopies
  readonly crowdLog: CrowdLog
  readonly intakes: WaitingIntakes
  readonly holds: HoldReports
}

export interface MailboxParts {
  readonly records: UpsyncRecords
  readonly cache: ObjectCache
  readonly kinds: ServedKinds
  readonly stages: ReturnType<typeof newStageTimes>
  readonly workloads: Workloads
  readonly listener: CopyTasks
  readonly mailboxes: Mailboxes
  readonly inHand: CopiesInHand
  readonly readiness: Readiness
  readonly checks: MailboxChecks
  readonly closing: SpaceClosing
  readonly unschedulable: UnschedulableMailboxes
  readonly intake: TopologyIntake
  readonly sources: SourceReader
  readonly topology: PlacedSource
  readonly workspaces: StreamSource
}

export interface CopyParts {
  readonly facts: DecisionFacts
  /** Its writes into mailboxes carry the EdgePlacements behind them, for the audit log. */
  readonly client: Client
  readonly copyChecks: CopyChecks
  readonly feedback: FeedbackReconciler
  readonly router: TaskRouter
  readonly together: CopiesTogether
}

export interface SummaryParts {
  readonly summaries: Summaries
}

export interface Parts extends JoinParts, StatusParts, RetentionParts, MailboxParts, CopyParts, SummaryParts {}
