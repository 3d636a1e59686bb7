/**
 * The syncer's view of the cluster: its served kinds and its objects of the planned kinds. Turns every change on either side into keys for
 * the queues.
 */
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import type { CacheChange } from '../../client/informer.ts'
import type { Runtime } from '../../client/runtime.ts'
import type { WorkQueue } from '../../client/workqueue.ts'
import type { ClusterAllowance } from '../mailbox/clusterAllowance.ts'
import { keyOf, type MailboxMirror, type SyncKey } from '../mailbox/mirror.ts'
import {
  carriesProjected,
  isSyncConfig,
  type SyncPlan,
  setCovers,
  syncPlan,
  wantsDefinition,
} from '../mailbox/syncPlan.ts'
import { isUpsynced } from '../objects/marks.ts'
import { Associates } from './associates.ts'
import { PROJECTED } from './clusterLists.ts'
import { ClusterWatches } from './clusterWatches.ts'
import { findLeftovers } from './leftovers.ts'
import { ProjectedObjects } from './projectedObjects.ts'
import { refreshAfter, ServedResources } from './served.ts'

interface ClusterSideDeps extends Runtime {
  cluster: SpaceClient
  mailboxServed: ServedResources
  mirror: MailboxMirror
  allowance: ClusterAllowance
  queues: { down: WorkQueue<SyncKey>; status: WorkQueue<SyncKey>; up: WorkQueue<SyncKey> }
  signal: AbortSignal
  /** The cluster's word about what the center projected. */
  onProjected(resource: GroupResource, change: Pick<CacheChange, 'type' | 'object'>): void
  /** A config appeared in the mailbox. */
  onConfig(): void
  /** Kinds that the syncer may not read of what the cluster makes for copies may be others. */
  onAssociates(): void
}

/** An object of the mailbox or the cluster. */
interface Held {
  readonly resource: GroupResource
  readonly object: Readonly<KubeObject>
}

export class ClusterSide {
  readonly served: ServedResources
  /** Copies of the center, by their label. */
  readonly projected: ClusterWatches
  /** Whole resources that upsync sets name. */
  readonly born: ClusterWatches
  readonly definitions: ClusterWatches
  readonly associates: Associates
  readonly #deps: ClusterSideDeps
  /** Kinds that upsync asks for and that may not be carried. */
  readonly #unwatched = new Set<string>()
  readonly #tasks = new Set<Promise<void>>()
  readonly #inMailbox: ProjectedObjects
  #plan: SyncPlan = syncPlan([])
  #planIsOld = false
  #started = false

