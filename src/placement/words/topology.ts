/** What slices, Locations and Customizers say to the translator. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { mailboxName } from './placement.ts'
import type { Destination } from './ways.ts'

/** Rows of a SinglePlacementSlice; malformed ones are left out. */
export function destinationsIn(slice: KubeObject): Destination[] {
  const { destinations } = slice
  return (Array.isArray(destinations) ? destinations : []).flatMap((item: unknown) => {
    if (!isRecord(item)) return []
    const { cluster, locationName, syncTargetName, syncTargetUID } = item
    if (typeof cluster !== 'string' || typeof locationName !== 'string' || typeof syncTargetUID !== 'string') return []
    const named = typeof syncTargetName === 'string' && syncTargetName !== '' && { syncTarget: syncTargetName }
    return [{ mailbox: mailboxName(cluster, syncTargetUID), cluster, locationName, ...named }]
  })
}

/** The mailbox of a SyncTarget. */
export function mailboxOf({ space, object }: { space: string; object: KubeObject }): string {
  return mailboxName(space, object.metadata.uid ?? '')
}

/** Puts or deletes; whether what customization reads of the object (all but status) is another now. */
export function replace(map: Map<string, KubeObject>, key: string, object: KubeObject | undefined): boolean {
  const old = map.get(key)
  if (object === undefined) return map.delete(key)
  map.set(key, object)
  return (
    !old ||
    !equalJson(old.metadata.labels, object.metadata.labels) ||
    !equalJson(old.metadata.annotations, object.metadata.annotations) ||
    !equalJson(old.replacements, object.replacements)
  )
}
