/**
 * Deletes everything in a namespace, Pods before all else, and says what is left. Nothing is held to be gone that was not
 * listed as gone.
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/5080-ordered-namespace-deletion
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import { publicMessageOf } from '../../apimachinery/messageOf.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import { DiscoveryError, type DiscoveryFailure } from '../../client/discoveryError.ts'
import { listAll } from '../../client/listWatch.ts'
import { unlessChanged } from '../../client/unlessGone.ts'
import type { Work } from '../../program/workTurns.ts'
import { type ContentReport, FinalizerCounts } from './conditions.ts'

/** Requests in flight for one namespace. */
const CONCURRENCY = 8
const PAGE = 500

interface Effort {
  signal: AbortSignal
  /** In whose slices of the loop's time it is done: there may be thousands of kinds, and most have nothing here. */
  work: Work
}

export async function deleteContent(
  client: SpaceClient,
  namespace: string,
  { signal, work }: Effort,
): Promise<ContentReport> {
  const { resources, failures } = await discoverAll(client)
  const contentFailures: string[] = []
  const remaining: { resource: DiscoveredResource; count: number }[] = []
  const finalizers = new FinalizerCounts()
  const kinds = resources.filter(r => r.namespaced && r.verbs.includes('delete') && r.verbs.includes('list'))
  const empty = async (resource: DiscoveredResource): Promise<void> => {
    try {
      if (work.due) await work.rest()
      const count = await deleteAllOf(client, resource, namespace, { signal, finalizers })
      if (count > 0) remaining.push({ resource, count })
    } catch (error) {
      // a resource that went away since discovery (its CRD was deleted) took its objects along
      if (isStatusError(error, 'NotFound')) return
      const message = publicMessageOf(error)
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

/** How many are still there after the deletion of every object; `finalizers` counts their reasons. */
async function deleteAllOf(
  client: SpaceClient,
  resource: DiscoveredResource,
  namespace: string,
  { signal, finalizers }: { signal: AbortSignal; finalizers: FinalizerCounts },
): Promise<number> {
  const all = { namespace, limit: PAGE }
  const { items } = await listAll(client, resource, all, ({ metadata: { name = '', uid, deletionTimestamp } }) =>
    deletionTimestamp === undefined ? { name, uid } : undefined,
  )
  const present = items.filter(item => item !== undefined)
  await forEach(present, CONCURRENCY, signal, async ({ name, uid }) => {
    const options = { propagationPolicy: 'Background', ...(uid !== undefined && { preconditions: { uid } }) } as const
    // a younger object in its place is in the next list
    await unlessChanged(client.delete(resource, { namespace, name }, options))
  })
  if (items.length === 0) return 0
  const left = await listAll(client, resource, all, ({ metadata }) => finalizers.note(metadata.finalizers ?? []))
  return left.items.length
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
