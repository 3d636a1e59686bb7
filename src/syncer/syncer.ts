/**
 * The syncer: one stream of the mailbox space in, server-side apply out; status and upsynced objects back.
 *
 * Downsync, status return and upsync each have a queue of their own, so any may stall or fail alone; what one tells the other
 * lives on the objects. It opens all connections itself and lives through days without the center.
 */
import { isStatusError } from '../apimachinery/errors.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  type KubeObject,
} from '../apimachinery/object.ts'
import { backoffMs } from '../client/backoff.ts'
import type { Client, SpaceClient, StreamEvent } from '../client/client.ts'
import { pause, systemClock } from '../client/clock.ts'
import type { Logger } from '../client/logger.ts'
import { StreamSource } from '../client/streamSource.ts'
import { type Reconcile, WorkQueue } from '../client/workqueue.ts'
import { ClusterWatches } from './clusterWatches.ts'
import { Downsync } from './downsync.ts'
import { Heartbeat } from './heartbeat.ts'
import { keyText, MailboxMirror, type SyncKey } from './mirror.ts'
import { DOWNSYNCED, isOurs, PROJECTED_LABEL, UPSYNCED } from './ownership.ts'
import { ServedResources } from './served.ts'
import { returnStatus } from './statusReturn.ts'
import { isSyncConfig, type SyncPlan, setCovers, syncPlan } from './syncPlan.ts'
import { upsync } from './upsync.ts'

export interface SyncerOptions {
  /** The server that holds the mailbox. */
  center: Client
  /** The mailbox space: id, path, or `''` for the one that the credential implies. */
  space: string
  cluster: SpaceClient
  /** Where cursor and mirror are kept; without it every start reads the whole mailbox. */
  stateDir?: string
  /** How often the center hears that we live. Default 15 s. */
  heartbeatMs?: number
  logger: Logger
}

export interface Syncer {
  /** Resolves once the mailbox was read and the first pass over it is queued. */
  readonly synced: Promise<void>
  /** Resolves when everything has ended. */
  stop(): Promise<void>
}

const CONCURRENCY = 8
const SAVE_DELAY_MS = 1000
const RETRY = { baseMs: 500, maxMs: 30_000 }
const QUEUE = { baseMs: 100, maxMs: 60_000 }
const PROJECTED = `${PROJECTED_LABEL}=yes`
const CRDS: GroupResource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }

export function startSyncer(options: SyncerOptions): Syncer {
  const run = new SyncerRun(options)
  const running = run.run()
  return {
    synced: run.synced,
    async stop() {
      run.stop()
      await running
    },
  }
}

class SyncerRun {
  readonly #options: SyncerOptions
  readonly #mailbox: SpaceClient
  readonly #stopping = new AbortController()
  readonly #mirror = new MailboxMirror()
  readonly #clusterServed: ServedResources
  readonly #mailboxServed: ServedResources
  /** What the center projected, by its label. */
  readonly #projected: ClusterWatches
  /** What upsync asks for: whole resources. */
  readonly #born: ClusterWatches
  readonly #definitions: ClusterWatches
  readonly #queues: { down: WorkQueue<SyncKey>; status: WorkQueue<SyncKey>; up: WorkQueue<SyncKey> }
  readonly #synced = Promise.withResolvers<void>()
  #plan: SyncPlan = syncPlan([])
  #mirrorComplete = false
  #seen: Set<string> | undefined
  #source: StreamSource | undefined
  #savePending: (() => void) | undefined
  #saving: Promise<void> = Promise.resolve()

