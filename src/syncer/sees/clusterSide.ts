/**
 * What the syncer sees of the cluster: what it serves and what it holds of the kinds that the plan names. Turns every change
 * on either side into keys for the queues.
 */
import { objects } from '../../apimachinery/fields.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { atMost } from '../../client/atMost.ts'
import type { Random } from '../../client/backoff.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import { type Clock, pause } from '../../client/clock.ts'
import type { CacheChange } from '../../client/informer.ts'
import type { Logger } from '../../client/logger.ts'
import { retrying } from '../../client/retrying.ts'
import type { WorkQueue } from '../../client/workqueue.ts'
import { DOWNSYNCED, IMPLIED_ANNOTATION } from '../../placement/words/placement.ts'
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
import { isAdopted, isOurs, isUpsynced } from '../objects/ownership.ts'
import { listProjected, PROJECTED } from './clusterLists.ts'
import { ClusterWatches } from './clusterWatches.ts'
import { ProjectedObjects } from './projectedObjects.ts'
import { ServedResources } from './served.ts'

interface ClusterSideDeps {
  cluster: SpaceClient
  mailboxServed: ServedResources
  mirror: MailboxMirror
  allowance: ClusterAllowance
  queues: { down: WorkQueue<SyncKey>; status: WorkQueue<SyncKey>; up: WorkQueue<SyncKey> }
  logger: Logger
  clock: Clock
  random: Random
  signal: AbortSignal
  /** The cluster's word about what the center projected. */
  onProjected(resource: GroupResource, change: Pick<CacheChange, 'type' | 'object'>): void
  /** A config appeared in the mailbox. */
  onConfig(): void
}

/** Kinds that are looked at for leftovers at a time: there are many, and nobody waits for it. */
const LOOKS = 2
/** An established CRD is served a moment later. */
const SERVED_SOON_MS = [100, 200, 500, 1000, 2000]

