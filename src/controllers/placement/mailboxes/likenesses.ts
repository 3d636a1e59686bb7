/**
 * Equal copies in snapshots of mailboxes: each content is parsed and judged once, however many mailboxes hold it. Kept only while
 * mailboxes report a snapshot and are checked.
 */

import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { StreamEvent } from '../../../client/client.ts'
import { type Adaptation, sameAdaptation } from '../../../placement/content/adaptation.ts'
import { ownerOf } from '../../../placement/content/projection.ts'
import { HEALTHY, healthOf } from '../../../placement/outcome/health.ts'
import { isProjected, PROJECTED_LABEL, UPSYNCED } from '../../../placement/words/placement.ts'
import type { ObjectFact } from '../join/workload.ts'

/** And the bytes of their texts. Copies beyond these are looked at one by one. */
const KEPT = { entries: 50_000, bytes: 16 * 1024 * 1024 }

interface Judged {
  readonly fact: ObjectFact
  readonly adaptation: Adaptation
  readonly isRight: boolean
  /** Generation of the source. */
  readonly generation: number | undefined
}

/** Common facts of some copies. */
export class CopyLikeness {
  #sample: KubeObject | undefined
  readonly owner: string
  readonly isTerminating: boolean
  /** Whether they are healthy, those that report nothing. */
  readonly isHealthy: boolean
  #judged: Judged | undefined
  /** The length of each text. */
  readonly bytes: number

  constructor(event: StreamEvent, bytes: number) {
    this.bytes = bytes
    this.#sample = event.object
    this.owner = ownerOf(event.object)
    this.isTerminating = event.object.metadata.deletionTimestamp !== undefined
    const { status: _, ...silent } = event.object
    this.isHealthy = healthOf(event.resource, silent).health === HEALTHY.health
  }

  /** One of them, as long as it is known: the others differ in identity and in reported status only. */
  get sample(): KubeObject | undefined {
    return this.#sample
  }

  /** Judgement on one of them against that. */
  judged(fact: ObjectFact, adaptation: Adaptation): Judged | undefined {
    const known = this.#judged
    return known?.fact === fact && sameAdaptation(known.adaptation, adaptation) ? known : undefined
  }

  judge(judged: Judged): Judged {
    this.#judged = judged
    return judged
  }

  forget(): void {
    this.#sample = undefined
    this.#judged = undefined
  }
}

/** One copy. */
export interface Likened {
  readonly likeness: CopyLikeness
  readonly uid: string
  /** Whether it may report something. */
  readonly hasStatus: boolean
}

export class Likenesses {
  /** By content. */
  readonly #known = new BoundedCache<string, CopyLikeness>({
    entries: KEPT.entries,
    weight: { limit: KEPT.bytes, of: likeness => likeness.bytes },
  })

  /** Likeness of a copy in a snapshot; `undefined` for other objects, and where it is unknown. */
  of(event: StreamEvent): Likened | undefined {
    const like = event.likeness?.()
    if (!like) return undefined
    const { content, uid, hasStatus, bytes } = like
    let likeness = this.#known.peek(content)
    if (!likeness) {
      if (!event.mentions(PROJECTED_LABEL) || event.mentions(UPSYNCED) || !isProjected(event.object)) return undefined
      likeness = new CopyLikeness(event, bytes)
      if (!this.#known.setIfRoom(content, likeness)) return undefined
    }
    return { likeness, uid, hasStatus }
  }

  get size(): number {
    return this.#known.size
  }

  clear(): void {
    for (const [, likeness] of this.#known) likeness.forget()
    this.#known.clear()
  }
}
