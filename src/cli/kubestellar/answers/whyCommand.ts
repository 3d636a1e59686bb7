/** `kubectl kubestellar why`: asks a workload space for the whole road of one of its objects. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { type GroupVersionResource, groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { EDGE_PLACEMENTS, GRANTED_LOCATIONS, INVENTORY_BINDINGS, SLICES } from '../../../apimachinery/placement.ts'
import { NAMESPACES } from '../../../apimachinery/resources.ts'
import type { DiscoveredResource, SpaceClient } from '../../../client/client.ts'
import { definedBy } from '../../../controllers/placement-translator/eligibility.ts'
import type { Matchable } from '../../../controllers/placement-translator/placementSpec.ts'
import { CommandError } from '../../ws/commandError.ts'
import type { Terminal } from '../../ws/runProgram.ts'
import { type AnswerOptions, type Asked, checkPlaces, withSpace } from './answerSession.ts'
import { nameOfObject, parseAsked, resolveKind } from './askedObject.ts'
import { isPlace } from './destinations.ts'
import { followAnswers } from './followAnswers.ts'
import { type Known, known, knownSome } from './known.ts'
import { didYouMean } from './nearest.ts'
import { type Format, painter, printDocument } from './output.ts'
import { matchableOf, type WhyAnswer, type WhyFacts, why } from './why.ts'
import { whyText } from './whyText.ts'
import { CLUSTER_WORK_STATUSES, WORK_STATUSES } from './workStatus.ts'

export interface WhyOptions extends AnswerOptions {
  cluster?: string
  output?: Format
  watch?: boolean
}

/** Of objects that are looked through for names like the one that was asked for, or for whom a definition is implied. */
const LOOKED_AT = 500

export async function whyCommand(args: readonly string[], options: WhyOptions, terminal: Terminal): Promise<void> {
  const { kind, name } = parseAsked(args)
  await withSpace(options, terminal, async asked => {
    await checkPlaces(asked)
    const resources = await asked.space.discover()
    const resource = resolveKind(kind, resources)
    const namespace = resource.namespaced ? asked.namespace : ''
    const answer = async () => {
      const object = await find(asked, resource, { namespace, name })
      return why(await gather(asked, { resource, object, resources, cluster: options.cluster }))
    }
    const print = (told: WhyAnswer) => printWhy(told, options.output ?? 'text', terminal)
    if (options.watch !== true) return await print(await answer())
    await followAnswers({ space: asked.space, watched: watchedOf(resource, { namespace, name }), answer, print })
  })
}

async function printWhy(answer: WhyAnswer, format: Format, terminal: Terminal): Promise<void> {
  if (format === 'json' || format === 'yaml') return await printDocument(answer, format, terminal)
  if (format === 'name') for (const { location } of answer.clusters) terminal.out(`grantedlocation/${location}`)
  else {
    const options = { wide: format === 'wide', paint: painter(terminal), nowMs: Date.now() }
    for (const line of whyText(answer, options)) terminal.out(line)
  }
}

interface Named {
  namespace: string
  name: string
}

function watchedOf(resource: DiscoveredResource, { namespace, name }: Named) {
  const scope = namespace === '' ? {} : { namespace }
  return [
    { resource, fieldSelector: `metadata.name=${name}`, ...scope },
    ...[EDGE_PLACEMENTS, SLICES, GRANTED_LOCATIONS].map(each => ({ resource: each })),
    { resource: workStatusesFor(namespace), fieldSelector: selectorFor(resource, name), ...scope },
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
  { space, path }: Asked,
  resource: DiscoveredResource,
  { namespace, name }: Named,
): Promise<KubeObject> {
  try {
    return await space.get(resource, { name, ...(namespace !== '' && { namespace }) })
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    const what = nameOfObject(resource, namespace, name)
    const message = `${path} has no ${what}${await hintFor(space, resource, { namespace, name })}`
    throw new CommandError(message, 1, { cause: error })
  }
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

async function gather({ space, path }: Asked, { resource, object, resources, cluster }: Found): Promise<WhyFacts> {
  const { name = '', namespace = '' } = object.metadata
  const scope = namespace === '' ? {} : { namespace }
  const [placements, slices, granted, bindings, workStatuses, namespaceLabels, defined] = await Promise.all([
    known(space, EDGE_PLACEMENTS),
    known(space, SLICES),
    known(space, GRANTED_LOCATIONS),
    known(space, INVENTORY_BINDINGS),
    known(space, workStatusesFor(namespace), { ...scope, fieldSelector: selectorFor(resource, name) }),
    labelsOf(space, namespace),
    definedObjects(space, definedBy(resource, object), resources),
  ])
  if (cluster !== undefined) checkCluster(cluster, granted, path)
  return { resource, object, placements, slices, granted, bindings, workStatuses, namespaceLabels, defined, cluster }
}

/** @throws CommandError where no Location of that name is granted */
function checkCluster(cluster: string, { items, unknown }: Known, path: string): void {
  if (unknown !== undefined) return
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
