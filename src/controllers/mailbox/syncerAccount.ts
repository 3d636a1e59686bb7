/**
 * The syncer's identity in its mailbox: a ServiceAccount, and nothing else. The server itself decides its rights, not roles.
 */
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { unlessGone, unlessThere } from '../../client/unlessGone.ts'
import { SYNCER_NAME, SYNCER_NAMESPACE } from '../../placement/words/placement.ts'

export const SERVICE_ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }

/** Makes it when it is missing. */
export async function ensureSyncerAccount(api: SpaceClient): Promise<void> {
  const ref = { namespace: SYNCER_NAMESPACE, name: SYNCER_NAME }
  if ((await unlessGone(api.get(SERVICE_ACCOUNTS, ref))) !== undefined) return
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ref }
  await unlessThere(api.create(SERVICE_ACCOUNTS, account, { fieldManager: 'mailbox-controller' }))
}
