/**
 * What copies of an object say, made once for all mailboxes that get it as it is. The body is one frozen object, by whose
 * identity whoever writes it knows that it is the same; it is made anew with each version of the object.
 */
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { createdCopy, type Projection } from '../../../placement/content/projection.ts'
import type { ObjectFact } from '../join/workload.ts'

export interface CopyContent {
  readonly projection: Projection
  /** What makes a copy that is not there yet. Nobody changes it. */
  readonly body: KubeObject
  /** Of the object that is copied. */
  readonly generation: number | undefined
  /** Whether it is what other mailboxes get, too. */
  readonly isShared: boolean
}

/** How an object is placed, as far as its copies say. */
export interface Manner {
  readonly implied: boolean
  readonly preserve: boolean
  /** Whether it takes over what its cluster held before. */
  readonly adopt: boolean
  /** Pointers to what is left to the clusters. */
  readonly left: readonly string[]
}

/** Objects that are on their way to many mailboxes at a time, and their characters: copies go object by object. */
const KEPT = { entries: 1000, characters: 8 * 1024 * 1024 }

interface Known {
  readonly space: string
  readonly manner: Manner
  readonly revision: number
  readonly content: CopyContent
  readonly characters: number
}

export class CopyContents {
  /** By the object's key: of one in several spaces, and placed in several manners. */
  readonly #known = new BoundedCache<string, readonly Known[]>({
    entries: KEPT.entries,
    weight: { limit: KEPT.characters, of: all => all.reduce((sum, { characters }) => sum + characters, 0) },
  })

  /** Of an object that goes everywhere as it is; `undefined` where nobody has made it yet. */
  get(space: string, { key, revision }: ObjectFact, manner: Manner): CopyContent | undefined {
    for (const known of this.#known.peek(key) ?? NONE) {
      if (known.space !== space || !isSameManner(known.manner, manner)) continue
      return known.revision === revision ? known.content : undefined
    }
    return undefined
  }

  /** To be found by the next mailbox, if `fact` is what it was made of. */
  keep(space: string, { key, revision }: ObjectFact, manner: Manner, content: CopyContent): void {
    const characters = JSON.stringify(content.body).length
    const others = (this.#known.peek(key) ?? NONE).filter(
      known => known.space !== space || !isSameManner(known.manner, manner),
    )
    this.#known.set(key, [...others, { space, manner, revision, content, characters }])
  }
}

const NONE: readonly Known[] = []

export function isSameManner(a: Manner, b: Manner): boolean {
  if (a.implied !== b.implied || a.preserve !== b.preserve || a.adopt !== b.adopt) return false
  return a.left.length === b.left.length && a.left.every((pointer, i) => pointer === b.left[i])
}

export function contentOf(projection: Projection, generation: number | undefined, isShared = false): CopyContent {
  return { projection, body: createdCopy(projection), generation, isShared }
}
