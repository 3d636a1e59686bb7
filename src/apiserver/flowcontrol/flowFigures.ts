/** Counters of a FlowSchema's requests, as cheap as possible: each request updates them. */

import { Distribution } from '../../apimachinery/distribution.ts'

/** Upper bounds in seconds, as upstream's. */
const WAIT_BOUNDS: readonly number[] = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const RUN_BOUNDS: readonly number[] = [
  ...[0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[45, 60, 90, 120],
]
const SEAT_BOUNDS: readonly number[] = [1, 2, 4, 10, 25, 100]

export class FlowFigures {
  dispatched = 0
  executing = 0
  executingSeats = 0
  waiting = 0
  waitingSeats = 0
  /** By reason. */
  readonly rejected = new Map<string, number>()
  readonly waitSeconds = new Distribution(WAIT_BOUNDS)
  /** Wait of refused requests. */
  readonly vainSeconds = new Distribution(WAIT_BOUNDS)
  readonly regularSeconds = new Distribution(RUN_BOUNDS)
  /** Until a watch has begun. */
  readonly watchSeconds = new Distribution(RUN_BOUNDS)
  readonly seats = new Distribution(SEAT_BOUNDS)

  reject(reason: string): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
  }
}
