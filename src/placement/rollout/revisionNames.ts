/** Names of what the center keeps of a placement's revisions. Pure. */
import { hash } from 'node:crypto'
import { shortName } from '../consent/consentObjects.ts'

const MAX_NAME = 253
/** Digits of a number, and the dot before them. */
const MAX_NUMBER = 11

/** Name of the PlacementRevision or the PlacementRollout of a number. */
export function revisionName(placement: string, number: number): string {
  return `${revisionBase(placement)}.${number}`
}

/** Begin of the names of a placement's PlacementRevisions and PlacementRollouts. */
export function revisionBase(placement: string): string {
  return shortName(placement, MAX_NAME - MAX_NUMBER)
}

/** The {@link revisionBase} in the name of a PlacementRevision or PlacementRollout. */
export function baseOfRevision(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')))
}

/** Name of the PlacementContent of an object from a revision on. */
export function contentName(placementUid: string, key: string, from: number): string {
  return `${placementUid}.${hash('sha256', key, 'hex').slice(0, 32)}.${from}`
}
