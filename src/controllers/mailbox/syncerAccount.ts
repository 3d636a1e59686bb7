/**
 * The syncer's identity in its mailbox: a ServiceAccount, and nothing else. What it may do is decided by the server itself, not
 * by roles.
 *
 * Earlier releases gave it every right inside of the mailbox. So whoever held its credential may have left a way back in there:
 * what grants rights and is neither the server's nor on its way to the cluster goes, once.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { objects } from '../../apimachinery/fields.ts'
import { type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'
import { EDGE_GROUP, isProjected, SYNCER_NAME, SYNCER_NAMESPACE } from '../../apimachinery/placement.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { TOKEN_SECRET_TYPE } from '../../apimachinery/tokenSecret.ts'
import type { Client, SpaceClient, StreamEvent } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'

export const SERVICE_ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' }

const rbac = (resource: string): GroupVersionResource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource,
})
const GRANTING = [
  ...['clusterrolebindings', 'rolebindings', 'clusterroles', 'roles'].map(rbac),
  SECRETS,
  SERVICE_ACCOUNTS,
  WORKSPACES,
]

/** On the mailbox Workspace: nothing in the mailbox grants what an earlier release granted. */
export const RIGHTS_MARK = { key: `${EDGE_GROUP}/syncer-rights`, value: 'built-in' } as const

/** Makes it when it is missing. */
export async function ensureSyncerAccount(api: SpaceClient): Promise<void> {
  const ref = { namespace: SYNCER_NAMESPACE, name: SYNCER_NAME }
  if ((await unlessGone(api.get(SERVICE_ACCOUNTS, ref))) !== undefined) return
  try {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ref }
    await api.create(SERVICE_ACCOUNTS, account, { fieldManager: 'mailbox-controller' })
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

/** Takes away what an earlier release granted in a mailbox, and what was granted by means of that. */
export async function removeFormerRights(client: Client, space: string): Promise<void> {
  const api = client.in(space)
  for (const { resource, namespace, name, object } of await storedIn(client, space, GRANTING)) {
    if (isProjected(object) || isServers(resource, namespace, name, object)) continue
    const ref = { ...(namespace && { namespace }), name }
    try {
      await api.delete(resource, ref, { preconditions: { uid: object.metadata.uid ?? '' } })
    } catch (error) {
      // gone, made anew, or of a kind that a mailbox does not serve any more: nobody gets into a space below one
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
  }
}

/** Whether an object grants nothing, or is the server's own. */
function isServers(
  resource: GroupVersionResource,
  namespace: string,
  name: string,
  object: StreamEvent['object'],
): boolean {
  switch (groupResourceName(resource)) {
    case 'secrets':
      return object.type !== TOKEN_SECRET_TYPE
    case 'serviceaccounts':
      return (name === 'default' && objects(object.secrets).length === 0) || isSyncers(namespace, name)
    default:
      return false
  }
}

function isSyncers(namespace: string, name: string): boolean {
  return namespace === SYNCER_NAMESPACE && name === SYNCER_NAME
}

/** What a space itself holds, without what all spaces show. */
async function storedIn(
  client: Client,
  space: string,
  resources: readonly GroupVersionResource[],
): Promise<StreamEvent[]> {
  const stop = new AbortController()
  const found: StreamEvent[] = []
  try {
    for await (const { events, synced } of client.stream({ space, resources, signal: stop.signal })) {
      found.push(...events)
      if (synced) return found
    }
  } finally {
    stop.abort()
  }
  throw new Error(`the stream of the mailbox ${space} ended before it was complete`)
}
