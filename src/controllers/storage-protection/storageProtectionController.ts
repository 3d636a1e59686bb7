/**
 * Lets PersistentVolumeClaims and PersistentVolumes go that are being deleted and that nothing uses: the server gave them a
 * finalizer when they were made. A claim is in use while a Pod that has not ended names it, a volume while it is bound.
 * @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Random } from '../../client/backoff.ts'
import type { Client, SpaceClient, StreamEvent } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import { StreamSource } from '../../client/streamSource.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import { ClaimUsers, claimsOf, hasEnded } from './claimUsers.ts'

interface StorageProtectionOptions {
  client: Client
  logger: Logger
  /** Of its work queue. */
  guard?: KeyGuard | undefined
  /** Slices of the loop's time in which it takes events and works. */
  turns: WorkTurns
  clock: Clock
  random: Random
}

interface StorageKey {
  /** Logical-cluster id. */
  readonly space: string
  /** Of a claim; empty for a volume. */
  readonly namespace: string
  readonly name: string
}

const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes' }
const PODS = { group: '', version: 'v1', resource: 'pods' }
const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection'
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection'

export function storageProtectionController({
  client,
  logger,
  guard,
  turns,
  clock,
  random,
}: StorageProtectionOptions): Controller<StorageKey> {
  const users = new ClaimUsers()
  const change = (event: StreamEvent): void => {
    users.change(event)
    const { type, space, resource, namespace, name } = event
    if (resource.resource === PODS.resource) {
      // most Pods mount no claim: their objects are not even parsed
      if (!event.mentions('"persistentVolumeClaim"') && !event.mentions('"ephemeral"')) return
      if (type !== 'DELETED' && !hasEnded(event.object)) return
      for (const claim of claimsOf(event.object)) controller.add({ space, namespace, name: claim })
    } else if (type === 'DELETED' ? users.follows(event) : event.mentions('"deletionTimestamp"')) {
      controller.add({ space, namespace, name })
    }
  }
  const resources = [CLAIMS, VOLUMES, PODS]
  const handler = { begin: () => users.begin(), change, synced: () => users.synced() }
  const controller = new Controller<StorageKey>({
    name: 'storage-protection-controller',
    guard,
    turns,
    clock,
    random,
    party: ({ space }) => space,
    sources: [new StreamSource({ client, space: '*', resources, handler, guard, turns, clock, random, logger })],
    reconcile: key => unlessSpaceGone(key.space, reconcile(client.in(key.space), key, users)),
    logger,
    id: ({ space, namespace, name }) => `${space}/${namespace}/${name}`,
  })
  return controller
}

async function reconcile(space: SpaceClient, key: StorageKey, users: ClaimUsers): Promise<void> {
  const { namespace, name } = key
  const isClaim = namespace !== ''
  const [resource, finalizer] = isClaim ? [CLAIMS, CLAIM_FINALIZER] : [VOLUMES, VOLUME_FINALIZER]
  let object: KubeObject | undefined
  try {
    object = await space.get(resource, { ...(namespace && { namespace }), name })
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
  if (object === undefined || !isWaiting(object, finalizer)) return users.release(key)
  const used = isClaim
    ? await users.has(space, key, Number(object.metadata.resourceVersion))
    : phaseOf(object) === 'Bound'
  if (used) return
  const finalizers = object.metadata.finalizers!.filter(each => each !== finalizer)
  await space.update(resource, { ...object, metadata: { ...object.metadata, finalizers } })
  users.release(key)
}

function isWaiting({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(finalizer) ?? false)
}

function phaseOf({ status }: KubeObject): string {
  return isRecord(status) ? String(status.phase ?? '') : ''
}
