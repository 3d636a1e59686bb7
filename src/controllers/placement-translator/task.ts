/** The translator's units of work, and the queue's view of them. */
export type Task =
  /** One object in one mailbox. */
  | { readonly type: 'copy'; readonly mailbox: string; readonly key: string }
  /** The SyncerConfig of one mailbox. */
  | { readonly type: 'config'; readonly mailbox: string }
  /** What one object in a workload space is told: count, errors, status. */
  | { readonly type: 'source'; readonly space: string; readonly key: string }
  /** A space lost its last placement; queued behind the work which that caused. */
  | { readonly type: 'close'; readonly space: string }

export function taskId(task: Task): string {
  switch (task.type) {
    case 'copy':
      return `copy ${task.mailbox} ${task.key}`
    case 'config':
      return `config ${task.mailbox}`
    case 'source':
      return `source ${task.space} ${task.key}`
    case 'close':
      return `close ${task.space}`
  }
}

/** Whose requests the work waits for: the mailbox or space that it writes to. */
export function taskParty(task: Task): string {
  return task.type === 'copy' || task.type === 'config' ? task.mailbox : task.space
}
