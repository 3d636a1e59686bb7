/**
 * Lets PersistentVolumeClaims and PersistentVolumes go that are being deleted and that nothing uses: the server gave them a
 * finalizer when they were made. A claim is in use while a Pod that has not ended names it, a volume while it is bound.
 * @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Client, SpaceClient, StreamEvent } from '../../client/client.ts'
import { Controller } from '../../client/controller.ts'
import { listAll } from '../../client/listWatch.ts'
import type { Logger } from '../../client/logger.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { unlessSpaceGone } from '../spaceGone.ts'

export interface StorageProtectionOptions {
  client: Client
  logger: Logger
}

export interface StorageKey {
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
const PAGE = 500

export function storageProtectionController({ client, logger }: StorageProtectionOptions): Controller<StorageKey> {
  const change = (event: StreamEvent): void => {
    const { type, space, resource, namespace, name } = event
    if (resource.resource === PODS.resource) {
      // most Pods mount no claim: their objects are not even parsed
      if (!event.mentions('"persistentVolumeClaim"') && !event.mentions('"ephemeral"')) return
      if (type !== 'DELETED' && !hasEnded(event.object)) return
      for (const claim of claimsOf(event.object)) controller.add({ space, namespace, name: claim })
    } else if (type !== 'DELETED' && event.mentions('"deletionTimestamp"')) controller.add({ space, namespace, name })
  }
  const resources = [CLAIMS, VOLUMES, PODS]
  const controller = new Controller<StorageKey>({
    name: 'storage-protection',
    party: ({ space }) => space,
    sources: [new StreamSource({ client, space: '*', resources, handler: { change }, logger })],
    reconcile: key => unlessSpaceGone(key.space, reconcile(client.in(key.space), key)),
    logger,
    id: ({ space, namespace, name }) => `${space}/${namespace}/${name}`,
  })
  return controller
}

async function reconcile(space: SpaceClient, { namespace, name }: StorageKey): Promise<void> {
  const [resource, finalizer] = namespace === '' ? [VOLUMES, VOLUME_FINALIZER] : [CLAIMS, CLAIM_FINALIZER]
  let object: KubeObject
  try {
    object = await space.get(resource, { ...(namespace && { namespace }), name })
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return
    throw error
  }
  if (!isWaiting(object, finalizer)) return
  const used = namespace === '' ? phaseOf(object) === 'Bound' : await podUses(space, namespace, name)
  if (used) return
  const finalizers = object.metadata.finalizers!.filter(each => each !== finalizer)
  await space.update(resource, { ...object, metadata: { ...object.metadata, finalizers } })
}

/** Read afresh: a Pod may have come since the event that woke this. */
async function podUses(space: SpaceClient, namespace: string, claim: string): Promise<boolean> {
  const { items } = await listAll(space, PODS, { namespace, limit: PAGE })
  return items.some(pod => !hasEnded(pod) && claimsOf(pod).includes(claim))
}

/** Names of the claims that a Pod mounts; an ephemeral volume's claim is named after the Pod. */
function claimsOf({ metadata, spec }: KubeObject): string[] {
  const volumes = isRecord(spec) && Array.isArray(spec.volumes) ? spec.volumes.filter(isRecord) : []
  return volumes.flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (isRecord(persistentVolumeClaim)) return [String(persistentVolumeClaim.claimName)]
    return isRecord(ephemeral) ? [`${metadata.name}-${name}`] : []
  })
}

function isWaiting({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(finalizer) ?? false)
}

function hasEnded(pod: KubeObject): boolean {
  return ['Succeeded', 'Failed'].includes(phaseOf(pod))
}

function phaseOf({ status }: KubeObject): string {
  return isRecord(status) ? String(status.phase ?? '') : ''
}
