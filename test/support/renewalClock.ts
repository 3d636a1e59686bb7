/** For certificates: years may pass in a moment, and every alarm is for now. */
import type { RenewalClock } from '../../src/apiserver/pki/certificateRenewal.ts'

export function renewalClock(startMs: number): RenewalClock & { leapTo(ms: number): void } {
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
