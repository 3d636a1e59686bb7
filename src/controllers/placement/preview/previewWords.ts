/** Why something would become of an object in a cluster, or why that is not known: as previews say it. */

import { MAX_PREVIEW_DESTINATIONS } from '../../../placement/desks/placementPreview.ts'
import type { Reason } from '../../../placement/words/reason.ts'

export function conflict(owner: string | undefined): Reason {
  return {
    reason: 'ObjectConflict',
    message: `space ${JSON.stringify(owner)} owns the object of that name there; nothing of this one arrives until its claim ends`,
  }
}

/** Reason for an owner that places it no more. */
export function keptConflict(owner: string): Reason {
  return {
    reason: 'ObjectConflict',
    message: `space ${JSON.stringify(owner)} owns the object of that name there; nothing of this one arrives until its deletion is confirmed or a pause ends`,
  }
}

export function invalid(message: string): Reason {
  return { reason: 'CustomizationError', message }
}

export const INVALID = invalid('it cannot be customized as it asks')
export const REFUSED: Reason = {
  reason: 'Refused',
  message: 'the copy would be refused: what the location makes of it is not valid',
}
export const HIDDEN: Reason = {
  reason: 'NotShown',
  message: 'annotations of the location are parameters of it, which this space may not read: the change is not shown',
}
export const MAY_BE_HIDDEN: Reason = {
  reason: 'NotShown',
  message:
    'annotations of the location are parameters of it, which this space may not read: neither the change nor its absence is shown',
}
export const TOO_MANY: Reason = {
  reason: 'TooMany',
  message: `more than ${MAX_PREVIEW_DESTINATIONS} clusters are not looked at`,
}
export const TOO_MUCH: Reason = {
  reason: 'TooMuchWork',
  message: 'to look at more clusters is too much work: preview fewer, smaller or less customized objects at a time',
}
export const NOT_READY: Reason = { reason: 'NotReady', message: 'what is in the cluster is not known yet' }
export const LEAVING: Reason = { reason: 'Leaving', message: 'the cluster is leaving; what it holds stays as it is' }
export const LOCATION_PAUSED: Reason = { reason: 'LocationPaused', message: 'the location is paused' }
export const PAUSED: Reason = { reason: 'Paused', message: 'the object, or all placements of it, are paused' }
export const CARRIED_UP: Reason = {
  reason: 'CarriedUp',
  message: 'an upsync set names it, so it is born in the cluster',
}
export const TAKEN_OVER: Reason = { reason: 'TakenOver', message: 'the copy of another space is taken over' }
