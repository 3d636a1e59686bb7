/**
 * The parts of a syncer that serves, between its mailbox and its cluster, and how they notify each other.
 *
 * Downsync, status return and upsync each have a queue of their own, so any may stall or fail alone. Their shared state lives on the
 * objects.
 *
 *     mailbox ──▶ feed ──▶ side ──▶ queues ──▶ downsync ────────▶ cluster
 *     mailbox ◀── status return, upsync ◀── queues ◀── side ◀──── cluster
 *     mailbox ◀── reports ◀── outcomes, refusals, orders
 */
import { randomUUID } from 'node:crypto'
import type { KubeObject } from '../apimachinery/object.ts'
import { retrying } from '../client/retrying.ts'
import type { WorkRuntime } from '../client/runtime.ts'
import { type Reconcile, WorkQueue } from '../client/workqueue.ts'
import type { AssociatedStatus } from '../placement/desks/syncerConfig.ts'
import type { ClusterVersions } from '../placement/outcome/outcome.ts'
import { Departure } from './down/departure.ts'
import { Downsync } from './down/downsync.ts'
import { EmptiedNamespaces } from './down/emptiedNamespaces.ts'
import { RemovalBrake } from './down/removalBrake.ts'
import type { ClusterAllowance } from './mailbox/clusterAllowance.ts'
import { type MailboxChange, MailboxFeed } from './mailbox/mailboxFeed.ts'
import { keyOf, keyText, type SyncKey } from './mailbox/mirror.ts'
import { carriesOrders, Orders } from './mailbox/orders.ts'
import type { SyncerState } from './mailbox/syncerState.ts'
import { isSyncConfig } from './mailbox/syncPlan.ts'
import { ClusterSide } from './sees/clusterSide.ts'
import { ClusterSight } from './sees/clusterSight.ts'
import { ServedResources } from './sees/served.ts'
import { Reports } from './tells/reports.ts'
import type { SyncerStatus } from './tells/syncerStatus.ts'
import { AssociatedRoom } from './up/associatedRoom.ts'
import { type ReturnStatusDeps, returnStatus } from './up/returnStatus.ts'
import { StatusLimit } from './up/statusLimit.ts'
import { Upsync } from './up/upsync.ts'
import { ADOPTED } from './whose/clusterRecord.ts'
import type { Custody } from './whose/custody.ts'
import type { Sides } from './whose/sides.ts'

interface CarriageDeps extends Omit<WorkRuntime, 'guard' | 'logger'> {
  sides: Pick<Sides, 'center' | 'mailbox' | 'cluster' | 'as' | 'logger'>
  space: string
  state: SyncerState
  custody: Pick<Custody, 'recognize' | 'forgetConfirmation' | 'forgetMailbox'>
  allowance: ClusterAllowance
  adoptExisting: boolean
  quietMs: number
  versions?: (() => Promise<ClusterVersions>) | undefined
  signal: AbortSignal
}

/** Objects that are brought at a time; how many requests a cluster has of us at a time its client says. */
const CONCURRENCY = 16
/** Placements whose associated objects are not all carried up; the report is part of a status. */
const MAX_LEFT_OUT = 100
/** Kinds that it names; a cluster may serve any number. */
const MAX_NOT_ALLOWED = 100
const QUEUE = { baseMs: 100, maxMs: 60_000 }

export class Carriage {
  readonly feed: MailboxFeed
  readonly sight: ClusterSight
  readonly orders: Orders
  readonly brake: RemovalBrake
  readonly #deps: CarriageDeps
  readonly #queues: Record<'down' | 'status' | 'up', WorkQueue<SyncKey>>
  readonly #mailboxServed: ServedResources
  readonly #reports: Reports
  readonly #side: ClusterSide
  readonly #downsync: Downsync
  readonly #statusReturn: ReturnStatusDeps
  readonly #upsync: Upsync
  readonly #room: AssociatedRoom
  /** Whether all that may have room was looked at: until then an earlier run may know more. */
  #isRoomKnown = false
  /** Only a complete mirror distinguishes leftovers from wanted objects; the end of the syncer ends the wait. */
  readonly #complete = Promise.withResolvers<void>()
  readonly #known = Promise.withResolvers<void>()
  #isKnown = false
  /** Whether this run has searched the cluster, and what a restored center deleted by name until then. */
  #hasSearched = false
  readonly #deleted = new Set<string>()
  #forgetting: Promise<void> = Promise.resolve()

