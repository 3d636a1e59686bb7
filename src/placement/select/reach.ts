/** Which kinds may travel from a workload description space to a mailbox, and which of those go on to the cluster. */
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import { LOGICAL_CLUSTERS, WORKSPACES } from '../../apimachinery/resources.ts'
import { EDGE_GROUP } from '../words/placement.ts'

const IGNORED_GROUPS: ReadonlySet<string> = new Set([
  EDGE_GROUP,
  'scheduling.kcp.io',
  WORKSPACES.group,
  'topology.kcp.io',
  'workload.kcp.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
])

/** `resource.group`. Review kinds are never stored; they are listed so that the rule does not depend on that. */
const IGNORED_RESOURCES: ReadonlySet<string> = new Set([
  'apiresourceimports.apiresource.kcp.io',
  'negotiatedapiresources.apiresource.kcp.io',
  'apiconversions.apis.kcp.io',
  'apiexports.apis.kcp.io',
  'apiexportendpointslices.apis.kcp.io',
  'apiresourceschemas.apis.kcp.io',
  'controllerrevisions.apps',
  'certificatesigningrequests.certificates.k8s.io',
  'leases.coordination.k8s.io',
  groupResourceName(LOGICAL_CLUSTERS),
  'shards.core.kcp.io',
  'events.events.k8s.io',
  'events.',
  'bindings.',
  'componentstatuses.',
  'nodes.',
])

/** `cluster`: to the mailbox and on to the cluster. `mailbox`: no further than the mailbox. `none`: stays. */
type Reach = 'none' | 'mailbox' | 'cluster'

export function reachOf(gr: GroupResource): Reach {
  if (IGNORED_GROUPS.has(gr.group) || IGNORED_RESOURCES.has(`${gr.resource}.${gr.group}`)) return 'none'
  return gr.group === 'apis.kcp.io' && gr.resource === 'apibindings' ? 'mailbox' : 'cluster'
}
