/** What `kubectl` calls resources in its messages. */
import { type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'

/** `synctarget.edge.kubestellar.io`: the singular, as in "synctarget.edge.kubestellar.io/x created". */
export function singular(resource: GroupVersionResource): string {
  return groupResourceName({ group: resource.group, resource: resource.resource.replace(/s$/, '') })
}
