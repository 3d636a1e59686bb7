/**
 * Users of a cluster: the placements of all spaces that lead there or have copies there, as far as one may read them. A space that
 * cannot be read is named.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { at, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { atMost } from '../../../client/atMost.ts'
import type { Client, SpaceClient } from '../../../client/client.ts'
import { serves } from '../../../placement/spaces/spaceTypes.ts'
import { EDGE_PLACEMENTS, PAUSED_ANNOTATION, SLICES } from '../../../placement/words/placement.ts'
import { placementOf, rowsOf } from '../../../placement/words/placementSlices.ts'
import { ANSWERS_VERSION } from '../../shell/output.ts'
import { ROOT_SPACE } from '../../shell/session/spacePath.ts'
import { AT_ONCE } from '../../shell/session/spaceTree.ts'
import { namedOf } from '../answers/brokenPlaces.ts'
import { type Known, known, knownStatuses } from '../answers/known.ts'
import { named, unreadText, workSpacesFrom } from '../answers/status/allSpaces.ts'
import { isDone, rankOf, readWorkStatus, whereaboutsOf } from '../answers/workStatus.ts'
import { grantsIn, spacesOf } from '../grants/grants.ts'
import type { NamedClusters } from './namedClusters.ts'

interface ClusterUser {
  /** Path. */
  readonly space: string
  /** `''`: copies that nothing places any more. */
  readonly placement: string
  /** Objects of it there; absent where they may not be read. */
  readonly copies?: number
  /** Copies that are not there as they should be, or are ill. */
  readonly troubled?: number
  /** Other clusters to which the placement leads. */
  readonly elsewhere: number
  readonly message?: string
}

export interface ClusterUsers {
  readonly apiVersion: string
  readonly kind: 'ClusterUsers'
  readonly message: string
  readonly location: string
  /** Path. */
  readonly inventory: string
  readonly syncTargets: readonly string[]
  /** By space and placement; at most 1,000. */
  readonly users: { readonly items: readonly ClusterUser[]; readonly total: number }
  /** Pauses of the cluster itself that keep workload there. */
  readonly notes: readonly string[]
  readonly unknown: readonly string[]
}

const MAX_LISTED = 1000

/** @param inventory path */
export async function usersOf(client: Client, inventory: string, clusters: NamedClusters): Promise<ClusterUsers> {
  const { name, targets, locations } = clusters
  const { paths, unknown } = await grantedPaths(client, inventory)
  const spaces = await workSpacesFrom(client, [ROOT_SPACE, ...(paths ?? [])])
  const mayUse = (path: string) => paths === undefined || paths.some(one => path === one || path.startsWith(`${one}:`))
  const users: ClusterUser[] = []
  const closed: string[] = []
  const uncounted: string[] = []
  let copies = 0
  const asking = spaces.filter(({ type }) => !type || serves(type, EDGE_PLACEMENTS))
  await atMost(AT_ONCE, asking, async ({ path }) => {
    const found = await usersIn(client.in(path), { inventory, clusters })
    users.push(...found.users.map(user => ({ space: path, ...user })))
    if (found.isClosed && mayUse(path)) closed.push(path)
    if (found.uncounted) uncounted.push(path)
    copies += found.copies
  })
  const nameOf = ({ space, placement }: ClusterUser): string => `${space} ${placement}`
  users.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return {
    apiVersion: ANSWERS_VERSION,
    kind: 'ClusterUsers',
    message: `${closed.length > 0 ? 'as far as you may read: ' : ''}${summaryOf(name, users, copies)}`,
    location: name,
    inventory,
    syncTargets: targets.map(({ metadata }) => metadata.name ?? ''),
    users: { items: users.slice(0, MAX_LISTED), total: users.length },
    notes: notesOf(targets, locations),
    unknown: [
      ...unknown,
      ...unreadText(
        spaces.filter(({ path }) => path === ROOT_SPACE || mayUse(path)),
        closed,
      ),
      ...(uncounted.length > 0 ? [`copies of ${named(uncounted)}: their work statuses cannot be read now`] : []),
    ],
  }
}

/** Paths or ids of spaces that the inventory grants something; `undefined` where that may not be read. */
async function grantedPaths(client: Client, inventory: string): Promise<{ paths?: string[]; unknown: string[] }> {
  try {
    const grants = await grantsIn(client.in(inventory))
    const paths = grants.flatMap(grant => spacesOf(grant).map(({ path, cluster }) => path ?? cluster ?? ''))
    return { paths: [...new Set(paths.filter(path => path !== ''))], unknown: [] }
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error
    return { unknown: [`which spaces ${inventory} grants something: you may not list PlacementGrants there`] }
  }
}

interface UsersQuery {
  readonly inventory: string
  readonly clusters: NamedClusters
}

