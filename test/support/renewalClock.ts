/** For certificates: years may pass in a moment, and every alarm is for now. */
import type { Clock } from '../../src/client/clock.ts'

export function renewalClock(startMs: number): Clock & { leapTo(ms: number): void } {
  let nowMs = startMs
  const alarms = new Set<() => void>()
  return {
    now: () => nowMs,
    after(_delayMs, run) {
      alarms.add(run)
      return () => alarms.delete(run)
    },
    leapTo(ms) {
      nowMs = ms
      const due = [...alarms]
      alarms.clear()
      for (const run of due) run()
    },
  }
}
