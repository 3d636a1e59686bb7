/**
 * The placement translator: keeps every mailbox's content equal to the product of placements, slices and workload, and
 * carries counts, errors and singleton status back. Everything is driven by streams; nothing is polled.
 */
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  MAILBOX_NAME,
  MAILBOX_PARENT,
  PLACEMENT_GRANTS,
  SLICES,
  SYNC_TARGETS,
} from '../../apimachinery/placement.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client } from '../../client/client.ts'
import { type Clock, systemClock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { type ReconcileResult, WorkQueue } from '../../client/workqueue.ts'
import type { ControllerHandle } from '../controllerHandle.ts'
import { PlacedSource, type SpacePlaces, standsInMailbox } from '../placedSource.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import type { Told } from './allowance.ts'
import { reconcileConfig } from './configReconciler.ts'
import { Conflicts, conflictMessage } from './conflicts.ts'
import { Consents } from './consents.ts'
import { CopyReconciler } from './copyReconciler.ts'
import { explainedClient } from './explainedClient.ts'
import { spacesWithFeedback } from './feedbackLeftovers.ts'
import { FeedbackReconciler } from './feedbackReconciler.ts'
import { type Mailbox, Mailboxes, ownersIn } from './mailboxes.ts'
import { mailboxListener } from './mailboxListener.ts'
import { ObjectCache } from './objectCache.ts'
import type { OwnershipRules } from './ownership.ts'
import { PlacementJoin } from './placementJoin.ts'
import type { Source } from './placementProduct.ts'
import { PlacementReports } from './placementReports.ts'
import { Releases } from './releases.ts'
import { SourceReader } from './sourceReader.ts'
import { type Task, taskId, taskParty } from './task.ts'
import { TopologyIntake } from './topologyIntake.ts'
import { UpsyncRecords } from './upsyncRecords.ts'
import { Workloads } from './workloads.ts'

export interface PlacementTranslatorDeps {
  client: Client
  places: SpacePlaces
  logger: Logger
  clock?: Clock
  random?: () => number
  signal: AbortSignal
}

/** Writes under way at the same time, beside those that some space is slow to answer; bounds memory as well as load. */
const CONCURRENCY = 64
/** Whole objects kept at hand; the rest is read again when needed. */
const CACHED_OBJECTS = 2000

/** Starts at once and runs until `signal` aborts or `stop`. */
export function startPlacementTranslator(deps: PlacementTranslatorDeps): ControllerHandle {
  const translator = new Translator(deps)
  return { idle: () => translator.idle(), stop: () => translator.stop() }
}

class Translator {
  readonly #stop = new AbortController()
  readonly #queue: WorkQueue<Task>
  /** Tasks that wait until a stream is complete. */
  readonly #postponed = new Map<string, Task>()
  readonly #join: PlacementJoin
  readonly #reports: PlacementReports
  readonly #records: UpsyncRecords
  readonly #topology: PlacedSource
  readonly #workloads: Workloads
  readonly #mailboxes: Mailboxes
  readonly #copies: CopyReconciler
  readonly #feedback: FeedbackReconciler
  readonly #client: Client
  readonly #places: SpacePlaces
  readonly #logger: Logger
  readonly #running: Promise<unknown>
  readonly #unfollow: () => void
  /** How many objects of a space are being told something right now. */
  readonly #telling = new Map<string, number>()
  #topologySynced = false
  /** Spaces that are followed only to take back feedback of an earlier run. */
  readonly #leftovers = new Set<string>()

  constructor(deps: PlacementTranslatorDeps) {
    const { client, places, logger, clock, random } = deps
    const signal = AbortSignal.any([deps.signal, this.#stop.signal])
    const common = { client, logger, ...(clock && { clock }), ...(random && { random }) }
    this.#places = places
    this.#logger = logger
    this.#queue = new WorkQueue<Task>({
      id: taskId,
      party: taskParty,
      logger: logger,
      ...(clock && { clock }),
      ...(random && { random }),
    })
    const report = (space: string, name: string) => this.#queue.add({ type: 'report', space, name })
    const consents = new Consents(places, (space, through) => this.#join.touchConsent(space, through))
    this.#join = new PlacementJoin(
      {
        copy: (mailbox, key) => this.#queue.add({ type: 'copy', mailbox, key }),
        config: mailbox => this.#queue.add({ type: 'config', mailbox }),
        source: (space, key) => this.#queue.add({ type: 'source', space, key }),
        placement: report,
      },
      consents,
    )
    this.#reports = new PlacementReports({
      client,
      join: this.#join,
      allowances: consents,
      clock: clock ?? systemClock,
      again: report,
    })
    this.#records = new UpsyncRecords(client, (mailbox, key) => this.#queue.add({ type: 'asked', mailbox, key }))
    const cache = new ObjectCache(CACHED_OBJECTS)
    this.#workloads = new Workloads({
      ...common,
      signal,
      cache,
      workload: space => this.#join.workload(space),
      synced: space => {
        this.#release()
        this.#closeIfIdle(space)
      },
      changed: (space, told) => {
        if (told) this.#queue.add({ type: 'source', space, key: told })
        this.#closeIfIdle(space)
      },
      kindsChanged: space => this.#feedback.forgetKinds(space),
    })
    this.#mailboxes = new Mailboxes(
      { ...common, signal, cache },
      mailboxListener({
        add: task => this.#queue.add(task),
        join: this.#join,
        mailbox: name => this.#mailboxes.get(name),
      }),
    )
    const releases = new Releases()
    const intake = new TopologyIntake({
      join: this.#join,
      consents,
      releases,
      released: mailbox => this.#contestAgain(mailbox),
      placed: space => this.#workloads.open(space),
      unplaced: (space, name) => {
        this.#reports.forget(space, name)
        this.#closeIfIdle(space)
      },
    })
    const sources = new SourceReader({
      client,
      cache,
      location: (cluster, name) => intake.location(cluster, name),
      customizer: (space, reference) => intake.customizer(space, reference),
    })
    const join = this.#join
    const known = (name: string) => this.#mailboxes.known(name)
    const rules: OwnershipRules = {
      isReleased: (mailbox, space) => releases.of(mailbox).some(reference => rules.isSpace(reference, space)),
      isSpace: (reference, space) => reference === space || places.pathOf(space) === reference,
    }
    this.#client = explainedClient(client, {
      join,
      places,
      cameFrom: (mailbox, key) => ownersIn(this.#mailboxes.get(mailbox)?.copies.get(key)?.owner ?? ''),
    })
    this.#copies = new CopyReconciler({
      client: this.#client,
      join,
      cache,
      sources,
      isGoneFrom: (space, key) =>
        standsInMailbox(places, space) === true ||
        (this.#workloads.isSynced(space) && join.fact(space, key) === undefined),
      again: (mailbox, key) => this.#queue.add({ type: 'copy', mailbox, key }),
      known,
      rules,
      maySecure: source => {
        const { clusterScoped, isUncertain } = consents.allowance(source.space, source.location)
        return clusterScoped || (isUncertain ? undefined : false)
      },
      withheld: (source, told) => this.#reportCopy(source, told),
      verdictChanged: (mailbox, key) => {
        for (const { space } of join.sourcesOf(mailbox, key)) this.#queue.add({ type: 'source', space, key })
      },
      mailbox: name => (this.#knowsAllFor(name) ? this.#mailboxes.get(name) : undefined),
    })
    this.#feedback = new FeedbackReconciler({
      client,
      join,
      cache,
      sources,
      mailbox: known,
      conflicts: new Conflicts(join, (space, placements, key, mailbox, owner) => {
        for (const name of placements) {
          if (owner === undefined) this.#reports.withdraw(space, name, key, mailbox, OBJECT_CONFLICT)
          else {
            const told = { reason: OBJECT_CONFLICT, message: conflictMessage(owner) }
            this.#reports.report(space, name, key, mailbox, told)
          }
        }
      }),
      clock: clock ?? systemClock,
    })
    this.#topology = new PlacedSource({
      ...common,
      places,
      space: '*',
      resources: [EDGE_PLACEMENTS, SLICES, LOCATIONS, SYNC_TARGETS, CUSTOMIZERS, INVENTORY_BINDINGS, PLACEMENT_GRANTS],
      handler: {
        change: event => intake.change(event),
        vanished: ref => intake.vanished(ref),
        synced: () => this.#topologyIsWhole(),
      },
    })
    const workspaces = new StreamSource({
      ...common,
      space: MAILBOX_PARENT,
      resources: [WORKSPACES],
      handler: {
        change: event => this.#mailboxes.workspaceChanged(event),
        vanished: ref => this.#mailboxes.close(ref.name),
      },
    })
    this.#unfollow = consents.follow()
    this.#running = Promise.all([
      this.#topology.run(signal),
      workspaces.run(signal),
      this.#takeBackLeftovers(this.#topology.synced, signal),
      this.#queue.run(task => this.#reconcile(task), { concurrency: CONCURRENCY, signal }),
    ])
  }

  idle(): Promise<void> {
    return this.#queue.idle()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all([this.#running, this.#workloads.stop(), this.#mailboxes.stop()])
    this.#unfollow()
  }

  // biome-ignore lint/suspicious/noConfusingVoidType: most tasks have nothing to say
  async #reconcile(task: Task): Promise<ReconcileResult | void> {
    switch (task.type) {
      case 'copy':
      case 'config':
      case 'asked': {
        const mailbox = this.#mailboxes.get(task.mailbox)
        if (!mailbox) return // all its content is queued when it is ready
        if (!this.#knowsAllFor(task.mailbox)) return this.#postpone(task)
        const work = this.#inMailbox(task, mailbox)
        return (await unlessSpaceGone(mailbox.space, work)) ?? {}
      }
      case 'source':
        if (
          !this.#topologySynced ||
          (this.#join.isWorkloadSpace(task.space) && !this.#workloads.isSynced(task.space)) ||
          !this.#knowsWaysOf(task.space, this.#join.workload(task.space).selectionOf(task.key).placements)
        ) {
          return this.#postpone(task)
        }
        return await this.#tell(task.space, task.key)
      case 'report': {
        const knows = this.#topologySynced && this.#workloads.isSynced(task.space)
        if (!knows || !this.#knowsWaysOf(task.space, [task.name])) return this.#postpone(task)
        return (await unlessSpaceGone(task.space, this.#reports.reconcile(task.space, task.name))) ?? {}
      }
      case 'close':
        // until its feedback is taken back, the space is followed; each step of that asks again
        if (this.#join.isWorkloadSpace(task.space) || this.#join.hasFeedback(task.space)) return
        if (this.#telling.has(task.space)) return
        if (this.#leftovers.has(task.space) && !this.#workloads.isSynced(task.space)) return
        this.#leftovers.delete(task.space)
        this.#workloads.close(task.space)
        this.#join.dropWorkload(task.space)
        this.#feedback.forgetKinds(task.space)
    }
  }

  async #tell(space: string, key: string): Promise<void> {
    this.#telling.set(space, (this.#telling.get(space) ?? 0) + 1)
    try {
      await unlessSpaceGone(space, this.#feedback.reconcile(space, key))
    } finally {
      const others = this.#telling.get(space)! - 1
      if (others > 0) this.#telling.set(space, others)
      else this.#telling.delete(space)
      this.#closeIfIdle(space)
    }
  }

  async #inMailbox(
    task: Task & { readonly type: 'copy' | 'config' | 'asked' },
    mailbox: Mailbox,
  ): Promise<ReconcileResult> {
    if (task.type === 'copy') return await this.#copies.reconcile(mailbox, task.key)
    if (task.type === 'asked') await this.#records.reconcile(mailbox, task.key)
    else {
      const [client, join, records, reports] = [this.#client, this.#join, this.#records, this.#reports]
      await reconcileConfig({ client, join, records, reports }, mailbox)
    }
    return {}
  }

  /** Whether the inventories to which placements lead are known: a grant that nobody has seen yet is no refusal. */
  #knowsWaysOf(space: string, placements: readonly string[]): boolean {
    if (!this.#topology.holdsAny) return true
    return placements.every(name =>
      [...(this.#join.waysOf(space, name)?.values() ?? [])].every(ways =>
        ways.every(({ cluster }) => !this.#topology.holds(cluster)),
      ),
    )
  }

  /** The placements by which an object of a space comes into a mailbox are told of it. */
  #reportCopy({ space, fact, location: { mailbox } }: Source, told: Told | undefined): void {
    for (const name of this.#join.workload(space).selectionOf(fact.key).placements) {
      if (this.#join.waysOf(space, name)?.has(mailbox)) this.#reports.report(space, name, fact.key, mailbox, told)
    }
  }

  /**
   * What a mailbox should hold is known only when every space that feeds it is known whole, and the inventory that it belongs
   * to.
   */
  #knowsAllFor(mailbox: string): boolean {
    if (!this.#topologySynced || this.#topology.holds(MAILBOX_NAME.exec(mailbox)?.[1] ?? '')) return false
    for (const space of this.#join.spacesOf(mailbox)) if (!this.#workloads.isSynced(space)) return false
    return true
  }

  #topologyIsWhole(): void {
    if (!this.#topologySynced) this.#logger.info({ controller: 'placement-translator' }, 'controller is in step')
    this.#topologySynced = true
    this.#release()
  }

  #postpone(task: Task): void {
    this.#postponed.set(taskId(task), task)
  }

  #release(): void {
    const tasks = [...this.#postponed.values()]
    this.#postponed.clear()
    for (const task of tasks) this.#queue.add(task)
  }

  /** What several spaces claim in a mailbox may be another's now. */
  #contestAgain(mailbox: string): void {
    for (const key of this.#mailboxes.known(mailbox)?.copies.keys() ?? []) {
      if (this.#join.sourcesOf(mailbox, key).length > 1) this.#queue.add({ type: 'copy', mailbox, key })
    }
  }

  #closeIfIdle(space: string): void {
    if (!this.#join.isWorkloadSpace(space)) this.#queue.add({ type: 'close', space })
  }

  /** Feedback of an earlier run in spaces that have lost their last placement. */
  async #takeBackLeftovers(synced: Promise<void>, signal: AbortSignal): Promise<void> {
    const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([synced, stopped])
    for (const space of await spacesWithFeedback(this.#client, this.#logger, signal)) {
      if (standsInMailbox(this.#places, space) !== false) continue // what an earlier release told there harms nobody
      this.#leftovers.add(space)
      this.#workloads.open(space)
    }
  }
}

const OBJECT_CONFLICT = 'ObjectConflict'
