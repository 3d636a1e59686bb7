/** Updates copies: the change of the first one shows the body that the others of its body become, see copyChange.ts. */
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import { getOrInsert } from '../../../apimachinery/getOrInsert.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import { cloneJson } from '../../../apimachinery/values.ts'
import type { Body } from '../../../storage/body.ts'
import { copyIn } from '../../../storage/copyText.ts'
import type { SharedStored } from '../../../storage/sharedStored.ts'
import type { Write } from '../../../storage/store.ts'
import { stepsFor } from '../admission.ts'
import { decodeObject } from '../codec.ts'
import type { Preparation, RegistryDeps } from '../preparation.ts'
import type { Updates } from '../updates.ts'
import { hasStorageVersion } from '../views.ts'
import { type Circumstances, isPlain, isSameWrite } from './circumstances.ts'
import { CopyChange } from './copyChange.ts'
import { type Copied, type CopyPlace, type CopyUpdate, copyAt, goAhead, perPlace, storedAt } from './copyWrites.ts'

interface Shown {
  readonly circumstances: Circumstances
  readonly change: CopyChange
}

/** A copy that may be changed without the ordinary way. */
interface Known {
  readonly copy: SharedStored
  readonly circumstances: Circumstances
}

/** Bodies of the copies that one object is to replace. Those with further bodies go the ordinary way. */
const KEPT_BODIES = 32

export class CopyUpdates {
  readonly #deps: RegistryDeps
  readonly #preparation: Preparation
  readonly #updates: Updates
  /** By content, as long as its writer holds that, and by the body before. */
  readonly #shown = new WeakMap<object, BoundedCache<Body, Shown>>()

  constructor(preparation: Preparation, updates: Updates, deps: RegistryDeps) {
    this.#deps = deps
    this.#preparation = preparation
    this.#updates = updates
  }

  async update(all: readonly CopyUpdate[]): Promise<readonly (Copied | undefined)[]> {
    const { store, clock } = this.#deps
    const isOpen = perPlace<CopyUpdate, boolean>(place => this.#isOpen(place))
    const known = all.map(one => (isOpen(one) ? this.#known(one) : undefined))
    let now = timestamp(clock())
    const changeOf = (i: number): CopyChange | undefined => known[i] && this.#changeOf(all[i]!, known[i], now)
    const made = await goAhead(
      all.map(({ content }) => content),
      i => known[i] === undefined || changeOf(i) !== undefined,
      async i => {
        const first = await this.#first(all[i]!, known[i]!)
        now = timestamp(clock())
        return first
      },
    )
    const changes = all.map((_, i) => (made[i] ? undefined : changeOf(i)))
    const writes = changes.map((change, i): Write | undefined => {
      const copy = known[i]?.copy
      const text = copy && change?.text(copy, now)
      return text && { key: copy.key, mutation: { type: 'put', text }, expect: copy.revision }
    })
    const stored = await storedAt(store, writes)
    return all.map(({ uid }, i) => {
      const copy = stored[i]
      return copy ? { stored: copy, uid, like: changes[i]!.like } : made[i]
    })
  }

  #known(update: CopyUpdate): Known | undefined {
    const { context, type, content } = update
    const copy = copyAt(this.#deps.store, update)
    const circumstances = copy && this.#preparation.circumstances(context, type, content)
    return circumstances && isPlain(circumstances) ? { copy, circumstances } : undefined
  }

  #changeOf({ content }: CopyUpdate, { copy, circumstances }: Known, now: string): CopyChange | undefined {
    const shown = this.#shown.get(content)?.peek(copy.body)
    return shown?.change.fits(copy, now) && isSameWrite(shown.circumstances, circumstances) ? shown.change : undefined
  }

  async #first(update: CopyUpdate, { copy, circumstances }: Known): Promise<Copied | undefined> {
    const { context, type, namespace, name, content } = update
    if (!hasStorageVersion(copy, type)) return undefined
    const object = update.replace(decodeObject(copy))
    if (!object) return undefined
    const now = timestamp(this.#deps.clock())
    try {
      const replacement = () => cloneJson(object)
      const how = { isShared: true }
      const { stored } = await this.#updates.update(context, type, namespace, name, { replacement }, how)
      if (stored.revision <= copy.revision) return undefined
      const after = copyIn(stored)
      const isOfNow = now === timestamp(this.#deps.clock())
      const change = after && isOfNow ? CopyChange.between(type, copy, after, now) : undefined
      if (change) this.#keep(content, copy.body, { circumstances, change })
      return { stored, uid: update.uid, like: change?.like ?? decodeObject(stored) }
    } catch {
      return undefined // the caller's ordinary way says why
    }
  }

  #keep(content: object, before: Body, shown: Shown): void {
    getOrInsert(this.#shown, content, () => new BoundedCache(KEPT_BODIES)).set(before, shown)
  }

  /** Whether no admission step has a say there. Under an older schema of its kind an object may be read in another way. */
  #isOpen({ context: { space, user }, type, namespace }: CopyPlace): boolean {
    if ((type.custom?.generation ?? 1) !== 1) return false
    return stepsFor(this.#deps.admission, type, 'UPDATE', { space, namespace, subresource: '', user }).length === 0
  }
}
