/**
 * Outcomes of the content of mailboxes, as syncers report them, in memory while the syncer lives. A silent syncer takes its reports with
 * it, and a restarted center requests whole ones. A report costs its own size.
 */
import { hash, randomUUID } from 'node:crypto'
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import type { Clock } from '../../../client/clock.ts'
import { type ClusterOutcome, UNREPORTED } from '../../../placement/outcome/clusterOutcome.ts'
import { isSameOffer, type Offer } from '../../../placement/outcome/offer.ts'
import type {
  ClusterVersions,
  Exception,
  OutcomeAnswer,
  OutcomeReceiver,
  OutcomeReport,
} from '../../../placement/outcome/outcome.ts'
import { MAX_EXCEPTIONS, OUTCOME_SILENCE_MS } from '../../../placement/outcome/outcome.ts'
import { objectKey } from '../../../placement/words/names.ts'

export interface ClusterOutcomesDeps {
  clock: Clock
  /** The outcome of a mailbox, by its space, may have changed: for these keys, or for all. */
  changed: (space: string, keys: readonly string[] | 'all') => void
  /** As {@link OutcomeReceiver.settled}. */
  settled?: (() => void) | undefined
  /** Whether it matters how far the syncer of a mailbox is: something waits to be looked at. Default: always. */
  isAwaited?: ((space: string) => boolean) | undefined
  /** Epoch of the center. Default: one that no other process has. */
  epoch?: string | undefined
}

interface Session {
  readonly id: string
  number: number
  unreachable: boolean
  compared: boolean
  processed: number
  exceptions: Map<string, Exception>
  unlisted: OutcomeReport['unlisted']
  versions: ClusterVersions | undefined
  offer: Offer | undefined
  reportedAtMs: number
  live: boolean
  /** Handle of the timer that ends the wait for its next report; absent while none runs. */
  cancel: (() => void) | undefined
}

/** A time ahead by less is shown unchanged. */
const CLOCKS_DIFFER_MS = 60_000
/** No syncer has run for longer. */
const LONGEST_MS = 5 * 365 * 86_400_000

/** Different offers that are shared. */
const KEPT_OFFERS = 50

export class ClusterOutcomes implements OutcomeReceiver {
  readonly epoch: string
  readonly #deps: ClusterOutcomesDeps
  /** By id of the mailbox space. */
  readonly #sessions = new Map<string, Session>()
  /** By hash: clusters of a fleet are mostly of few makes, and those that offer the same share one object. */
  readonly #offers = new BoundedCache<string, Offer>(KEPT_OFFERS)

  constructor(deps: ClusterOutcomesDeps) {
    this.#deps = deps
    this.epoch = deps.epoch ?? randomUUID()
  }

  of(space: string): ClusterOutcome {
    return this.#sessions.get(space) ?? UNREPORTED
  }

  /** Takes in what the syncer of a mailbox says. */
  take(space: string, report: OutcomeReport): OutcomeAnswer {
    const known = this.#sessions.get(space)
    const follows = known?.id === report.session && known.number + 1 === report.number
    if (report.epoch !== this.epoch || !(report.whole || follows)) return { epoch: this.epoch, again: true }
    const exceptions = report.whole || !known ? new Map<string, Exception>() : known.exceptions
    const keys: string[] = []
    for (const key of report.settled) {
      const id = objectKey(key, key.namespace, key.name)
      exceptions.delete(id)
      keys.push(id)
    }
    const nowMs = this.#deps.clock.now()
    for (const one of report.exceptions) {
      const id = objectKey(one, one.namespace, one.name)
      exceptions.set(id, withTime(one, known?.exceptions.get(id), nowMs))
      keys.push(id)
    }
    if (exceptions.size > MAX_EXCEPTIONS) {
      // it lost count, and its next report has to be whole
      this.#end(space)
      this.#deps.changed(space, 'all')
      return { epoch: this.epoch, again: true }
    }
    const offer = this.#offerOf(report, known)
    const { session: id, number, unreachable = false, compared, processed, unlisted, versions } = report
    const reported = {
      number,
      unreachable,
      compared,
      processed,
      exceptions,
      unlisted,
      versions,
      offer,
      reportedAtMs: nowMs,
      live: true,
    }
    const isOther =
      known === undefined ||
      !known.live ||
      report.whole ||
      known.compared !== compared ||
      known.unreachable !== unreachable ||
      JSON.stringify([known.unlisted, known.versions]) !== JSON.stringify([unlisted, versions])
    const isFurther = known?.processed !== processed && (this.#deps.isAwaited?.(space) ?? true)
    const isNews = isOther || isFurther || keys.length > 0 || known.offer !== offer
    if (known?.id === id) Object.assign(known, reported)
    else {
      this.#end(space)
      this.#sessions.set(space, { id, ...reported, cancel: undefined })
    }
    this.#watch(space)
    if (isNews) this.#deps.changed(space, isOther ? 'all' : keys)
    return { epoch: this.epoch, again: false }
  }

  /** The connection of a session has ended. */
  silent(space: string, id: string, reportedAtMs = this.#deps.clock.now()): void {
    const session = this.#sessions.get(space)
    if (!session?.live || session.id !== id) return
    session.live = false
    session.reportedAtMs = reportedAtMs
    session.cancel?.()
    session.cancel = undefined
    this.#deps.changed(space, 'all')
  }

  settled(): void {
    this.#deps.settled?.()
  }

  forget(space: string): void {
    this.#end(space)
  }

  stop(): void {
    for (const space of [...this.#sessions.keys()]) this.#end(space)
  }

  #offerOf({ offer, whole }: OutcomeReport, known: Session | undefined): Offer | undefined {
    if (offer === undefined) return whole ? undefined : known?.offer
    return isSameOffer(offer, known?.offer) ? known?.offer : this.#shared(offer)
  }

  #shared(offer: Offer): Offer {
    const key = hash('sha256', JSON.stringify(offer), 'base64')
    const one = this.#offers.get(key) ?? offer
    this.#offers.set(key, one)
    return one
  }

  #end(space: string): void {
    this.#sessions.get(space)?.cancel?.()
    this.#sessions.delete(space)
  }

  /** One timer for each session, which is set anew only when it fires. */
  #watch(space: string): void {
    const session = this.#sessions.get(space)!
    if (!session.cancel) this.#arm(space, session, OUTCOME_SILENCE_MS)
  }

  #arm(space: string, session: Session, inMs: number): void {
    session.cancel = this.#deps.clock.after(inMs, () => {
      session.cancel = undefined
      if (this.#sessions.get(space) !== session || !session.live) return
      const leftMs = session.reportedAtMs + OUTCOME_SILENCE_MS - this.#deps.clock.now()
      if (leftMs > 0) this.#arm(space, session, leftMs)
      else this.silent(space, session.id, session.reportedAtMs)
    })
  }
}

/** By the cluster's clock, which may be wrong: an impossible time gives way to the first report's. */
function withTime(one: Exception, before: Exception | undefined, nowMs: number): Exception {
  const sinceMs = Date.parse(one.since)
  if (sinceMs <= nowMs + CLOCKS_DIFFER_MS && sinceMs > nowMs - LONGEST_MS) return one
  const isSame = before?.state === one.state && before.reason === one.reason
  return { ...one, since: isSame ? before.since : timestamp(new Date(nowMs)) }
}
