/** Facts from slices, Locations and Customizers for the translator. */
import { objects, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { mailboxName } from './placement.ts'
import type { Destination } from './ways.ts'

/** Rows of a SinglePlacementSlice; malformed ones are left out. */
export function destinationsIn(slice: KubeObject): Destination[] {
  return objects(slice, 'destinations').flatMap(({ cluster, locationName, syncTargetName, syncTargetUID }) => {
    if (typeof cluster !== 'string' || typeof locationName !== 'string' || typeof syncTargetUID !== 'string') return []
    const named = typeof syncTargetName === 'string' && syncTargetName !== '' && { syncTarget: syncTargetName }
    return [{ mailbox: mailboxName(cluster, syncTargetUID), cluster, locationName, ...named }]
  })
}

/** Id of the space of a mailbox, from its Workspace; `''` until it is ready. */
export function readySpaceOf({ spec, status }: KubeObject): string {
  return str(status, 'phase') === 'Ready' ? str(spec, 'cluster') : ''
}

/** The mailbox of a SyncTarget. */
export function mailboxOf({ space, object }: { space: string; object: KubeObject }): string {
  return mailboxName(space, object.metadata.uid ?? '')
}

/** Whether customization reads something else of an object now: all but its status counts. */
export function readsOtherwise(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  if (!before || !after) return before !== after
  return (
    !equalJson(before.metadata.labels, after.metadata.labels) ||
    !equalJson(before.metadata.annotations, after.metadata.annotations) ||
    !equalJson(before.parameters, after.parameters) ||
    !equalJson(before.replacements, after.replacements)
  )
}
