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

  /** Revision of the newest change of an object's marks; 0: none is known. */
  revisionOf(mailbox: string, key: string): number {
    return this.#logs.get(mailbox)?.revisionOf({ namespace: '', name: key }) ?? 0
  }

  /** Changes from a revision on, and those to come. */
  changes(mailbox: string, from: number): MarkChanges {
    return new MarkChanges(this.#of(mailbox), from)
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

/** Changes of marks that a watch has not sent. */
export class MarkChanges {
  readonly #log: AnsweredLog
  readonly #end: () => void
  /** The oldest change first. */
  readonly #keys = new Set<string>()
  #areAll = false
  #wake = (): void => {}

  constructor(log: AnsweredLog, from: number) {
    this.#log = log
    this.#areAll = log.begin > 0 && from <= log.begin
    // one that was cut off among changes of a revision gets all of these again
    if (!this.#areAll) for (const [, { name }] of log.since(from - 1)) this.#keys.add(name)
    this.#end = log.listen({
      told: (_id, { name }) => this.#add(name),
      lost: () => {
        this.#areAll = true
        this.#wake()
      },
    })
  }

  end(): void {
    this.#end()
  }

  get isEmpty(): boolean {
    return !this.#areAll && this.#keys.size === 0
  }

  /** Revision at which all objects changed last. */
  get begin(): number {
    return this.#log.begin
  }

  /** Whether something changed before a revision, and waits. */
  isDue(before: number): boolean {
    if (this.#areAll && this.#log.begin < before) return true
    const [first] = this.#keys
    return first !== undefined && this.revisionOf(first) < before
  }

  /** Takes the changes of before a revision. All objects may have changed where it says so. */
  take(before: number): readonly string[] | 'all' {
    if (this.#areAll && this.#log.begin < before) {
      this.#areAll = false
      return 'all'
    }
    const taken: string[] = []
    for (const key of this.#keys) {
      if (this.revisionOf(key) >= before) break
      taken.push(key)
      this.#keys.delete(key)
    }
    return taken
  }

  revisionOf(name: string): number {
    return this.#log.revisionOf({ namespace: '', name })
  }

  /** Calls back at each change. One listener. */
  onChange(wake: () => void): void {
    this.#wake = wake
  }

  #add(key: string): void {
    this.#keys.delete(key)
    this.#keys.add(key)
    this.#wake()
  }
}
