/**
 * What the translator consists of. Its parts tell each other things in circles, so each is handed the others as {@link Parts}: those
 * made before it are there when it is made, and later ones when it works. In which order they are made, translator.ts says.
 */

import type { Client } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import type { CrowdLog } from '../../../client/crowdLog.ts'
import type { Logger } from '../../../client/logger.ts'
import type { KeyGuard } from '../../../client/setAside/keyGuard.ts'
import type { StreamSource } from '../../../client/streamSource.ts'
import type { WorkQueue } from '../../../client/workqueue.ts'
import type { FigureDesk } from '../../../placement/desks/carryFigures.ts'
import type { OutcomeSource } from '../../../placement/outcome/outcome.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { PlacedSource, SpacePlaces } from '../../placedSource.ts'
import type { Brake } from '../brake.ts'
import type { ClosedMailboxes } from '../closedMailboxes.ts'
import type { ClusterOutcomes } from '../clusterOutcomes.ts'
import type { ClusterRefusals } from '../clusterRefusals.ts'
import type { ClusterReports } from '../clusterReports.ts'
import type { Consents } from '../consents.ts'
import type { CopiesInHand } from '../copiesInHand.ts'
import type { CopiesTogether } from '../copiesTogether.ts'
import type { CopyLooks } from '../copyLooks.ts'
import type { CopyRemovals } from '../copyRemovals.ts'
import type { newStages } from '../copyTimings.ts'
import type { Namings } from '../desiredContent.ts'
import type { Evictions } from '../evictions.ts'
import type { FeedbackReconciler } from '../feedbackReconciler.ts'
import type { Knowledge } from '../knowledge.ts'
import type { LeavingMailboxes } from '../leavingMailboxes.ts'
import type { MailboxChecks } from '../mailboxChecks.ts'
import type { Mailboxes } from '../mailboxes.ts'
import type { mailboxListener } from '../mailboxListener.ts'
import type { NamedCopies } from '../namedCopies.ts'
import type { ObjectCache } from '../objectCache.ts'
import type { OwnershipRules } from '../ownership.ts'
import type { Pauses } from '../pauses.ts'
import type { PlacementJoin } from '../placementJoin.ts'
import type { PlacementNotes } from '../placementNotes.ts'
import type { PlacementOutcomeDeps } from '../placementOutcome.ts'
import type { PlacementReports } from '../placementReports.ts'
import type { Releases } from '../releases.ts'
import type { ServedKinds } from '../servedKinds.ts'
import type { SourceReader } from '../sourceReader.ts'
import type { SpaceClosing } from '../spaceClosing.ts'
import type { SpaceLocations } from '../spaceLocations.ts'
import type { StayingCopies } from '../stayingCopies.ts'
import type { Task } from '../task.ts'
import type { TaskRouter } from '../taskRouter.ts'
import type { TopologyIntake } from '../topologyIntake.ts'
import type { UpsyncRecords } from '../upsyncRecords.ts'
import type { WaitingIntakes } from '../waitingIntakes.ts'
import type { Wholeness } from '../wholeness.ts'
import type { WithheldStatuses } from '../withheldStatuses.ts'
import type { Workloads } from '../workloads.ts'
import type { WorkStatusFollowers } from '../workStatusFollowers.ts'

/** What all are made with. */
export interface Setup {
  readonly client: Client
  readonly places: SpacePlaces
  readonly logger: Logger
  readonly guard: KeyGuard | undefined
  readonly turns: WorkTurns
  readonly clock: Clock
  readonly random: () => number
  readonly signal: AbortSignal
  /** Of the syncers' reports, in which life of the store they count. */
  readonly epoch: OutcomeSource['epoch'] | undefined
  /** For whatever follows a stream. */
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

export interface Parts {
  // joiningParts.ts
  readonly leaving: LeavingMailboxes
  readonly queue: WorkQueue<Task>
  readonly inHand: CopiesInHand
  readonly wholeness: Wholeness
  readonly namings: Namings
  readonly consents: Consents
  readonly join: PlacementJoin
  /** What an EdgePlacement says of its outcome is to be looked at. */
  report(this: void, space: string, name: string): void
  /** What it says of held deletions and pauses is to be looked at. */
  note(this: void, space: string, name: string): void
  /** The copies that tasks name may have to change from now on. */
  naming(this: void, owner: string, tasks: Iterable<Task>): Iterable<Task>
  /** What is about to be queued. */
  readonly named: NamedCopies

  // tellingParts.ts
  readonly locations: SpaceLocations
  readonly statuses: WorkStatusFollowers
  readonly refusals: ClusterRefusals
  readonly outcomes: ClusterOutcomes
  readonly clusterReports: ClusterReports
  readonly clusters: PlacementOutcomeDeps
  readonly withheld: WithheldStatuses
  readonly reports: PlacementReports

  // keepingParts.ts
  readonly evictions: Evictions
  readonly brake: Brake
  readonly pauses: Pauses
  readonly staying: StayingCopies
  readonly crowdLog: CrowdLog
  readonly intakes: WaitingIntakes
  readonly notes: PlacementNotes

  // hearingParts.ts
  readonly records: UpsyncRecords
  readonly cache: ObjectCache
  readonly kinds: ServedKinds
  readonly stages: ReturnType<typeof newStages>
  readonly workloads: Workloads
  readonly listener: ReturnType<typeof mailboxListener>
  readonly mailboxes: Mailboxes
  readonly knowledge: Knowledge
  readonly checks: MailboxChecks
  readonly closing: SpaceClosing
  readonly releases: Releases
  readonly closed: ClosedMailboxes
  readonly intake: TopologyIntake
  readonly sources: SourceReader
  readonly topology: PlacedSource
  readonly workspaces: StreamSource

  // writingParts.ts
  readonly rules: OwnershipRules
  /** Whose writes into mailboxes say which EdgePlacements are behind them. */
  readonly client: Client
  readonly removals: CopyRemovals
  readonly looks: CopyLooks
  readonly feedback: FeedbackReconciler
  readonly router: TaskRouter
  readonly together: CopiesTogether
}
