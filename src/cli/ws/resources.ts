/** The resources that the plugins work with. */
import type { GroupVersionResource } from '../../apimachinery/object.ts'

export const WORKSPACES: GroupVersionResource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
export const LOGICAL_CLUSTERS: GroupVersionResource = {
  group: 'core.kcp.io',
  version: 'v1alpha1',
  resource: 'logicalclusters',
}
