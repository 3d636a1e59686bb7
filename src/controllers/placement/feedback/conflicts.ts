/**
 * What those are told who place an object that another space owns in some cluster: on the object, an annotation while it lasts
 * and an Event when it begins; and, placement by placement, to {@link TellConflict}.
 */
import { shortened } from '../../../apimachinery/shortened.ts'
import { OBJECT_CONFLICT } from '../../../placement/outcome/copyState.ts'
import { HAND_OVER_ANNOTATION, RELEASE_OWNER_ANNOTATION } from '../../../placement/words/placement.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { PlacementReports } from '../status/placementReports.ts'

/**
 * Placements of a space claim an object for a mailbox where another space owns it. `undefined`: they do so no more, or own it now. Told
 * once for each change.
 */
export type TellConflict = (
  space: string,
  placements: readonly string[],
  key: string,
  mailbox: string,
  other: Other | undefined,
) => void

/** Who has it. */
interface Other {
  /** Id of the space. */
  readonly owner: string
  /** Whether the space places it no more, and has it until the brake or a pause lets go. */
  readonly isKept: boolean
}

export interface Conflict extends Other {
  readonly mailbox: string
  readonly locationName: string
}

interface Told extends Other {
  readonly placements: readonly string[]
}

const NOTHING: ReadonlyMap<string, Told> = new Map()
/** Of the annotation. */
const MAX_CHARACTERS = 2000

/** Remembers what was told, of objects in conflict only. */
export class Conflicts {
  readonly #join: PlacementJoin
  readonly #tell: TellConflict
  /** By space and key, then by mailbox. */
  readonly #told = new Map<string, ReadonlyMap<string, Told>>()

  constructor(join: PlacementJoin, tell: TellConflict) {
    this.#join = join
    this.#tell = tell
  }

  /** All conflicts that one object is in now. */
  set(space: string, key: string, conflicts: readonly Conflict[]): void {
    const id = `${space} ${key}`
    const before = this.#told.get(id) ?? NOTHING
    if (before.size === 0 && conflicts.length === 0) return
    const now = new Map(
      conflicts.map(({ mailbox, owner, isKept }) => {
        const placements = this.#placements(space, key, mailbox)
        return [mailbox, { owner, isKept, placements }]
      }),
    )
    if (now.size === 0) this.#told.delete(id)
    else this.#told.set(id, now)
    for (const [mailbox, { placements }] of before) {
      const ended = placements.filter(name => !now.get(mailbox)?.placements.includes(name))
      if (ended.length > 0) this.#tell(space, ended, key, mailbox, undefined)
    }
    for (const [mailbox, { owner, isKept, placements }] of now) {
      const old = before.get(mailbox)
      const isOld = old?.owner === owner && old.isKept === isKept
      const news = isOld ? placements.filter(name => !old.placements.includes(name)) : placements
      if (news.length > 0) this.#tell(space, news, key, mailbox, { owner, isKept })
    }
  }

  #placements(space: string, key: string, mailbox: string): readonly string[] {
    return this.#join.sourcesOf(mailbox, key).find(source => source.space === space)?.placements ?? []
  }
}

/** In words that name the remedies; `undefined` when there is none. The other space is named by its id, not by its path. */
export function conflictText(conflicts: readonly Conflict[]): string | undefined {
  if (conflicts.length === 0) return undefined
  const byOwner = new Map<string, string[]>()
  for (const { locationName, ...other } of conflicts) {
    const text = owns(other)
    byOwner.set(text, [...(byOwner.get(text) ?? []), locationName])
  }
  const owned = [...byOwner]
    .map(([text, locations]) => `${text} (at ${[...new Set(locations)].sort().join(', ')})`)
    .sort()
  return `${shortened(`not placed where ${owned.join('; ')}`, MAX_CHARACTERS - REMEDIES.length - 3)}; ${REMEDIES}`
}

/** Tells each placement of it, by its condition. */
export function conflictReports(reports: Pick<PlacementReports, 'report' | 'withdraw'>): TellConflict {
  return (space, placements, key, mailbox, other) => {
    for (const name of placements) {
      if (other === undefined) reports.withdraw(space, name, key, mailbox, OBJECT_CONFLICT)
      else {
        const message = `${owns(other)} there; ${REMEDIES}`
        reports.report(space, name, key, mailbox, { reason: OBJECT_CONFLICT, message })
      }
    }
  }
}

function owns({ owner, isKept }: Other): string {
  return `space ${owner} owns it${isKept ? ' until its deletion is confirmed or a pause ends' : ''}`
}

const REMEDIES = [
  'use another name',
  `or ask them to hand it over (annotation ${HAND_OVER_ANNOTATION} on their object)`,
  `or who administers the inventory to release it (annotation ${RELEASE_OWNER_ANNOTATION} on the SyncTarget)`,
].join(', ')
