/** Desks of the translator: it answers work statuses, previews and figures there, and gets the clusters' outcomes. */
import type { Desks } from '../../../placement/desks/desks.ts'
import { CLUSTER_WORK_STATUSES, COMBINED_STATUSES, WORK_STATUSES } from '../../../placement/words/placement.ts'
import type { WhereDesk } from '../../whereDesk.ts'
import { PlacementPreviews } from '../preview/placementPreviews.ts'
import { laggingClusters } from '../status/clusterReports.ts'
import { ReportedClusters } from '../status/reportedClusters.ts'
import { WorkStatuses } from '../status/workStatuses.ts'
import type { Parts, Setup } from './parts.ts'

export interface Askers extends Partial<Desks> {
  /** Where placements would lead, for previews. Absent: nobody knows. */
  where?: Pick<WhereDesk, 'answerer'> | undefined
}

/** Begins to answer. @returns a function that ends it */
export function beginAnswers(askers: Askers, setup: Setup, parts: Parts): () => void {
  const { outcomes, previews, answers, figures, reported } = askers
  const { mailboxes, stages } = parts
  outcomes?.deliverTo(parts.outcomes)
  previews?.deliverTo(previewsOf(askers, setup, parts))
  figures?.show({
    stages,
    lagging: most => laggingClusters(mailboxes.all(), setup.clock.now(), most),
  })
  answers?.answerFor(WORK_STATUSES, workStatuses(setup, parts, { isNamespaced: true }))
  answers?.answerFor(CLUSTER_WORK_STATUSES, workStatuses(setup, parts, { isNamespaced: false }))
  answers?.answerFor(COMBINED_STATUSES, parts.summaries)
  reported?.answerBy(
    new ReportedClusters({
      join: parts.join,
      locations: parts.locations,
      mailboxes,
      retained: parts.retained,
      marks: parts.marks,
      isKnown: space => isPlacingKnown(space, parts),
    }),
  )
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

export function workStatuses({ client, places }: Setup, parts: Parts, about: { isNamespaced: boolean }): WorkStatuses {
  const { join, cache, sources, kinds, clusters, mailboxes, locations, statuses, retained, brake } = parts
  const deps = {
    client,
    join,
    cache,
    sources,
    kinds,
    clusters,
    mailbox: (name: string) => mailboxes.get(name),
    locations,
    followers: statuses,
    retained,
    // held copies are placed by nobody, and would be missing
    isKnown: (space: string) => isPlacingKnown(space, parts) && !brake.isUnsure(space),
    pathOf: (space: string) => places.pathOf(space),
  }
  return new WorkStatuses(deps, about)
}

/** Whether all is known that a space places, and where. */
export function isPlacingKnown(space: string, { readiness, join, workloads }: Parts): boolean {
  return readiness.isTopologyWhole && (!join.isWorkloadSpace(space) || workloads.isSynced(space))
}

function previewsOf(
  { where, live }: Askers,
  { client, turns, clock, logger, schema }: Setup,
  parts: Parts,
): PlacementPreviews {
  const { join, consents, facts, brake, retained, mailboxes, readiness, inventory, intake } = parts
  return new PlacementPreviews({
    client,
    join,
    turns,
    clock,
    logger,
    consents,
    where: () => where?.answerer,
    live,
    now: () => clock.now(),
    brake,
    nowhere: space => consents.nowhere(space),
    facts,
    retained,
    mailbox: name => mailboxes.known(name),
    outcome: space => parts.outcomes.of(space),
    knows: (space, key) => readiness.knowsSource(space, key),
    knowsMailbox: name => readiness.knowsMailbox(name),
    location: (cluster, name) => inventory.location(cluster, name),
    customizer: (space, reference) => intake.customizer(space, reference),
    schema,
  })
}
