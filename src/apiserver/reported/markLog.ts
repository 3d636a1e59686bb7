/**
 * Changes of marks on reports, with the store's revision at each. Marks are not stored: by these revisions a watch sends them in the
 * order of the store, and resumes. The log holds some names for each mailbox. Marks of before its begin are unknown.
 */
import { StatusError } from '../../apimachinery/errors.ts'
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
  readonly #listeners = new Set<MarkListener>()
  readonly #ended = new AbortController()

  constructor(places: Pick<ReportedPlaces, 'follow'>, revision: () => number) {
    this.#revision = revision
    this.#begin = revision()
    const told: MarksListener = (mailbox, keys) => {
      if (keys === 'gone') {
        this.#logs.delete(mailbox)
        return
      }
      const log = this.#of(mailbox)
      if (keys === 'all') log.lost()
      else for (const name of keys) log.touched({ namespace: '', name })
      for (const listener of this.#listeners) listener(mailbox, keys)
    }
    this.#unfollow = places.follow(told)
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

  /** Revision of the newest change of an object's marks; 0: none is known. */
  revisionOf(mailbox: string, key: string): number {
    return this.#logs.get(mailbox)?.revisionOf({ namespace: '', name: key }) ?? 0
  }

  /** Revision at which all objects of a mailbox changed last; 0: none is known. */
  allAt(mailbox: string): number {
    return this.#logs.get(mailbox)?.begin ?? 0
  }

  /** Changes from a revision on, and those to come, in mailboxes that count then. */
  changes(from: number, counts: (mailbox: string) => boolean): MarkChanges {
    const changes = new MarkChanges(this, counts)
    const known: MarkedKey[] = []
    for (const [mailbox, log] of this.#logs) {
      if (!counts(mailbox)) continue
      if (log.begin > 0 && from <= log.begin) changes.add(mailbox, 'all')
      // one that was cut off among changes of a revision gets all of these again
      else for (const [, { name }] of log.since(from - 1)) known.push({ mailbox, key: name })
    }
    const revisionOf = ({ mailbox, key }: MarkedKey): number => this.revisionOf(mailbox, key)
    for (const { mailbox, key } of known.sort((a, b) => revisionOf(a) - revisionOf(b))) changes.add(mailbox, [key])
    this.#listeners.add(changes.add)
    return changes
  }

  forget({ add }: MarkChanges): void {
    this.#listeners.delete(add)
  }

  #of(mailbox: string): AnsweredLog {
    let log = this.#logs.get(mailbox)
    if (!log) {
      log = new AnsweredLog(0, this.#revision, REMEMBERED)
      this.#logs.set(mailbox, log)
    }
    return log
  }
}

type MarkListener = (mailbox: string, keys: readonly string[] | 'all') => void

export interface MarkedKey {
  readonly mailbox: string
  /** Object key. */
  readonly key: string
}

/** Changes of marks that a watch has not sent. */
export class MarkChanges {
  readonly #log: MarkLog
  readonly #counts: (mailbox: string) => boolean
  /** The oldest change first. */
  readonly #keys = new Map<string, MarkedKey>()
  /** Mailboxes of which all objects changed, the oldest change first. */
  readonly #all = new Set<string>()
  #wake = (): void => {}

  constructor(log: MarkLog, counts: (mailbox: string) => boolean) {
    this.#log = log
    this.#counts = counts
  }

  end(): void {
    this.#log.forget(this)
  }

  get isEmpty(): boolean {
    return this.#all.size === 0 && this.#keys.size === 0
  }

  /** Whether something changed before a revision, and waits. */
  isDue(before: number): boolean {
    const [mailbox] = this.#all
    if (mailbox !== undefined && this.#log.allAt(mailbox) < before) return true
    const [first] = this.#keys.values()
    return first !== undefined && this.#log.revisionOf(first.mailbox, first.key) < before
  }

  /** Takes changes of before a revision: a mailbox of which all objects may have changed, or some objects. */
  take(before: number): string | readonly MarkedKey[] {
    const [mailbox] = this.#all
    if (mailbox !== undefined && this.#log.allAt(mailbox) < before) {
      this.#all.delete(mailbox)
      return mailbox
    }
    const taken: MarkedKey[] = []
    for (const [id, marked] of this.#keys) {
      if (this.#log.revisionOf(marked.mailbox, marked.key) >= before) break
      taken.push(marked)
      this.#keys.delete(id)
    }
    return taken
  }

  /** Calls back at each change. One listener. */
  onChange(wake: () => void): void {
    this.#wake = wake
  }

  readonly add: MarkListener = (mailbox, keys) => {
    if (!this.#counts(mailbox)) return
    if (keys === 'all') {
      this.#all.delete(mailbox)
      this.#all.add(mailbox)
    } else {
      for (const key of keys) {
        const id = `${mailbox} ${key}`
        this.#keys.delete(id)
        this.#keys.set(id, { mailbox, key })
      }
    }
    this.#wake()
  }
}
