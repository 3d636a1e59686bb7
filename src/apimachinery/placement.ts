/** Words of placement that the center and the syncer must spell alike. */

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/**
 * What the Workspace of a mailbox is called: id of the inventory space, `-mb-`, uid of the SyncTarget. A mailbox that is made
 * anew for the same SyncTarget has another id and the same name.
 */
export const MAILBOX_NAME = new RegExp(`^([a-z0-9]+)-mb-(${UUID})$`)

/** `cluster` is the logical-cluster id of the SyncTarget's space. */
export function mailboxName(cluster: string, syncTargetUID: string): string {
  return `${cluster}-mb-${syncTargetUID}`
}

/** The ConfigMap in a workload execution cluster that says from which mailbox it is served. It is never carried anywhere. */
export const CLUSTER_RECORD = { namespace: 'kube-system', name: 'orrery-syncer' } as const
