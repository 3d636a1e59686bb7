/**
 * EdgePlacements of a question, as they would be: what they would select, and where they would lead. While an edit leaves the
 * location selectors as they are, they lead where their slices say.
 */
import { at } from '../../../apimachinery/fields.ts'
import { inSlices, type Steps } from '../../../apimachinery/steps.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Client } from '../../../client/client.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import type { PreviewRequest } from '../../../placement/desks/placementPreview.ts'
import { compilePlacement, type PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { resourceKey } from '../../../placement/words/names.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import { destinationsIn } from '../../../placement/words/topology.ts'
import { type Destination, sameWays, type Ways, waysOf } from '../../../placement/words/ways.ts'
import type { WhereAnswerer, WouldLead } from '../../whereDesk.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Approach } from '../join/wayChoice.ts'

export interface ImaginedPlacement {
  /** Absent: there is none yet. */
  readonly before: PlacementSpec | undefined
  readonly spec: PlacementSpec
  /** Where it leads. */
  readonly waysBefore: Ways
  /** Where it would lead; `undefined`: nobody knows. */
  readonly ways: Ways | undefined
  /** Mailboxes to which it would lead otherwise than now, or no more, or for the first time. */
  readonly changed: ReadonlySet<string>
  /** Creation time: the older claim goes first. */
  readonly created: string
}

export interface ImaginedPlacementsDeps {
  client: Client
  join: Pick<PlacementJoin, 'spec' | 'waysOf' | 'createdAt'>
  /** Resolver of the destinations of placements; `undefined`: none. */
  where: () => ((...args: Parameters<WhereAnswerer>) => Steps<WouldLead | undefined>) | undefined
  now: () => number
}

const NOWHERE: Ways = new Map()

/** By name. */
export async function imaginedPlacements(
  { client, join, where, now }: ImaginedPlacementsDeps,
  { space, objects, work }: Pick<PreviewRequest, 'space' | 'objects' | 'work'>,
): Promise<ReadonlyMap<string, ImaginedPlacement>> {
  const found = new Map<string, ImaginedPlacement>()
  for (const { resource, object } of objects) {
    if (resourceKey(resource) !== resourceKey(EDGE_PLACEMENTS)) continue
    const { name = '' } = object.metadata
    const [before, known] = [join.spec(space, name), join.waysOf(space, name)]
    const spec = compilePlacement(object)
    const stored = before && (await unlessGone(client.in(space).get(EDGE_PLACEMENTS, { name })))
    const isSame = stored !== undefined && equalJson(selectorsOf(stored), selectorsOf(object))
    // a placement that is paused leads nowhere new, and nowhere less
    const staysThere = known !== undefined && (isSame || spec.isPaused)
    const waysBefore = known ?? NOWHERE
    const answer = staysThere ? undefined : where()
    const led = answer && (await inSlices(answer(space, object), work))
    const ways = led ? waysThen(led, waysBefore) : staysThere ? waysBefore : undefined
    const created = before ? join.createdAt(space, name) : new Date(now()).toISOString()
    found.set(name, { before, spec, waysBefore, ways, changed: changedIn(waysBefore, ways ?? waysBefore), created })
  }
  return found
}

/** Answers which ways to a mailbox placements with upsync sets would have. */
export function imaginedCarriers(
  join: Pick<PlacementJoin, 'spec' | 'waysOf' | 'placementNames'>,
  space: string,
  placements: ReadonlyMap<string, ImaginedPlacement>,
): (mailbox: string) => readonly Approach[] {
  const names = new Set([...join.placementNames(space), ...placements.keys()])
  const carriers = [...names].flatMap(name => {
    const { spec = join.spec(space, name), ways, waysBefore } = placements.get(name) ?? {}
    const led = ways ?? waysBefore ?? join.waysOf(space, name)
    return spec && spec.upsync.length > 0 && led ? [{ spec, led }] : []
  })
  return mailbox =>
    carriers.flatMap(({ spec, led }) => {
      const there = led.get(mailbox)
      return there ? [{ space, spec, ways: there }] : []
    })
}

/** As the slices would be: what is uncertain stays, and so does alone what goes on only where it is. */
export function waysThen(led: WouldLead, before: Ways): Ways {
  const there = new Map([...before.values()].flat().map(way => [idOf(way), way]))
  const rows = led.destinations.filter(row => {
    if (!led.onlyKept.has(row)) return true
    return destinationsOf([row]).some(way => there.has(idOf(way)))
  })
  const ways = new Map(destinationsOf(rows).map(way => [idOf(way), way]))
  for (const [id, way] of there) if (!ways.has(id) && led.isUncertain(way.cluster)) ways.set(id, way)
  return waysOf([...ways.values()])
}

function destinationsOf(destinations: readonly object[]): Destination[] {
  return destinationsIn({ apiVersion: '', kind: '', metadata: {}, destinations })
}

function idOf({ mailbox, cluster, locationName }: Destination): string {
  return `${mailbox} ${cluster} ${locationName}`
}

function changedIn(before: Ways, after: Ways): ReadonlySet<string> {
  const changed = new Set<string>()
  for (const mailbox of new Set([...before.keys(), ...after.keys()])) {
    if (!sameWays(before.get(mailbox) ?? [], after.get(mailbox) ?? [])) changed.add(mailbox)
  }
  return changed
}

function selectorsOf(object: unknown): unknown {
  return at(object, 'spec', 'locationSelectors') ?? []
}
