/**
 * Reports of a syncer to its center beside status: outcomes of placed objects, the cluster's offer and live content, refusals, and the
 * progress of orders.
 */

import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import type { AssociatedStatus } from '../../placement/desks/syncerConfig.ts'
import type { OutcomeState } from '../../placement/outcome/copyStates.ts'
import { isSameOffer, type Offer, offerOf } from '../../placement/outcome/offer.ts'
import type { ClusterVersions } from '../../placement/outcome/outcome.ts'
import type { ClusterAllowance } from '../mailbox/clusterAllowance.ts'
import type { FeedPosition } from '../mailbox/mailboxFeed.ts'
import type { MailboxMirror } from '../mailbox/mirror.ts'
import { type OrdersReport, OWN_CONFIG } from '../mailbox/orders.ts'
import { ConfigReport } from './configReport.ts'
import { LiveAnswers, type LiveAnswersDeps } from './liveAnswers.ts'
import { OutcomeReporter } from './outcomeReporter.ts'
import { Outcomes } from './outcomes.ts'
import { Refusals } from './refusals.ts'
import { PLAIN, STATE_NOT_KEPT } from './verdicts.ts'

interface ReportsDeps {
  mailbox: SpaceClient
  /** Id of this process; the stream of the mailbox carries the same one. */
  session: string
  mirror: MailboxMirror
  allowance: ClusterAllowance
  /** Between two reports without news. */
  quietMs: number
  /** Versions of the cluster and its syncer. Absent: not reported. */
  versions?: (() => Promise<ClusterVersions>) | undefined
  /** Position of the mailbox's feed. */
  position: () => FeedPosition | undefined
  orders: () => OrdersReport
  associated: () => AssociatedStatus | 'unknown' | undefined
  compare: LiveAnswersDeps['compare']
  /** The cluster is of another release than it was. */
  onUpgrade: () => void
  logger: Logger
  clock: Clock
}

export class Reports {
  readonly outcomes: Outcomes
  readonly refusals: Refusals
  readonly #deps: ReportsDeps
  readonly #reporter: OutcomeReporter
  readonly #config: ConfigReport
  readonly #live: LiveAnswers
  #offer: Offer | undefined

  constructor(deps: ReportsDeps) {
    this.#deps = deps
    const { logger, clock } = deps
    this.outcomes = new Outcomes(clock, () => this.#reporter.news())
    this.refusals = new Refusals(logger, () => this.#config.soon())
    const { outcomes, refusals } = this
    this.#reporter = new OutcomeReporter({ ...deps, outcomes, everyMs: deps.quietMs, offer: () => this.#offer })
    this.#config = new ConfigReport({ ...deps, refusals })
    this.#live = new LiveAnswers(deps)
  }

  /** Until the signal aborts. @param ready when orders are known */
  async run(ready: Promise<unknown>, signal: AbortSignal): Promise<void> {
    await Promise.all([ready.then(() => this.#config.run(signal)), this.#reporter.run(signal)])
  }

  /** The mailbox's feed has reached a new revision. */
  mailboxProgressed(): void {
    this.#reporter.news()
  }

  /** A config appeared in the mailbox, which knows nothing of us yet. */
  configAppeared(): void {
    this.#config.hurry()
  }

  /** Others of the associated objects may be left out. */
  associatedChanged(): void {
    this.#config.soon()
  }

  ordersChanged(): void {
    this.#config.now()
  }

  /** The center asks what the cluster holds now. */
  receiveQuestion(question: unknown): void {
    this.#live.receive(question)
  }

  /** All that the cluster serves. */
  served(resources: Iterable<DiscoveredResource>): void {
    const offered = clusterOffer(resources, this.#deps.allowance)
    if (isSameOffer(offered, this.#offer)) return
    this.#offer = offered
    this.#reporter.news()
  }

  /** Whether what is known is written down for the next start. */
  stateKept(isKept: boolean): void {
    const seq = Number(this.#deps.mirror.get(OWN_CONFIG)?.object.metadata.resourceVersion ?? 0)
    if (isKept) this.outcomes.settle(OWN_CONFIG)
    else this.outcomes.except(OWN_CONFIG, seq, STATE_NOT_KEPT)
  }

  /** How many objects of the mailbox are not in the cluster as they should be. */
  exceptions(): Partial<Record<OutcomeState, number>> {
    const counts: Partial<Record<OutcomeState, number>> = {}
    for (const [, { state, reason }] of this.outcomes.exceptions)
      if (state !== 'finished' && reason !== PLAIN.reason) counts[state] = (counts[state] ?? 0) + 1
    return counts
  }
}

/** Resources of the cluster that its syncer could carry. */
export function clusterOffer(
  served: Iterable<DiscoveredResource>,
  allowance: Pick<ClusterAllowance, 'mayCarry'>,
): Offer {
  const carried = [...served].filter(
    resource =>
      resource.verbs.includes('list') &&
      resource.verbs.includes('watch') &&
      allowance.mayCarry(resource, resource.namespaced),
  )
  return offerOf(carried.map(({ group, resource, version, versions = [version] }) => ({ group, resource, versions })))
}