  constructor(deps: CarriageDeps) {
    this.#deps = deps
    const { space, state, custody, allowance, quietMs, versions, clock, random, turns, signal } = deps
    const { center, mailbox, cluster, as, logger } = deps.sides
    signal.addEventListener('abort', () => this.#complete.resolve(), { once: true })
    const tools = { logger, clock, random }
    // Namespaces take turns: the few objects of one need not wait until all of another's are there.
    const lane = ({ namespace }: SyncKey) => ({ owner: namespace })
    const queue = (): WorkQueue<SyncKey> => new WorkQueue<SyncKey>({ id: keyText, lane, turns, ...tools, ...QUEUE })
    const queues = { down: queue(), status: queue(), up: queue() }
    const again = (key: SyncKey): void => queues.down.add(key)
    this.#queues = queues
    const session = randomUUID()

    // from the mailbox
    this.feed = new MailboxFeed({
      client: center,
      space,
      session,
      ...tools,
      turns,
      state,
      onChange: change => this.#mailboxChanged(change),
      onProgress: () => this.#reports.reporter.news(),
      onQuestion: question => this.#reports.live.receive(question),
      held: () => this.brake.keys(),
      onComplete: () => this.#mailboxComplete(),
      onKept: isKept => this.#reports.stateKept(isKept),
    })
    const { mirror } = this.feed
    const mirrorComplete = (): boolean => this.feed.complete
    this.#mailboxServed = new ServedResources(mailbox)

    // reports to the center beside status
    this.#reports = new Reports({
      mailbox,
      session,
      mirror,
      allowance,
      everyMs: quietMs,
      versions,
      position: () => this.feed.position,
      orders: () => this.orders.report(),
      associated: () => this.#associatedStatus(),
      compare: key => this.#downsync.compare(key),
      onUpgrade: () => this.#side.askAnew(),
      logger,
      clock,
    })
    const { outcomes, refusals } = this.#reports

