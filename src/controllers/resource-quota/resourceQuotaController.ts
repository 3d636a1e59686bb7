/**
 * Keeps `status.used` of ResourceQuotas true when objects go or shrink. Admission itself charges additions.
 * @see https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */

import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { amountsToJson } from '../../apimachinery/quota/resourceList.ts'
import { type Measured, measureUsages } from '../../apimachinery/quota/usage.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client, SpaceClient } from '../../client/client.ts'
import type { Controller } from '../../client/controller.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'
import { hardOf, QUOTAS, QuotaIndex, type QuotaPlace } from './quotaIndex.ts'

interface ResourceQuotaControllerOptions extends ControllerRuntime {
  /** Quotas that do not act where they are are left alone: their status comes from clusters. */
  nature: Pick<Nature, 'acts'>
}

/** A write that fails after it was charged is noticed here at the latest. */
const RESYNC_MS = 5 * 60_000
/** Quotas whose status is written at the same time: others have their turn between. */
const TOGETHER = 16

export class ResourceQuotaReconciler {
  readonly #client: Client
  readonly #nature: Pick<Nature, 'acts'>
  readonly #turns: Pick<WorkTurns, 'begin'> | undefined

  constructor(options: Pick<ResourceQuotaControllerOptions, 'client' | 'nature' | 'turns'>) {
    this.#client = options.client
    this.#nature = options.nature
    this.#turns = options.turns
  }

  /** All quotas of a namespace at once: their objects are read and counted once. */
  async reconcile({ space, namespace }: QuotaPlace): Promise<ReconcileResult> {
    const client = this.#client.in(space)
    // before the objects: what is charged meanwhile is then a conflict
    const { items } = await client.list(QUOTAS, { namespace })
    const work = this.#turns?.begin({ owner: space })
    const quotas: Measured[] = []
    for (const quota of items) {
      if (work?.due) await work.rest()
      if (this.#nature.acts(space, QUOTAS, quota)) quotas.push({ quota, hard: hardOf(quota) })
    }
    if (quotas.length === 0) return {}
    const list = listerOf(client, namespace)
    const used = await measureUsages(quotas, list, work)
    const changes: KubeObject[] = []
    for (const [i, { quota, hard }] of quotas.entries()) {
      if (work?.due) await work.rest()
      const status = { hard: amountsToJson(hard), used: amountsToJson(used[i]!) }
      if (!equalJson(quota.status, status)) changes.push({ ...quota, status })
    }
    // a charge that came in between makes this a conflict, and the namespace is measured again
    const conflicts: unknown[] = []
    for (let at = 0; at < changes.length; at += TOGETHER) {
      const some = changes.slice(at, at + TOGETHER)
      const writes = some.map(quota => unlessGone(client.update(QUOTAS, quota, { subresource: 'status' })))
      for (const outcome of await Promise.allSettled(writes))
        if (outcome.status === 'rejected') conflicts.push(outcome.reason)
    }
    if (conflicts.length > 0) throw conflicts[0]
    return { requeueAfterMs: RESYNC_MS }
  }
}

export function resourceQuotaController(options: ResourceQuotaControllerOptions): Controller<QuotaPlace> {
  const reconciler = new ResourceQuotaReconciler(options)
  const handler = new QuotaIndex(options.nature, key => controller.add(key))
  const controller = spacesController<QuotaPlace>({
    ...options,
    name: 'resourcequota-controller',
    handler,
    reconcile: key => reconciler.reconcile(key),
    id: key => `${key.space}/${key.namespace}`,
  })
  return controller
}

/** A resource that nobody serves has no objects. */
/**
 * Lists what is served. The served kinds are read once, at the first kind outside Kubernetes' core: quotas may count kinds that no server
 * serves.
 */
function listerOf(client: SpaceClient, namespace: string): (resource: GroupResource) => Promise<KubeObject[]> {
  let discovered: Promise<ReadonlyMap<string, GroupVersionResource>> | undefined
  return async resource => {
    if (resource.group !== '') discovered ??= namespacedKinds(client)
    const served =
      resource.group === '' ? { ...resource, version: 'v1' } : (await discovered)?.get(groupResourceName(resource))
    return served === undefined ? [] : (await client.list(served, { namespace })).items
  }
}

async function namespacedKinds(client: SpaceClient): Promise<ReadonlyMap<string, GroupVersionResource>> {
  const kinds = new Map<string, GroupVersionResource>()
  for (const kind of await client.discover()) {
    const name = groupResourceName(kind)
    if (kind.namespaced && !kinds.has(name)) kinds.set(name, kind)
  }
  return kinds
}
