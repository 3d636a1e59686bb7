/** The work of a write that goes in slices, because what it is about is large. */
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { WriteContext } from './context.ts'

/** `isLarge`: apart from what was sent, whose work there is already. Nobody's without `turns`. */
export function workOf(
  turns: WorkTurns | undefined,
  { space, work, isAbandoned }: WriteContext,
  isLarge: boolean,
): Work | undefined {
  if (work !== undefined || !isLarge) return work
  return turns?.begin({ owner: space, ...(isAbandoned && { isAbandoned }) })
}

export function withWork(context: WriteContext, work: Work | undefined): WriteContext {
  return work === context.work ? context : { ...context, work }
}
