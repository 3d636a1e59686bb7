/**
 * Writes of large objects. Each step of one goes over all of the object and takes milliseconds, so it takes turns with all
 * other long work of the process, and rests between its steps. What is small is written without a rest: that costs least.
 */
import type { Work, WorkTurns } from '../../program/workTurns.ts'

/** Of a body, or of what is stored. Ordinary objects are far smaller; ten times as much takes some milliseconds a step. */
export const LARGE_BYTES = 32 * 1024

/** An update that somebody else was faster than so often is made in the store's queue after all, where nobody can be. */
export const LARGE_TRIES = 3

/** The work of writing something of that size; `undefined` when it is small. */
export function largeWork(
  turns: WorkTurns | undefined,
  bytes: number,
  options: { owner: string; isAbandoned?: () => boolean },
): Work | undefined {
  return bytes > LARGE_BYTES ? turns?.begin(options) : undefined
}
