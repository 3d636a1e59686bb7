/** The whole road of one object of a workload space, from what its users may read there. Pure. */
import type { KubeObject } from '../../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../../client/client.ts'
import { OBJECT_CONFLICT } from '../../../../placement/outcome/copyState.ts'
import { statesCounted } from '../../../../placement/outcome/copyStates.ts'
import type { Matchable } from '../../../../placement/select/placementSpec.ts'
import { ANSWERS_VERSION } from '../../../shell/output.ts'
import { Clusters } from '../clusters.ts'
import { explainDestinations, isPlace, type Place, Places } from '../destinations.ts'
import type { Known } from '../known.ts'
import { nameOfObject } from '../objectArgument.ts'
import { type ClusterState, isDone } from '../workStatus.ts'
import { explainSelection } from './selection.ts'
import type { PlacementAnswer, WhyAnswer, WhyFacts } from './whyAnswer.ts'
import { clustersOf } from './whyClusters.ts'
import { type Note, objectNotes, placementNotes, staysHome } from './whyNotes.ts'
import { stagesOf } from './whyStages.ts'
import { verdictOf } from './whyVerdict.ts'
import { withheldStatus } from './withheldStatus.ts'

/** Bound on the Locations that a placement does not lead to; the nearest are kept. */
const MAX_MISSES = 100
/** To which the placements of the space lead. */
export function clustersIn({ granted, bindings, slices }: Pick<WhyFacts, 'granted' | 'bindings' | 'slices'>): Clusters {
  return new Clusters(new Places(granted.items, bindings.items), slices.items)
}

export function why(facts: WhyFacts): WhyAnswer {
  const { object, resource, cluster } = facts
  const { name = '', namespace = '', uid = '', generation, creationTimestamp } = object.metadata
  const stays = staysHome(resource, object)
  const known = clustersIn(facts)
  const placements = facts.placements.items.map(placement => placementAnswer(placement, facts, known))
  placements.sort(
    (a, b) => Number(b.selects) - Number(a.selects) || weightOf(a) - weightOf(b) || (a.name < b.name ? -1 : 1),
  )
  const clusters = clustersOf(facts, known, placements, stays === undefined)
  const described = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    group: resource.group,
    resource: resource.resource,
    ...(namespace !== '' && { namespace }),
    name,
    uid,
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
  }
  const withheld =
    cluster === undefined
      ? withheldStatus(resource, facts.placements.items, { answers: placements, clusters })
      : undefined
  const what = nameOfObject(resource, namespace, name)
  // each cluster where it is another's has the same words
  const isInConflict = clusters.some(({ state }) => state === 'Conflict')
  const answer = {
    notes: [
      ...(stays ? [stays] : []),
      ...(isNamespace(resource) ? [NAMESPACES_FOLLOW] : []),
      ...objectNotes(object).filter(({ reason }) => reason !== OBJECT_CONFLICT || !isInConflict),
      ...(withheld ? [withheld] : []),
    ],
    placements: placements.map(one => withoutOthers(one, clusters)),
    clusters,
    unknown: unknownOf(facts),
  }
  const verdict = verdictOf(answer, { what, stays, facts, cluster })
  return { apiVersion: ANSWERS_VERSION, kind: 'Why', object: described, ...verdict, ...answer }
}

const NAMESPACES_FOLLOW: Note = {
  reason: 'NamespacesFollow',
  message: 'where objects of this namespace go it comes along bare; select it to carry its labels and annotations',
}

function isNamespace({ group, resource }: DiscoveredResource): boolean {
  return group === '' && resource === 'namespaces'
}

/** Conditions that count over all objects of a placement. */
const ABOUT_OBJECTS: ReadonlySet<string | undefined> = new Set(['Placed', 'DeletionHeld'])

/** States in which a cluster does not say yet, or not now, how the object is. */
const UNKNOWING: ReadonlySet<string> = new Set((['pending', 'stale', 'unknown'] as const).flatMap(statesCounted))

