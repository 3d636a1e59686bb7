/** A LogicalCluster tells what its space is. Clients and syncers go by it, so the space's own people cannot change it. */
import { statusError } from '../../apimachinery/errors.ts'
import { LOGICAL_CLUSTERS } from '../../apimachinery/resources.ts'
import { GROUPS } from '../auth/users.ts'
import type { Admission } from '../registry/admission.ts'

export const logicalClusterAdmission: Admission = {
  stage: 'gate',
  handles: ({ group, resource }) => resource === LOGICAL_CLUSTERS.resource && group === LOGICAL_CLUSTERS.group,
  reaches: ({ user }) => !user.groups.includes(GROUPS.masters),
  admit({ type, object }) {
    const why = 'the server writes it, and tells there what this space is'
    throw statusError.forbidden(type, object.metadata.name ?? '', why)
  },
}
