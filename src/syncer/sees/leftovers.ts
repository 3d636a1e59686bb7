/**
 * Objects of an earlier run in the cluster, of whatever kind it serves: their kinds may not be watched any more. One object is one object,
 * by uid, in however many groups and kinds the cluster serves it.
 */
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { atMost } from '../../client/atMost.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import { retrying } from '../../client/retrying.ts'
import type { Runtime } from '../../client/runtime.ts'
import { DOWNSYNCED, IMPLIED_ANNOTATION } from '../../placement/words/placement.ts'
import type { ClusterAllowance } from '../mailbox/clusterAllowance.ts'
import { keyOf, type MailboxMirror, type SyncKey } from '../mailbox/mirror.ts'
import { isAdopted, isOurs } from '../objects/marks.ts'
import { listProjected } from './clusterLists.ts'
import type { ServedResources } from './served.ts'

interface LeftoversDeps extends Runtime {
  cluster: SpaceClient
  /** Kinds of the cluster. */
  served: ServedResources
  mailboxServed: ServedResources
  mirror: MailboxMirror
  allowance: ClusterAllowance
  signal: AbortSignal
  /** Takes each object once. */
  found(key: SyncKey, object: Readonly<KubeObject>): void
  /** Takes the further keys of an object that is served under several. */
  twin(key: SyncKey): void
}

/** Kinds that are listed at a time: there are many, and nobody waits for it. */
const LISTS = 2

export async function findLeftovers(deps: LeftoversDeps): Promise<void> {
  const { served, mailboxServed, mirror, allowance, found, twin } = deps
  const listed = [...served.all()]
    .filter(({ verbs }) => verbs.includes('list') && verbs.includes('delete'))
    .filter(resource => allowance.mayCarry(resource, resource.namespaced))
  const held = new Set<string | undefined>()
  const others: { key: SyncKey; object: Readonly<KubeObject> }[] = []
  await atMost(LISTS, listed, async resource => {
    for (const object of await projectedOf(deps, resource)) {
      const key = keyOf(resource, object)
      const isHeld = mirror.get(key) !== undefined
      if (isHeld) held.add(object.metadata.uid)
      if (!isOurs(object, DOWNSYNCED) && !isOurs(object, IMPLIED_ANNOTATION) && !isAdopted(object)) continue
      if (isHeld) found(key, object)
      else others.push({ key, object })
    }
  })
  // a key that the mailbox serves is the one that it may have held
  const isKnown = ({ key }: { key: SyncKey }): boolean => mailboxServed.find(key) !== undefined
  for (const { key, object } of [...others.filter(isKnown), ...others.filter(one => !isKnown(one))]) {
    const { uid } = object.metadata
    if (uid !== undefined && held.has(uid)) twin(key)
    else found(key, object)
    held.add(uid)
  }
}

async function projectedOf(deps: LeftoversDeps, resource: DiscoveredResource): Promise<readonly KubeObject[]> {
  const what = `looking for leftovers of an earlier run among ${groupResourceName(resource)}`
  const unseen = (err: unknown): void => deps.logger.warn({ err }, `${what} is not possible`)
  return (await retrying({ ...deps, what }, () => listProjected(deps.cluster, resource, unseen))) ?? []
}