export class ClusterSide {
  readonly served: ServedResources
  /** What the center projected, by its label. */
  readonly projected: ClusterWatches
  /** What upsync asks for: whole resources. */
  readonly born: ClusterWatches
  readonly definitions: ClusterWatches
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
    const common = {
      client,
      logger,
      clock,
      random,
      onSynced: (resource: GroupResource) => this.#queueUpsynced(resource),
    }
    this.projected = new ClusterWatches({
      client,
      logger,
      clock,
      random,
      labelSelector: PROJECTED,
      onChange: (resource, change) => this.#projectedChanged(resource, change),
      onMissing: key => queues.down.add(key),
    })
    this.born = new ClusterWatches({
      ...common,
      onChange: (resource, { object }) => queues.up.add(keyOf(resource, object)),
    })
    this.definitions = new ClusterWatches({
      ...common,
      onChange: (_resource, { type, object }) => this.#definitionChanged(object, type === 'delete'),
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
  }

  async stop(): Promise<void> {
    await Promise.all([this.projected.stop(), this.born.stop(), this.definitions.stop(), ...this.#tasks])
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
    this.#planChanges()
    this.lookAtAll()
  }

  /** On either side. */
  lookAtAll(): void {
    const { mirror, queues } = this.#deps
    for (const { resource, object } of mirror.values()) {
      if (isSyncConfig(resource)) continue
      const key = keyOf(resource, object)
      queues.down.add(key)
      queues.status.add(key)
      if (isUpsynced(object)) queues.up.add(key)
    }
    for (const { resource, object } of this.projected.objects()) queues.down.add(keyOf(resource, object))
    for (const { resource, object } of this.born.objects()) queues.up.add(keyOf(resource, object))
  }

  /** The cluster was out of reach, and may be another than before: what is known of it is asked anew. */
  async listAnew(): Promise<void> {
    await Promise.all([this.projected.listAnew(), this.born.listAnew(), this.definitions.listAnew()])
  }

  /**
   * What an earlier run applied, of kinds that may not be watched any more, goes to the queue and to `found`. One object is one
   * object, by uid, in however many groups and kinds the cluster serves it: the others of its keys go to `another`.
   */
  async findLeftovers(
    found: (key: SyncKey, object: Readonly<KubeObject>) => void,
    another: (key: SyncKey) => void = () => {},
  ): Promise<void> {
    const { allowance, mirror, mailboxServed, queues } = this.#deps
    const listed = [...this.served.all()]
      .filter(({ verbs }) => verbs.includes('list') && verbs.includes('delete'))
      .filter(resource => allowance.mayCarry(resource, resource.namespaced))
    const report = (key: SyncKey, object: Readonly<KubeObject>): void => {
      found(key, object)
      queues.down.add(key)
    }
    const held = new Set<string | undefined>()
    const others: { key: SyncKey; object: Readonly<KubeObject> }[] = []
    await atMost(LOOKS, listed, async resource => {
      for (const object of await this.#projectedOf(resource)) {
        const key = keyOf(resource, object)
        const isHeld = mirror.get(key) !== undefined
        if (isHeld) held.add(object.metadata.uid)
        if (!isOurs(object, DOWNSYNCED) && !isOurs(object, IMPLIED_ANNOTATION) && !isAdopted(object)) continue
        if (isHeld) report(key, object)
        else others.push({ key, object })
      }
    })
    // a key that the mailbox serves is the one that it may have held
    const [known, unknown] = [true, false].map(is =>
      others.filter(o => (mailboxServed.find(o.key) !== undefined) === is),
    )
    for (const { key, object } of [...known!, ...unknown!]) {
      const { uid } = object.metadata
      if (uid !== undefined && held.has(uid)) another(key)
      else report(key, object)
      held.add(uid)
    }
  }

  async #projectedOf(resource: DiscoveredResource): Promise<readonly KubeObject[]> {
    const { cluster, logger, clock, random, signal } = this.#deps
    const what = `looking for leftovers of an earlier run among ${groupResourceName(resource)}`
    const unseen = (err: unknown): void => logger.warn({ err }, `${what} is not possible`)
    const found = await retrying({ what, signal, logger, clock, random }, () =>
      listProjected(cluster, resource, unseen),
    )
    return found ?? []
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
    const { mirror, queues } = this.#deps
    for (const { resource, object } of this.born.objects()) queues.up.add(keyOf(resource, object))
    for (const { resource, object } of this.definitions.objects()) queues.up.add(keyOf(resource, object))
    for (const { resource, object } of mirror.values()) if (isUpsynced(object)) queues.up.add(keyOf(resource, object))
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

  /** What nobody looks at nobody can list: the kind is told instead of its objects. */
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
    const { mirror, queues } = this.#deps
    this.#planChanges() // kinds may have learnt their resources
    this.#watch()
    for (const { resource, object } of mirror.values()) {
      if (!changed.has(groupResourceName(resource))) continue
      const key = keyOf(resource, object)
      queues.down.add(key)
      if (isUpsynced(object)) queues.up.add(key)
    }
  }

  #mailboxServes(changed: ReadonlySet<string>): void {
    const { queues } = this.#deps
    this.#planChanges()
    this.#watch()
    for (const { resource, object } of this.born.objects())
      if (changed.has(groupResourceName(resource))) queues.up.add(keyOf(resource, object))
    for (const { resource, object } of this.projected.objects())
      if (changed.has(groupResourceName(resource))) queues.status.add(keyOf(resource, object))
  }

  #projectedChanged(resource: GroupVersionResource, { type, object }: CacheChange): void {
    const { queues, mirror } = this.#deps
    const key = keyOf(resource, object)
    this.#deps.onProjected(resource, { type, object })
    queues.down.add(key)
    queues.status.add(key)
    if (type !== 'delete' || groupResourceName(key) !== 'namespaces') return
    // What could not be applied while the Namespace was going away can be now.
    for (const { resource: member, object: inside } of mirror.values())
      if (inside.metadata.namespace === key.name) queues.down.add(keyOf(member, inside))
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
    const { mirror, queues } = this.#deps
    for (const { resource: carried, object } of mirror.values()) {
      // Without its CRD a kind is gone as a whole.
      const concerned = groupResourceName(carried) === name || name === groupResourceName(CRDS)
      if (concerned && isUpsynced(object)) queues.up.add(keyOf(carried, object))
    }
  }

  /** Asks anew what is served after a CRD changed: now, and again for a while when the CRD is established and still missing. */
  #servedSoon(served: ServedResources, definition: Readonly<KubeObject> | undefined): void {
    const { logger, clock, random, signal } = this.#deps
    const run = async (): Promise<void> => {
      const expected = definition && servedBy(definition)
      for (const waitMs of SERVED_SOON_MS) {
        await retrying({ what: 'discovery', signal, logger, clock, random }, () => served.refresh())
        if (expected === undefined || served.find(expected) !== undefined || signal.aborted) return
        await pause(clock, waitMs, signal)
      }
    }
    const task = run().finally(() => this.#tasks.delete(task))
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

/** What an established CRD makes the server serve. */
function servedBy(definition: Readonly<KubeObject>): GroupResource | undefined {
  const { spec, status } = definition
  if (!objects(status, 'conditions').some(condition => condition.type === 'Established' && condition.status === 'True'))
    return undefined
  if (!isRecord(spec) || typeof spec.group !== 'string' || !isRecord(spec.names)) return undefined
  return { group: spec.group, resource: String(spec.names.plural) }
}

function carries(config: Readonly<KubeObject> | undefined): boolean {
  return config !== undefined && carriesProjected(config)
}
