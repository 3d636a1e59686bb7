/**
 * Keeps `status.used` of ResourceQuotas true when objects go or shrink. What is added, admission charges itself.
 * @see https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { Nature } from '../../apimachinery/nature.ts'
import type { GroupResource, GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { amountsToJson } from '../../apimachinery/quota/resourceList.ts'
import { measureUsage } from '../../apimachinery/quota/usage.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client, SpaceClient } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import { StreamSource } from '../../client/streamSource.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import { hardOf, QUOTAS, QuotaIndex, type QuotaKey } from './quotaIndex.ts'

export interface ResourceQuotaControllerOptions {
  client: Client
  /** Quotas that do not act where they are are left alone: their status comes from clusters. */
  nature: Pick<Nature, 'acts'>
  logger: Logger
  /** Of its work queue. */
  guard?: KeyGuard | undefined
  clock?: Clock
}

/** A write that fails after it was charged is noticed here at the latest. */
const RESYNC_MS = 5 * 60_000

export class ResourceQuotaReconciler {
  readonly #client: Client
  readonly #nature: Pick<Nature, 'acts'>

  constructor(options: Pick<ResourceQuotaControllerOptions, 'client' | 'nature'>) {
    this.#client = options.client
    this.#nature = options.nature
  }

  async reconcile({ space, namespace, name }: QuotaKey): Promise<ReconcileResult> {
    const client = this.#client.in(space)
    const quota = await client.get(QUOTAS, { namespace, name }).catch(error => {
      if (isStatusError(error, 'NotFound') && error.details?.kind === QUOTAS.resource) return undefined
      throw error
    })
    if (quota === undefined || !this.#nature.acts(space, QUOTAS, quota)) return {}
    const hard = hardOf(quota)
    const used = await measureUsage(quota, hard, resource => listOf(client, resource, namespace))
    const status = { hard: amountsToJson(hard), used: amountsToJson(used) }
    if (!equalJson(quota.status, status)) {
      // a charge that came in between makes this a conflict, and the quota is measured again
      await client.update(QUOTAS, { ...quota, status }, { subresource: 'status' }).catch(error => {
        if (!isStatusError(error, 'NotFound')) throw error
      })
    }
    return { requeueAfterMs: RESYNC_MS }
  }
}

export function resourceQuotaController(options: ResourceQuotaControllerOptions): Controller<QuotaKey> {
  const { client, logger, clock } = options
  const reconciler = new ResourceQuotaReconciler(options)
  const handler = new QuotaIndex(options.nature, key => controller.add(key))
  const controller = new Controller<QuotaKey>({
    name: 'resourcequota-controller',
    guard: options.guard,
    party: ({ space }) => space,
    sources: [new StreamSource({ client, space: '*', handler, logger, ...(clock && { clock }) })],
    reconcile: async key => (await unlessSpaceGone(key.space, reconciler.reconcile(key))) ?? {},
    logger,
    id: key => `${key.space}/${key.namespace}/${key.name}`,
    ...(clock && { clock }),
  })
  return controller
}

/** A resource that nobody serves has no objects. */
async function listOf(client: SpaceClient, resource: GroupResource, namespace: string): Promise<KubeObject[]> {
  const served = await servedAs(client, resource)
  return served === undefined ? [] : (await client.list(served, { namespace })).items
}

async function servedAs(client: SpaceClient, resource: GroupResource): Promise<GroupVersionResource | undefined> {
  if (resource.group === '') return { ...resource, version: 'v1' }
  const all = await client.discover()
  return all.find(each => each.group === resource.group && each.resource === resource.resource && each.namespaced)
}
