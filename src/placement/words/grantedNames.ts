/**
 * The names of GrantedLocations: `<binding>.<location>`. The name of an InventoryBinding has no dot, so the first one ends it.
 */
import { shortName } from '../consent/consentObjects.ts'

const LIMIT = 253
/** A shorter name was never shortened; shortening may leave out some characters more than it must. */
const SHORTENED_AT_LEAST = 100

export function grantedName(binding: string, location: string): string {
  return shortName(`${binding}.${location}`, LIMIT)
}

/** Name of a cluster in a space: as the GrantedLocation, with its SyncTarget where that has another name than the Location. */
export function clusterLabel(granted: string, location: string, syncTarget: string): string {
  return syncTarget === location ? granted : `${granted}+${syncTarget}`
}

/** The name of the InventoryBinding, and what is behind it: the name of the Location unless that was too long. */
export function splitGrantedName(name: string): { binding: string; rest: string } {
  const dot = name.indexOf('.')
  return dot < 0 ? { binding: name, rest: '' } : { binding: name.slice(0, dot), rest: name.slice(dot + 1) }
}

/** Whether it may stand for a Location that it does not name. */
export function mayBeShortened(name: string): boolean {
  return name.length > SHORTENED_AT_LEAST
}
