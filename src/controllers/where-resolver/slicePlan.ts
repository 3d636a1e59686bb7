/**
 * Which destination stands in which slice. One stays where it is as long as it is wanted, so that a change touches the slices
 * that it is about and no others. Pure.
 *
 * A destination moves only out of a slice that has too many, or that is dissolved because half of them would do. Such a slice
 * takes nothing in at the same time. So there is an order of writes in which none is missing from all slices for a moment: what
 * gains comes before what gives away.
 */
import { MAX_DESTINATIONS, sliceName } from '../../placement/words/placementSlices.ts'
import type { SliceRow } from '../whereDesk.ts'
import { byPlace } from './whereIndex.ts'

export interface Slice {
  readonly name: string
  readonly rows: readonly SliceRow[]
}

interface SlicePlan {
  /** Desired slices, the first one first. */
  readonly slices: readonly Slice[]
  /** Names of those whose destinations others take over: to be written after these. */
  readonly givers: ReadonlySet<string>
  /** Slices without use; to be deleted once the first slice counts them no more. */
  readonly gone: readonly string[]
}

interface SlicePlanInputs {
  placement: string
  /** Present slices, in any order. */
  current: readonly Slice[]
  wanted: readonly SliceRow[]
  /** Whether a slice of another placement has the name. */
  isTaken: (name: string) => boolean
}

interface Part {
  readonly name: string
  rows: SliceRow[]
}

export function planSlices({ placement, current, wanted, isTaken }: SlicePlanInputs): SlicePlan {
  const left = new Map(wanted.map(row => [rowKey(row), row]))
  const givers = new Set<string>()
  const gone: string[] = []
  const ordered = [...current].sort(first(placement))
  let parts = ordered.map(({ name, rows }): Part => {
    const kept = rows.filter(row => left.has(rowKey(row))).slice(0, MAX_DESTINATIONS)
    for (const row of kept) left.delete(rowKey(row))
    if (rows.some(row => left.has(rowKey(row)))) givers.add(name)
    return { name, rows: kept }
  })
  if (parts[0]?.name !== placement) parts.unshift({ name: placement, rows: [] })

  const enough = 2 * Math.max(1, Math.ceil(wanted.length / MAX_DESTINATIONS))
  while (parts.length > enough) {
    const least = parts.slice(1).reduce((a, b) => (b.rows.length < a.rows.length ? b : a))
    parts = parts.filter(part => part !== least)
    for (const row of least.rows) left.set(rowKey(row), row)
    gone.push(least.name)
  }

  const names = new Set([...current.map(({ name }) => name), placement])
  for (const row of [...left.values()].sort(byPlace)) {
    let room = parts.find(({ name, rows }) => rows.length < MAX_DESTINATIONS && !givers.has(name))
    if (!room) {
      room = { name: freeName(placement, name => names.has(name) || isTaken(name)), rows: [] }
      names.add(room.name)
      parts.push(room)
    }
    room.rows.push(row)
  }
  const slices = parts.filter(({ name, rows }) => name === placement || rows.length > 0)
  gone.push(...parts.filter(part => !slices.includes(part)).map(({ name }) => name))
  for (const part of slices) part.rows.sort(byPlace)
  return { slices, givers, gone: gone.filter(name => current.some(slice => slice.name === name)) }
}

export function rowKey(row: SliceRow): string {
  return JSON.stringify([row.cluster, row.locationName, row.syncTargetName, row.syncTargetUID])
}

/** The placement's own name first; then shorter ones, so that 10 comes after 9. */
function first(placement: string): (a: Slice, b: Slice) => number {
  const rank = ({ name }: Slice): number => (name === placement ? 0 : name.length)
  return (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1)
}

function freeName(placement: string, isUsed: (name: string) => boolean): string {
  for (let number = 2; ; number++) {
    const name = sliceName(placement, number)
    if (!isUsed(name)) return name
  }
}
