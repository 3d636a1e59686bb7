/**
 * Lets Events vanish some time after they were last written, as upstream's store does with a lease.
 *
 * Events are filed by the minute in which they end, so one timer serves all of them and a renewal moves one entry. A few words per event
 * are retained; a restart derives them anew from the times that the server wrote into the objects.
 * @see https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ `--event-ttl`
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import { MapOfSets } from '../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { StreamEvent } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { type StreamHandler, StreamSource } from '../../client/streamSource.ts'
import { WorkQueue } from '../../client/workqueue.ts'
import type { ControllerHandle } from '../controllerHandle.ts'
import type { ControllerRuntime } from '../spacesController.ts'

interface EventTtlOptions extends ControllerRuntime {
  /** From the last write of an Event to its end. */
  ttlMs: number
}

interface Entry {
  readonly space: string
  readonly namespace: string
  readonly name: string
  /** The version that ends; a newer one has an entry of its own. */
  readonly revision: number
  readonly bucket: number
}

const EVENTS = { group: '', version: 'v1', resource: 'events' }
/** Events end up to this much late. */
const BUCKET_MS = 60_000
/** Deletions in flight: enough to share the disk's syncs, few enough to leave room for users' writes. */
const CONCURRENCY = 16

/** Which Events end when. */
class EventEnds implements StreamHandler {
  readonly #ttlMs: number
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  readonly #buckets = new MapOfSets<string, number>()
  #live = false

  constructor(options: { ttlMs: number; clock: Clock }) {
    this.#ttlMs = options.ttlMs
    this.#clock = options.clock
  }

  begin(): void {
    this.#live = false
    this.#entries.clear()
    this.#buckets.clear()
  }

  change(event: StreamEvent): void {
    const { space, namespace, name, revision } = event
    this.#remove(idOf(event))
    if (event.type === 'DELETED') return
    const now = this.#clock.now()
    const writtenMs = this.#live ? now : Math.min(now, lastWriteMs(event.object) ?? now)
    const bucket = Math.ceil((writtenMs + this.#ttlMs) / BUCKET_MS)
    this.#file({ space, namespace, name, revision, bucket })
  }

  /** Files what could not be deleted under the next minute, unless it was written again meanwhile. */
  putBack(entry: Entry): void {
    if (this.#entries.has(idOf(entry))) return
    this.#file({ ...entry, bucket: Math.floor(this.#clock.now() / BUCKET_MS) + 1 })
  }

  synced(): void {
    this.#live = true
  }

  /** Takes out what has ended. */
  takeEnded(): Entry[] {
    const current = Math.floor(this.#clock.now() / BUCKET_MS)
    const ended: Entry[] = []
    for (const [bucket, ids] of [...this.#buckets]) {
      if (bucket > current) continue
      this.#buckets.deleteAll(bucket)
      for (const id of ids) {
        ended.push(this.#entries.get(id)!)
        this.#entries.delete(id)
      }
    }
    return ended
  }

  #file(entry: Entry): void {
    const id = idOf(entry)
    this.#entries.set(id, entry)
    this.#buckets.add(entry.bucket, id)
  }

  #remove(id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    this.#entries.delete(id)
    this.#buckets.delete(entry.bucket, id)
  }
}

export function startEventTtl(options: EventTtlOptions): ControllerHandle {
  const { client, ttlMs, logger, clock } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const ends = new EventEnds({ ttlMs, clock })
  const source = new StreamSource({ ...options, space: '*', resources: [EVENTS], handler: ends })
  // A space whose webhooks are slow to let its Events go holds up no other's.
  const queue = new WorkQueue<Entry>({
    ...options,
    id: entry => `${idOf(entry)}/${entry.revision}`,
    party: ({ space }) => space,
  })
  let failed: { cause: unknown; count: number } | undefined
  const remove = async (entry: Entry): Promise<void> => {
    const { space, namespace, name, revision } = entry
    try {
      const preconditions = { resourceVersion: String(revision) }
      await client.in(space).delete(EVENTS, { namespace, name }, { preconditions })
    } catch (error) {
      // Gone, or written again meanwhile: then it has a new end.
      if (isStatusError(error, 'NotFound', 'Conflict')) return
      ends.putBack(entry)
      failed = { cause: error, count: (failed?.count ?? 0) + 1 }
    }
  }
  let cancel = (): void => {}
  const sweep = (): void => {
    if (signal.aborted) return
    report()
    for (const entry of ends.takeEnded()) queue.add(entry)
    cancel = clock.after(BUCKET_MS - (clock.now() % BUCKET_MS), sweep)
  }
  /** Failed deletions wait for the next sweep; each sweep logs them once. */
  const report = (): void => {
    if (failed === undefined || signal.aborted) return
    const { cause, count } = failed
    failed = undefined
    logger.warn({ err: cause, failures: count }, 'old events could not be deleted yet')
  }
  const following = source.run(signal)
  const working = queue.run(remove, { concurrency: CONCURRENCY, signal })
  void source.synced.then(sweep)
  return {
    depth: () => queue.size,
    idle: () => queue.idle(),
    async stop() {
      stopping.abort()
      cancel()
      await Promise.all([following, working])
    },
  }
}

function idOf({ space, namespace, name }: Pick<Entry, 'space' | 'namespace' | 'name'>): string {
  return `${space}/${namespace}/${name}`
}

/** The newest time that the server wrote into the object. Times that clients say do not count: they could be any. */
function lastWriteMs({ metadata }: KubeObject): number | undefined {
  const times = [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(entry => entry.time)]
  const known = times.map(time => Date.parse(time ?? '')).filter(ms => !Number.isNaN(ms))
  return known.length > 0 ? Math.max(...known) : undefined
}
