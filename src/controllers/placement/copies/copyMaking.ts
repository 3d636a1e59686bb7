/** Content of a copy and its source object, made once for all mailboxes where the destination does not matter. */

import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Adaptation } from '../../../placement/content/adaptation.ts'
import { project } from '../../../placement/content/projection.ts'
import { isNamespaceKey } from '../../../placement/words/names.ts'
import type { Source } from '../join/placementProduct.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import { asksToSecure, leftThere, ownersThere, UNSECURED, withoutPodSecurity } from './adaptations.ts'
import { type CopyContent, CopyContents, contentOf } from './copyContents.ts'
import type { CopyDeps } from './copyDeps.ts'

export interface Made {
  readonly source: Source
  readonly content: CopyContent
}

export class CopyMaking {
  readonly #deps: Pick<CopyDeps, 'join' | 'sources' | 'maySecure' | 'withheld' | 'remarks'>
  readonly #contents = new CopyContents()

  constructor(deps: Pick<CopyDeps, 'join' | 'sources' | 'maySecure' | 'withheld' | 'remarks'>) {
    this.#deps = deps
  }

  /** What is made already for another mailbox, and says the same here. */
  ready(source: Source): CopyContent | undefined {
    const { space, fact } = source
    return isSameEverywhere(fact) ? this.#contents.get(space, fact, this.adaptationOf(source)) : undefined
  }

  /**
   * Of the first claim whose object is there and can be customized; nothing, when one has just gone, or it is not known what of it
   * may go: news of that come.
   */
  async firstGood(mailbox: Mailbox, claims: readonly Source[]): Promise<Made | undefined> {
    for (const source of claims) {
      const ready = this.ready(source)
      if (ready) return { source, content: ready }
      const { space, fact } = source
      const object = await this.#deps.sources.read(space, fact)
      if (!object) return undefined
      if (this.#deps.maySecure(source) === undefined && asksToSecure(source, object)) return undefined
      const customized = await this.#deps.sources.flawless(source, object)
      if (!customized) {
        this.#deps.remarks.cannotCustomize(mailbox.name, source, await this.#deps.sources.faults(source, object))
        continue // the source is told, too
      }
      const adaptation = this.adaptationOf(source)
      const owners = ownersThere(this.#deps.join, mailbox.name, source, object)
      const projection = project(space, this.#secured(source, customized), { ...adaptation, owners })
      const isShared = isSameEverywhere(fact) && object.metadata.resourceVersion === String(fact.revision)
      const content = contentOf(projection, object.metadata.generation, isShared)
      if (isShared) this.#contents.keep(space, fact, adaptation, content)
      return { source, content }
    }
    return undefined
  }

  adaptationOf(source: Source): Adaptation {
    const { space, placements, implied = false } = source
    const { join } = this.#deps
    const preserve = placements.some(name => join.spec(space, name)?.preserves)
    return { implied, preserve, adopt: join.adopts(source), left: leftThere(join, source) }
  }

  #secured(source: Source, object: KubeObject): KubeObject {
    if (!isNamespaceKey(source.fact.key)) return object
    const withheld = asksToSecure(source, object) && !this.#deps.maySecure(source)
    this.#deps.withheld(source, withheld ? UNSECURED : undefined)
    return withheld ? withoutPodSecurity(object) : object
  }
}

/**
 * Whether it goes as it is to whatever mailbox it goes to. What a Namespace says depends on what its destination allows, and what is
 * said of owners on which of them go there.
 */
export function isSameEverywhere({ customized, owners, key }: ObjectFact): boolean {
  return !customized && owners === undefined && !isNamespaceKey(key)
}
