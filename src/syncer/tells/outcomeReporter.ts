/**
 * Tells the center what became of what it placed: all of it when a session begins and whenever the center asks, else what changed. News
 * wait a moment for others. Without any it sends a sign of life now and then, which keeps its report valid and tests the connection.
 */
import { at, num, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'
import { type Clock, pause } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import type { OutcomeState } from '../../placement/outcome/copyStates.ts'
import type { Offer } from '../../placement/outcome/offer.ts'
import {
  type ClusterVersions,
  DELETION_HELD,
  type Exception,
  MAX_EXCEPTIONS,
  MAX_NAME,
  OUTCOME_FORM,
  OUTCOME_SUBRESOURCE,
  type OutcomeReport,
  STATUS_TOO_LARGE,
} from '../../placement/outcome/outcome.ts'
import { SYNCER_CONFIG_NAME, SYNCER_CONFIGS } from '../../placement/words/placement.ts'
import type { FeedPosition } from '../mailbox/mailboxFeed.ts'
import type { Outcomes } from './outcomes.ts'

export interface OutcomeReporterDeps {
  mailbox: SpaceClient
  /** Id of this process; the stream of the mailbox carries the same one. */
  session: string
  outcomes: Outcomes
  /** Position of the mailbox's feed. */
  position: () => FeedPosition | undefined
  /** Between two words about nothing new, unless the center says how long that may be. */
  everyMs: number
  /** Versions of the cluster and its syncer. Absent: not reported. */
  versions?: (() => Promise<ClusterVersions>) | undefined
  /** The cluster is of another release than it was. */
  onUpgrade?: (() => void) | undefined
  /** Offer of the cluster: the same object until its content changes. Absent, or `undefined`: unknown yet. */
  offer?: (() => Offer | undefined) | undefined
  logger: Logger
  clock: Clock
}

/** Removals that are held are listed first, and only some of them: each message counts all. */
const LISTED_HELD = 50
/** Interval between two reports, so that related changes arrive together. */
const PACE_MS = 200
/** The longest that a center may ask for between two words about nothing new. */
const MAX_QUIET_MS = 600_000
/** The longest that a center may have news wait. */
const MAX_GATHER_MS = 5000
/** Delay before an unconfirmed report is repeated; twice as long each time. Until it arrives the center claims nothing. */
const AGAIN_MS = 1000
/** Age at which the cluster's version is read again; interval of the retries where it gave none. */
const VERSIONS_MS = 3_600_000
const VERSIONS_AGAIN_MS = 60_000
/**
 * Bytes of exceptions that fit into a report, the offer included, and of settled keys; the center takes a little more than both.
 */
const LISTED_BYTES = 200_000
const SETTLED_BYTES = 50_000

export class OutcomeReporter {
  readonly #deps: OutcomeReporterDeps
  #number = 0
  /** From the center's last message: epoch of a report that claims nothing. */
  #epoch = ''
  /** Between two words about nothing new. */
  #quietMs: number
  /** Delay of news before a report: a center of many clusters sets it. */
  #gatherMs = 0
  /** Exceptions that the center has; `undefined` while all are to be sent. */
  #reported: Map<string, Exception> | undefined
  /** The offer that the center has. */
  #offered: Offer | undefined
  #isNews = true
  #wake: AbortController | undefined
  #versions: ClusterVersions | undefined

  constructor(deps: OutcomeReporterDeps) {
    this.#deps = deps
    this.#quietMs = deps.everyMs
  }

  /** There may be something to tell. */
  news(): void {
    this.#isNews = true
    this.#wake?.abort()
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#reports(signal), this.#askVersions(signal)])
  }

  async #reports(signal: AbortSignal): Promise<void> {
    const { clock, everyMs } = this.#deps
    let failures = 0
    while (!signal.aborted) {
      this.#isNews = false
      const came = await this.#report()
      failures = came === 'lost' ? failures + 1 : 0
      await pause(clock, PACE_MS, signal)
      this.#wake = new AbortController()
      const waitMs = came === 'lost' ? Math.min(everyMs, AGAIN_MS * 2 ** Math.min(failures - 1, 10)) : this.#quietMs
      if (came !== 'to be repeated' && !this.#isNews)
        await pause(clock, waitMs, AbortSignal.any([signal, this.#wake.signal]))
      this.#wake = undefined
      // an unconfirmed report has waited long enough
      if (came === 'received' && this.#isNews) await pause(clock, this.#gatherMs, signal)
    }
  }

  /** Whether the center took the report. */
  async #report(): Promise<'received' | 'lost' | 'to be repeated'> {
    const { mailbox, logger } = this.#deps
    const { report, listed, offer } = this.#next()
    const body: KubeObject = {
      ...OUTCOME_FORM,
      metadata: { name: SYNCER_CONFIG_NAME },
      spec: briefly(report),
    }
    try {
      const answer = await mailbox.update(SYNCER_CONFIGS, body, { subresource: OUTCOME_SUBRESOURCE })
      const known = this.#epoch
      this.#epoch = str(answer, 'status', 'epoch')
      const again = at(answer, 'status', 'again') === true
      this.#reported = again ? undefined : listed
      this.#offered = again ? undefined : offer
      this.#quietMs = this.#quietMsOf(answer)
      this.#gatherMs = Math.max(0, Math.min(num(answer, 'status', 'gatherMilliseconds'), MAX_GATHER_MS))
      if (!again) return 'received'
      // once it is known which center this is, it takes the same at once; what it does not take for other reasons can wait
      return this.#epoch !== '' && this.#epoch !== known ? 'to be repeated' : 'lost'
    } catch (error) {
      this.#reported = undefined
      this.#quietMs = this.#deps.everyMs
      this.#gatherMs = 0
      logger.warn({ err: error }, 'the report of outcomes did not reach the center')
      return 'lost'
    }
  }

  /** The center names the time that it takes well; it is never shorter than this syncer's own. */
  #quietMsOf(answer: KubeObject): number {
    const { everyMs } = this.#deps
    const requestedMs = num(answer, 'status', 'quietSeconds') * 1000
    return Math.max(everyMs, Math.min(requestedMs, MAX_QUIET_MS))
  }

  /** Clusters are upgraded while their syncers run. Their version is read beside all other work: the answer may be slow. */
  async #askVersions(signal: AbortSignal): Promise<void> {
    const { versions, onUpgrade, clock, logger } = this.#deps
    while (versions && !signal.aborted) {
      let waitMs = VERSIONS_MS
      try {
        const found = await versions()
        if (!equalJson(found, this.#versions)) {
          if (this.#versions && this.#versions.kubernetes !== found.kubernetes) onUpgrade?.()
          this.#versions = found
          this.news()
        }
      } catch (error) {
        waitMs = VERSIONS_AGAIN_MS
        logger.debug({ err: error }, 'the cluster does not say its version')
      }
      await pause(clock, waitMs, signal)
    }
  }

  #next(): { report: OutcomeReport; listed: Map<string, Exception>; offer: Offer | undefined } {
    const { outcomes, position } = this.#deps
    const offer = this.#deps.offer?.()
    const before = this.#reported ?? new Map<string, Exception>()
    const listed = new Map<string, Exception>()
    const unlisted: Partial<Record<OutcomeState, number>> = {}
    // whether it is due now or not: the choice of listed keys must not depend on that
    let bytes = offer ? sizeOf(offer) : 0
    // what is there displaces nothing that is not, and raises no doubt where it finds no place
    const all = [...outcomes.exceptions]
    const isHeld = ([, { reason }]: [string, Exception]): boolean => reason === DELETION_HELD
    const held = all.filter(isHeld).slice(0, LISTED_HELD)
    const others = all.filter(each => !isHeld(each))
    const isThere = ([, { state, reason }]: [string, Exception]): boolean =>
      state === 'finished' || (state === 'applied' && reason !== STATUS_TOO_LARGE)
    for (const [key, one] of [...held, ...others.filter(each => !isThere(each)), ...others.filter(isThere)]) {
      // a name that is cut short would name a different object, or none
      const mayList = listed.size < MAX_EXCEPTIONS && bytes < LISTED_BYTES && one.name.length <= MAX_NAME
      if (mayList) bytes += sizeOf(one)
      if (mayList && bytes <= LISTED_BYTES) listed.set(key, one)
      else if (!isThere([key, one])) unlisted[one.state] = (unlisted[one.state] ?? 0) + 1
    }
    const settled = [...before]
      .filter(([key]) => !listed.has(key))
      .map(([, { group, resource, namespace, name }]) => ({ group, resource, namespace, name }))
    const whole = this.#reported === undefined || sizeOf(settled) > SETTLED_BYTES
    const upTo = position()
    const compared = outcomes.compared && upTo !== undefined
    return {
      listed,
      offer,
      report: {
        session: this.#deps.session,
        number: ++this.#number,
        whole,
        // a position of another epoch of the center claims nothing in this one
        epoch: upTo?.epoch ?? this.#epoch,
        compared,
        processed: compared ? outcomes.processed(upTo.revision) : 0,
        ...(outcomes.isOutOfSight && { unreachable: true }),
        exceptions: [...listed].filter(([key, one]) => whole || before.get(key) !== one).map(([, one]) => one),
        settled: whole ? [] : settled,
        unlisted,
        ...(this.#versions && { versions: this.#versions }),
        ...(offer && (whole || offer !== this.#offered) && { offer }),
      },
    }
  }
}

/** An absent field means the same, and most reports are empty. */
function briefly(report: OutcomeReport): Partial<OutcomeReport> {
  const { whole, exceptions, settled, unlisted, ...rest } = report
  return {
    ...rest,
    ...(whole && { whole }),
    ...(exceptions.length > 0 && { exceptions }),
    ...(settled.length > 0 && { settled }),
    ...(Object.keys(unlisted).length > 0 && { unlisted }),
  }
}

/** As it is sent: letters may take several bytes, and more where JSON escapes them. */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
