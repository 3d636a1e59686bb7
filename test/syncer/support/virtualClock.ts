/** A clock on which every wait is over at the next turn of the event loop, and time is what was waited for. */
import type { Clock } from '../../../src/client/clock.ts'

/** Waits longer than this never end: they are safety nets that a test shall not lean on. */
const NEVER_MS = 600_000

export function virtualClock(startMs: number): Clock {
  let nowMs = startMs
  return {
    now: () => nowMs,
    after(delayMs, run) {
      if (delayMs > NEVER_MS) return () => {}
      const atMs = nowMs + delayMs
      const timer = setImmediate(() => {
        nowMs = Math.max(nowMs, atMs)
        run()
      })
      return () => clearImmediate(timer)
    },
  }
}
