/** Work that says where it may pause, as a generator: whoever has it done does it at once, or in slices of the loop. */

/** Yields between two small steps, and returns what comes of them all. */
export type Steps<T> = Generator<undefined, T>

/** When others are to have their turn (`Work` of workTurns.ts). */
export interface Rests {
  readonly due: boolean
  rest(): Promise<void>
}

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** At once without a `work`, and then what comes of it is there at once, too. @throws Abandoned as `work` does */
export function inSlices<T>(steps: Steps<T>, work: Rests): Promise<T>
export function inSlices<T>(steps: Steps<T>, work: Rests | undefined): T | Promise<T>
export function inSlices<T>(steps: Steps<T>, work: Rests | undefined): T | Promise<T> {
  return work === undefined ? atOnce(steps) : slices(steps, work)
}

async function slices<T>(steps: Steps<T>, work: Rests): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (work.due) await work.rest()
  }
}
