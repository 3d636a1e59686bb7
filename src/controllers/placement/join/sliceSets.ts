/**
 * Puts the slices of each placement together for the join. A destination counts while any slice has it. While a slice is missing, or a
 * snapshot delivers one after the other, their former content counts too. A destination that moves between two of them, or that is yet to
 * come again, is no removal.
 */
import { MapOfMaps } from '../../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { PLACEMENT_LABEL } from '../../../placement/words/placement.ts'
import { placementOf, sliceCount } from '../../../placement/words/placementSlices.ts'
import { destinationsIn } from '../../../placement/words/topology.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { PlacementJoin } from './placementJoin.ts'

interface Part {
  /** Its content; its last content, when it is gone. */
  rows: readonly Destination[]
  /** Content before the present snapshot. */
  before: readonly Destination[]
  /** How many slices there are, if it is the first. */
  count: number
  /** Whether it was written by the where-resolver, who writes it again if somebody deletes it. */
  kept: boolean
  gone: boolean
}

export class SliceSets {
  readonly #join: Pick<PlacementJoin, 'setDestinations' | 'spec'>
  /** By `space placement` and name. */
  readonly #sets = new MapOfMaps<Part>()
  /** The placement of each slice, by `space name`. */
  readonly #placements = new Map<string, string>()
  /** Sets that differ in the present snapshot; absent when none runs. */
  #changed: Map<string, readonly [space: string, placement: string]> | undefined

  constructor(join: Pick<PlacementJoin, 'setDestinations' | 'spec'>) {
    this.#join = join
  }

  /** A snapshot begins; {@link synced} ends it. */
  begin(): void {
    this.#changed ??= new Map()
  }

  synced(): void {
    const changed = this.#changed
    this.#changed = undefined
    for (const [space, placement] of changed?.values() ?? []) this.#settle(space, placement)
  }

  set(space: string, name: string, slice: KubeObject | undefined): void {
    const before = this.#placements.get(`${space} ${name}`)
    const placement = slice && placementOf(slice)
    if (before !== undefined && before !== placement) {
      const part = this.#sets.get(`${space} ${before}`, name)
      if (part) part.gone = true
      this.#placements.delete(`${space} ${name}`)
      this.#settle(space, before)
    }
    if (slice === undefined || placement === undefined) return
    this.#placements.set(`${space} ${name}`, placement)
    const id = `${space} ${placement}`
    const old = this.#sets.get(id, name)
    this.#sets.set(id, name, {
      rows: destinationsIn(slice),
      before: this.#changed && old ? [...old.before, ...old.rows] : [],
      count: name === placement ? sliceCount(slice) : 0,
      kept: slice.metadata.labels?.[PLACEMENT_LABEL] !== undefined,
      gone: false,
    })
    this.#settle(space, placement)
  }

  /** The placement is gone: nothing more is to come of it. */
  placementGone(space: string, placement: string): void {
    if (this.#sets.has(`${space} ${placement}`)) this.#settle(space, placement)
  }

  #settle(space: string, placement: string): void {
    const id = `${space} ${placement}`
    const parts = this.#sets.of(id)
    const isOld = [...parts.values()].some(({ gone, before }) => gone || before.length > 0)
    if (this.#changed) {
      if (isOld) this.#changed.set(id, [space, placement])
    } else if (isOld) {
      const isWhole = this.#isWhole(space, placement, parts)
      for (const [name, part] of parts) {
        part.before = []
        if (part.gone && (isWhole || !part.kept)) this.#sets.delete(id, name)
      }
    }
    this.#join.setDestinations(space, placement, parts.size > 0 ? together([...parts.values()]) : undefined)
  }

  #isWhole(space: string, placement: string, parts: ReadonlyMap<string, Part>): boolean {
    if (!this.#join.spec(space, placement)) return true
    const first = parts.get(placement)
    if (!first || first.gone) return false
    return [...parts.values()].filter(({ gone }) => !gone).length >= first.count
  }
}

function together(parts: readonly Part[]): readonly Destination[] {
  const [only] = parts
  if (parts.length === 1 && only && only.before.length === 0) return only.rows
  const all = new Map<string, Destination>()
  for (const { rows, before } of parts) {
    for (const row of [...rows, ...before]) all.set(`${row.mailbox} ${row.cluster} ${row.locationName}`, row)
  }
  return [...all.values()]
}
