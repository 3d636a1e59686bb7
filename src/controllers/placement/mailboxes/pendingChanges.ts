/**
 * Pending changes of one mailbox: copies whose desired content changed, with revisions, until the syncer has processed them. Statuses that
 * come back do not count, and cost nothing here.
 *
 * Revisions are the store's, so a restart needs no records. A copy that is seen for the first time counts from its present revision, which
 * is never too early.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { CopyTimings } from './copyTimings.ts'

export interface PendingChangesDeps {
  /** Called for each copy that the syncer has processed. */
  left?: (key: string) => void
  timings?: CopyTimings
  /** Milliseconds since the epoch. */
  now?: () => number
}

/** Names of copies that left, which are kept until a cluster has looked at them: it may be away for long. */
const MOST_DEPARTED = 10_000

export class PendingChanges {
  readonly #left: (key: string) => void
  readonly #timings: CopyTimings | undefined
  readonly #now: () => number
  #behindSinceMs = 0
  /** Copies that may have to change, by the number of their newest naming, until each was looked at. */
  readonly #named = new Map<string, number>()
  /** Those that were not looked at since. */
  readonly #unlooked = new Set<string>()
  readonly #writing = new Set<string>()
  /** Copies that were reported behind although nothing had named them. */
  readonly #reportedBehind = new Set<string>()
  /** Revisions that the syncer has not looked at, about in their order. */
  readonly #seqs = new Map<string, number>()
  #pendingMarks = 0
  /** Copies that left the mailbox since its syncer had last looked at all such, and the revision of the newest. */
  #removed = { copies: 0, revision: 0 }
  /** Keys of these, up to a bound. */
  readonly #departed = new Set<string>()

  constructor({ left = () => {}, timings, now = () => 0 }: PendingChangesDeps = {}) {
    this.#left = left
    this.#timings = timings
    this.#now = now
  }

  name(key: string): void {
    this.#named.set(key, ++this.#pendingMarks)
    this.#unlooked.add(key)
    this.#timings?.named(key)
  }

  /** To be given to {@link converged}. */
  ticket(key: string): number | undefined {
    return this.#named.get(key)
  }

  /** The copy is as it should be, unless it was named again since. */
  converged(key: string, ticket: number | undefined): void {
    if (this.#named.get(key) !== ticket) return
    this.#named.delete(key)
    this.#unlooked.delete(key)
    this.#timings?.converged(key)
  }

  /** A look has found whether anything of the center keeps it from being right. Answers whether nobody had looked since it was named. */
  looked(key: string): boolean {
    return this.#unlooked.delete(key)
  }

  /** Copies that may have to change, and of which it is not known whether anything of the center keeps them from that. */
  unlooked(): Iterable<string> {
    return this.#unlooked
  }

  /** Counts a write of the desired content. */
  async write(key: string, work: () => Promise<KubeObject>): Promise<KubeObject> {
    this.begin(key)
    try {
      const written = await work()
      this.changed(key, Number(written.metadata.resourceVersion))
      return written
    } finally {
      this.end(key)
    }
  }

  /** The same in two steps, around a write whose revision goes to {@link changed}. */
  begin(key: string): void {
    this.#writing.add(key)
    this.#timings?.projected(key)
  }

  end(key: string): void {
    this.#writing.delete(key)
  }

  /**
   * A report says that the copy is not as it should be. Where nothing has named it, as where other hands have changed it or taken it
   * away, that it is again is otherwise no news.
   */
  reportedBehind(key: string): void {
    if (!this.#named.has(key)) this.#reportedBehind.add(key)
  }

  /** Whether a report counted it as behind; once. */
  wasReportedBehind(key: string): boolean {
    return this.#reportedBehind.delete(key)
  }

  changed(key: string, revision: number): void {
    if (this.#writing.has(key)) this.#timings?.written(key)
    if ((this.#seqs.get(key) ?? 0) >= revision) return
    if (this.#seqs.size === 0) this.#behindSinceMs = this.#now()
    this.#seqs.delete(key)
    this.#seqs.set(key, revision)
  }

  gone(key: string, revision: number): void {
    this.#seqs.delete(key)
    this.#removed = { copies: this.#removed.copies + 1, revision: Math.max(this.#removed.revision, revision) }
    if (this.#departed.size < MOST_DEPARTED) this.#departed.add(key)
    this.#timings?.gone(key)
  }

  /**
   * The syncer has looked at everything up to there, and made it so where nothing is in doubt. A change that came out of order
   * waits for those before it.
   */
  processed(revision: number, isInDoubt: (key: string) => boolean = () => false): void {
    this.#timings?.lookAgain(isInDoubt)
    if (revision >= this.#removed.revision) {
      this.#removed = { copies: 0, revision: 0 }
      this.#departed.clear()
    }
    for (const [key, seq] of this.#seqs) {
      if (seq > revision) return
      this.#seqs.delete(key)
      this.#timings?.processed(key, isInDoubt)
      this.#left(key)
    }
  }

  /** Whether the copy is not in the mailbox yet as it should be. */
  isBehind(key: string): boolean {
    return this.#named.has(key) || this.#writing.has(key)
  }

  /** Whether its cluster has not looked at the content that is written, or being written. */
  isUnprocessed(key: string): boolean {
    return this.#writing.has(key) || this.#seqs.has(key)
  }

  isPending(key: string): boolean {
    return this.#named.has(key) || this.isUnprocessed(key)
  }

  /** Copies that are not in the mailbox yet as they should be. */
  *behind(): Generator<string> {
    yield* this.#named.keys()
    for (const key of this.#writing) if (!this.#named.has(key)) yield key
  }

  /** Copies that the cluster does not have yet, or not in their newest version. */
  *pending(): Generator<string> {
    yield* this.behind()
    for (const key of this.#seqs.keys()) if (!this.#named.has(key) && !this.#writing.has(key)) yield key
  }

  /** Since when the syncer has not looked at all; `undefined`: it has. */
  get behindSinceMs(): number | undefined {
    return this.#seqs.size > 0 ? this.#behindSinceMs : undefined
  }

  get unprocessed(): number {
    return this.#seqs.size
  }

  /** Whether the cluster may still hold a copy that left the mailbox. */
  hasDeparted(key: string): boolean {
    return this.#departed.has(key) || this.#departed.size === MOST_DEPARTED
  }

  /** Copies that left the mailbox and that the cluster may still hold, at most. */
  get removed(): number {
    return this.#removed.copies
  }
}
