/** Copies with the same content in every mailbox: missing and outdated ones are chosen for writes of many at a time. */
import { isOfKubernetes } from '../../../apimachinery/kubernetesGroups.ts'
import type { Source } from '../join/placementProduct.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyDeps } from './copyDeps.ts'
import { type CopyMaking, plainClaim } from './copyMaking.ts'
import type { CopyNotes } from './copyNotes.ts'
import type { CopyWriter, SharedCopy } from './copyWriter.ts'
import { decide } from './decide.ts'

export interface SharedCopiesDeps extends Pick<CopyDeps, 'facts'> {
  making: CopyMaking
  notes: CopyNotes
  writer: CopyWriter
}

/** A copy whose content is not made yet. */
export interface UnmadeCopy {
  readonly mailbox: Mailbox
  readonly key: string
  readonly source: Source
  readonly content?: undefined
}

export class SharedCopies {
  readonly #deps: SharedCopiesDeps
  /** Contents in the making, by the version of their source. */
  readonly #making = new Map<ObjectFact, Promise<unknown>>()

  constructor(deps: SharedCopiesDeps) {
    this.#deps = deps
  }

  /** The copy of the only claim, which is to be written; `undefined`: it has to be written by itself. */
  toWrite(mailbox: Mailbox, key: string, claims: readonly Source[]): SharedCopy | UnmadeCopy | undefined {
    const source = plainClaim(mailbox, key, claims)
    if (!source) return undefined
    const { resource, namespace } = source.fact
    if (namespace !== '' && !mailbox.namespaces.has(namespace)) return undefined
    const content = this.#deps.making.ready(source)
    if (content) return { mailbox, key, content, source, claims, copy: mailbox.copies.get(key) }
    // a custom object may need a conversion webhook to be read
    return isOfKubernetes(resource) ? { mailbox, key, source } : undefined
  }

  /** Writes many copies. @returns whether each is as it should be now */
  async write(copies: readonly (SharedCopy | UnmadeCopy)[]): Promise<readonly boolean[]> {
    const ready = copies.every(isMade) ? copies : await this.#made(copies)
    const written = (await this.#deps.writer.writeTogether(ready.filter(one => one !== undefined))).values()
    return ready.map(copy => {
      const one = copy && written.next().value
      if (!copy || !one) return false
      const { mailbox, source, content } = copy
      this.#deps.notes.right(mailbox, source, content.generation, {
        uid: one.uid,
        generation: one.like.metadata.generation,
      })
      return true
    })
  }

  /** The copies with their contents; `undefined`: this one has to be written by itself. */
  async #made(copies: readonly (SharedCopy | UnmadeCopy)[]): Promise<readonly (SharedCopy | undefined)[]> {
    await Promise.all(copies.map(one => (isMade(one) ? undefined : this.#make(one))))
    return copies.map(({ mailbox, key }) => {
      const decision = decide(this.#deps.facts, mailbox, key)
      const now = decision.verb === 'write' ? this.toWrite(mailbox, key, decision.claims) : undefined
      return now && isMade(now) ? now : undefined
    })
  }

  #make({ mailbox, source }: UnmadeCopy): Promise<unknown> {
    const known = this.#making.get(source.fact)
    if (known) return known
    const over = (): unknown => this.#making.delete(source.fact)
    // a fault is reported where the copy is written by itself
    const making = this.#deps.making.firstGood(mailbox, [source]).then(over, over)
    this.#making.set(source.fact, making)
    return making
  }
}

function isMade(one: SharedCopy | UnmadeCopy): one is SharedCopy {
  return one.content !== undefined
}
