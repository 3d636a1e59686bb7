/** A bound of time beside a budget of work: units are prices, and what a price got wrong shall hold up nobody for long. */
import { threadCpuUsage } from 'node:process'

/** How often a budget looks at the clock, in units: a millisecond or some, so that small work never does. */
export const LOOK_EVERY = 5000

/** Whether this thread has worked for too long since the first call. */
export type TimeBound = () => boolean

/** Time of the thread alone, so that a machine with much else to do refuses nobody. */
export function threadTimeBound(milliseconds: number): TimeBound {
  let began: number | undefined
  return () => {
    const now = threadTimeMs()
    began ??= now
    return now - began > milliseconds
  }
}

/** How long this thread has worked so far. */
function threadTimeMs(): number {
  const { user, system } = threadCpuUsage()
  return (user + system) / 1000
}
