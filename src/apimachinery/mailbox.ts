/**
 * What a mailbox is: a child of the mailbox parent with a mailbox's name. The place in the tree decides, and nothing that is
 * inside a space: only administrators make children of the mailbox parent, names never change, and an id is given once. So no
 * syncer or tenant makes a mailbox of another space, or another space of its mailbox.
 */

/** The space whose children the mailboxes are. */
export const MAILBOX_PARENT = 'root:espw'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const NAME = `([a-z0-9]+)-mb-(${UUID})`

/** Only Workspaces named like this are ever taken for mailboxes: the id of the SyncTarget's space and the SyncTarget's uid. */
export const MAILBOX_NAME = new RegExp(`^${NAME}$`)

const IN_MAILBOX = new RegExp(`^${MAILBOX_PARENT}:${NAME}(?::|$)`)

/** `cluster` is the logical-cluster id of the SyncTarget's space. */
export function mailboxName(cluster: string, syncTargetUID: string): string {
  return `${cluster}-mb-${syncTargetUID}`
}

/** Whether a space is a mailbox or lies below one: whoever may write a mailbox may make spaces in it. `path` is from the root. */
export function isInMailbox(path: string): boolean {
  return IN_MAILBOX.test(path)
}

/** The ConfigMap in a workload execution cluster that says from which mailbox it is served. It is never carried anywhere. */
export const CLUSTER_RECORD = { namespace: 'kube-system', name: 'orrery-syncer' } as const
