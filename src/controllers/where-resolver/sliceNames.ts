/** Which slices there are of each placement, by name alone, and which of their versions are our own writing. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { placementOf } from '../../placement/words/placementSlices.ts'
import type { ObjectId } from '../placement/inventory/inventory.ts'

interface Known {
  readonly placement: string
  /** As we wrote it. */
  readonly version: string | undefined
}

export class SliceNames {
  /** By space, then by name. */
  readonly #slices = new Map<string, Map<string, Known>>()
  /** By space, then by placement. */
  readonly #names = new Map<string, Map<string, Set<string>>>()

  /** Names of the placements for which that is news: an echo of our own write is none. */
  seen({ space, name }: ObjectId, slice: KubeObject | undefined): string[] {
    const before = this.#slices.get(space)?.get(name)
    const isEcho = slice !== undefined && before?.version === slice.metadata.resourceVersion
    const placement = slice && placementOf(slice)
    if (!isEcho) this.#set({ space, name }, placement === undefined ? undefined : { placement, version: undefined })
    const changed = [before?.placement, placement].filter(one => one !== undefined)
    return isEcho ? [] : [...new Set(changed)]
  }

  /** Our own write, before its event comes. */
  wrote({ space, name }: ObjectId, slice: KubeObject): void {
    this.#set({ space, name }, { placement: placementOf(slice), version: slice.metadata.resourceVersion })
  }

  of({ space, name }: ObjectId): string[] {
    return [...(this.#names.get(space)?.get(name) ?? [])]
  }

  /** The placement that has a slice of this name. */
  placementOf({ space, name }: ObjectId): string | undefined {
    return this.#slices.get(space)?.get(name)?.placement
  }

  #set({ space, name }: ObjectId, known: Known | undefined): void {
    const slices = this.#slices.get(space) ?? new Map<string, Known>()
    const names = this.#names.get(space) ?? new Map<string, Set<string>>()
    const before = slices.get(name)
    if (before && before.placement !== known?.placement) {
      const others = names.get(before.placement)
      if (others?.delete(name) && others.size === 0) names.delete(before.placement)
    }
    if (known) {
      slices.set(name, known)
      names.set(known.placement, (names.get(known.placement) ?? new Set()).add(name))
    } else slices.delete(name)
    if (slices.size > 0) this.#slices.set(space, slices)
    else this.#slices.delete(space)
    if (names.size > 0) this.#names.set(space, names)
    else this.#names.delete(space)
  }
}
