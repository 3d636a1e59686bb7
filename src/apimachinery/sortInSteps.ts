/** Sorting of many, in steps: some at a time, which are then merged. */
import { Pace } from './pace.ts'
import type { Steps } from './steps.ts'

/** Sorted at once: a fraction of a millisecond. */
const RUN = 256

/** A sorted copy, stable as `toSorted`. */
export function* sortInSteps<T>(all: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const pace = new Pace()
  let runs: T[][] = []
  for (let at = 0; at < all.length; at += RUN) {
    if (at > 0) yield
    runs.push(all.slice(at, at + RUN).sort(compare))
  }
  while (runs.length > 1) {
    const longer: T[][] = []
    for (let at = 0; at < runs.length; at += 2)
      longer.push(yield* merged(runs[at]!, runs[at + 1] ?? [], { compare, pace }))
    runs = longer
  }
  return runs[0] ?? []
}

function* merged<T>(
  a: readonly T[],
  b: readonly T[],
  { compare, pace }: { compare: (a: T, b: T) => number; pace: Pace },
): Steps<T[]> {
  const both: T[] = []
  for (let i = 0, k = 0; i < a.length || k < b.length; ) {
    const takesFirst = k >= b.length || (i < a.length && compare(a[i]!, b[k]!) <= 0)
    both.push(takesFirst ? a[i++]! : b[k++]!)
    if (pace.due()) yield
  }
  return both
}
