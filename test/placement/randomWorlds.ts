/** Random worlds for decisions about copies: claims, owners, gates and doubts about one object in one mailbox, each from a seed. */
import type { DecisionFacts } from '../../src/controllers/placement/copies/decide.ts'
import type { Source } from '../../src/controllers/placement/join/placementProduct.ts'
import { Mailbox } from '../../src/controllers/placement/mailboxes/mailbox.ts'
import { objectKey } from '../../src/placement/words/names.ts'
import { Seeded } from '../support/seeded.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
export const KEY = objectKey(MAPS, 'shop', 'page')

/** Facts about one object and one mailbox. */
export interface CopyWorld {
  /** Spaces that claim the object, the oldest claim first. */
  claims?: readonly string[]
  /** Space that owns the copy; absent: no copy is there. */
  owner?: string
  isGoing?: boolean
  unsure?: readonly string[]
  isLeaving?: boolean
  isLocationPaused?: boolean
  /** Spaces whose placements are paused. */
  paused?: readonly string[]
  isUnschedulable?: boolean
  unknown?: readonly string[]
  isNeeded?: boolean
  released?: readonly string[]
  handsOverTo?: string
}

/** Facts of a world, as a decision asks them. */
export function factsOf(world: CopyWorld): { facts: DecisionFacts; mailbox: Mailbox } {
  const { claims = [], owner, unsure = [], paused = [], unknown = [], released = [] } = world
  const mailbox = new Mailbox('florin', 'm1')
  const copy = { resource: MAPS, uid: 'u', resourceVersion: '1', settled: true, terminating: world.isGoing ?? false }
  if (owner !== undefined) mailbox.copies.set(KEY, { ...copy, owner })
  const factOf = (space: string) => ({
    key: KEY,
    resource: MAPS,
    handOverTo: space === owner ? world.handsOverTo : undefined,
  })
  const facts = {
    join: {
      sourcesOf: () => claims.map(space => ({ space, fact: factOf(space), placements: ['p'], implied: false })),
      unsureOf: () => new Set(unsure),
      fact: (space: string) => (claims.includes(space) ? undefined : factOf(space)),
      spec: () => undefined,
    },
    rules: {
      isReleased: (_: string, space: string) => released.includes(space),
      isSpace: (reference: string, space: string) => reference === space,
    },
    pauses: {
      locationOf: () => (world.isLocationPaused ? 'florin' : undefined),
      holdsClaim: ({ space }: Source) => paused.includes(space),
      holdsCopy: (_mailbox: string, _key: string, space: string | undefined) => paused.includes(space ?? ''),
    },
    isLeaving: () => world.isLeaving ?? false,
    isUnschedulable: () => world.isUnschedulable ?? false,
    isFollowed: (space: string) => !unknown.includes(space),
    isNeeded: () => world.isNeeded ?? false,
  }
  return { facts: facts as never, mailbox }
}

const SPACES = ['a', 'b', 'c'] as const

/** The same seed makes the same world. Most worlds have two claims or none, and one of the rarer facts. */
export function randomWorld(seed: number): CopyWorld {
  const random = new Seeded(seed)
  const some = (percent: number): string[] => SPACES.filter(() => random.chance(percent))
  const one = (percent: number): string | undefined => (random.chance(percent) ? random.one(SPACES) : undefined)
  const owner = one(70)
  const handsOverTo = one(10)
  return {
    claims: some(50),
    ...(owner && { owner }),
    ...(handsOverTo && { handsOverTo }),
    isGoing: random.chance(10),
    unsure: some(10),
    isLeaving: random.chance(10),
    isLocationPaused: random.chance(10),
    paused: some(15),
    isUnschedulable: random.chance(10),
    unknown: some(10),
    isNeeded: random.chance(10),
    released: some(10),
  }
}

/** So many worlds, from consecutive seeds. */
export function* randomWorlds(
  count: number,
  seed = 1,
): Generator<{ readonly seed: number; readonly world: CopyWorld }> {
  for (let i = seed; i < seed + count; i++) yield { seed: i, world: randomWorld(i) }
}
