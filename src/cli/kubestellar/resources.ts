/** The resources of the inventory, and what `kubectl` calls them in its messages. */
import { type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'

const EDGE = 'edge.kubestellar.io'
const VERSION = 'v2alpha1'
export const EDGE_API_VERSION = `${EDGE}/${VERSION}`

export const SYNC_TARGETS: GroupVersionResource = { group: EDGE, version: VERSION, resource: 'synctargets' }
export const LOCATIONS: GroupVersionResource = { group: EDGE, version: VERSION, resource: 'locations' }

/** `synctarget.edge.kubestellar.io`: the singular, as in "synctarget.edge.kubestellar.io/x created". */
export function singular(resource: GroupVersionResource): string {
  return groupResourceName({ group: resource.group, resource: resource.resource.replace(/s$/, '') })
}
