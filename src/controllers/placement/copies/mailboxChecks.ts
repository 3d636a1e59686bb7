/**
 * Tasks of copies that an edit names are queued here. So are checks of whole mailboxes: at a start, when one comes, and when its stream
 * begins anew. They run one after the other, in slices. Correct copies need no task, read or write; the others are queued. While a mailbox
 * awaits its check, single copies in it need not be named.
 */
import type { Logger } from '../../../client/logger.ts'
import type { KeyGuard } from '../../../client/setAside/keyGuard.ts'
import type { Work } from '../../../program/workTurns.ts'
import type { PendingMarks } from '../join/pendingMarks.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Readiness } from '../join/readiness.ts'
import { copyTasks, RUN, taskId } from '../join/task.ts'
import type { Tasks } from '../join/tasks.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import { contentKeys, contentTasks } from '../mailboxes/mailboxContent.ts'
import type { Mailboxes } from '../mailboxes/mailboxes.ts'
import { namedIn } from '../mailboxes/mailboxTasks.ts'
import type { CopyChecks } from './copyChecks.ts'

export interface MailboxChecksDeps {
  work: Work
  mailboxes: Mailboxes
  readiness: Readiness
  join: PlacementJoin
  copyChecks: CopyChecks
  tasks: Tasks
  pendingMarks: PendingMarks
  guard: KeyGuard | undefined
  logger: Logger
}

/** Owner of tasks from checks: it takes turns with the spaces, whose changes name copies. */
const CHECKS = 'mailboxes'

/** A requested check. */
interface Awaited {
  /** Whether enough is known. */
  isReady: boolean
  /** Closes the mark of the mailbox: what of it is to be reconciled is queued. */
  readonly close: () => void
}

export class MailboxChecks {
  readonly #deps: MailboxChecksDeps
  readonly #awaited = new Map<string, Awaited>()
  #running = false
  #stopped = false
  #idleWaiters: (() => void)[] = []

  constructor(deps: MailboxChecksDeps) {
    this.#deps = deps
  }

  /** All that a mailbox holds is to be checked, if it is known. */
  ask(mailbox: string): void {
    const { mailboxes, readiness, pendingMarks } = this.#deps
    if (this.#stopped || !mailboxes.get(mailbox)) return
    const isReady = readiness.knowsMailbox(mailbox)
    const awaited = this.#awaited.get(mailbox)
    if (awaited) awaited.isReady = isReady
    else this.#awaited.set(mailbox, { isReady, close: pendingMarks.open(mailbox) })
    this.#start()
  }

  /** More is known than before. */
  release(): void {
    for (const [mailbox, awaited] of this.#awaited)
      if (!awaited.isReady) awaited.isReady = this.#deps.readiness.knowsMailbox(mailbox)
    this.#start()
  }

  /** Queues copies that a space has named, but for mailboxes that await their check: it looks at all of them. */
  copiesNamed(space: string, named: readonly string[], keys: readonly string[], isNews: boolean): void {
    const { mailboxes, pendingMarks, tasks } = this.#deps
    const ready = named.filter(mailbox => mailboxes.get(mailbox) && (isNews || !this.#awaited.has(mailbox)))
    if (ready.length === 0) return
    // all of them are named before any waits for the others to be done
    tasks.addAll(copyTasks(ready, keys, space), space, pendingMarks.of(space, this.#named(ready, keys)))
  }

  *#named(mailboxes: readonly string[], keys: readonly string[]): Generator<void> {
    for (const mailbox of mailboxes) {
      const changes = this.#deps.mailboxes.known(mailbox)?.changes
      for (let i = 0; i < keys.length; i++) {
        changes?.name(keys[i]!)
        if (i % RUN === 0) yield
      }
    }
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
    // never inside the call that caused it
    queueMicrotask(() => void this.#run())
  }

  async #run(): Promise<void> {
    for (let name = this.#next(); name !== undefined && !this.#stopped; name = this.#next()) {
      try {
        await this.#check(name)
      } catch (error) {
        this.#deps.logger.error({ mailbox: name, err: error }, 'the check of a mailbox failed at its end')
      }
    }
    this.#running = false
    if (this.#awaited.size === 0) this.#deps.mailboxes.looked()
    for (const wake of this.#idleWaiters.splice(0)) wake()
  }

  #next(): string | undefined {
    for (const [name, { isReady }] of this.#awaited) if (isReady) return name
    return undefined
  }

  async #check(name: string): Promise<void> {
    const { work, mailboxes, readiness, logger } = this.#deps
    if (work.due) await work.rest()
    const awaited = this.#awaited.get(name)
    if (!awaited) return
    if (!readiness.knowsMailbox(name)) {
      awaited.isReady = false
      return
    }
    // what is named from here on is queued: its key may have been passed
    this.#awaited.delete(name)
    const mailbox = mailboxes.get(name)
    try {
      const wrong = mailbox && (await this.#wrongIn(mailbox))
      if (wrong) this.#found(mailbox, wrong === 'all' ? undefined : wrong)
    } catch (error) {
      logger.error({ mailbox: name, err: error }, 'not all of a mailbox could be looked at')
      if (mailbox) this.#found(mailbox, undefined)
    } finally {
      awaited.close()
    }
  }

  /** Keys of copies that are not right; `undefined`: the mailbox is there no longer. */
  async #wrongIn(mailbox: Mailbox): Promise<readonly string[] | 'all' | undefined> {
    const { work, mailboxes, join } = this.#deps
    if (mailbox.copies.size === 0) return 'all'
    const wrong: string[] = []
    for (const key of contentKeys(join, mailbox)) {
      const isRight = this.#isRight(mailbox, key)
      if (!(typeof isRight === 'boolean' ? isRight : await isRight)) wrong.push(key)
      if (work.due) await work.rest()
      if (this.#stopped || mailboxes.get(mailbox.name) !== mailbox) return undefined
    }
    return wrong
  }

  #isRight(mailbox: Mailbox, key: string): boolean | Promise<boolean> {
    const { guard, copyChecks } = this.#deps
    if (guard?.suspects?.(() => taskId({ type: 'copy', mailbox: mailbox.name, key }))) return false
    return copyChecks.isRight(mailbox, key)
  }

  /** @param keys all, where absent */
  #found(mailbox: Mailbox, keys: readonly string[] | undefined): void {
    const { join, tasks, pendingMarks } = this.#deps
    tasks.addAll(namedIn(mailbox, contentTasks(join, mailbox, keys), pendingMarks), CHECKS)
  }
}
