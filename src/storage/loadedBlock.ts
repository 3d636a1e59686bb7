/**
 * Objects as they come from the disk, some thousand at a time: arrays hold their fields, and their texts lie in memory that stays theirs.
 * Another thread may read and check them, and the store takes them without a look at each text.
 *
 * Objects that follow each other and are of one space, kind and namespace are a run. Places, bodies and times have numbers, which begin
 * with the first block and go on with each further one.
 */
import type { BodyParts } from './body.ts'
import type { Memory } from './objectSlots.ts'
import type { Key } from './store.ts'

/** All of a key but space and name. */
export type Place = Pick<Key, 'group' | 'resource' | 'namespace'>

export interface LoadedBlock {
  readonly objects: number
  /** Places that no earlier block has. */
  readonly places: readonly Place[]
  readonly bodies: readonly BodyParts[]
  readonly times: readonly string[]
  /** Spaces of the runs. */
  readonly spaces: readonly string[]
  /** {@link RUN_WORDS} for each run: its space among those of this block, its place, and how many objects it has. */
  readonly runs: Int32Array
  /** {@link OBJECT_WORDS} for each object: the memory of its text, where in it, how long, and how long its head; or the shared part. */
  readonly words: Int32Array
  readonly revisions: Float64Array
  readonly memories: readonly Memory[]
  /** Names of objects with texts of their own, in order. */
  readonly names: readonly string[]
  /** Uids of objects with shared texts, in order. */
  readonly uids: readonly string[]
  /** By place in the block. */
  readonly notes: readonly (readonly [object: number, note: string])[]
}

export const RUN_WORDS = 3
export const OBJECT_WORDS = 4
/** In place of a memory: the text is shared. Then the numbers of its body and of its times follow. */
export const SHARED_TEXT = -2
