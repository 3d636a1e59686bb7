/**
 * List, then watch, for ever: the stream of events that keeps a copy of one resource equal to the server's.
 *
 * A copy is only ever replaced by a list that completed: `init`, `initApply`…, `initDone` arrive together, so an empty or
 * failed list deletes nothing. Connections are resumed from the last version seen; only `Expired` leads to a new list.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
import { setImmediate } from 'node:timers/promises'
import { isStatusError, StatusError } from '../apimachinery/errors.ts'
import { type GroupVersionResource, groupResourceName, type KubeObject } from '../apimachinery/object.ts'
import { backoffMs } from './backoff.ts'
import type { ListOptions, ObjectList, SpaceClient } from './client.ts'
import { pause, steadyMs } from './clock.ts'
import { isFutureVersion } from './futureVersion.ts'
import { type Logger, silentLogger } from './logger.ts'
import type { Runtime } from './runtime.ts'

export type InformerEvent =
  /** Events until `initDone` are everything that exists. */
  | { type: 'init' }
  | { type: 'initApply'; object: KubeObject }
  | { type: 'initDone'; resourceVersion: string }
  /** Created or changed. */
  | { type: 'apply'; object: KubeObject }
  /** The last state of a deleted object. */
  | { type: 'delete'; object: KubeObject }

export interface ListWatchOptions extends Omit<Runtime, 'logger'> {
  client: SpaceClient
  resource: GroupVersionResource
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Items per page of a list. Default 500. */
  pageSize?: number
  /** As in {@link ListAllOptions}. */
  mostBytes?: number
  logger?: Logger
  /** The part of each object that is held. Default: all of it. */
  keep?: (object: KubeObject) => KubeObject
  /** Called for the failure of a list or a watch; it is retried. */
  onFailure?: (error: unknown) => void
  /** A list is complete, the first one or a later one. */
  onListed?: () => void
}

const RECONNECT = { baseMs: 200, maxMs: 30_000 }
/** No list has more, or its reader would not hold it; a server that keeps saying that there is more says so without end. */
export const LIST_LIMIT_OBJECTS = 1_000_000
export const LIST_LIMIT_BYTES = 1024 * 1024 * 1024
/** Pages without an object, one after the other: a selector may leave few of many. */
const BARREN_LIMIT_PAGES = 100
/** A watch that lived this long was healthy, although nothing happened. */
const HEALTHY_MS = 10_000

