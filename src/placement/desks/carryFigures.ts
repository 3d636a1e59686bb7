/** How controllers and what is placed get on, in numbers: what the server's metrics tell of it, and where whoever knows makes itself known. */
import type { Distribution } from '../../apimachinery/distribution.ts'
import type { RolloutState } from '../rollout/rolloutStates.ts'

/** Each begins where the one before ends, the first where an object is written; what is returned, where a copy is. */
export const STAGE_TEXTS = {
  selected: 'from the write of an object until its EdgePlacements are known',
  projected: 'until the copy for a cluster is known',
  delivered: 'until it is in the mailbox',
  applied: 'until the cluster holds it, not counted during refusals and failures',
  returned: 'from the mailbox until the first status',
} as const
export type Stage = keyof typeof STAGE_TEXTS
export const STAGES = Object.keys(STAGE_TEXTS) as readonly Stage[]

export interface LaggingCluster {
  /** A name that the center has made. */
  readonly mailbox: string
  /** Changes that its syncer has not looked at. */
  readonly objects: number
  /** Since it is behind. */
  readonly seconds: number
}

export interface SummaryFigures {
  /** Parts of clusters and carried objects in summaries that are kept. */
  readonly readings: number
  /** Evaluations of StatusCollectors for one of them, since the start. */
  readonly evaluations: number
}

export interface CarryFigures {
  /** Seconds, by stage. */
  readonly stageTimes: Readonly<Record<Stage, Distribution>>
  /** The clusters that are most behind, at most so many. */
  lagging(most: number): readonly LaggingCluster[]
  summaries(): SummaryFigures
  /** Placements with staged revisions, by the state of their newest rollout. */
  rollouts(): Readonly<Partial<Record<RolloutState, number>>>
}

/** Since the start. */
export interface NoticeFigures {
  readonly delivered: number
  /** Attempts without success. */
  readonly failed: number
  /** Notices that were given up. */
  readonly dropped: number
}

export interface FigureDesk {
  show(figures: CarryFigures | undefined): void
  /** Pieces of work that wait or run, by controller. */
  showQueues(depths: (() => Readonly<Record<string, number>>) | undefined): void
  showNotices(figures: NoticeFigures | undefined): void
  /** When a change was on the disk, in milliseconds since the epoch; `undefined`: nobody remembers, or it is not yet. */
  writtenAtMs(revision: number): number | undefined
}
