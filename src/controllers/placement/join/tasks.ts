/** The queue of the translator's tasks. Any room adds to it; taskRouter.ts takes a task to its room. */
import { WorkQueue, type WorkQueueOptions } from '../../../client/workqueue.ts'
import type { Signals } from '../signals/signals.ts'
import { RUN, type Task, taskId, taskLane, taskParty, taskPlace } from './task.ts'

export class Tasks {
  readonly queue: WorkQueue<Task>

  constructor(
    common: Pick<WorkQueueOptions<Task>, 'guard' | 'logger' | 'turns' | 'clock' | 'random'>,
    { copyHeld }: Pick<Signals, 'copyHeld'>,
  ) {
    this.queue = new WorkQueue<Task>({
      ...common,
      id: taskId,
      place: taskPlace,
      party: taskParty,
      lane: taskLane,
      run: RUN,
      held: (task, hold) => {
        if (task.type === 'copy' && hold?.deaths !== 0) copyHeld.send(task.mailbox, task.key, hold !== undefined)
      },
    })
  }

  add(task: Task): void {
    this.queue.add(task)
  }

  /** Drawn by and by; those of one owner in order, behind all of its `first`. */
  addAll(tasks: Iterable<Task>, owner?: string, first?: Iterable<void>): void {
    this.queue.addAll(tasks, owner, first)
  }

  /** A look at the outcome, holds and pauses of an EdgePlacement. */
  report(space: string, name: string): void {
    this.queue.add({ type: 'report', space, name })
  }

  reports(space: string, names: Iterable<string>): void {
    this.queue.addAll(
      each(names, name => ({ type: 'report', space, name })),
      besides(space),
    )
  }

  reportAll(placements: Iterable<{ readonly space: string; readonly name: string }>): void {
    for (const { space, name } of placements) this.report(space, name)
  }

  sources(space: string, keys: Iterable<string>): void {
    this.queue.addAll(
      each(keys, key => ({ type: 'source', space, key })),
      besides(space),
    )
  }

  /** On account of a space. */
  configs(mailboxes: Iterable<string>, space: string): void {
    this.queue.addAll(
      each(mailboxes, mailbox => ({ type: 'config', mailbox })),
      besides(space),
    )
  }
}

/** Owner of what follows from a space's changes beside copies: it does not wait until those are done. */
function besides(space: string): string {
  return `besides ${space}`
}

function* each(names: Iterable<string>, task: (name: string) => Task): Generator<Task> {
  for (const name of names) yield task(name)
}
