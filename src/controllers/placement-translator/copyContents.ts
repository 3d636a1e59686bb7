/**
 * What copies of an object say, made once for all mailboxes that get it as it is. The body is one frozen object, by whose
 * identity whoever writes it knows that it is the same; it is made anew with each version of the object.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { createdCopy, type Projection } from './projection.ts'
import type { ObjectFact } from './workload.ts'

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
  readonly revision: number
  readonly content: CopyContent
  readonly characters: number
}

export class CopyContents {
  readonly #known = new BoundedCache<string, Known>({
    entries: KEPT.entries,
    weight: { limit: KEPT.characters, of: ({ characters }) => characters },
  })

  /** Of an object that goes everywhere as it is; `undefined` where nobody has made it yet. */
  get(space: string, fact: ObjectFact, manner: Manner): CopyContent | undefined {
    const known = this.#known.get(idOf(space, fact, manner))
    return known?.revision === fact.revision ? known.content : undefined
  }

  /** To be found by the next mailbox, if `fact` is what it was made of. */
  keep(space: string, fact: ObjectFact, manner: Manner, content: CopyContent): void {
    const { revision } = fact
    const characters = JSON.stringify(content.body).length
    this.#known.set(idOf(space, fact, manner), { revision, content, characters })
  }
}

export function contentOf(projection: Projection, generation: number | undefined, isShared = false): CopyContent {
  return { projection, body: createdCopy(projection), generation, isShared }
}

function idOf(space: string, { key }: ObjectFact, { implied, preserve, adopt, left }: Manner): string {
  return `${space} ${implied ? 'i' : ''}${preserve ? 'p' : ''}${adopt ? 'a' : ''} ${key} ${left.join(' ')}`
}
