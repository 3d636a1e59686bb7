/**
 * Changes of marks on reports, with the store's revision at each. Marks are not stored: by these revisions a watch sends them in the
 * order of the store, and resumes. The log holds some names for each mailbox. Marks of before its begin are unknown.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import type { MarksListener, ReportedPlaces } from '../../placement/desks/reported.ts'
import { MAX_EXCEPTIONS } from '../../placement/outcome/outcome.ts'
import { AnsweredLog } from '../registry/answeredLog.ts'

/** Names remembered for each mailbox: twice as many as have marks at a time. */
const REMEMBERED = 2 * MAX_EXCEPTIONS

export class MarkLog {
  readonly #revision: () => number
  readonly #begin: number
  readonly #unfollow: () => void
  /** By mailbox. */
  readonly #logs = new Map<string, AnsweredLog>()
  readonly #open = new Set<MarkChanges>()
  readonly #ended = new AbortController()

  constructor(places: Pick<ReportedPlaces, 'follow'>, revision: () => number) {
    this.#revision = revision
    this.#begin = revision()
    const listener: MarksListener = (mailbox, keys) => {
      if (keys === 'gone') {
        this.#logs.delete(mailbox)
        return
      }
      const log = this.#of(mailbox)
      if (keys === 'all') log.lost()
      else for (const name of keys) log.touched({ namespace: '', name })
      const marked = keys === 'all' ? [this.#marked(mailbox)] : keys.map(key => this.#marked(mailbox, key))
      for (const changes of this.#open) for (const each of marked) changes.add(each)
    }
    this.#unfollow = places.follow(listener)
  }

  /** Aborted when another one follows. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  end(): void {
    this.#unfollow()
    this.#ended.abort()
  }

  /** @throws StatusError Expired: marks of before are not known */
  requireKnown(after: number): void {
    if (after < this.#begin) throw new StatusError('Expired', `too old resource version: ${after} (${this.#begin})`)
  }

  /** Whether marks of any object of a mailbox have changed. */
  knows(mailbox: string): boolean {
    return this.#logs.has(mailbox)
  }

  /** Revision of the newest change of an object's marks, without a key: of all objects of the mailbox; 0: none is known. */
  revisionOf(mailbox: string, key?: string): number {
    const log = this.#logs.get(mailbox)
    return (key === undefined ? log?.begin : log?.revisionOf({ namespace: '', name: key })) ?? 0
  }

  /** Changes from a revision on, and those to come, in mailboxes that count then. */
  changes(from: number, counts: (mailbox: string) => boolean): MarkChanges {
    const changes = new MarkChanges(this, counts)
    const known: Marked[] = []
    for (const [mailbox, log] of this.#logs) {
      if (!counts(mailbox)) continue
      if (log.begin > 0 && from <= log.begin) known.push(this.#marked(mailbox))
      // one that was cut off among changes of a revision gets all of these again
      else for (const [, { name }] of log.since(from - 1)) known.push(this.#marked(mailbox, name))
    }
    known.sort((a, b) => a.revision - b.revision)
    for (const marked of known) changes.add(marked)
    this.#open.add(changes)
    return changes
  }

  forget(changes: MarkChanges): void {
    this.#open.delete(changes)
  }

  #marked(mailbox: string, key?: string): Marked {
    return { mailbox, key, revision: this.revisionOf(mailbox, key) }
  }

  #of(mailbox: string): AnsweredLog {
    return getOrInsert(this.#logs, mailbox, () => new AnsweredLog(0, this.#revision, REMEMBERED))
  }
}

/** Changed marks. */
export interface Marked {
  readonly mailbox: string
  /** Object key; absent: all objects of the mailbox. */
  readonly key: string | undefined
  /** Revision of the change. */
  readonly revision: number
}

/** Changes of marks that a watch has not sent. */
export class MarkChanges {
  readonly #log: MarkLog
  readonly #counts: (mailbox: string) => boolean
  /** The oldest change first. */
  readonly #waiting = new Map<string, Marked>()
  #wake = (): void => {}

  constructor(log: MarkLog, counts: (mailbox: string) => boolean) {
    this.#log = log
    this.#counts = counts
  }

  end(): void {
    this.#log.forget(this)
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Whether something changed before a revision, and waits. */
  isDue(before: number): boolean {
    const [first] = this.#waiting.values()
    return first !== undefined && first.revision < before
  }

  /** Takes changes of before a revision, the oldest first. */
  take(before: number): readonly Marked[] {
    const taken: Marked[] = []
    for (const [id, marked] of this.#waiting) {
      if (marked.revision >= before) break
      taken.push(marked)
      this.#waiting.delete(id)
    }
    return taken
  }

  /** Calls back at each change. One listener. */
  onChange(wake: () => void): void {
    this.#wake = wake
  }

  add(marked: Marked): void {
    const { mailbox, key = '' } = marked
    if (!this.#counts(mailbox)) return
    const id = `${mailbox} ${key}`
    this.#waiting.delete(id)
    this.#waiting.set(id, marked)
    this.#wake()
  }
}
