/**
 * Objects as they come from the disk, some thousand at a time: what is said of them stands in arrays, their texts lie in memory that
 * stays theirs. So whoever reads and checks them may be another thread, and the store takes them without a look at each text.
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
  /** Those that no earlier block has told. */
  readonly places: readonly Place[]
  readonly bodies: readonly BodyParts[]
  readonly times: readonly string[]
  /** Of runs. */
  readonly spaces: readonly string[]
  /** Of each run {@link RUN_WORDS}: its space among those of this block, its place, and how many objects it has. */
  readonly runs: Int32Array
  /** Of each object {@link OBJECT_WORDS}: the memory of its text, where in it, how long, and how long its head; or what is shared. */
  readonly words: Int32Array
  readonly revisions: Float64Array
  readonly memories: readonly Memory[]
  /** Of objects with texts of their own, in order. */
  readonly names: readonly string[]
  /** Of objects with shared texts, in order: what each says alone. */
  readonly uids: readonly string[]
  /** By place in the block. */
  readonly notes: readonly (readonly [object: number, note: string])[]
}

export const RUN_WORDS = 3
export const OBJECT_WORDS = 4
/** In place of a memory: the text is shared. Then the numbers of its body and of its times follow. */
export const SHARED_TEXT = -2
