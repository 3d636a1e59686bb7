/** Lists of a cluster, and of what the center placed there, within the bounds of a syncer. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { PROJECTED_LABEL, PROJECTED_VALUE } from '../../placement/words/placement.ts'

/** Bytes of one list in all its pages: as much as a syncer carries up at most. A longer one has no end, or no place here. */
export const LIST_LIMIT_BYTES = 256 * 1024 * 1024

/** Options of such a list. */
export const CLUSTER_LIST = { limit: 500, mostBytes: LIST_LIMIT_BYTES } as const

/** Selector of copies in a cluster. Children of copies may have inherited the label. */
export const PROJECTED = `${PROJECTED_LABEL}=${PROJECTED_VALUE}`

/**
 * All objects of a kind with the label of copies. A kind that cannot be listed has none: what a syncer cannot see it does not delete.
 * @param unseen gets the error of such a kind
 */
export async function listProjected(
  cluster: SpaceClient,
  resource: GroupVersionResource,
  unseen: (error: unknown) => void = () => {},
): Promise<readonly KubeObject[]> {
  try {
    return (await listAll(cluster, resource, { labelSelector: PROJECTED, ...CLUSTER_LIST })).items
  } catch (error) {
    if (!isStatusError(error, 'Forbidden', 'NotFound', 'MethodNotAllowed', 'BadRequest')) throw error
    unseen(error)
    return []
  }
}
