/**
 * Deletes everything in a namespace, Pods before all else, and says what is left. Nothing is held to be gone that was not
 * listed as gone.
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/5080-ordered-namespace-deletion
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { toldOf } from '../../apimachinery/messageOf.ts'
import { groupResourceName, type ObjectMeta } from '../../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import { DiscoveryError, type DiscoveryFailure } from '../../client/discoveryError.ts'
import { listAll } from '../../client/listWatch.ts'
import type { ContentReport } from './conditions.ts'

/** Requests in flight for one namespace. */
const CONCURRENCY = 8
const PAGE = 500

export async function deleteContent(
  client: SpaceClient,
  namespace: string,
  signal: AbortSignal,
): Promise<ContentReport> {
  const { resources, failures } = await discoverAll(client)
  const contentFailures: string[] = []
  const remaining: { resource: DiscoveredResource; count: number }[] = []
  const finalizers = new Map<string, number>()
  const kinds = resources.filter(r => r.namespaced && r.verbs.includes('delete') && r.verbs.includes('list'))
  const empty = async (resource: DiscoveredResource): Promise<void> => {
    try {
      const left = await deleteAllOf(client, resource, namespace, signal)
      if (left.length === 0) return
      remaining.push({ resource, count: left.length })
      for (const object of left) {
        for (const finalizer of object.finalizers ?? []) {
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
        }
      }
    } catch (error) {
      // a resource that went away since discovery (its CRD was deleted) took its objects along
      if (isStatusError(error, 'NotFound')) return
      const message = toldOf(error)
      contentFailures.push(`unable to delete all ${groupResourceName(resource)}: ${message}`)
    }
  }
  // a running Pod must not outlive what it relies on, its NetworkPolicies above all
  const isPods = ({ group, resource }: DiscoveredResource): boolean => group === '' && resource === 'pods'
  await forEach(kinds.filter(isPods), 1, signal, empty)
  if (remaining.length === 0 && contentFailures.length === 0) {
    await forEach(
      kinds.filter(kind => !isPods(kind)),
      CONCURRENCY,
      signal,
      empty,
    )
  }
  signal.throwIfAborted()
  return { discoveryFailures: failures, contentFailures, remaining, finalizers }
}

/** What is still there after every object was asked to go. */
async function deleteAllOf(client: SpaceClient, resource: DiscoveredResource, namespace: string, signal: AbortSignal) {
  const items = await metadataOf(client, resource, namespace)
  const present = items.filter(({ deletionTimestamp }) => deletionTimestamp === undefined)
  await forEach(present, CONCURRENCY, signal, async ({ name = '', uid }) => {
    try {
      const preconditions = uid === undefined ? {} : { preconditions: { uid } }
      await client.delete(resource, { namespace, name }, { propagationPolicy: 'Background', ...preconditions })
    } catch (error) {
      // gone, or replaced by a younger object that the next list shows
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
  })
  if (items.length === 0) return items
  return await metadataOf(client, resource, namespace)
}

/** Of everything that is there. A page is read in a turn of the loop, and no whole objects are held. */
async function metadataOf(
  client: SpaceClient,
  resource: DiscoveredResource,
  namespace: string,
): Promise<{ [field in 'name' | 'uid' | 'deletionTimestamp' | 'finalizers']: ObjectMeta[field] | undefined }[]> {
  const { items } = await listAll(client, resource, { namespace, limit: PAGE }, ({ metadata }) => {
    const { name, uid, deletionTimestamp, finalizers } = metadata
    return { name, uid, deletionTimestamp, finalizers }
  })
  return items
}

async function discoverAll(
  client: SpaceClient,
): Promise<{ resources: readonly DiscoveredResource[]; failures: readonly DiscoveryFailure[] }> {
  try {
    return { resources: await client.discover(), failures: [] }
  } catch (error) {
    if (error instanceof DiscoveryError) return { resources: error.resources, failures: error.failed }
    return { resources: [], failures: [{ group: '*', version: '', error }] }
  }
}

/** Runs `work` over the items, so many at a time; the first failure is thrown once all that run have ended. */
async function forEach<T>(
  items: readonly T[],
  concurrency: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  let failure: { error: unknown } | undefined
  const worker = async () => {
    while (next < items.length && !failure && !signal.aborted) {
      const item = items[next++]!
      try {
        await work(item)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  if (failure) throw failure.error
}
