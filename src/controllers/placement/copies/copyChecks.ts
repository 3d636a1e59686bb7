/**
 * Checks of whole mailboxes: a copy that is right needs no task. The verdict on one copy counts for all copies with the same content,
 * so that most copies are checked without being read.
 */

import type { Adaptation } from '../../../placement/content/adaptation.ts'
import { updatedCopy } from '../../../placement/content/projection.ts'
import type { Source } from '../join/placementProduct.ts'
import type { CopyFact, Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyDeps } from './copyDeps.ts'
import { type CopyMaking, plainClaim } from './copyMaking.ts'
import type { CopyNotes } from './copyNotes.ts'
import { decideInOpen } from './decide.ts'

export interface CopyChecksDeps extends Pick<CopyDeps, 'facts' | 'remarks'> {
  making: CopyMaking
  notes: CopyNotes
}

export class CopyChecks {
  readonly #deps: CopyChecksDeps

  constructor(deps: CopyChecksDeps) {
    this.#deps = deps
  }

  isRight(mailbox: Mailbox, key: string): boolean | Promise<boolean> {
    const { facts, remarks, making } = this.#deps
    const copy = mailbox.copies.get(key)
    if (!copy?.likeness) return false
    if (mailbox.refused.has(key) || mailbox.unserved.has(key) || remarks.has(mailbox.name, key)) return false
    const decision = decideInOpen(facts, mailbox, key)
    const source = decision.verb === 'write' ? plainClaim(mailbox, key, decision.claims) : undefined
    if (!source) return false
    const adaptation = making.adaptationOf(source)
    const known = copy.likeness.judged(source.fact, adaptation)
    if (known) return known.isRight && this.#noteRight(mailbox, source, copy, known.generation)
    return this.#judge(mailbox, source, copy, adaptation)
  }

  async #judge(mailbox: Mailbox, source: Source, copy: CopyFact, adaptation: Adaptation): Promise<boolean> {
    const { making } = this.#deps
    const { likeness } = copy
    const content = making.ready(source) ?? (await making.firstGood(mailbox, [source]))?.content
    if (!likeness?.sample || !content?.isShared) return false
    const isRight = updatedCopy(content.projection, likeness.sample) === undefined
    const { generation } = content
    likeness.judge({ fact: source.fact, adaptation, isRight, generation })
    if (!isRight || mailbox.copies.get(source.fact.key) !== copy) return false
    return this.#noteRight(mailbox, source, copy, generation)
  }

  #noteRight(mailbox: Mailbox, source: Source, { uid, likeness }: CopyFact, generation: number | undefined): true {
    this.#deps.notes.right(mailbox, source, generation, { uid, generation: likeness?.sample?.metadata.generation })
    return true
  }
}
