/**
 * Writes the slices of a placement: the one place where destinations are given and taken. A slice is written only when it
 * differs, and in an order in which no destination that stays is missing for a moment.
 */
import { at } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { PLACEMENT_LABEL, SLICES } from '../../placement/words/placement.ts'
import { placementLabel, placementOf, rowsOf, SLICES_ANNOTATION } from '../../placement/words/placementSlices.ts'
import type { SliceRow } from '../whereDesk.ts'
import type { SliceNames } from './sliceNames.ts'
import { planSlices, rowKey } from './slicePlan.ts'
import { byPlace, type Resolved } from './whereIndex.ts'

interface SliceWriterDeps {
  client: Client
  slices: SliceNames
  fieldManager: string
}

interface Given {
  /** Destinations that are not given, for they are unschedulable. */
  readonly avoided: readonly SliceRow[]
  /** Whether some stay that are to go. */
  readonly keeps: boolean
}

/** `mayLose`: else what is to go stays, and what is new is given. */
export async function writeSlices(
  { client, slices, fieldManager }: SliceWriterDeps,
  space: string,
  placement: KubeObject,
  resolved: Resolved,
  mayLose: boolean,
): Promise<Given> {
  const { name = '' } = placement.metadata
  const api = client.in(space)
  const found = await Promise.all(
    [...new Set([name, ...slices.of({ space, name })])].map(slice => unlessGone(api.get(SLICES, { name: slice }))),
  )
  const known = new Map(found.filter(slice => slice !== undefined).map(slice => [slice.metadata.name ?? '', slice]))
  // it goes nowhere else for now
  if (known.has(name) && at(placement, 'spec', 'paused') === true) return { avoided: [], keeps: false }
  const current = [...known]
    .filter(([, slice]) => placementOf(slice) === name)
    .map(([slice, object]) => ({ name: slice, rows: rowsOf(object) as unknown[] as SliceRow[] }))
  const old = new Map(current.flatMap(({ rows }) => rows).map(row => [rowKey(row), row]))
  const right = rowsFor(resolved, old)
  const rightKeys = new Set(right.map(rowKey))
  const kept = mayLose ? [] : [...old].filter(([key]) => !rightKeys.has(key)).map(([, row]) => row)
  const wanted = kept.length === 0 ? right : [...right, ...kept].sort(byPlace)
  const isTaken = (slice: string): boolean => (slices.placementOf({ space, name: slice }) ?? name) !== name
  const plan = planSlices({ placement: name, current, wanted, isTaken })
  const isLast = (slice: string): boolean => plan.givers.has(slice)
  const isFirst = (slice: string): boolean => slice === name
  // the first says how many there are: after those that are new, before those that go
  const order = [...plan.slices].sort(
    (a, b) => Number(isLast(a.name)) - Number(isLast(b.name)) || Number(isFirst(a.name)) - Number(isFirst(b.name)),
  )
  for (const { name: slice, rows } of order) {
    const before = known.get(slice)
    const body = sliceFor(placement, { name: slice, before, rows, count: plan.slices.length })
    if (before && equalJson(before, body)) continue
    const written = before
      ? await api.update(SLICES, body, { fieldManager })
      : await api.create(SLICES, body, { fieldManager })
    slices.wrote({ space, name: slice }, written)
  }
  for (const slice of plan.gone) {
    const { uid, resourceVersion } = known.get(slice)!.metadata
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
    await unlessGone(api.delete(SLICES, { name: slice }, { preconditions }))
  }
  const given = new Set(wanted)
  return { avoided: [...resolved.onlyKept].filter(row => !given.has(row)), keeps: kept.length > 0 }
}

interface SliceText {
  readonly name: string
  readonly before: KubeObject | undefined
  readonly rows: readonly SliceRow[]
  readonly count: number
}

function sliceFor(placement: KubeObject, { name, before, rows, count }: SliceText): KubeObject {
  const { name: placementName = '', uid = '' } = placement.metadata
  const owner = { apiVersion: placement.apiVersion, kind: 'EdgePlacement', name: placementName, uid }
  // an owner of the same name but another uid is a placement that is no more
  const others = (before?.metadata.ownerReferences ?? []).filter(o => o.kind !== owner.kind)
  const kept = before?.metadata.ownerReferences?.find(o => o.uid === uid) ?? owner
  const { [SLICES_ANNOTATION]: _, ...annotations } = before?.metadata.annotations ?? {}
  if (name === placementName && count > 1) annotations[SLICES_ANNOTATION] = String(count)
  const base = before ?? { apiVersion: placement.apiVersion, kind: 'SinglePlacementSlice', metadata: { name } }
  const { annotations: __, ...metadata } = base.metadata
  return {
    ...base,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [PLACEMENT_LABEL]: placementLabel(placementName) },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [...others, kept],
    },
    destinations: [...rows],
  }
}

/** Rows of an inventory with unknown consent stay; an unschedulable SyncTarget keeps the rows that it has. */
function rowsFor({ destinations, onlyKept, isUncertain }: Resolved, old: ReadonlyMap<string, SliceRow>): SliceRow[] {
  const wanted = destinations.filter(row => !onlyKept.has(row) || old.has(rowKey(row)))
  const uncertain = [...old].filter(([, row]) => isUncertain(row.cluster))
  if (uncertain.length === 0) return wanted
  const resolved = new Set(destinations.map(rowKey))
  const kept = uncertain.filter(([key]) => !resolved.has(key)).map(([, row]) => row)
  return kept.length === 0 ? wanted : [...wanted, ...kept].sort(byPlace)
}
