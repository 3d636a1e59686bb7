/** Names around mailbox spaces: what their Workspaces are called and which identity the syncer has inside them. */
import type { GroupVersionResource } from '../../apimachinery/object.ts'

/** The space whose children the mailboxes are. */
export const MAILBOX_PARENT = 'root:espw'
/** On a mailbox Workspace: the name of its SyncTarget, for people and tools. */
export const SYNC_TARGET_NAME_ANNOTATION = 'edge.kubestellar.io/sync-target-name'

/** ServiceAccount, ClusterRole and ClusterRoleBinding of the syncer in each mailbox. */
export const SYNCER_NAME = 'kubestellar-syncer'
export const SYNCER_NAMESPACE = 'default'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/** Only Workspaces named like this are ever taken for mailboxes. */
export const MAILBOX_NAME = new RegExp(`^([a-z0-9]+)-mb-(${UUID})$`)

/** `cluster` is the logical-cluster id of the SyncTarget's space. */
export function mailboxName(cluster: string, syncTargetUID: string): string {
  return `${cluster}-mb-${syncTargetUID}`
}

export const SYNC_TARGETS: GroupVersionResource = {
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource: 'synctargets',
}
export const WORKSPACES: GroupVersionResource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
