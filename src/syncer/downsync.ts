/** Mailbox to cluster: applies what the plan wants, deletes what it no longer wants and we made, repairs what drifts. */
import { isStatusError } from '../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../client/client.ts'
import type { Logger } from '../client/logger.ts'
import type { ReconcileResult } from '../client/workqueue.ts'
import type { ClusterWatches } from './clusterWatches.ts'
import { keyText, type MailboxMirror, type SyncKey } from './mirror.ts'
import { DOWNSYNCED, downsyncCopy, FIELD_MANAGER, isOurs, mayOverwrite, OVERWRITE } from './ownership.ts'
import type { ServedResources } from './served.ts'
import type { SyncPlan } from './syncPlan.ts'

export interface DownsyncDeps {
  cluster: SpaceClient
  served: ServedResources
  mirror: MailboxMirror
  watches: ClusterWatches
  plan: () => SyncPlan
  /** Whether the mirror is complete: only then is an absent object a deleted one. */
  mirrorComplete: () => boolean
  logger: Logger
}

/** A kind that the cluster does not serve (yet) is looked for again after this; its CRD's arrival wakes the key sooner. */
const NOT_SERVED_RETRY_MS = 30_000

export class Downsync {
  readonly #deps: DownsyncDeps
  /** What we last applied and what the cluster made of it, so that echoes of our own writes cost nothing. */
  readonly #applied = new Map<string, { sent: string; result: string }>()
  readonly #unserved = new Set<string>()

  constructor(deps: DownsyncDeps) {
    this.#deps = deps
  }

  async reconcile(key: SyncKey): Promise<ReconcileResult> {
    const { mirror, plan } = this.#deps
    const mirrored = mirror.get(key)
    const wanted = plan().wantsDown(key, key.namespace, key.name)
    if (wanted && mirrored) return this.#apply(key, mirrored.object)
    if (this.#deps.mirrorComplete()) await this.#remove(key)
    return {}
  }

  async #apply(key: SyncKey, object: Readonly<KubeObject>): Promise<ReconcileResult> {
    const { cluster, served, watches, logger } = this.#deps
    const resource = served.find(key)
    if (resource === undefined) {
      const text = keyText(key)
      if (!this.#unserved.has(text))
        logger.warn(
          { resource: key.resource, group: key.group, name: key.name },
          'the cluster does not serve this kind; waiting for it',
        )
      this.#unserved.add(text)
      return { requeueAfterMs: NOT_SERVED_RETRY_MS }
    }
    this.#unserved.delete(keyText(key))
    const ref = refOf(key)
    const live = watches.get(key, key) ?? (await getOrNothing(cluster, resource, ref))
    const mark = live === undefined || isOurs(live, DOWNSYNCED)
    const copy = downsyncCopy(object, apiVersionOf(resource), mark)
    if (live !== undefined && !mayOverwrite(object)) {
      // Hands off, but the cluster's copy must say so too: its annotation decides about deletion.
      const value = object.metadata.annotations![OVERWRITE]!
      if (live.metadata.annotations?.[OVERWRITE] === value) return {}
      await cluster.patch(
        resource,
        ref,
        'merge',
        { metadata: { annotations: { [OVERWRITE]: value } } },
        { fieldManager: FIELD_MANAGER },
      )
      return {}
    }
    const sent = JSON.stringify(copy)
    const known = this.#applied.get(keyText(key))
    if (live !== undefined && known?.sent === sent && known.result === essence(live)) return {}
    const result = await this.#applyTo(resource, key, copy)
    this.#applied.set(keyText(key), { sent, result: essence(result) })
    return {}
  }

  async #applyTo(resource: DiscoveredResource, key: SyncKey, copy: KubeObject): Promise<KubeObject> {
    const { cluster, served } = this.#deps
    try {
      return await cluster.patch(resource, refOf(key), 'apply', copy, { fieldManager: FIELD_MANAGER, force: true })
    } catch (error) {
      // The kind went away, or the namespace is still on its way: the retry finds out which.
      if (isStatusError(error, 'NotFound')) await served.refresh()
      throw error
    }
  }

  async #remove(key: SyncKey): Promise<void> {
    const { cluster, served } = this.#deps
    this.#applied.delete(keyText(key))
    this.#unserved.delete(keyText(key))
    const resource = served.find(key)
    if (resource === undefined) return
    const live = await getOrNothing(cluster, resource, refOf(key))
    if (
      live === undefined ||
      !isOurs(live, DOWNSYNCED) ||
      !mayOverwrite(live) ||
      live.metadata.deletionTimestamp !== undefined
    )
      return
    try {
      await cluster.delete(resource, refOf(key), {
        propagationPolicy: 'Background',
        preconditions: { uid: live.metadata.uid ?? '' },
      })
    } catch (error) {
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
  }
}

export function refOf(key: SyncKey): { namespace?: string; name: string } {
  return key.namespace === '' ? { name: key.name } : { namespace: key.namespace, name: key.name }
}

export async function getOrNothing(
  client: SpaceClient,
  resource: DiscoveredResource,
  ref: { namespace?: string; name: string },
): Promise<KubeObject | undefined> {
  try {
    return await client.get(resource, ref)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

/** Everything of a cluster object that downsync cares about: not its status, nor what every write changes. */
function essence(object: Readonly<KubeObject>): string {
  const { status: _status, metadata, ...rest } = object
  const { resourceVersion: _version, managedFields: _managed, generation: _generation, ...meta } = metadata
  return JSON.stringify([rest, meta])
}