/** Where each cluster says itself how this object is there, the placement's notes repeat that, or are about other objects. */
function withoutOthers(placement: PlacementAnswer, clusters: readonly ClusterState[]): PlacementAnswer {
  const isReported = clusters.every(one => isDone(one) || (!UNKNOWING.has(one.state) && (one.message ?? '') !== ''))
  if (clusters.length === 0 || !isReported) return placement
  const isAbout = ({ type }: Note): boolean =>
    !ABOUT_OBJECTS.has(type) || (type === 'DeletionHeld' && clusters.some(({ placements }) => placements.length === 0))
  return { ...placement, notes: placement.notes.filter(isAbout) }
}

function weightOf({ nearest }: PlacementAnswer): number {
  return nearest?.misses.length ?? 0
}

function placementAnswer(placement: KubeObject, facts: WhyFacts, clusters: Clusters): PlacementAnswer {
  const { object, namespaceLabels, slices, cluster } = facts
  const name = placement.metadata.name ?? ''
  const matchable = matchableOf(facts.resource, object)
  const explained = explainSelection(placement, matchable, namespaceLabels)
  const implied = explained.selects ? undefined : impliedBy(placement, facts)
  const notes = placementNotes(placement)
  if (!explained.selects && implied === undefined) return { name, ...explained, notes: [] }
  const selection = implied === undefined ? explained : { selects: true, implied }
  const own = slices.items.filter(slice => placementOf(slice) === name)
  const { leadsTo, misses, granted } = explainDestinations(placement, own, clusters.places)
  const named = cluster === undefined ? undefined : clusters.named(cluster)
  const isRequested = (place: Place): boolean =>
    named === undefined || isPlace(place, cluster!) || clusters.at(place).some(key => named.has(key))
  const stages = facts.staged && stagesOf(name, stagedIn(facts.staged, clusters, isRequested))
  // the stages say the same
  const isInStages = ({ type }: Note): boolean =>
    type === 'RolledOut' && stages !== undefined && stages.state !== 'Done'
  return {
    name,
    ...selection,
    notes: notes.filter(note => !isInStages(note)),
    ...(stages && { stages }),
    leadsTo: leadsTo.filter(isRequested),
    misses: misses.filter(isRequested).slice(0, MAX_MISSES),
    leads: leadsTo.length,
    granted,
  }
}

function stagedIn(
  { rollouts, revisions }: NonNullable<WhyFacts['staged']>,
  { places }: Clusters,
  isRequested: (place: Place) => boolean,
): Parameters<typeof stagesOf>[1] {
  const placeOf = (inventory: string, location: string): Place | undefined => {
    const place = places.of(inventory, location)
    return isRequested(place) ? place : undefined
  }
  return { rollouts: rollouts.items, revisions: revisions.items, placeOf }
}

/** The EdgePlacement that a slice is of. */
function placementOf({ metadata }: KubeObject): string | undefined {
  return metadata.ownerReferences?.find(({ kind }) => kind === 'EdgePlacement')?.name ?? metadata.name
}

export function matchableOf({ group, resource }: DiscoveredResource, { metadata }: KubeObject): Matchable {
  const { name = '', namespace = '', labels = {} } = metadata
  return { resource: { group, resource }, namespace, name, labels }
}

function impliedBy(placement: KubeObject, { defined }: WhyFacts): string | undefined {
  const found = defined.find(one => explainSelection(placement, one, undefined).selects)
  return (
    found && `it defines the kind of ${nameOfObject(found.resource, found.namespace, found.name)}, which is selected`
  )
}

function unknownOf({
  placements,
  slices,
  granted,
  bindings,
  workStatuses,
  namespaceLabels,
  object,
  staged,
}: WhyFacts): string[] {
  const unknown: string[] = []
  const note = ({ unknown: reason }: Known, what: string) => {
    if (reason !== undefined) unknown.push(`${what}: ${reason}`)
  }
  note(placements, 'which placements select it')
  note(slices, 'where placements lead')
  note(granted, 'which locations there are')
  note(bindings, 'which inventories the space uses')
  note(workStatuses, 'what became of it in each cluster')
  if (staged) note(staged.rollouts, 'in which stage clusters are')
  if ((object.metadata.namespace ?? '') !== '' && !namespaceLabels) {
    unknown.push('what namespaceSelectors say of it: you may not get its namespace')
  }
  return unknown
}
