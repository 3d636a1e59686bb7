/**
 * A mailbox lives as long as its SyncTarget. A new one would be different: its syncer would need a new credential and the cluster to be
 * handed over. The work of a leaving cluster's syncer would be unknown. So nobody deletes a mailbox's Workspace whose SyncTarget is there
 * but the server itself, which does so when it is time.
 */
import { statusError } from '../../apimachinery/errors.ts'
import { isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { FORCE_DETACH_ANNOTATION, MAILBOX_NAME, MAILBOX_PARENT, SYNC_TARGETS } from '../../placement/words/placement.ts'
import type { Store } from '../../storage/store.ts'
import type { Admission } from '../registry/admission.ts'
import { decodeObject } from '../registry/codec.ts'
import { isServer } from '../registry/context.ts'
import type { SpaceTree } from '../spaces/tree.ts'

export interface MailboxDeletionDeps {
  store: Pick<Store, 'list'>
  tree: Pick<SpaceTree, 'pathOf' | 'isDeleting'>
}

export function mailboxDeletion({ store, tree }: MailboxDeletionDeps): Admission {
  /** The SyncTarget of a mailbox, unless its inventory is gone or goes. */
  const targetOf = async (inventory: string, uid: string): Promise<KubeObject | undefined> => {
    if (tree.pathOf(inventory) === undefined || tree.isDeleting(inventory)) return undefined
    const { group, resource } = SYNC_TARGETS
    const { items } = await store.list({ space: inventory, group, resource })
    return items
      .filter(({ bytes }) => bytes.includes(uid))
      .map(decodeObject)
      .find(({ metadata }) => metadata.uid === uid)
  }
  return {
    stage: 'validate',
    handles: (type, operation, subresource) =>
      operation === 'DELETE' && subresource === '' && isSameResource(type, WORKSPACES),
    reaches: ({ space, user }) => tree.pathOf(space) === MAILBOX_PARENT && !isServer(user),
    async admit({ requestType, object, old }) {
      const { name = '' } = (old ?? object).metadata
      const [, inventory = '', uid = ''] = MAILBOX_NAME.exec(name) ?? []
      if (uid === '') return
      const target = await targetOf(inventory, uid)
      if (target === undefined) return
      const { name: targetName, deletionTimestamp } = target.metadata
      const path = tree.pathOf(inventory) ?? inventory
      const remedy =
        deletionTimestamp === undefined
          ? `delete that instead, and the mailbox goes when the cluster has left; to end its syncer's credential: kubectl kubestellar syncer revoke ${targetName} --imw ${path}`
          : `which is being deleted, and the mailbox goes when its syncer has left the cluster; to wait no longer, annotate the SyncTarget with ${FORCE_DETACH_ANNOTATION}=${uid}`
      throw statusError.forbidden(
        requestType,
        name,
        `it is the mailbox of SyncTarget "${targetName}" of ${path}${deletionTimestamp === undefined ? ': ' : ', '}${remedy}`,
      )
    },
  }
}
