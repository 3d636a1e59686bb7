/**
 * Reports of a syncer to its center beside status: outcomes of placed objects, the cluster's offer and live content, refusals, and the
 * progress of orders.
 */

import type { DiscoveredResource } from '../../client/client.ts'
import type { OutcomeState } from '../../placement/outcome/copyStates.ts'
import { isSameOffer, type Offer, offerOf } from '../../placement/outcome/offer.ts'
import type { ClusterAllowance } from '../mailbox/clusterAllowance.ts'
import { OWN_CONFIG } from '../mailbox/orders.ts'
import { ConfigReport, type ConfigReportDeps } from './configReport.ts'
import { LiveAnswers, type LiveAnswersDeps } from './liveAnswers.ts'
import { OutcomeReporter, type OutcomeReporterDeps } from './outcomeReporter.ts'
import { Outcomes } from './outcomes.ts'
import { Refusals } from './refusals.ts'
import { PLAIN, STATE_NOT_KEPT } from './verdicts.ts'

interface ReportsDeps
  extends Omit<OutcomeReporterDeps, 'outcomes' | 'offer'>,
    Omit<ConfigReportDeps, 'refusals'>,
    Pick<LiveAnswersDeps, 'compare'> {
  allowance: ClusterAllowance
}

export class Reports {
  readonly outcomes: Outcomes
  readonly refusals: Refusals
  readonly reporter: OutcomeReporter
  readonly config: ConfigReport
  /** Takes the center's questions. */
  readonly live: LiveAnswers
  readonly #deps: ReportsDeps
  #offer: Offer | undefined

  constructor(deps: ReportsDeps) {
    this.#deps = deps
    const { logger, clock } = deps
    this.outcomes = new Outcomes(clock, () => this.reporter.news())
    this.refusals = new Refusals(logger, () => this.config.soon())
    const { outcomes, refusals } = this
    this.reporter = new OutcomeReporter({ ...deps, outcomes, offer: () => this.#offer })
    this.config = new ConfigReport({ ...deps, refusals })
    this.live = new LiveAnswers(deps)
  }

  /** Until the signal aborts. @param ready when orders are known */
  async run(ready: Promise<unknown>, signal: AbortSignal): Promise<void> {
    await Promise.all([ready.then(() => this.config.run(signal)), this.reporter.run(signal)])
  }

  /** All that the cluster serves. */
  served(resources: Iterable<DiscoveredResource>): void {
    const offered = clusterOffer(resources, this.#deps.allowance)
    if (isSameOffer(offered, this.#offer)) return
    this.#offer = offered
    this.reporter.news()
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
