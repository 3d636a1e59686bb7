/**
 * Destinations of an EdgePlacement in several SinglePlacementSlices. The first bears the placement's name, which is where readers of
 * KubeStellar's look; each bears a label, by which all of them are found. The first says how many there are, so that a reader knows when
 * one is missing.
 */
import { objects } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { shortName } from '../consent/consentObjects.ts'
import { EDGE_GROUP, PLACEMENT_LABEL } from './placement.ts'

/** Destinations in one slice, some 100 KB. */
export const MAX_DESTINATIONS = 500
/** On the first slice of several: how many they are. */
export const SLICES_ANNOTATION = `${EDGE_GROUP}/slices`

const MAX_LABEL = 63
const MAX_NAME = 253
const SUFFIX = '-slice-'
const MAX_DIGITS = 6

export function placementLabel(placement: string): string {
  return shortName(placement, MAX_LABEL)
}

/** `number` is from 1. */
export function sliceName(placement: string, number: number): string {
  return number === 1 ? placement : `${shortName(placement, MAX_NAME - SUFFIX.length - MAX_DIGITS)}${SUFFIX}${number}`
}

/** Name of the EdgePlacement that a slice is about. One without the label is its namesake's, as those of other writers are. */
export function placementOf({ metadata }: Readonly<KubeObject>): string {
  const { name = '', labels, ownerReferences = [] } = metadata
  const label = labels?.[PLACEMENT_LABEL]
  if (label === undefined || label === placementLabel(name)) return name
  const owner = ownerReferences.find(({ kind, name }) => kind === 'EdgePlacement' && placementLabel(name) === label)
  return owner?.name ?? label
}

/** How many slices there are, as the first says. */
export function sliceCount({ metadata }: Readonly<KubeObject>): number {
  const count = Number(metadata.annotations?.[SLICES_ANNOTATION] ?? '1')
  return Number.isSafeInteger(count) && count > 0 ? count : 1
}

export function rowsOf({ destinations }: Readonly<KubeObject>): Record<string, unknown>[] {
  return objects(destinations)
}
