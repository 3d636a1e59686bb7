/**
 * The budget of the expression that runs. Functions get their arguments and nothing else, and some learn only on their way how much work
 * they are. An evaluation never waits, so there is one at a time; inside of it another one may run.
 */
import type { WorkBudget } from '../workBudget.ts'

let running: WorkBudget | undefined

export function runningUnder<T>(budget: WorkBudget, run: () => T): T {
  const outer = running
  running = budget
  try {
    return run()
  } finally {
    running = outer
  }
}

export function runningBudget(): WorkBudget {
  if (running === undefined) throw new Error('no expression runs')
  return running
}
