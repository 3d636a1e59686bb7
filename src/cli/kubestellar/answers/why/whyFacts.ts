/** Facts of a workload space for `why` and `diff` about one of its objects. */
import { isStatusError } from '../../../../apimachinery/errors.ts'
import { at } from '../../../../apimachinery/fields.ts'
import { didYouMean } from '../../../../apimachinery/nearest.ts'
import { type GroupVersionResource, groupResourceName, type KubeObject } from '../../../../apimachinery/object.ts'
import { NAMESPACES } from '../../../../apimachinery/resources.ts'
import type { DiscoveredResource, SpaceClient } from '../../../../client/client.ts'
import { definedBy } from '../../../../placement/select/eligibility.ts'
import type { Matchable } from '../../../../placement/select/placementSpec.ts'
import {
  CLUSTER_WORK_STATUSES,
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
  WORK_STATUSES,
} from '../../../../placement/words/placement.ts'
import { CommandError } from '../../../shell/commandError.ts'
import type { Scope } from '../answerSession.ts'
import { isPlace } from '../destinations.ts'
import type { Watched } from '../followAnswers.ts'
import { known, knownSome } from '../known.ts'
import { nameOfObject, parseObjectArgument, resolveKind } from '../objectArgument.ts'
import { readWorkStatus } from '../workStatus.ts'
import { clustersIn, matchableOf } from './why.ts'
import type { WhyFacts } from './whyAnswer.ts'

/** Bound on the objects that are searched for names like the requested one, or for the instances of a definition. */
const LOOKED_AT = 500

/** One object, as somebody asks about it. */
export class Question {
  readonly resource: DiscoveredResource
  readonly #scope: Scope
  readonly #resources: readonly DiscoveredResource[]
  readonly #named: Named
  readonly #cluster: string | undefined

  private constructor(scope: Scope, { resource, resources, named, cluster }: Understood) {
    this.resource = resource
    this.#scope = scope
    this.#resources = resources
    this.#named = named
    this.#cluster = cluster
  }

  /** @throws CommandError where there is no such kind, with names that are like it */
  static async of(scope: Scope, args: readonly string[], cluster: string | undefined): Promise<Question> {
    const { kind, name } = parseObjectArgument(args)
    const resources = await scope.space.discover()
    const resource = resolveKind(kind, resources)
    const named = { namespace: resource.namespaced ? scope.namespace : '', name }
    return new Question(scope, { resource, resources, named, cluster })
  }

  /** @throws CommandError where there is no such object, or no such location */
  async facts(): Promise<WhyFacts> {
    const object = await find(this.#scope, this.resource, this.#named)
    return await gather(this.#scope, {
      resource: this.resource,
      object,
      resources: this.#resources,
      cluster: this.#cluster,
    })
  }

  /** With the stages of rollouts. @throws CommandError as {@link facts} */
  async stagedFacts(): Promise<WhyFacts> {
    const facts = await this.facts()
    const isAny = facts.placements.items.some(({ spec }) => at(spec, 'rolloutStrategy') !== undefined)
    if (!isAny) return facts
    const { space } = this.#scope
    const [rollouts, revisions] = await Promise.all([
      known(space, PLACEMENT_ROLLOUTS),
      known(space, PLACEMENT_REVISIONS),
    ])
    return { ...facts, staged: { rollouts, revisions } }
  }

