/**
 * Objects with parts that say what else is in their space. These parts are not stored with them. A reader of such an object gets them
 * derived, so that the space may change without a write of it.
 */
import type { GroupResource } from '../../apimachinery/object.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Revision, Stored, StoreEvent } from '../../storage/store.ts'

export interface DerivedParts {
  /** Whether objects of the kind have such parts. */
  concerns(type: GroupResource): boolean
  /** The whole object as of a revision, by default now; itself where it has no such parts. */
  whole(stored: Stored, options?: { at?: Revision | undefined; work?: Work | undefined }): Promise<Stored>
  /** Changes of a space, all kinds, in which those objects are whole, and are changed with what they say. */
  events(events: readonly StoreEvent[]): Promise<readonly StoreEvent[]>
}