/** Batches of events, until the signal aborts. Never throws: failures are logged and retried with jittered backoff. */
export async function* listWatch(
  options: ListWatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly InformerEvent[], void, void> {
  const { client, resource, logger = silentLogger, clock, random, keep = object => object } = options
  const selection = selectionOf(options)
  let version: string | undefined
  // Each minute for each watch, and of no use where a resource changes seldom: its version stays good to resume from.
  let bookmarks = false
  let failures = 0
  while (!signal.aborted) {
    const startedMs = steadyMs(clock)
    // a list alone is no sign of health: after it the server may call its own version too old, for ever
    const isWell = (): boolean => progressed || steadyMs(clock) - startedMs >= HEALTHY_MS
    let progressed = false
    try {
      if (version === undefined) {
        const { pageSize: limit = 500, mostBytes } = options
        const list = await listAll(client, resource, { ...selection, limit, ...(mostBytes && { mostBytes }) }, keep)
        if (signal.aborted) return
        options.onListed?.()
        version = list.resourceVersion
        const items = list.items.map(object => ({ type: 'initApply', object }) as const)
        yield [{ type: 'init' }, ...items, { type: 'initDone', resourceVersion: version }]
      }
      for await (const batch of client.watch(resource, { ...selection, resourceVersion: version, bookmarks, signal })) {
        if (signal.aborted) return
        progressed = true
        const events: InformerEvent[] = []
        for (const event of batch) {
          if (event.type === 'BOOKMARK') version = event.resourceVersion
          else {
            version = event.object.metadata.resourceVersion ?? version
            events.push({ type: event.type === 'DELETED' ? 'delete' : 'apply', object: keep(event.object) })
          }
        }
        if (events.length > 0) yield events
      }
      failures = isWell() ? 0 : failures + 1
    } catch (error) {
      if (signal.aborted) return
      failures = isWell() ? 1 : failures + 1
      options.onFailure?.(error)
      if (version !== undefined && mustRelist(error)) {
        logger.info({ resource, version, err: error }, 'watch cannot resume, listing again')
        version = undefined
        bookmarks = true
        if (failures === 1) continue
      } else logger.warn({ resource, err: error, failures }, 'list or watch failed, trying again')
    }
    if (!signal.aborted) await pause(clock, backoffMs(failures + 1, RECONNECT, random), signal)
  }
}

export interface ListAllOptions extends ListOptions {
  /** Bound on all pages together, where they come over a wire. */
  mostBytes?: number
}

/**
 * A whole list, page by page, as of one version. A list whose continue token expired on the way is read again in one piece. Pages that are
 * too long for the client get half as many items.
 * @throws StatusError when any page fails, or more come than a list can have; there are no partial lists
 */
export async function listAll(
  client: SpaceClient,
  resource: GroupVersionResource,
  options?: ListAllOptions,
): Promise<{ items: KubeObject[]; resourceVersion: string }>
/** `keep`: what is held of each object. */
export async function listAll<T>(
  client: SpaceClient,
  resource: GroupVersionResource,
  options: ListAllOptions,
  keep: (object: KubeObject) => T,
): Promise<{ items: T[]; resourceVersion: string }>
export async function listAll(
  client: SpaceClient,
  resource: GroupVersionResource,
  { mostBytes = LIST_LIMIT_BYTES, ...options }: ListAllOptions = {},
  keep: (object: KubeObject) => unknown = object => object,
): Promise<{ items: unknown[]; resourceVersion: string }> {
  const items: unknown[] = []
  const read = { pages: 0, bytes: 0, barren: 0 }
  let token: string | undefined
  let { limit } = options
  for (;;) {
    let page: ObjectList
    try {
      page = await client.list(resource, {
        ...options,
        ...(limit !== undefined && { limit }),
        ...(token !== undefined && { continue: token }),
      })
    } catch (error) {
      if (limit !== undefined && limit > 1 && isStatusError(error, 'RequestEntityTooLarge')) {
        limit = Math.floor(limit / 2)
        continue
      }
      if (token === undefined || !isStatusError(error, 'Expired', 'Gone')) throw error
      const { limit: _, ...whole } = options
      const all = await client.list(resource, whole)
      return { ...all, items: all.items.map(keep) }
    }
    for (const item of page.items) items.push(keep(item))
    read.pages++
    read.bytes += page.bytes ?? 0
    read.barren = page.items.length > 0 ? 0 : read.barren + 1
    const before = token
    token = page.continue || undefined
    // a server in the same process answers within the turn
    if (token === undefined) return { items, resourceVersion: page.resourceVersion }
    const isTooLong = items.length >= LIST_LIMIT_OBJECTS || read.bytes >= mostBytes
    if (isTooLong || read.barren >= BARREN_LIMIT_PAGES || token === before)
      throw new StatusError(
        'RequestEntityTooLarge',
        `the list of ${groupResourceName(resource)} does not end: after ${read.pages} pages with ${items.length} objects there is more`,
      )
    await setImmediate()
  }
}

/** Whether the server will never continue from our version: too old, from its future (a restored backup), or malformed. */
function mustRelist(error: unknown): boolean {
  if (isFutureVersion(error)) return true
  return isStatusError(error, 'Expired', 'Gone', 'BadRequest', 'Invalid', 'NotFound', 'Forbidden', 'MethodNotAllowed')
}

function selectionOf(o: ListWatchOptions): Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> {
  return {
    ...(o.namespace !== undefined && { namespace: o.namespace }),
    ...(o.labelSelector !== undefined && { labelSelector: o.labelSelector }),
    ...(o.fieldSelector !== undefined && { fieldSelector: o.fieldSelector }),
  }
}
