/**
 * Where an EdgePlacement would lead that is not stored, or says something else there: the where-resolver knows, and the
 * translator asks it for previews. They follow the world side by side, so an answer is as of the resolver's present.
 */
import type { KubeObject } from '../apimachinery/object.ts'
import type { Steps } from '../apimachinery/steps.ts'

/** A destination as it stands in a slice. */
export interface SliceRow {
  readonly cluster: string
  readonly locationName: string
  readonly syncTargetName: string
  readonly syncTargetUID: string
}

export interface WouldLead {
  readonly destinations: readonly SliceRow[]
  /** Those of these that it keeps only where it leads there already. */
  readonly onlyKept: ReadonlySet<SliceRow>
  /** Whether what goes to an inventory is not known: what leads there stays. */
  isUncertain(inventory: string): boolean
}

/** `space` is an id. */
export type WhereAnswerer = (space: string, placement: KubeObject) => Steps<WouldLead>

export class WhereDesk {
  #answerer: WhereAnswerer | undefined

  /** `undefined`: nobody knows (any more). */
  answerWith(answerer: WhereAnswerer | undefined): void {
    this.#answerer = answerer
  }

  get answerer(): WhereAnswerer | undefined {
    return this.#answerer
  }
}