async function usersIn(space: SpaceClient, { inventory, clusters }: UsersQuery) {
  const { targets, locations } = clusters
  const [placements, slices] = await Promise.all([known(space, EDGE_PLACEMENTS), known(space, SLICES)])
  const isClosed = placements.refusal !== undefined || slices.refusal !== undefined
  if (placements.refusal !== undefined && slices.refusal !== undefined)
    return { users: [], isClosed, uncounted: false, copies: 0 }
  const uids = new Set(targets.map(({ metadata }) => metadata.uid))
  const here = new Set<string>()
  const others = new Map<string, Set<string>>()
  for (const slice of slices.items) {
    const placement = placementOf(slice)
    const elsewhere = others.get(placement) ?? new Set()
    others.set(placement, elsewhere)
    for (const row of rowsOf(slice)) {
      const uid = str(row, 'syncTargetUID')
      if (uids.has(uid)) here.add(placement)
      else elsewhere.add(uid)
    }
  }
  const sums = new Map<string, { copies: number; troubled: number; worst?: { rank: number; text: string } }>()
  const selectors = [...locations, ...targets].map(
    ({ metadata }) => `spec.location.cluster=${inventory},spec.location.name=${metadata.name}`,
  )
  const found = await copiesAt(space, [...new Set(selectors)])
  const isTarget = new Set(targets.map(({ metadata }) => metadata.name))
  const copies = found.items.filter(copy => isTarget.has(whereaboutsOf(copy)?.syncTarget))
  for (const copy of copies) {
    const status = readWorkStatus(copy)
    const isTroubled = !isDone(status) || status.health === 'Degraded'
    const rank = rankOf(status)
    for (const placement of status.placements.length > 0 ? status.placements : ['']) {
      const sum = sums.get(placement) ?? { copies: 0, troubled: 0 }
      sums.set(placement, sum)
      sum.copies++
      if (!isTroubled) continue
      sum.troubled++
      if (sum.worst && sum.worst.rank <= rank) continue
      const words = status.healthMessage || status.message || status.reason || status.state
      sum.worst = { rank, text: namedOf(at(copy.spec, 'sourceRef'), words) }
    }
  }
  const byName = new Map(placements.items.map(one => [one.metadata.name ?? '', one]))
  const users = [...new Set([...here, ...sums.keys()])].map(placement => {
    const { copies: count = 0, troubled = 0, worst } = sums.get(placement) ?? {}
    const message = [habitOf(byName.get(placement)), worst?.text ?? ''].filter(text => text !== '').join('; ')
    return {
      placement,
      ...(found.unknown === undefined && { copies: count, troubled }),
      elsewhere: others.get(placement)?.size ?? 0,
      ...(message !== '' && { message }),
    }
  })
  return { users, isClosed, uncounted: users.length > 0 && found.unknown !== undefined, copies: copies.length }
}

/** Why a placement does not take from a cluster all that it has there. */
function habitOf(placement: KubeObject | undefined): string {
  if (at(placement, 'spec', 'paused') === true) return 'paused: its copies stay until that ends'
  if (at(placement, 'spec', 'preserveResourcesOnDeletion') === true)
    return 'preserveResourcesOnDeletion: the cluster keeps its objects, unmarked'
  return ''
}

async function copiesAt(space: SpaceClient, selectors: readonly string[]): Promise<Known> {
  try {
    return await knownStatuses(space, selectors)
  } catch (error) {
    // a server that starts does not answer for copies yet
    if (!isStatusError(error, 'ServiceUnavailable')) throw error
    return { items: [], unknown: error.message }
  }
}

function notesOf(targets: readonly KubeObject[], locations: readonly KubeObject[]): string[] {
  const isPaused = ({ metadata }: KubeObject): boolean => metadata.annotations?.[PAUSED_ANNOTATION] === 'true'
  const names = (all: readonly KubeObject[]) => all.map(({ metadata }) => `"${metadata.name}"`).join(', ')
  const [stopped, kept] = [targets.filter(isPaused), locations.filter(isPaused)]
  return [
    ...(stopped.length > 0
      ? [`SyncTarget ${names(stopped)} is paused: nothing leaves the cluster until that ends`]
      : []),
    ...(kept.length > 0 ? [`Location ${names(kept)} is paused: its copies stay until that ends`] : []),
  ]
}

/** A copy that several placements select counts once. */
function summaryOf(name: string, users: readonly ClusterUser[], copies: number): string {
  const placements = users.filter(({ placement }) => placement !== '')
  const spaces = new Set(users.map(({ space }) => space)).size
  const atLeast = users.some(user => user.copies === undefined) ? 'at least ' : ''
  const alone = placements.filter(({ elsewhere }) => elsewhere === 0).length
  const many = (count: number, one: string, several: string) => `${count} ${count === 1 ? one : several}`
  const lonely = alone === 0 ? '' : `; ${many(alone, 'placement leads', 'placements lead')} nowhere else`
  return `${many(placements.length, 'placement', 'placements')} of ${many(spaces, 'space', 'spaces')} in "${name}", with ${atLeast}${many(copies, 'copy', 'copies')}${lonely}`
}
