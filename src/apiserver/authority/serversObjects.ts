/** Objects that the server alone writes. They tell what a space is and may do, and people, clients and syncers go by them. */
import { isSameResource } from '../../apimachinery/object.ts'
import { LOGICAL_CLUSTERS } from '../../apimachinery/resources.ts'
import { GRANTED_LOCATIONS, INVENTORY_BINDINGS } from '../../placement/words/placement.ts'
import type { UserInfo } from '../auth/types.ts'
import { GROUPS } from '../auth/users.ts'
import type { Admission } from '../registry/admission.ts'
import { refused } from '../registry/admissionFrame.ts'
import { isServer } from '../registry/context.ts'

/** Refuses writes of other users. */
export function serverWrites(
  handles: Admission['handles'],
  why: (type: Parameters<Admission['handles']>[0]) => string,
  isWriter: (user: UserInfo) => boolean = isServer,
): Admission {
  return {
    stage: 'gate',
    handles,
    reaches: ({ user }) => !isWriter(user),
    admit(request) {
      throw refused(request, why(request.type))
    },
  }
}

export const serversObjects: readonly Admission[] = [
  serverWrites(
    type => isSameResource(type, GRANTED_LOCATIONS),
    () => 'the center writes it, as the InventoryBindings of this space and the PlacementGrants of inventories say',
  ),
  serverWrites(
    type => isSameResource(type, LOGICAL_CLUSTERS),
    () => 'the server writes it, and tells there what this space is',
    ({ groups }) => groups.includes(GROUPS.masters),
  ),
  // the pin there says which space is meant: who could move it could mean another
  serverWrites(
    (type, _operation, subresource) => isSameResource(type, INVENTORY_BINDINGS) && subresource === 'status',
    () => 'the center writes its status',
  ),
]
