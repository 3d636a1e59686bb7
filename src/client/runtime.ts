/** The parts of a program that its long-lived pieces share: each is given them, and has no defaults of its own. */
import type { WorkTurns } from '../program/workTurns.ts'
import type { Random } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'
import type { KeyGuard } from './setAside/keyGuard.ts'

/** Pieces that wait, retry and log. */
export interface Runtime {
  logger: Logger
  clock: Clock
  random: Random
}

/** Pieces that work through many keys or events. */
export interface WorkRuntime extends Runtime {
  /** Slices of the loop's time in which the work is done. */
  turns: WorkTurns
  /**
   * Records the keys and events under way, and may hold back those of which an earlier process died. A snapshot is not complete before
   * its held object was delivered or is gone, so that nobody takes that for deleted.
   */
  guard?: KeyGuard | undefined
}
