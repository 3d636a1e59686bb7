/** How what is placed gets on, in numbers: what the server's metrics tell of it, and where whoever knows makes itself known. */
import type { Distribution } from './distribution.ts'

/** Each begins where the one before ends; what is returned, where a copy is written. */
export const STAGES = ['projected', 'delivered', 'processed', 'returned'] as const
export type Stage = (typeof STAGES)[number]

export interface LaggingCluster {
  /** A name that the center has made. */
  readonly mailbox: string
  /** Changes that its syncer has not looked at. */
  readonly objects: number
  /** Since it is behind. */
  readonly seconds: number
}

export interface CarryFigures {
  /** Seconds, by stage. */
  readonly stages: Readonly<Record<Stage, Distribution>>
  /** Pieces of work that wait or run, by queue. */
  queues(): Readonly<Record<string, number>>
  /** The clusters that are most behind, at most so many. */
  lagging(most: number): readonly LaggingCluster[]
}

export interface FigureDesk {
  show(figures: CarryFigures | undefined): void
}
