/** The translator's units of work, and the queue's view of them. */
import type { Lane } from '../../../client/fairQueue.ts'
import type { Place } from '../../../client/queueEntries.ts'

export type Task =
  /**
   * One object in one mailbox; `origin` is the space on whose account it is looked at, when that is known. `isCheck`: nothing is known to
   * have changed, so what has goes first.
   */
  | {
      readonly type: 'copy'
      readonly mailbox: string
      readonly key: string
      readonly origin?: string | undefined
      readonly isCheck?: boolean
    }
  /** The SyncerConfig of one mailbox. */
  | { readonly type: 'config'; readonly mailbox: string }
  /** Report on the cluster of one mailbox, on its SyncTarget. */
  | { readonly type: 'cluster'; readonly mailbox: string }
  /** Report on one object in a workload space: count, errors, status. */
  | { readonly type: 'source'; readonly space: string; readonly key: string }
  /** Spaces whose sets match one upsynced object of a mailbox. */
  | { readonly type: 'requesters'; readonly mailbox: string; readonly key: string }
  /** The status of one placement: whether all that it selects is placed, what holds it, and pauses. */
  | { readonly type: 'report'; readonly space: string; readonly name: string }
  /** The revisions of one placement with a rollout strategy, and their way to its clusters. */
  | { readonly type: 'rollout'; readonly space: string; readonly name: string }
  /** Judgement on a space's unwanted copies; queued behind the work that they caused. */
  | { readonly type: 'judge'; readonly space: string }
  /** A space lost its last placement; queued behind the work which that caused. */
  | { readonly type: 'close'; readonly space: string }

export function taskId(task: Task): string {
  const what = 'key' in task ? ` ${task.key}` : 'name' in task ? ` ${task.name}` : ''
  return `${task.type} ${taskParty(task)}${what}`
}

/** The same in strings that are at hand: copies are many. No key of an object is like the id of another task. */
export function taskPlace(task: Task): Place {
  return task.type === 'copy' ? { part: task.mailbox, name: task.key } : { part: '', name: taskId(task) }
}

/** The mailbox or space that the work writes to: the work waits for its requests. */
export function taskParty(task: Task): string {
  return 'mailbox' in task ? task.mailbox : task.space
}

/**
 * The turn in which a task waits. A space's placed objects are its own work in each mailbox; a mailbox's own needs are the mailbox's. A
 * space is let go of when nothing else is to be done for it.
 */
export function taskLane(task: Task): Lane {
  switch (task.type) {
    case 'copy': {
      const owner = task.origin ?? task.mailbox
      return task.isCheck ? { owner, last: true } : { owner, part: task.mailbox }
    }
    case 'config':
    case 'cluster':
    case 'requesters':
      return { owner: task.mailbox, part: task.mailbox }
    case 'source':
    case 'report':
    case 'rollout':
      return { owner: task.space }
    case 'judge':
    case 'close':
      return { owner: task.space, last: true }
  }
}

/**
 * Objects that go to one mailbox in a row, and so to all of them before the next ones do. Their events reach followers together, and their
 * content is made once for all.
 */
export const RUN = 32

/** Each of the objects in each of the mailboxes, on account of the space `origin`. */
export function* copyTasks(mailboxes: readonly string[], keys: readonly string[], origin: string): Generator<Task> {
  for (let from = 0; from < keys.length; from += RUN) {
    const through = Math.min(keys.length, from + RUN)
    for (const mailbox of mailboxes)
      for (let i = from; i < through; i++) yield { type: 'copy', mailbox, key: keys[i]!, origin }
  }
}
