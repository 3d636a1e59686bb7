/** Names around mailbox spaces: what the mailbox controller writes and which identity the syncer has inside them. */
import type { GroupVersionResource } from '../../apimachinery/object.ts'

/** On a mailbox Workspace: the name of its SyncTarget, for people and tools. */
export const SYNC_TARGET_NAME_ANNOTATION = 'edge.kubestellar.io/sync-target-name'

/** ServiceAccount, ClusterRole and ClusterRoleBinding of the syncer in each mailbox. */
export const SYNCER_NAME = 'kubestellar-syncer'
export const SYNCER_NAMESPACE = 'default'

export const SYNC_TARGETS: GroupVersionResource = {
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource: 'synctargets',
}
export const WORKSPACES: GroupVersionResource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
