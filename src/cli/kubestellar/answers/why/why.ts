/** The whole road of one object of a workload space, from what its users may read there. Pure. */
import { num, objects, str } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../../client/client.ts'
import { OBJECT_CONFLICT } from '../../../../placement/outcome/copyState.ts'
import { statesCounted } from '../../../../placement/outcome/copyStates.ts'
import type { Matchable } from '../../../../placement/select/placementSpec.ts'
import { ANSWERS_VERSION } from '../../../shell/output.ts'
import { nameOfObject } from '../askedObject.ts'
import { brokenAt } from '../brokenPlaces.ts'
import { Clusters } from '../clusters.ts'
import { explainDestinations, isPlace, type LocationMiss, type Place, Places } from '../destinations.ts'
import type { Known } from '../known.ts'
import { type ClusterState, isDone, rankOf, readWorkStatus, whereaboutsOf } from '../workStatus.ts'
import { explainSelection, type Selection } from './selection.ts'
import { type Note, objectNotes, placementNotes, staysHome } from './whyNotes.ts'
import { type StagesAnswer, stagesOf } from './whyStages.ts'
import { withheldStatus } from './withheldStatus.ts'

export interface WhyFacts {
  readonly resource: DiscoveredResource
  readonly object: KubeObject
  readonly placements: Known
  readonly slices: Known
  readonly granted: Known
  readonly bindings: Known
  readonly workStatuses: Known
  /** `undefined` where they cannot be read. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined
  /** Some objects of the kind that the object defines. */
  readonly defined: readonly Matchable[]
  /** `--cluster` */
  readonly cluster: string | undefined
  /** PlacementRollouts and PlacementRevisions. Absent: no placement has a strategy, or nobody asks. */
  readonly staged?: { readonly rollouts: Known; readonly revisions: Known }
}

export interface PlacementAnswer extends Selection {
  readonly name: string
  /** It defines the kind of something that the placement selects, and comes along. */
  readonly implied?: string
  /** Notes on the placement's state: failed conditions, malformed selectors, a pause. */
  readonly notes: readonly Note[]
  /** Only where it selects the object. */
  readonly leadsTo?: readonly Place[]
  readonly misses?: readonly LocationMiss[]
  /** Only where it has a rollout. */
  readonly stages?: StagesAnswer
  /** Number of its locations, requested or not. */
  readonly leads?: number
  /** Locations that the space may place on. */
  readonly granted?: number
}

export interface WhyAnswer {
  readonly apiVersion: string
  readonly kind: 'Why'
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly group: string
    readonly resource: string
    readonly namespace?: string
    readonly name: string
    readonly uid: string
    readonly generation?: number
    readonly creationTimestamp?: string
  }
  /** One word. */
  readonly verdict: string
  /** One sentence. */
  readonly message: string
  /** Notes on the object itself. */
  readonly notes: readonly Note[]
  readonly placements: readonly PlacementAnswer[]
  readonly clusters: readonly ClusterState[]
  /** Unknown parts, with their reasons. */
  readonly unknown: readonly string[]
}

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
  const asked = (place: Place): boolean =>
    named === undefined || isPlace(place, cluster!) || clusters.at(place).some(key => named.has(key))
  const stages = facts.staged && stagesOf(name, stagedIn(facts.staged, clusters, asked))
  // the stages say the same
  const isSaid = ({ type }: Note): boolean => type === 'RolledOut' && stages !== undefined && stages.state !== 'Done'
  return {
    name,
    ...selection,
    notes: notes.filter(note => !isSaid(note)),
    ...(stages && { stages }),
    leadsTo: leadsTo.filter(asked),
    misses: misses.filter(asked).slice(0, MAX_MISSES),
    leads: leadsTo.length,
    granted,
  }
}

function stagedIn(
  { rollouts, revisions }: NonNullable<WhyFacts['staged']>,
  { places }: Clusters,
  asked: (place: Place) => boolean,
): Parameters<typeof stagesOf>[1] {
  const placeOf = (inventory: string, location: string): Place | undefined => {
    const place = places.of(inventory, location)
    return asked(place) ? place : undefined
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

/** Known state of each cluster; a placement's cluster without any has a note. */
function clustersOf(
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
  const asked = cluster === undefined ? undefined : clusters.named(cluster)
  for (const object of workStatuses.items) {
    const one = readWorkStatus(object)
    const where = whereaboutsOf(object)
    const key = where ? clusters.keyOf(where) : one.location
    const isAsked = (): boolean =>
      one.location === cluster || (where && isPlace(clusters.places.of(where.inventory, where.location), cluster!))!
    if (asked === undefined || asked.has(key) || isAsked()) states.set(key, one)
  }
  for (const [key, by] of travels ? wanted : []) {
    if (states.has(key) || asked?.has(key) === false) continue
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

interface Judged {
  what: string
  stays: Note | undefined
  facts: WhyFacts
  cluster: string | undefined
}

function verdictOf(
  { placements, clusters }: Pick<WhyAnswer, 'placements' | 'clusters'>,
  { what, stays, facts, cluster }: Judged,
): Pick<WhyAnswer, 'verdict' | 'message'> {
  const verdictWith = (verdict: string, message: string) => ({ verdict, message: `${what} ${message}` })
  if (stays) return verdictWith(stays.reason, `stays in this space: ${stays.message}`)
  if (facts.placements.unknown !== undefined && clusters.length === 0)
    return verdictWith('Unknown', `may be placed or not: ${facts.placements.unknown}`)
  const selecting = placements.filter(({ selects }) => selects)
  if (selecting.length === 0 && clusters.length === 0) {
    return verdictWith(
      'NotSelected',
      placements.length === 0
        ? 'is placed nowhere: this space has no EdgePlacement'
        : 'is placed nowhere: no EdgePlacement selects it',
    )
  }
  if (clusters.length === 0) {
    const note = selecting.flatMap(({ notes }) => notes)[0]
    const where = cluster === undefined ? 'to no cluster' : `not to ${JSON.stringify(cluster)}`
    return verdictWith(
      'NowhereToPlace',
      `is selected, and led ${where}${cluster === undefined && note ? `: ${note.message}` : ''}`,
    )
  }
  const counts = new Map<string, number>()
  for (const { state, health } of clusters) {
    const word = isDone({ state }) && health !== undefined && health !== 'Healthy' ? `${state} (${health})` : state
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const [first] = clusters
  const states = [...counts].map(([state, count]) => `${state} in ${count}`).join(', ')
  const placed =
    selecting.length > 0 || facts.placements.unknown !== undefined ? '' : 'selected by no EdgePlacement any more, and '
  return verdictWith(
    first!.state === 'Applied' ? (first!.health ?? 'Applied') : first!.state,
    `is ${placed}${states} of ${clusters.length} ${clusters.length === 1 ? 'cluster' : 'clusters'}`,
  )
}
