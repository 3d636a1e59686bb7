/** Desks of the translator: it answers work statuses, previews and figures there, and gets the clusters' outcomes. */
import { CLUSTER_WORK_STATUSES, COMBINED_STATUSES, WORK_STATUSES } from '../../placement/words/placement.ts'
import type { Parts, PlacementTranslatorDeps } from './assembly.ts'
import { PlacementPreviews } from './preview/placementPreviews.ts'
import { ReportedClusters } from './status/reportedClusters.ts'
import { laggingClusters } from './status/syncTargets/clusterReports.ts'

/** Begins to answer. @returns a function that ends it */
export function beginAnswers(deps: PlacementTranslatorDeps, parts: Parts): () => void {
  const { outcomes, previews, answers, figures, reported, clock } = deps
  const { mailboxes, stages, join, locations, marks, retained, readiness } = parts
  const isKnown = (space: string): boolean => readiness.knowsSpace(space)
  outcomes?.deliverTo(parts.outcomes)
  previews?.deliverTo(previewsOf(deps, parts))
  figures?.show({
    stageTimes: stages,
    lagging: most => laggingClusters(mailboxes.all(), clock.now(), most),
    summaries: () => parts.summaries.figures,
    rollouts: () => parts.rollouts.figures,
  })
  answers?.answerFor(WORK_STATUSES, parts.statuses)
  answers?.answerFor(CLUSTER_WORK_STATUSES, parts.clusterStatuses)
  answers?.answerFor(COMBINED_STATUSES, parts.summaries)
  reported?.answerBy(new ReportedClusters({ join, locations, mailboxes, retained, marks, isKnown }))
  return () => {
    reported?.answerBy(undefined)
    outcomes?.deliverTo(undefined)
    previews?.deliverTo(undefined)
    figures?.show(undefined)
    answers?.answerFor(WORK_STATUSES, undefined)
    answers?.answerFor(CLUSTER_WORK_STATUSES, undefined)
    answers?.answerFor(COMBINED_STATUSES, undefined)
  }
}

function previewsOf(deps: PlacementTranslatorDeps, parts: Parts): PlacementPreviews {
  const { consents, mailboxes, readiness, outcomes } = parts
  const { where, live, clock, schema = () => undefined } = deps
  return new PlacementPreviews({
    ...parts,
    client: deps.client,
    turns: deps.turns,
    logger: deps.logger,
    clock,
    live,
    schema,
    where: () => where?.answerer,
    now: () => clock.now(),
    nowhere: space => consents.nowhere(space),
    locationsFor: space => (readiness.isTopologyWhole ? consents.locationsFor(space) : []),
    mailbox: name => mailboxes.known(name),
    outcome: space => outcomes.of(space),
    knows: (space, key) => readiness.knowsSource(space, key),
    knowsMailbox: name => readiness.knowsMailbox(name),
  })
}