    // from the cluster
    this.#side = new ClusterSide({
      cluster,
      mailboxServed: this.#mailboxServed,
      mirror,
      allowance,
      queues,
      ...tools,
      signal,
      onProjected: (resource, change) => this.#downsync.observed(resource, change),
      onConfig: () => this.#reports.config.hurry(),
      onAssociates: () => this.#reports.config.soon(),
    })
    const { projected, born, definitions, associates, served } = this.#side
    const plan = () => this.#side.plan
    served.onChange(() => this.#reports.served(served.all()))
    this.sight = new ClusterSight({
      recognize: () => custody.recognize(),
      outcomes: {
        lostSight: () => outcomes.lostSight(),
        sightIsBack: () => outcomes.sightIsBack(this.feed.complete ? this.#carriedKeys() : undefined),
      },
      listAnew: () => this.#side.listAnew(),
      compareAll: () => this.#compareAll(),
      // until the mirror is complete the first search is still to come
      findLeftovers: async () => (this.feed.complete ? await this.#findLeftovers() : undefined),
      logger,
      signal,
    })

    // into the cluster and back
    this.brake = new RemovalBrake({
      mirror,
      isRestored: () => this.#isRestored,
      free: (key, object) => {
        this.#downsync.sourceChanged(key, undefined, object)
        this.#downsync.mayBeThere(key)
        again(key)
      },
      again,
      obeyed: hash => {
        this.#forgetting = custody.forgetConfirmation(hash, 'noting that what was confirmed is removed')
      },
      logger,
      clock,
    })
    const { echoes } = state
    const facts = { mirror, mirrorComplete, plan, echoes, allowance, adoptExisting: deps.adoptExisting }
    const context = { ...facts, cluster, as, served, watches: projected, again, ...tools }
    this.#downsync = new Downsync({
      ...context,
      isReading: () => this.feed.isReading,
      refusals,
      outcomes,
      brake: this.brake,
      emptied: new EmptiedNamespaces(context),
      onProduced: key => queues.status.add(key),
    })
    this.#room = new AssociatedRoom(
      clock,
      () => this.#reports.config.soon(),
      key => queues.up.add(key),
    )
    const back = { mailbox, served: this.#mailboxServed, statusLimit: new StatusLimit(logger) }
    this.#statusReturn = { ...context, ...back, downsync: this.#downsync }
    this.#upsync = new Upsync({
      ...context,
      ...back,
      clusterServed: served,
      born,
      definitions,
      associates,
      room: this.#room,
      refusals,
    })
    const departure = new Departure({ ...context, forgetMailbox: () => custody.forgetMailbox(), signal })
    this.orders = new Orders({
      mirror,
      logger,
      hold: () => this.#downsync.hold(),
      resume: () => {
        for (const key of this.#downsync.resume()) again(key)
      },
      leave: (policy, report) => departure.leave(policy, report),
      onNews: () => this.#reports.config.now(),
    })
  }

  /** Resolves once the content of the mailbox is known, from the center or from an earlier run. */
  get known(): Promise<void> {
    return this.#known.promise
  }

  /** The state of an earlier run stands until the center sends a newer one. */
  restored(): void {
    this.brake.restore(this.feed.restoredHold)
    this.orders.look()
    this.#mailboxIsKnown()
  }

  /** Carries into the cluster until the syncer ends. */
  async runCluster(): Promise<void> {
    await this.#discover('the cluster', this.#side.served)
    this.#side.start()
    await Promise.all([
      this.#work('down', key => this.#reports.outcomes.looking(key, () => this.#downsync.reconcile(key))),
      this.#complete.promise.then(() => this.#findLeftovers()).then(() => this.#lookForRoom()),
    ])
  }

  /** Follows the mailbox and answers it until the syncer ends. @param mailbox its name */
  async runMailbox(mailbox: string): Promise<void> {
    const { signal } = this.#deps
    const reporting = this.#reports.run(this.feed.findGoal(signal), signal)
    await Promise.all([this.feed.run(mailbox, signal), reporting, this.#runReturn()])
  }

  /** Resolves when nothing is under way any more. */
  async ended(): Promise<void> {
    await this.#forgetting
    await this.sight.ended()
    await this.#side.stop()
    await this.orders.ended()
    this.brake.end()
    await this.feed.close()
  }

  status(): Omit<SyncerStatus, 'state' | 'center' | 'cluster'> {
    const { down, status, up } = this.#queues
    return {
      protocol: this.feed.protocol,
      known: this.#isKnown,
      complete: this.feed.complete,
      objects: this.feed.mirror.size,
      heard: this.feed.position?.revision,
      waiting: { down: down.size, status: status.size, up: up.size },
      exceptions: this.#reports.exceptions(),
      refused: this.#reports.refusals.count,
      kept: this.#deps.state.isKept ? this.feed.isKept : undefined,
    }
  }

  /** A restore that is settled before the cluster was searched counts until then: its leftovers were not known to who settled it. */
  get #isRestored(): boolean {
    return this.feed.isRestored || (!this.#hasSearched && this.feed.wasRestored)
  }

  async #lookForRoom(): Promise<void> {
    await this.#side.associates.listed()
    await this.#queues.up.idle()
    this.#isRoomKnown = true
    this.#reports.config.soon()
  }

  #associatedStatus(): AssociatedStatus | 'unknown' | undefined {
    if (!this.#isRoomKnown) return 'unknown'
    const leftOut = this.#room.report().slice(0, MAX_LEFT_OUT)
    const notAllowed = this.#side.associates.notAllowed.slice(0, MAX_NOT_ALLOWED)
    return leftOut.length + notAllowed.length === 0 ? undefined : { leftOut, notAllowed }
  }

  #mailboxChanged({ key, object, previous, revision, isInferred }: MailboxChange): void {
    if (!isSyncConfig(key)) this.#reports.outcomes.changed(key, revision)
    const isNamed = object === undefined && !isInferred
    if (isNamed && this.#isRestored && !this.#hasSearched) this.#deleted.add(keyText(key))
    if (isInferred) this.brake.left(key, previous)
    else if (!isSyncConfig(key)) this.#downsync.sourceChanged(key, object, previous)
    if (carriesOrders(key, object, key.name)) this.orders.look()
    this.#side.mailboxChanged(key, object, previous)
  }

  #mailboxComplete(): void {
    this.brake.judge()
    this.#mailboxIsKnown()
    this.#lookAtLeftovers()
    this.#reports.outcomes.whole(this.#carriedKeys())
    this.#complete.resolve()
  }

  #mailboxIsKnown(): void {
    this.#downsync.sourcesWhole()
    this.#side.mailboxComplete()
    this.#isKnown = true
    this.#known.resolve()
  }

  #compareAll(): void {
    this.#side.lookAtAll()
    this.#lookAtLeftovers()
  }

  #lookAtLeftovers(): void {
    for (const key of [...this.#downsync.leftovers()]) this.#queues.down.add(key)
  }

  async #findLeftovers(): Promise<void> {
    const { custody, signal } = this.#deps
    const { mirror } = this.feed
    const found = (key: SyncKey, object: Readonly<KubeObject>): void => {
      // what the mirror lacks was deleted by name, if it follows from what was known when that was made.
      // A mirror that was saved before the archive knows less than the cluster, and so does a restored center
      const isNamed = this.#hasSearched || !this.#isRestored || this.#deleted.has(keyText(key))
      if (mirror.get(key) || (this.brake.hasSearched && isNamed)) this.#downsync.foundLeftover(key, object)
      else this.brake.left(key, object)
    }
    await this.#side.findLeftovers(found, key => this.brake.over(key))
    if (signal.aborted) return
    this.brake.searched()
    this.#hasSearched = true
    this.#deleted.clear()
    if (this.brake.isAdopted) await custody.forgetConfirmation(ADOPTED, 'noting that the cluster was searched')
  }

  /** Status and what is born in the cluster, back to the mailbox. */
  async #runReturn(): Promise<void> {
    await this.#discover('the mailbox', this.#mailboxServed)
    // a cluster that leaves would be reported as empty
    const back = (queue: 'status' | 'up', reconcile: Reconcile<SyncKey>): Promise<void> =>
      this.#work(queue, async (key, ended) => (this.orders.leaving ? {} : await reconcile(key, ended)))
    await Promise.all([
      back('status', key => returnStatus(this.#statusReturn, key)),
      back('up', key => this.#upsync.reconcile(key)),
    ])
  }

  async #discover(name: string, served: ServedResources): Promise<void> {
    const { logger } = this.#deps.sides
    await retrying({ ...this.#deps, what: `discovery of ${name}`, logger }, () => served.refresh())
  }

  async #work(queue: 'down' | 'status' | 'up', reconcile: Reconcile<SyncKey>): Promise<void> {
    await this.#queues[queue].run(reconcile, { concurrency: CONCURRENCY, signal: this.#deps.signal })
  }

  /** Objects of the mailbox beside the configs of the syncer. */
  *#carriedKeys(): Generator<SyncKey> {
    for (const { resource, object } of this.feed.mirror.values())
      if (!isSyncConfig(resource)) yield keyOf(resource, object)
  }
}