  /** Resources whose changes change the facts. */
  get watched(): Watched[] {
    return watchedOf(this.resource, this.#named)
  }
}

interface Understood {
  readonly resource: DiscoveredResource
  readonly resources: readonly DiscoveredResource[]
  readonly named: Named
  readonly cluster: string | undefined
}

interface Named {
  namespace: string
  name: string
}

function watchedOf(resource: DiscoveredResource, { namespace, name }: Named) {
  const within = namespace === '' ? {} : { namespace }
  return [
    { resource, fieldSelector: `metadata.name=${name}`, ...within },
    ...[EDGE_PLACEMENTS, SLICES, GRANTED_LOCATIONS].map(each => ({ resource: each })),
    { resource: workStatusesFor(namespace), fieldSelector: selectorFor(resource, name), ...within },
  ]
}

function workStatusesFor(namespace: string): GroupVersionResource {
  return namespace === '' ? CLUSTER_WORK_STATUSES : WORK_STATUSES
}

function selectorFor({ group, resource }: DiscoveredResource, name: string): string {
  return `spec.sourceRef.resource=${resource},spec.sourceRef.group=${group},spec.sourceRef.name=${name}`
}

/** @throws CommandError with what there is of that name elsewhere, or of names like it */
async function find(
  { space, path }: Scope,
  resource: DiscoveredResource,
  { namespace, name }: Named,
): Promise<KubeObject> {
  try {
    return await space.get(resource, { name, ...(namespace !== '' && { namespace }) })
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    const what = nameOfObject(resource, namespace, name)
    const stays = await stayingIn(space, resource, { namespace, name })
    const hint = stays === '' ? await hintFor(space, resource, { namespace, name }) : `; ${stays}`
    const message = `${path} has no ${what}${hint}`
    throw new CommandError(message, 1, { cause: error })
  }
}

/** Where copies of it are all the same, and why. */
async function stayingIn(
  space: SpaceClient,
  resource: DiscoveredResource,
  { namespace, name }: Named,
): Promise<string> {
  const fieldSelector = selectorFor(resource, name)
  const within = namespace === '' ? {} : { namespace }
  const { items } = await known(space, workStatusesFor(namespace), { ...within, fieldSelector })
  const [first, ...others] = items.map(readWorkStatus)
  if (!first) return ''
  const more =
    others.length === 0 ? '' : ` and ${others.length} other ${others.length === 1 ? 'location' : 'locations'}`
  return `a copy of it stays at ${first.location}${more}: ${first.message ?? first.state}`
}

async function hintFor(space: SpaceClient, resource: DiscoveredResource, { namespace, name }: Named): Promise<string> {
  if (namespace !== '') {
    const elsewhere = await knownSome(space, resource, { fieldSelector: `metadata.name=${name}`, limit: 10 })
    const others = elsewhere.items.map(({ metadata }) => JSON.stringify(metadata.namespace))
    if (others.length > 0) return `; there is one in namespace ${others.join(', ')}: say so with -n`
  }
  const near = await knownSome(space, resource, { limit: LOOKED_AT, ...(namespace !== '' && { namespace }) })
  return didYouMean(
    name,
    near.items.map(({ metadata }) => metadata.name ?? ''),
  )
}

interface Found {
  resource: DiscoveredResource
  object: KubeObject
  resources: readonly DiscoveredResource[]
  cluster: string | undefined
}

type Shared = Pick<WhyFacts, 'placements' | 'slices' | 'granted' | 'bindings'>

/** Common facts for all objects of a space. */
export async function sharedFacts({ space }: Pick<Scope, 'space'>): Promise<Shared> {
  const [placements, slices, granted, bindings] = await Promise.all([
    known(space, EDGE_PLACEMENTS),
    known(space, SLICES),
    known(space, GRANTED_LOCATIONS),
    known(space, INVENTORY_BINDINGS),
  ])
  return { placements, slices, granted, bindings }
}

/** @throws CommandError where no location or cluster has the requested name */
export async function gather(scope: Scope, found: Found, some?: Shared): Promise<WhyFacts> {
  const { resource, object, resources, cluster } = found
  const { space, path } = scope
  const { name = '', namespace = '' } = object.metadata
  const within = namespace === '' ? {} : { namespace }
  const [shared, workStatuses, namespaceLabels, defined] = await Promise.all([
    some ?? sharedFacts(scope),
    known(space, workStatusesFor(namespace), { ...within, fieldSelector: selectorFor(resource, name) }),
    labelsOf(space, namespace),
    definedObjects(space, definedBy(resource, object), resources),
  ])
  const facts = { resource, object, ...shared, workStatuses, namespaceLabels, defined, cluster }
  if (cluster !== undefined) checkCluster(cluster, facts, path)
  return facts
}

/** @throws CommandError where no Location of that name is granted, and no cluster is called so */
function checkCluster(cluster: string, facts: WhyFacts, path: string): void {
  const { items, unknown } = facts.granted
  if (unknown !== undefined || clustersIn(facts).named(cluster).size > 0) return
  if (facts.workStatuses.items.some(one => readWorkStatus(one).location === cluster)) return
  const places = items.map(({ metadata, inventory, location }) => ({
    location: metadata.name ?? '',
    inventory: String(inventory),
    name: String(location),
  }))
  if (places.some(place => isPlace(place, cluster))) return
  const near = didYouMean(
    cluster,
    places.flatMap(({ location, name }) => [location, name]),
  )
  throw new CommandError(`${path} may place on no location called ${JSON.stringify(cluster)}${near}`)
}

async function labelsOf(space: SpaceClient, namespace: string): Promise<WhyFacts['namespaceLabels']> {
  if (namespace === '') return {}
  try {
    return (await space.get(NAMESPACES, { name: namespace })).metadata.labels ?? {}
  } catch (error) {
    if (isStatusError(error, 'Forbidden', 'NotFound')) return undefined
    throw error
  }
}

/** Some objects of the kinds that an object defines: if one of them is placed, the definition comes along. */
async function definedObjects(
  space: SpaceClient,
  kinds: ReturnType<typeof definedBy>,
  resources: readonly DiscoveredResource[],
): Promise<Matchable[]> {
  const names = new Set(kinds.map(groupResourceName))
  const served = resources.filter(one => names.has(groupResourceName(one)) && one.verbs.includes('list'))
  const pages = await Promise.all(
    served.map(async one => {
      const { items } = await knownSome(space, one, { limit: LOOKED_AT })
      return items.map(item => matchableOf(one, item))
    }),
  )
  return pages.flat()
}
