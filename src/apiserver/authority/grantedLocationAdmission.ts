/** GrantedLocations are the center's word to a space; who could write one would deceive those who read it. */
import { statusError } from '../../apimachinery/errors.ts'
import { EDGE_GROUP, GRANTED_LOCATIONS } from '../../placement/words/placement.ts'
import type { UserInfo } from '../auth/types.ts'
import type { Admission } from '../registry/admission.ts'
import { systemUser, trustedName } from '../registry/context.ts'

export const grantedLocationAdmission: Admission = {
  stage: 'gate',
  handles: ({ group, resource }) => group === EDGE_GROUP && resource === GRANTED_LOCATIONS.resource,
  reaches: ({ user }) => !isServer(user),
  admit({ type, object }) {
    const why =
      'the center writes it, as the InventoryBindings of this space and the PlacementGrants of inventories say'
    throw statusError.forbidden(type, object.metadata.name ?? '', why)
  },
}

/** Whether it is the server itself, or a controller in its process. */
export function isServer(user: UserInfo): boolean {
  return trustedName(user).startsWith(systemUser(''))
}
