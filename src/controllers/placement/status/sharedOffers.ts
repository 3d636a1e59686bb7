/** What clusters offer, held once for all that offer the same: those of a fleet are mostly of few makes. */
import { createHash } from 'node:crypto'
import type { Offer } from '../../../placement/outcome/offer.ts'

/** Different ones that are known again. */
const KEPT = 50

export class SharedOffers {
  /** By hash, those that were asked for last at the end. */
  readonly #known = new Map<string, Offer>()

  /** One that says the same. */
  shared(offer: Offer): Offer {
    const hash = createHash('sha256').update(JSON.stringify(offer)).digest('base64')
    const one = this.#known.get(hash) ?? offer
    this.#known.delete(hash)
    this.#known.set(hash, one)
    if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value!)
    return one
  }
}
