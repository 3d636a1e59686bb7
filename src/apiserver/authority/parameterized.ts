/**
 * Objects that hold parameters of Locations. In a workload space these are to be expanded for each destination; a mailbox has the copies of
 * these. Objects that act in the space's own server hold none: it would act upon references.
 */

import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES, WORKSPACES } from '../../apimachinery/resources.ts'
import { isNatured, type Places } from '../../placement/spaces/nature.ts'
import { EDGE_GROUP, EXPAND_ANNOTATION, isMailbox, isProjected } from '../../placement/words/placement.ts'
import type { Parameterized } from '../registry/parameters.ts'

const READ_HERE: ReadonlySet<string> = new Set([
  groupResourceName(NAMESPACES),
  groupResourceName(CRDS),
  'priorityclasses.scheduling.k8s.io',
  'runtimeclasses.node.k8s.io',
  'storageclasses.storage.k8s.io',
  'ingressclasses.networking.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
])

export function parameterized(
  places: Places,
): (space: string, kind: GroupResource, object: Readonly<KubeObject>) => Parameterized {
  return (space, kind, object) => {
    if (object.metadata.annotations?.[EXPAND_ANNOTATION] !== 'true') return undefined
    if (kind.group === EDGE_GROUP || kind.group === WORKSPACES.group) return undefined
    if (READ_HERE.has(groupResourceName(kind))) return undefined
    if (places.typeOf(space).describes) return isNatured(object) ? undefined : 'described'
    return isProjected(object) && isMailbox(places.pathOf(space) ?? '') ? 'expanded' : undefined
  }
}
