/** Which slices there are of each placement, by name alone, and which of their versions are our own writing. */
import { MapOfSets } from '../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { placementOf } from '../../placement/words/placementSlices.ts'
import type { ObjectId } from '../placement/inventory/inventory.ts'

interface Known {
  readonly placement: string
  /** As we wrote it. */
  readonly version: string | undefined
}

export class SliceNames {
  /** By `space name`. */
  readonly #slices = new Map<string, Known>()
  /** By `space placement`. */
  readonly #names = new MapOfSets<string>()

  /** Names of the placements for which that is news: an echo of our own write is none. */
  seen({ space, name }: ObjectId, slice: KubeObject | undefined): string[] {
    const before = this.#slices.get(`${space} ${name}`)
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
    return [...this.#names.of(`${space} ${name}`)]
  }

  /** The placement that has a slice of this name. */
  placementOf({ space, name }: ObjectId): string | undefined {
    return this.#slices.get(`${space} ${name}`)?.placement
  }

  #set({ space, name }: ObjectId, known: Known | undefined): void {
    const id = `${space} ${name}`
    const before = this.#slices.get(id)
    if (before) this.#names.delete(`${space} ${before.placement}`, name)
    if (known) {
      this.#slices.set(id, known)
      this.#names.add(`${space} ${known.placement}`, name)
    } else this.#slices.delete(id)
  }
}