  constructor(deps: ClusterSideDeps) {
    const { cluster: client, logger, clock, random, queues, mailboxServed } = deps
    this.#deps = deps
    this.#inMailbox = new ProjectedObjects(deps.mirror)
    this.served = new ServedResources(client)
    const common = { client, logger, clock, random }
    const onSynced = (resource: GroupResource): void => this.#queueUpsynced(resource)
    this.projected = new ClusterWatches({
      ...common,
      labelSelector: PROJECTED,
      onChange: (resource, change) => this.#projectedChanged(resource, change),
      onMissing: key => queues.down.add(key),
    })
    this.born = new ClusterWatches({
      ...common,
      onSynced,
      onChange: (resource, { object }) => queues.up.add(keyOf(resource, object)),
    })
    this.definitions = new ClusterWatches({
      ...common,
      onSynced,
      onChange: (_resource, { type, object }) => this.#definitionChanged(object, type === 'delete'),
    })
    this.associates = new Associates({
      ...deps,
      served: this.served,
      placed: key => this.projected.get(key, key),
      arePlacedKnown: kind => this.projected.hasSynced(kind),
    })
    this.served.onChange(({ changed }) => this.#clusterServes(changed))
    mailboxServed.onChange(({ changed }) => this.#mailboxServes(changed))
  }

  /** Always that of the newest configs in the mirror. */
  get plan(): SyncPlan {
    if (this.#planIsOld) this.#replan()
    return this.#plan
  }

  /** To be called once the cluster's discovery was read. */
  start(): void {
    this.#started = true
    const unmatched = this.#deps.allowance.unmatched(this.served.all())
    if (unmatched.length > 0)
      this.#deps.logger.warn({}, `the cluster serves no such kind (write resource.group): ${unmatched.join(', ')}`)
    const crds = this.served.find(CRDS)
    if (crds) this.definitions.want([crds])
    this.#watch()
    this.associates.start()
  }

  async stop(): Promise<void> {
    await Promise.all([
      this.projected.stop(),
      this.born.stop(),
      this.definitions.stop(),
      this.associates.stop(),
      ...this.#tasks,
    ])
  }

  mailboxChanged(
    key: SyncKey,
    object: Readonly<KubeObject> | undefined,
    previous: Readonly<KubeObject> | undefined,
  ): void {
    const { queues, mailboxServed } = this.#deps
    if (isSyncConfig(key)) {
      if (previous === undefined) this.#deps.onConfig()
      // Their status is ours; only what they ask for matters.
      const isSame = equalJson(object?.spec, previous?.spec)
      if (!isSame || carries(object) !== carries(previous)) this.#planChanges()
      return
    }
    this.associates.mailboxChanged(key, object)
    const projected = this.#inMailbox.changed(key, object, previous)
    if (projected.kinds) this.#planChanges()
    if (projected.namespace) queues.down.add(projected.namespace)
    queues.down.add(key)
    if (object === undefined || isUpsynced(object)) queues.up.add(key)
    else queues.status.add(key)
    if (groupResourceName(key) === groupResourceName(CRDS)) this.#servedSoon(mailboxServed, object)
  }

  /** The mirror is whole: everything is looked at, absences count from now on. */
  mailboxComplete(): void {
    this.#inMailbox.recount()
    for (const { resource, object } of this.#deps.mirror.values())
      this.associates.mailboxChanged(keyOf(resource, object), object)
    this.#planChanges()
    this.lookAtAll()
  }

  /** On either side. */
  lookAtAll(): void {
    const { mirror } = this.#deps
    const isCarried = ({ resource }: Held): boolean => !isSyncConfig(resource)
    this.#add('down', mirror.values(), isCarried)
    this.#add('status', mirror.values(), isCarried)
    this.#add('up', mirror.values(), isBorn)
    this.#add('down', this.projected.objects())
    this.#add('up', this.born.objects())
    this.associates.lookAtAll()
  }

  #add(
    queue: keyof ClusterSideDeps['queues'],
    all: Iterable<Held>,
    isMeant: (one: Held) => boolean = () => true,
  ): void {
    for (const one of all) if (isMeant(one)) this.#deps.queues[queue].add(keyOf(one.resource, one.object))
  }

  /** The cluster was out of reach, and may be a different one: all is read anew. */
  async listAnew(): Promise<void> {
    await Promise.all([
      this.projected.listAnew(),
      this.born.listAnew(),
      this.definitions.listAnew(),
      this.associates.listAnew(),
    ])
  }

  /** As {@link findLeftovers}. Each that is found is queued, too. */
  async findLeftovers(
    found: (key: SyncKey, object: Readonly<KubeObject>) => void,
    twin: (key: SyncKey) => void = () => {},
  ): Promise<void> {
    const { queues } = this.#deps
    const queued = (key: SyncKey, object: Readonly<KubeObject>): void => {
      found(key, object)
      queues.down.add(key)
    }
    await findLeftovers({ ...this.#deps, served: this.served, found: queued, twin })
  }

  #planChanges(): void {
    if (this.#planIsOld) return
    this.#planIsOld = true
    // Once for all changes of a batch.
    queueMicrotask(() => this.plan)
  }

  #replan(): void {
    const { mirror, queues } = this.#deps
    this.#planIsOld = false
    const before = this.#plan
    const configs: Readonly<KubeObject>[] = []
    for (const { resource, object } of mirror.values()) if (isSyncConfig(resource)) configs.push(object)
    const after = syncPlan(configs, (group, kind) => this.#pluralOf(group, kind), this.#inMailbox)
    this.#plan = after
    const changes = (key: SyncKey): boolean =>
      before.wantsDown(key, key.namespace, key.name) !== after.wantsDown(key, key.namespace, key.name)
    const look = (resource: GroupResource, object: Readonly<KubeObject>): void => {
      const key = keyOf(resource, object)
      if (!changes(key)) return
      queues.down.add(key)
      queues.status.add(key)
    }
    for (const { resource, object } of mirror.values()) look(resource, object)
    for (const { resource, object } of this.projected.objects()) look(resource, object)
    if (!equalJson(before.upsync, after.upsync)) this.#queueUpsync()
    this.#watch()
  }

  #queueUpsync(): void {
    this.#add('up', this.born.objects())
    this.#add('up', this.definitions.objects())
    this.#add('up', this.#deps.mirror.values(), isBorn)
  }

  /** Watches of the cluster follow the plan and what the cluster serves. */
  #watch(): void {
    if (!this.#started) return
    const { mailboxServed, allowance } = this.#deps
    const watchable = (r: DiscoveredResource): boolean =>
      r.verbs.includes('list') && r.verbs.includes('watch') && allowance.mayCarry(r, r.namespaced)
    const down = this.#plan.downResources.flatMap(resource => this.served.at(resource, resource.version) ?? [])
    const up = [...this.served.all()]
      .filter(resource => this.#plan.upsync.some(set => setCovers(set, resource)))
      .flatMap(resource => this.served.at(resource, mailboxServed.find(resource)?.version) ?? [])
    for (const resource of up) if (!allowance.mayCarry(resource, resource.namespaced)) this.#logUnwatched(resource)
    this.projected.want(down.filter(watchable))
    this.born.want(up.filter(watchable))
  }

  /** A kind that is not watched has no list of objects: the log names the kind. */
  #logUnwatched(resource: GroupResource): void {
    const name = groupResourceName(resource)
    if (this.#unwatched.has(name)) return
    this.#unwatched.add(name)
    this.#deps.logger.warn(
      { resource: name },
      `refused: ${name} are not carried up, for the flags of this syncer do not allow it`,
    )
  }

  #clusterServes(changed: ReadonlySet<string>): void {
    const { mirror } = this.#deps
    this.#planChanges() // kinds may have learnt their resources
    this.#watch()
    this.associates.watch()
    const isChanged = ({ resource }: Held): boolean => changed.has(groupResourceName(resource))
    this.#add('down', mirror.values(), isChanged)
    this.#add('up', mirror.values(), one => isChanged(one) && isBorn(one))
  }

  #mailboxServes(changed: ReadonlySet<string>): void {
    this.#planChanges()
    this.#watch()
    const isChanged = ({ resource }: Held): boolean => changed.has(groupResourceName(resource))
    this.#add('up', this.born.objects(), isChanged)
    this.associates.lookAtAll()
    this.#add('status', this.projected.objects(), isChanged)
  }

  #projectedChanged(resource: GroupVersionResource, { type, object }: CacheChange): void {
    const { queues, mirror } = this.#deps
    const key = keyOf(resource, object)
    this.#deps.onProjected(resource, { type, object })
    queues.down.add(key)
    queues.status.add(key)
    this.associates.placedChanged(key)
    if (type !== 'delete' || groupResourceName(key) !== 'namespaces') return
    // objects that waited for the end of the Namespace can be applied now
    this.#add('down', mirror.values(), ({ object: inside }) => inside.metadata.namespace === key.name)
  }

  #definitionChanged(object: KubeObject, gone: boolean): void {
    const { mirror, queues } = this.#deps
    const key = keyOf(CRDS, object)
    const isSent = mirror.get(key) !== undefined
    if (wantsDefinition(this.plan, key.name) || isSent) queues.up.add(key)
    // one that the cluster had before may bear no mark, and is watched here alone
    if (isSent) queues.down.add(key)
    this.#servedSoon(this.served, gone ? undefined : object)
  }

  /** Everything that we carried of a resource whose first list is complete: some of it may be gone. */
  #queueUpsynced(resource: GroupResource): void {
    const name = groupResourceName(resource)
    // without its CRD a kind is gone as a whole
    const isConcerned = ({ resource: carried }: Held): boolean =>
      groupResourceName(carried) === name || name === groupResourceName(CRDS)
    this.#add('up', this.#deps.mirror.values(), one => isConcerned(one) && isBorn(one))
  }

  /** As {@link refreshAfter}. */
  #servedSoon(served: ServedResources, definition: Readonly<KubeObject> | undefined): void {
    const task = refreshAfter(served, definition, this.#deps).finally(() => this.#tasks.delete(task))
    this.#tasks.add(task)
  }

  /** The cluster may serve other kinds than before, and no definition tells. */
  askAnew(): void {
    this.#servedSoon(this.served, undefined)
  }

  #pluralOf(group: string, kind: string): string | undefined {
    return this.served.resourceOf(group, kind) ?? this.#deps.mailboxServed.resourceOf(group, kind)
  }
}

function isBorn({ object }: Held): boolean {
  return isUpsynced(object)
}

function carries(config: Readonly<KubeObject> | undefined): boolean {
  return config !== undefined && carriesProjected(config)
}
