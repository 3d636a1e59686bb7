/** Content of a copy and its source object, made once for all mailboxes where the destination does not matter. */

import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Adaptation } from '../../../placement/content/adaptation.ts'
import { isNamespaceKey } from '../../../placement/words/names.ts'
import type { Source } from '../join/placementProduct.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import { adapt, adaptationOf, asksToSecure, UNSECURED } from './adaptations.ts'
import { type CopyContent, CopyContents, contentOf } from './copyContents.ts'
import type { CopyDeps } from './copyDeps.ts'
import { cannotCustomize } from './copyRemarks.ts'

export interface Made {
  readonly source: Source
  readonly content: CopyContent
}

export class CopyMaking {
  readonly #deps: Pick<CopyDeps, 'join' | 'sources' | 'maySecure' | 'remarks'>
  readonly #contents = new CopyContents()

  constructor(deps: Pick<CopyDeps, 'join' | 'sources' | 'maySecure' | 'remarks'>) {
    this.#deps = deps
  }

  /** Content that was made for another mailbox, and is the same here. */
  ready(source: Source): CopyContent | undefined {
    const { space, fact } = source
    return isSameEverywhere(fact) ? this.#contents.get(space, fact, this.adaptationOf(source)) : undefined
  }

  /**
   * Content of the first claim that can be customized. `undefined`: there is none, an object has just gone, or consents are not known
   * yet; news will say more.
   */
  async firstGood(mailbox: Mailbox, claims: readonly Source[]): Promise<Made | undefined> {
    for (const source of claims) {
      const ready = this.ready(source)
      if (ready) return { source, content: ready }
      const { space, fact } = source
      const object = await this.#deps.sources.read(space, fact)
      if (!object) return undefined
      const customized = await this.#deps.sources.flawless(source, object)
      if (!customized) {
        const faults = await this.#deps.sources.faults(source, object)
        this.#deps.remarks.set(mailbox.name, space, fact.key, cannotCustomize(faults))
        continue // the source gets an annotation, too
      }
      if (this.#deps.maySecure(source) === undefined && asksToSecure(source, customized)) return undefined
      const adaptation = this.adaptationOf(source)
      const secures = this.#secures(mailbox, source, customized)
      const at = { mailbox: mailbox.name, object, customized, adaptation, secures }
      const projection = adapt(this.#deps.join, source, at)
      const isShared = isSameEverywhere(fact) && object.metadata.resourceVersion === String(fact.revision)
      const content = contentOf(projection, object.metadata.generation, isShared)
      if (isShared) this.#contents.keep(space, fact, adaptation, content)
      return { source, content }
    }
    return undefined
  }

  adaptationOf(source: Source): Adaptation {
    return adaptationOf(this.#deps.join, source)
  }

  /** Reports the labels that a Namespace loses. */
  #secures({ name }: Mailbox, source: Source, customized: KubeObject): boolean {
    const { remarks, maySecure } = this.#deps
    const { space, fact } = source
    if (!isNamespaceKey(fact.key)) return true
    const secures = !asksToSecure(source, customized) || maySecure(source) === true
    if (secures) remarks.end(name, space, fact.key, UNSECURED.reason)
    else remarks.set(name, space, fact.key, UNSECURED)
    return secures
  }
}

/**
 * Whether the copies of an object are the same in all mailboxes. The labels of a Namespace depend on the consents of its destination, and
 * owner annotations on which owners go there.
 */
function isSameEverywhere({ customized, owners, key }: ObjectFact): boolean {
  return !customized && owners === undefined && !isNamespaceKey(key)
}

/** The only claim on an object whose copy is its own, or is yet to be made, and says the same in all mailboxes. */
export function plainClaim(mailbox: Mailbox, key: string, claims: readonly Source[]): Source | undefined {
  const [source, ...others] = claims
  const copy = mailbox.copies.get(key)
  if (!source || others.length > 0 || copy?.terminating || mailbox.lostOwners.has(key)) return undefined
  if (!isSameEverywhere(source.fact)) return undefined
  const isOther = copy && (copy.owner !== source.space || copy.resource.version !== source.fact.resource.version)
  return isOther ? undefined : source
}