  constructor(options: SyncerOptions) {
    const { center, space, cluster, logger } = options
    this.#options = options
    this.#mailbox = center.in(space)
    this.#clusterServed = new ServedResources(cluster)
    this.#mailboxServed = new ServedResources(this.#mailbox)
    const queue = (): WorkQueue<SyncKey> => new WorkQueue<SyncKey>({ id: keyText, logger, ...QUEUE })
    this.#queues = { down: queue(), status: queue(), up: queue() }
    this.#projected = new ClusterWatches({
      client: cluster,
      logger,
      labelSelector: PROJECTED,
      onChange: (resource, object) => this.#clusterChanged(resource, object),
    })
    this.#born = new ClusterWatches({
      client: cluster,
      logger,
      onChange: (resource, object) => this.#queues.up.add(keyOf(resource, object)),
    })
    this.#definitions = new ClusterWatches({ client: cluster, logger, onChange: () => this.#refreshCluster() })
    this.#clusterServed.onRefresh(() => this.#replan())
  }

  get synced(): Promise<void> {
    return this.#synced.promise
  }

  stop(): void {
    this.#stopping.abort()
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping
    const { stateDir, space, logger, center, cluster } = this.#options
    const cursor = stateDir === undefined ? undefined : await this.#restore(stateDir)
    await this.#retrying('discovery of the cluster', () => this.#clusterServed.refresh())
    const crds = this.#clusterServed.find(CRDS)
    if (crds) this.#definitions.want([crds])
    this.#replan()
    this.#source = new StreamSource({
      client: center,
      space,
      logger,
      ...(cursor !== undefined && { after: cursor }),
      handler: {
        begin: () => {
          this.#seen = new Set()
        },
        change: event => this.#mailboxChanged(event),
        synced: () => this.#snapshotDone(),
      },
    })
    const downsync = new Downsync({
      cluster,
      served: this.#clusterServed,
      mirror: this.#mirror,
      watches: this.#projected,
      plan: () => this.#plan,
      mirrorComplete: () => this.#mirrorComplete,
      logger,
    })
    const shared = {
      mirror: this.#mirror,
      plan: () => this.#plan,
      served: this.#mailboxServed,
      mailbox: this.#mailbox,
      cluster,
    }
    const heartbeat = new Heartbeat({
      mailbox: this.#mailbox,
      mirror: this.#mirror,
      logger,
      everyMs: this.#options.heartbeatMs ?? 15_000,
    })
    const work = (queue: WorkQueue<SyncKey>, reconcile: Reconcile<SyncKey>): Promise<void> =>
      queue.run(reconcile, { concurrency: CONCURRENCY, signal })
    await Promise.all([
      this.#source.run(signal),
      heartbeat.run(signal),
      this.#sweepLeftovers(),
      this.#retrying('discovery of the mailbox', () => this.#mailboxServed.refresh()),
      work(this.#queues.down, key => downsync.reconcile(key)),
      work(this.#queues.status, key => returnStatus({ ...shared, watches: this.#projected }, key)),
      work(this.#queues.up, key =>
        upsync(
          {
            ...shared,
            clusterServed: this.#clusterServed,
            watches: this.#born,
            mirrorComplete: () => this.#mirrorComplete,
          },
          key,
        ),
      ),
    ])
    await Promise.all([this.#projected.stop(), this.#born.stop(), this.#definitions.stop()])
    this.#savePending?.()
    if (this.#savePending) this.#save()
    await this.#saving
  }

  /** Brings back what an earlier run knew; everything in it is looked at again. */
  async #restore(dir: string): Promise<number | undefined> {
    let cursor: number | undefined
    try {
      cursor = await this.#mirror.load(dir, this.#options.space)
    } catch (error) {
      this.#options.logger.warn(
        { err: error, dir },
        'the saved state cannot be read; reading the whole mailbox instead',
      )
    }
    if (cursor === undefined) return undefined
    this.#mirrorComplete = true
    this.#rebuildPlan()
    this.#queueEverything()
    this.#synced.resolve()
    return cursor
  }

  #mailboxChanged(event: StreamEvent): void {
    const key = this.#mirror.apply(event)
    if (key === undefined) return
    this.#seen?.add(keyText(key))
    if (isSyncConfig(key)) {
      if (this.#seen === undefined) this.#configChanged()
    } else {
      this.#queues.down.add(key)
      if (event.type === 'DELETED' || isOurs(event.object, UPSYNCED)) this.#queues.up.add(key)
      else this.#queues.status.add(key)
      if (groupResourceName(key) === groupResourceName(CRDS)) this.#refreshMailbox()
    }
    this.#scheduleSave()
  }

  /** The snapshot is whole: what it did not bring is gone. */
  #snapshotDone(): void {
    const seen = this.#seen
    this.#seen = undefined
    if (seen) {
      for (const { resource, object } of [...this.#mirror.values()]) {
        const key = keyOf(resource, object)
        if (!seen.has(keyText(key))) this.#mirror.remove(key)
      }
    }
    this.#mirrorComplete = true
    this.#configChanged()
    this.#scheduleSave()
    this.#synced.resolve()
  }

  #configChanged(): void {
    this.#rebuildPlan()
    this.#replan()
    this.#queueEverything()
  }

  #rebuildPlan(): void {
    const configs: Readonly<KubeObject>[] = []
    for (const { resource, object } of this.#mirror.values()) if (isSyncConfig(resource)) configs.push(object)
    this.#plan = syncPlan(configs)
  }

  /** Watches of the cluster follow the plan and what the cluster serves. */
  #replan(): void {
    const watchable = (r: { verbs: readonly string[] }): boolean =>
      r.verbs.includes('list') && r.verbs.includes('watch')
    const down = this.#plan.downResources
      .flatMap(resource => this.#clusterServed.find(resource) ?? [])
      .filter(watchable)
    const up = [...this.#clusterServed.all()].filter(
      resource => watchable(resource) && this.#plan.upsync.some(set => setCovers(set, resource)),
    )
    this.#projected.want(down)
    this.#born.want(up)
    // Kinds that were missing may be there now.
    for (const { resource, object } of this.#mirror.values()) {
      const key = keyOf(resource, object)
      if (this.#plan.wantsDown(key, key.namespace, key.name)) this.#queues.down.add(key)
    }
  }

  #queueEverything(): void {
    for (const { resource, object } of this.#mirror.values()) {
      if (isSyncConfig(resource)) continue
      const key = keyOf(resource, object)
      this.#queues.down.add(key)
      this.#queues.status.add(key)
      if (isOurs(object, UPSYNCED)) this.#queues.up.add(key)
    }
    for (const resource of this.#clusterServed.all()) {
      for (const object of this.#born.objects(resource)) this.#queues.up.add(keyOf(resource, object))
      for (const object of this.#projected.objects(resource)) this.#queues.down.add(keyOf(resource, object))
    }
  }

  #clusterChanged(resource: GroupVersionResource, object: KubeObject): void {
    const key = keyOf(resource, object)
    this.#queues.down.add(key)
    this.#queues.status.add(key)
  }

  /** What an earlier run applied and nobody wants any more, of kinds that are no longer watched. */
  async #sweepLeftovers(): Promise<void> {
    await this.#synced.promise
    const { signal } = this.#stopping
    const { cluster, logger } = this.#options
    for (const resource of [...this.#clusterServed.all()]) {
      if (signal.aborted) return
      if (!resource.verbs.includes('list') || !resource.verbs.includes('delete')) continue
      try {
        const { items } = await cluster.list(resource, { labelSelector: PROJECTED })
        for (const object of items)
          if (isOurs({ ...object, kind: object.kind || resource.kind }, DOWNSYNCED))
            this.#queues.down.add(keyOf(resource, object))
      } catch (error) {
        // Left as it is: an object that we cannot list is never deleted.
        if (!signal.aborted)
          logger.warn(
            { err: error, resource: groupResourceName(resource) },
            'cannot look for leftovers of an earlier run',
          )
      }
    }
  }

  #refreshCluster(): void {
    void this.#retrying('discovery of the cluster', () => this.#clusterServed.refresh())
  }

  #refreshMailbox(): void {
    void this.#retrying('discovery of the mailbox', () => this.#mailboxServed.refresh())
  }

  async #retrying(what: string, attempt: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    let lastWarning = ''
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        return await attempt()
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        if (text !== lastWarning && !signal.aborted)
          this.#options.logger.warn(
            { reason: isStatusError(error) ? error.reason : undefined },
            `${what} failed, trying again: ${text}`,
          )
        lastWarning = text
        await pause(systemClock, backoffMs(failures, RETRY, Math.random), signal)
      }
    }
  }

  #scheduleSave(): void {
    if (this.#options.stateDir === undefined || this.#savePending) return
    this.#savePending = systemClock.after(SAVE_DELAY_MS, () => {
      this.#savePending = undefined
      this.#save()
    })
  }

  #save(): void {
    const { stateDir, space, logger } = this.#options
    const cursor = this.#source?.cursor
    // In the middle of a snapshot the mirror fits no cursor.
    if (stateDir === undefined || cursor === undefined || this.#seen !== undefined) return
    this.#saving = this.#saving
      .then(() => this.#mirror.save(stateDir, space, cursor))
      .catch(error =>
        logger.error({ err: error, stateDir }, 'the state cannot be saved; a restart will read the whole mailbox'),
      )
  }
}

function keyOf(resource: GroupResource, object: Readonly<KubeObject>): SyncKey {
  const { namespace = '', name = '' } = object.metadata
  return { group: resource.group, resource: resource.resource, namespace, name }
}
