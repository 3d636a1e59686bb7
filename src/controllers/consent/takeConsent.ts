/**
 * How the InventoryBindings and PlacementGrants of a stream are taken in. An object under deletion consents to nothing any more; an
 * unreadable one is recorded as such.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { StreamEvent } from '../../client/client.ts'
import type { StreamedRef } from '../../client/streamSource.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../placement/words/placement.ts'

/** `undefined`: it is gone, or going. */
export type ConsentObject = KubeObject | undefined | 'unreadable'

export interface ConsentTaker {
  setBinding(space: string, name: string, object: ConsentObject): void
  setGrant(inventory: string, name: string, object: ConsentObject): void
}

/**
 * Whether it was one of these. A reference alone: the object is gone.
 * @throws what reading the object throws, once it is taken as unreadable
 */
export function takeConsent(taker: ConsentTaker, event: StreamEvent | StreamedRef): boolean {
  const { resource } = event.resource
  const isBinding = resource === INVENTORY_BINDINGS.resource
  if (!isBinding && resource !== PLACEMENT_GRANTS.resource) return false
  const take = (object: ConsentObject): void => {
    if (isBinding) taker.setBinding(event.space, event.name, object)
    else taker.setGrant(event.space, event.name, object)
  }
  let object: KubeObject | undefined
  try {
    object = liveObject(event)
  } catch (error) {
    take('unreadable')
    throw error
  }
  take(object)
  return true
}

/** An object under deletion counts as gone. */
export function liveObject(event: StreamEvent | StreamedRef): KubeObject | undefined {
  if (!('type' in event) || event.type === 'DELETED') return undefined
  return event.object.metadata.deletionTimestamp === undefined ? event.object : undefined
}
