/** The work of a write that goes in slices, because what it is about is large. */
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { WriteContext } from './context.ts'

/** Work that takes turns with all other long work. */
export function workFor(turns: Pick<WorkTurns, 'begin'>, { space, isAbandoned }: WriteContext): Work {
  return turns.begin({ owner: space, ...(isAbandoned && { isAbandoned }) })
}

/** `isLarge`: apart from what was sent, whose work there is already. Nobody's without `turns`. */
export function workOf(turns: WorkTurns | undefined, context: WriteContext, isLarge: boolean): Work | undefined {
  const { work } = context
  return work === undefined && isLarge && turns ? workFor(turns, context) : work
}

export function withWork(context: WriteContext, work: Work | undefined): WriteContext {
  return work === context.work ? context : { ...context, work }
}
