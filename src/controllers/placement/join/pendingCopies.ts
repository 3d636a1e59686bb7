/**
 * Copies that a change of a space may touch, before their tasks are queued: objects × mailboxes. One turn of the loop groups them by
 * the lists of mailboxes that objects share, so that one mailbox gets its tasks in a row. The checks of mailboxes queue them, once
 * the space is known whole. All of them count as pending meanwhile.
 */
import type { Signals } from '../signals/signals.ts'
import type { PendingMarks } from './pendingMarks.ts'
import type { Task } from './task.ts'
import type { Tasks } from './tasks.ts'
import type { Workloads } from './workloads.ts'

export interface PendingCopiesDeps {
  workloads: Pick<Workloads, 'isSynced'>
  pendingMarks: Pick<PendingMarks, 'open'>
  tasks: Pick<Tasks, 'addAll'>
  copiesNamed: Signals['copiesNamed']
  /** Calls back in this turn of the loop, behind the present call. */
  soon(call: () => void): void
}

interface Named {
  readonly keys: Map<readonly string[], Set<string>>
  readonly close: () => void
  isComing: boolean
  isNews: boolean
}

export class PendingCopies {
  readonly #deps: PendingCopiesDeps
  readonly #spaces = new Map<string, Named>()

  constructor(deps: PendingCopiesDeps) {
    this.#deps = deps
  }

  /** Whether anything is about to be queued. */
  get isIdle(): boolean {
    for (const { isComing } of this.#spaces.values()) if (isComing) return false
    return true
  }

  /** @param isNews whether the topology was known as the claims changed: a start checks whole mailboxes instead */
  add(space: string, mailboxes: readonly string[], keys: readonly string[], isNews: boolean): void {
    if (mailboxes.length === 0 || keys.length === 0) return
    const named = this.#spaces.get(space) ?? {
      keys: new Map(),
      close: this.#deps.pendingMarks.open(space),
      isComing: false,
      isNews,
    }
    this.#spaces.set(space, named)
    const there = named.keys.get(mailboxes) ?? new Set<string>()
    named.keys.set(mailboxes, there)
    for (const key of keys) there.add(key)
    named.isNews ||= isNews
    if (named.isComing || !this.#deps.workloads.isSynced(space)) return
    named.isComing = true
    this.#deps.soon(() => this.#release(space, named))
  }

  /** Queues a task behind all copies that its space has named. */
  queueBehind(task: Task & { readonly type: 'judge' | 'close' }): void {
    const { space } = task
    if (this.#spaces.get(space)?.isComing) this.release(space)
    this.#deps.tasks.addAll([task], space)
  }

  /** The space is known, or followed no more. */
  release(space: string): void {
    const named = this.#spaces.get(space)
    if (named) this.#release(space, named)
  }

  #release(space: string, named: Named): void {
    if (this.#spaces.get(space) !== named) return
    this.#spaces.delete(space)
    for (const [mailboxes, keys] of named.keys)
      this.#deps.copiesNamed.send(space, mailboxes, [...keys], named.isComing && named.isNews)
    named.close()
  }
}
