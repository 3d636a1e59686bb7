/**
 * Lets PersistentVolumeClaims and PersistentVolumes go that are being deleted and that nothing uses: the server gave them a
 * finalizer when they were made. A claim is in use while a Pod that has not ended names it, a volume while it is bound.
 * @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection
 */

import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient, StreamEvent } from '../../client/client.ts'
import type { Controller } from '../../client/controller.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'
import { ClaimUsers, claimsOf, hasEnded } from './claimUsers.ts'

interface StorageKey {
  /** Logical-cluster id. */
  readonly space: string
  /** Namespace of a claim; empty for a volume. */
  readonly namespace: string
  readonly name: string
}

const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes' }
const PODS = { group: '', version: 'v1', resource: 'pods' }
const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection'
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection'

export function storageProtectionController(runtime: ControllerRuntime): Controller<StorageKey> {
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
  const controller = spacesController<StorageKey>({
    ...runtime,
    name: 'storage-protection-controller',
    resources: [CLAIMS, VOLUMES, PODS],
    handler: { begin: () => users.begin(), change, synced: () => users.synced() },
    reconcile: key => reconcile(runtime.client.in(key.space), key, users),
    id: ({ space, namespace, name }) => `${space}/${namespace}/${name}`,
  })
  return controller
}

async function reconcile(space: SpaceClient, key: StorageKey, users: ClaimUsers): Promise<void> {
  const isClaim = key.namespace !== ''
  const [resource, finalizer] = isClaim ? [CLAIMS, CLAIM_FINALIZER] : [VOLUMES, VOLUME_FINALIZER]
  const object = await unlessGone(space.get(resource, refOf(key)))
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
