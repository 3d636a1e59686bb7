/** Work that is done again and again at a steady pace. */
import { type Clock, pause, steadyMs } from '../../../client/clock.ts'

export interface RoundsOptions {
  readonly everyMs: number
  readonly clock: Clock
  /** Ends the rounds. */
  readonly signal: AbortSignal
  /** Gets the error of each round behind the first. */
  failed(error: unknown): void
}

/** The wait after a round that failed, where the next one is not due earlier. */
const RETRY_MS = 5 * 60_000

/** Resolves when the signal aborts. A round that takes too long puts the next one off, and none is made up for. @throws as the first round */
export async function rounds(round: () => Promise<void>, options: RoundsOptions): Promise<void> {
  const { everyMs, clock, signal, failed } = options
  const until = async (dueMs: number): Promise<void> => {
    // a timer knows no long waits
    for (let leftMs = dueMs - steadyMs(clock); leftMs > 0 && !signal.aborted; leftMs = dueMs - steadyMs(clock))
      await pause(clock, leftMs, signal)
  }
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const begunMs = steadyMs(clock)
    let waitMs = everyMs
    try {
      await round()
    } catch (error) {
      if (signal.aborted) return
      if (isFirst) throw error
      failed(error)
      waitMs = Math.min(everyMs, RETRY_MS)
    }
    await until(begunMs + waitMs)
  }
}
