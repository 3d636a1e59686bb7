/**
 * Content of an object's copies, made once for all mailboxes that get it unchanged. The body is one frozen object, new with each version of
 * the object: its identity proves equality to writers.
 */
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { type Adaptation, sameAdaptation } from '../../../placement/content/adaptation.ts'
import { createdCopy, type Projection } from '../../../placement/content/projection.ts'
import type { ObjectFact } from '../join/workload.ts'

export interface CopyContent {
  readonly projection: Projection
  /** Body of a new copy. Immutable. Nobody changes it. */
  readonly body: KubeObject
  /** Generation of the source. */
  readonly generation: number | undefined
  /** Whether it is what other mailboxes get, too. */
  readonly isShared: boolean
}

/** Objects that are on their way to many mailboxes at a time, and their characters: copies go object by object. */
const KEPT = { entries: 1000, characters: 8 * 1024 * 1024 }

interface Known {
  readonly space: string
  readonly adaptation: Adaptation
  readonly revision: number
  readonly content: CopyContent
  readonly characters: number
}

export class CopyContents {
  /** By the object's key: of one in several spaces, and placed in several adaptations. */
  readonly #known = new BoundedCache<string, readonly Known[]>({
    entries: KEPT.entries,
    weight: { limit: KEPT.characters, of: all => all.reduce((sum, { characters }) => sum + characters, 0) },
  })

  /** Content of an object that goes everywhere unchanged; `undefined` before it is made. */
  get(space: string, { key, revision }: ObjectFact, adaptation: Adaptation): CopyContent | undefined {
    for (const known of this.#known.peek(key) ?? NONE) {
      if (known.space !== space || !sameAdaptation(known.adaptation, adaptation)) continue
      return known.revision === revision ? known.content : undefined
    }
    return undefined
  }

  /** To be found by the next mailbox, if `fact` is what it was made of. */
  keep(space: string, { key, revision }: ObjectFact, adaptation: Adaptation, content: CopyContent): void {
    const characters = JSON.stringify(content.body).length
    const others = (this.#known.peek(key) ?? NONE).filter(
      known => known.space !== space || !sameAdaptation(known.adaptation, adaptation),
    )
    this.#known.set(key, [...others, { space, adaptation, revision, content, characters }])
  }
}

const NONE: readonly Known[] = []

export function contentOf(projection: Projection, generation: number | undefined, isShared = false): CopyContent {
  return { projection, body: createdCopy(projection), generation, isShared }
}
