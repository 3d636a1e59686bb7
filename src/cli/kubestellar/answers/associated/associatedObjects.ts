/** Objects that clusters made for one object of a workload space, from the view of their reports. */
import { isRecord, type KubeObject } from '../../../../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../../../../client/client.ts'
import { httpSpaceClient } from '../../../../client/http/httpClient.ts'
import {
  type AssociatedWith,
  associatedWish,
  associatedWith,
  isAssociable,
  matchesKinds,
} from '../../../../placement/associated/associated.ts'
import { reportedLocation, reportedSilence } from '../../../../placement/content/reportedObject.ts'
import { type HealthVerdict, healthOf } from '../../../../placement/outcome/health.ts'
import { objectKey } from '../../../../placement/words/names.ts'
import { EDGE_PLACEMENTS } from '../../../../placement/words/placement.ts'
import { CommandError } from '../../../shell/commandError.ts'
import type { Scope } from '../answerSession.ts'
import { known } from '../known.ts'
import { nameOfObject, parseObjectArgument, resolveKind } from '../objectArgument.ts'

/** An object of a cluster, as it was reported. */
export interface AssociatedObject {
  readonly resource: DiscoveredResource
  readonly object: KubeObject
  readonly account: AssociatedWith
}

export interface AssociatedCluster {
  readonly location: string
  /** RFC 3339: the last word of the cluster, where it is silent. */
  readonly silentSince?: string
  /** The copy that the objects belong to; `undefined`: the cluster reports none. */
  readonly root: KubeObject | undefined
  readonly health: HealthVerdict | undefined
  readonly objects: readonly AssociatedObject[]
}

export interface AssociatedAnswer {
  readonly resource: DiscoveredResource
  readonly namespace: string
  readonly name: string
  readonly clusters: readonly AssociatedCluster[]
  /** Kinds that could not be read, and why. */
  readonly unknown: readonly string[]
}

/**
 * @param isMeant whether a kind is looked for
 * @throws CommandError where no placement of the space asks for associated objects, or there is no such object or location
 */
export async function associatedObjects(
  scope: Scope,
  args: readonly string[],
  options: { cluster?: string | undefined; isMeant?: (kind: DiscoveredResource) => boolean },
): Promise<AssociatedAnswer> {
  const { session, space, path } = scope
  const { kind, name } = parseObjectArgument(args)
  const resource = resolveKind(kind, await space.discover())
  const namespace = resource.namespaced ? scope.namespace : ''
  const patterns = await requestedKinds(space)
  if (patterns.length === 0)
    throw new CommandError(
      `no EdgePlacement of ${path} asks for objects that clusters make; name their kinds in spec.associated.kinds of one`,
    )
  const view = httpSpaceClient({ ...session.options, server: `${session.base}/services/reported/clusters/${path}` })
  try {
    const kinds = (await view.discover()).filter(
      each =>
        isAssociable(each) &&
        matchesKinds(patterns, each) &&
        (options.isMeant?.(each) ?? true) &&
        each.verbs.includes('list'),
    )
    const within = namespace === '' ? {} : { namespace }
    const [roots, ...lists] = await Promise.all([
      known(view, resource, { ...within, fieldSelector: `metadata.name=${name}` }),
      ...kinds.map(each => known(view, each, within)),
    ])
    const root = objectKey(resource, namespace, name)
    const found = kinds.flatMap((each, i) =>
      lists[i]!.items.flatMap(object => {
        const account = associatedWith(object)
        return account?.root === root ? [{ resource: each, object, account }] : []
      }),
    )
    const clusters = clustersOf(resource, roots.items, found, options.cluster)
    if (clusters.length === 0) throw nothing(path, nameOfObject(resource, namespace, name), options.cluster)
    const unknown = [roots, ...lists].flatMap(list => list.unknown ?? [])
    return { resource, namespace, name, clusters, unknown: [...new Set(unknown)] }
  } finally {
    view.close()
  }
}

/** Patterns of all placements of a space. */
async function requestedKinds(space: SpaceClient): Promise<string[]> {
  const { items } = await known(space, EDGE_PLACEMENTS)
  return items.flatMap(({ spec }) => (isRecord(spec) ? (associatedWish(spec)?.kinds ?? []) : []))
}

function clustersOf(
  kind: DiscoveredResource,
  roots: readonly KubeObject[],
  found: readonly AssociatedObject[],
  wanted: string | undefined,
): AssociatedCluster[] {
  const locations = new Set([...roots, ...found.map(({ object }) => object)].map(reportedLocation))
  // as work statuses and people call them
  const isWanted = (location: string): boolean =>
    wanted === undefined || location === wanted || location.endsWith(`.${wanted}`)
  return [...locations]
    .sort()
    .filter(isWanted)
    .map(location => {
      const root = roots.find(one => reportedLocation(one) === location)
      const objects = found.filter(({ object }) => reportedLocation(object) === location).sort(byName)
      const silentSince = [root, ...objects.map(({ object }) => object)].map(one => one && reportedSilence(one))
      const since = silentSince.find(one => one !== undefined)
      return {
        location,
        ...(since !== undefined && { silentSince: since }),
        root,
        health: root && healthOf(kind, root),
        objects,
      }
    })
}

function byName(a: AssociatedObject, b: AssociatedObject): number {
  const [one, other] = [nameIn(a), nameIn(b)]
  return one < other ? -1 : one > other ? 1 : 0
}

function nameIn({ object }: AssociatedObject): string {
  return `${object.kind}/${object.metadata.name}`
}

function nothing(path: string, what: string, cluster: string | undefined): CommandError {
  const where = cluster === undefined ? '' : ` at ${cluster}`
  return new CommandError(
    `no cluster reports ${what} of ${path}${where}; kubectl kubestellar why shows where it goes, and -n names another namespace`,
  )
}
