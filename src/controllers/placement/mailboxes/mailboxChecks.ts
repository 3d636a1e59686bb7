/**
 * Checks of whole mailboxes: at a start, when one comes, and when its stream begins anew. They run one after the other, in slices.
 * Correct copies need no task, read or write; the others are queued. While a mailbox awaits its check, single copies in it need
 * not be named.
 */
import type { Work } from '../../../program/workTurns.ts'
import type { Mailbox } from './mailbox.ts'

export interface MailboxChecksDeps {
  work: Work
  /** The mailbox, when all that it holds is known. */
  mailbox: (name: string) => Mailbox | undefined
  /** Whether all that it should hold is known. */
  knows: (mailbox: string) => boolean
  /** What it should hold and what it holds, by key, once each. */
  keys: (mailbox: Mailbox) => Iterable<string>
  /** Whether a copy is there and says what it should, as far as that can be told at once. */
  isRight: (mailbox: Mailbox, key: string) => boolean | Promise<boolean>
  /** All of it was looked at; these are to be seen to. `undefined`: nothing was, all is. */
  found: (mailbox: string, keys: readonly string[] | undefined) => void
  /** Nothing is awaited any more. */
  done: () => void
  failed: (mailbox: string, error: unknown) => void
}

export class MailboxChecks {
  readonly #deps: MailboxChecksDeps
  /** To be looked at; `true`: as soon as enough is known. */
  readonly #awaited = new Map<string, boolean>()
  #current: string | undefined
  #running = false
  #stopped = false
  #idleWaiters: (() => void)[] = []

  constructor(deps: MailboxChecksDeps) {
    this.#deps = deps
  }

  /** What the mailbox holds is known (again). */
  ask(mailbox: string): void {
    if (this.#stopped) return
    this.#awaited.set(mailbox, this.#deps.knows(mailbox))
    this.#start()
  }

  /** More is known than before. */
  release(): void {
    for (const [mailbox, isReady] of this.#awaited)
      if (!isReady && this.#deps.knows(mailbox)) this.#awaited.set(mailbox, true)
    this.#start()
  }

  /** Whether all of the mailbox is to be looked at, and nothing of it was yet. */
  isAwaited(mailbox: string): boolean {
    return this.#awaited.has(mailbox)
  }

  /** Whether it is not known yet what of the mailbox is to be seen to. */
  isOpen(mailbox: string): boolean {
    return this.#current === mailbox || this.#awaited.has(mailbox)
  }

  /** Resolves when nothing can be looked at. */
  idle(): Promise<void> {
    return this.#running ? new Promise(resolve => this.#idleWaiters.push(resolve)) : Promise.resolve()
  }

  get isIdle(): boolean {
    return !this.#running
  }

  stop(): void {
    this.#stopped = true
    this.#awaited.clear()
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    // never inside the call that told of it
    queueMicrotask(() => void this.#run())
  }

  async #run(): Promise<void> {
    for (let name = this.#next(); name !== undefined && !this.#stopped; name = this.#next()) {
      this.#current = name
      try {
        await this.#look(name)
      } catch (error) {
        this.#deps.failed(name, error)
        this.#close(name, undefined)
      }
    }
    this.#current = undefined
    this.#running = false
    if (this.#awaited.size === 0) this.#deps.done()
    for (const wake of this.#idleWaiters.splice(0)) wake()
  }

  #next(): string | undefined {
    for (const [name, isReady] of this.#awaited) if (isReady) return name
    return undefined
  }

  async #look(name: string): Promise<void> {
    const { work, mailbox: find, knows, keys, isRight } = this.#deps
    if (work.due) await work.rest()
    if (!this.#awaited.has(name)) return
    if (!knows(name)) {
      this.#awaited.set(name, false)
      return
    }
    const mailbox = find(name)
    // what is named from here on is queued: its key may have been passed
    this.#awaited.delete(name)
    if (!mailbox) return
    if (mailbox.copies.size === 0) return this.#close(name, undefined)
    const wrong: string[] = []
    for (const key of keys(mailbox)) {
      const right = isRight(mailbox, key)
      if (!(typeof right === 'boolean' ? right : await right)) wrong.push(key)
      if (work.due) await work.rest()
      if (this.#stopped || find(name) !== mailbox) return
    }
    this.#close(name, wrong)
  }

  #close(name: string, wrong: readonly string[] | undefined): void {
    this.#current = undefined
    this.#deps.found(name, wrong)
  }
}
