/** State of an object in each cluster: from WorkStatuses, else from the status of its placements. */
import { num, objects, str } from '../../../../apimachinery/fields.ts'
import { brokenAt } from '../brokenPlaces.ts'
import type { Clusters } from '../clusters.ts'
import { isPlace } from '../destinations.ts'
import { type ClusterState, rankOf, readWorkStatus, whereaboutsOf } from '../workStatus.ts'
import type { PlacementAnswer, WhyFacts } from './whyAnswer.ts'

/** Known state of each cluster; a placement's cluster without any has a note. */
export function clustersOf(
  facts: WhyFacts,
  clusters: Clusters,
  placements: readonly PlacementAnswer[],
  travels: boolean,
): ClusterState[] {
  const { workStatuses, cluster } = facts
  const states = new Map<string, ClusterState>()
  const wanted = new Map<string, string[]>()
  for (const { name, leadsTo = [] } of placements) {
    for (const key of new Set(leadsTo.flatMap(place => clusters.at(place))))
      wanted.set(key, [...(wanted.get(key) ?? []), name])
  }
  const requested = cluster === undefined ? undefined : clusters.named(cluster)
  for (const object of workStatuses.items) {
    const one = readWorkStatus(object)
    const where = whereaboutsOf(object)
    const key = where ? clusters.keyOf(where) : one.location
    const isRequested = (): boolean =>
      one.location === cluster || (where && isPlace(clusters.places.of(where.inventory, where.location), cluster!))!
    if (requested === undefined || requested.has(key) || isRequested()) states.set(key, one)
  }
  for (const [key, by] of travels ? wanted : []) {
    if (states.has(key) || requested?.has(key) === false) continue
    const known = clusters.of(key)!
    const state = workStatuses.unknown === undefined ? PROJECTING : stateByPlacement(facts, by, clusters, key)
    states.set(key, { location: known.label, placements: by, ...state })
  }
  return [...states.values()].sort((a, b) => rankOf(a) - rankOf(b) || (a.location < b.location ? -1 : 1))
}

const PROJECTING = { state: 'Projecting', message: 'nothing is known of it there yet' }

/** From the status of the placement: what is broken is named there, up to a bound. */
function stateByPlacement(
  { placements, object, resource }: WhyFacts,
  names: readonly string[],
  clusters: Clusters,
  cluster: string,
): Omit<ClusterState, 'location' | 'placements'> {
  const { name, namespace } = object.metadata
  const named = placements.items.filter(({ metadata }) => names.includes(metadata.name ?? ''))
  for (const { status } of named) {
    const found = objects(status, 'broken').find(
      one =>
        one.name === name &&
        one.resource === resource.resource &&
        str(one, 'group') === resource.group &&
        str(one, 'namespace') === (namespace ?? '') &&
        clusters.keyOf(brokenAt(one)) === cluster,
    )
    if (!found) continue
    const state = str(found, 'state')
    const [reason, message, since] = [str(found, 'reason'), str(found, 'message'), str(found, 'since')]
    if (state === 'degraded') return { state: 'Applied', health: 'Degraded', healthMessage: message, since }
    return { state: state.charAt(0).toUpperCase() + state.slice(1), reason, message, since }
  }
  const isApplied = named.every(
    ({ metadata, status }) =>
      num(status, 'observedGeneration') === metadata.generation &&
      objects(status, 'conditions').some(({ type, status: is }) => type === 'Applied' && is === 'True'),
  )
  if (isApplied) return { state: 'Applied', message: 'its placement says that all is applied' }
  return { state: 'Unknown', message: 'its placement counts, and names only some of what is broken' }
}
