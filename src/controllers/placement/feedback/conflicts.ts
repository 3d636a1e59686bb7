/**
 * Conflicts: another space owns the object that a space places in some cluster. The object has an annotation while that lasts, and an
 * Event when it begins; its placements report it by a remark.
 */
import { shortened } from '../../../apimachinery/shortened.ts'
import { OBJECT_CONFLICT } from '../../../placement/outcome/copyState.ts'
import { HAND_OVER_ANNOTATION, RELEASE_OWNER_ANNOTATION } from '../../../placement/words/placement.ts'
import type { Remarks } from '../mailboxes/remarks.ts'

/** Present owner. */
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

/** Bound on the annotation. */
const MAX_CHARACTERS = 2000

/** Remarks of a space on an object: a conflict in each of `mailboxes` where it is in one, and in no other of them. */
export function remarkConflicts(
  remarks: Pick<Remarks, 'set' | 'end'>,
  { space, key, mailboxes }: { space: string; key: string; mailboxes: Iterable<string> },
  conflicts: readonly Conflict[],
): void {
  for (const mailbox of mailboxes) {
    const conflict = conflicts.find(one => one.mailbox === mailbox)
    const message = conflict && `${owns(conflict)} there; ${REMEDIES}`
    if (message) remarks.set(mailbox, space, key, { reason: OBJECT_CONFLICT, message })
    else remarks.end(mailbox, space, key, OBJECT_CONFLICT)
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

function owns({ owner, isKept }: Other): string {
  return `space ${owner} owns it${isKept ? ' until its deletion is confirmed or a pause ends' : ''}`
}

const REMEDIES = [
  'use another name',
  `or ask them to hand it over (annotation ${HAND_OVER_ANNOTATION} on their object)`,
  `or who administers the inventory to release it (annotation ${RELEASE_OWNER_ANNOTATION} on the SyncTarget)`,
].join(', ')
