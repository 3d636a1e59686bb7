/**
 * The placement translator: keeps every mailbox's content equal to the product of placements, slices and workload, and
 * carries counts, errors and status back. Everything is driven by streams; nothing is polled.
 */
import type { AnswerDesk } from '../../apimachinery/answered.ts'
import type { FigureDesk } from '../../apimachinery/carryFigures.ts'
import type { LiveAsker } from '../../apimachinery/liveObjects.ts'
import type { OutcomeSource } from '../../apimachinery/outcome.ts'
import {
  CLUSTER_WORK_STATUSES,
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  MAILBOX_NAME,
  MAILBOX_PARENT,
  PLACEMENT_GRANTS,
  SLICES,
  SYNC_TARGETS,
  WORK_STATUSES,
} from '../../apimachinery/placement.ts'
import type { PreviewSource } from '../../apimachinery/placementPreview.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client } from '../../client/client.ts'
import { type Clock, systemClock } from '../../client/clock.ts'
import { CrowdLog } from '../../client/crowdLog.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { WorkQueue } from '../../client/workqueue.ts'
import { WorkTurns } from '../../program/workTurns.ts'
import type { ControllerHandle } from '../controllerHandle.ts'
import { PlacedSource, type SpacePlaces, standsInMailbox } from '../placedSource.ts'
import type { WhereDesk } from '../whereDesk.ts'
import { Brake } from './brake.ts'
import { ClosedMailboxes } from './closedMailboxes.ts'
import { ClusterOutcomes } from './clusterOutcomes.ts'
import { ClusterRefusals } from './clusterRefusals.ts'
import { ClusterReports } from './clusterReports.ts'
import { Conflicts, conflictReports } from './conflicts.ts'
import { Consents } from './consents.ts'
import { Convergence } from './convergence.ts'
import { CopiesInHand, copiesAgain } from './copiesInHand.ts'
import { CopiesTogether } from './copiesTogether.ts'
import { CopyReconciler } from './copyReconciler.ts'
import { newStages } from './copyTimings.ts'
import { Namings } from './desiredContent.ts'
import { Evictions } from './evictions.ts'
import { explainedClient } from './explainedClient.ts'
import { spacesWithFeedback } from './feedbackLeftovers.ts'
import { FeedbackReconciler } from './feedbackReconciler.ts'
import { grantFindings } from './grantFindings.ts'
import { HeldBack } from './heldBack.ts'
import { Knowledge } from './knowledge.ts'
import { laggingClusters } from './laggingClusters.ts'
import { LeavingMailboxes } from './leavingMailboxes.ts'
import { ownersIn } from './mailbox.ts'
import { MailboxChecks } from './mailboxChecks.ts'
import { contentOf, contentTasks } from './mailboxContent.ts'
import { Mailboxes } from './mailboxes.ts'
import { mailboxListener } from './mailboxListener.ts'
import { ObjectCache } from './objectCache.ts'
import type { OwnershipRules } from './ownership.ts'
import { Pauses } from './pauses.ts'
import { PlacementJoin } from './placementJoin.ts'
import { PlacementNotes } from './placementNotes.ts'
import type { PlacementOutcomeDeps } from './placementOutcome.ts'
import { PlacementPreviews } from './placementPreviews.ts'
import { PlacementReports } from './placementReports.ts'
import { Releases } from './releases.ts'
import { ServedKinds } from './servedKinds.ts'
import { SourceReader } from './sourceReader.ts'
import { SpaceClosing } from './spaceClosing.ts'
import { SpaceLocations } from './spaceLocations.ts'
import { StayingCopies } from './stayingCopies.ts'
import { configTasks, copyTasks, reportTasks, sourceTasks, type Task, taskId, taskLane, taskParty } from './task.ts'
import { TaskRouter } from './taskRouter.ts'
import { tellHeld } from './tellHeld.ts'
import { TopologyIntake } from './topologyIntake.ts'
import { TroubleEvents } from './troubleEvents.ts'
import { UpsyncRecords } from './upsyncRecords.ts'
import { Wholeness } from './wholeness.ts'
import { Workloads } from './workloads.ts'
import { WorkStatuses } from './workStatuses.ts'
import { WorkStatusFollowers } from './workStatusFollowers.ts'

export interface PlacementTranslatorDeps {
  client: Client
  places: SpacePlaces
  logger: Logger
  /** Of its work queue. */
  guard?: KeyGuard | undefined
  /** In whose slices of the loop's time it is told of things and works. Default: its own. */
  turns?: WorkTurns | undefined
  clock?: Clock
  random?: () => number
  /** Where syncers' reports come in. Absent: nobody reports. */
  outcomes?: OutcomeSource | undefined
  /** Where people ask what would change where. Absent: nobody asks. */
  previews?: PreviewSource | undefined
  /** Who asks clusters what they hold now. Absent: nobody. */
  live?: LiveAsker | undefined
  /** Who says where placements would lead. Absent: nobody knows. */
  where?: Pick<WhereDesk, 'answerer'> | undefined
  /** Where it makes itself known as who answers for work statuses. Absent: nobody asks. */
  answers?: AnswerDesk | undefined
  /** Where it shows how what is placed gets on. Absent: nobody looks. */
  figures?: FigureDesk | undefined
  signal: AbortSignal
}

/** Writes under way at the same time, beside those that some space is slow to answer; bounds memory as well as load. */
const CONCURRENCY = 128
/** Copies that go to one mailbox in a row: their events reach those who follow it together. */
const RUN = 16
/** Who has what mailboxes should hold queued: in turn with the spaces, whose changes name copies. */
const MAILBOXES = 'mailboxes'
/** Who looks at mailboxes: in turn with the streams that tell of them. */
const CHECKS = 'checks of mailboxes'
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
  readonly #knowledge: Knowledge
  readonly #closing: SpaceClosing
  readonly #leaving: LeavingMailboxes
  readonly #join: PlacementJoin
  readonly #reports: PlacementReports
  readonly #refusals: ClusterRefusals
  readonly #outcomes: ClusterOutcomes
  readonly #clusterReports: ClusterReports
  readonly #namings: Namings
  readonly #statuses: WorkStatusFollowers
  readonly #records: UpsyncRecords
  readonly #brake: Brake
  readonly #notes: PlacementNotes
  readonly #crowdLog: CrowdLog
  readonly #pauses: Pauses
  readonly #staying: StayingCopies
  readonly #topology: PlacedSource
  readonly #workloads: Workloads
  readonly #mailboxes: Mailboxes
  readonly #checks: MailboxChecks
  readonly #copies: CopyReconciler
  readonly #feedback: FeedbackReconciler
  readonly #client: Client
  readonly #logger: Logger
  readonly #wholeness: Wholeness
  readonly #running: Promise<unknown>
  readonly #unfollow: () => void
  readonly #undeliver: () => void

  constructor(deps: PlacementTranslatorDeps) {
    const { client, places, guard, turns = new WorkTurns(), logger, clock, random } = deps
    const signal = AbortSignal.any([deps.signal, this.#stop.signal])
    const common = { client, guard, logger, turns, ...(clock && { clock }), ...(random && { random }) }
    this.#logger = logger
    this.#leaving = new LeavingMailboxes(places)
    this.#queue = new WorkQueue<Task>({
      id: taskId,
      party: taskParty,
      lane: taskLane,
      run: RUN,
      guard,
      held: (task, hold) => tellHeld({ join: this.#join, reports: this.#reports }, task, hold),
      logger,
      turns,
      ...(clock && { clock }),
      ...(random && { random }),
    })
    const inHand = new CopiesInHand({
      join: { sourcesOf: (...what) => this.#join.sourcesOf(...what) },
      mailbox: name => this.#mailboxes.known(name),
    })
    this.#wholeness = new Wholeness({
      isTopologyWhole: () => this.#knowledge.isTopologyWhole,
      mailboxes: () => this.#mailboxes.all(),
      // also where nobody has anything to be judged: what was there at the start is looked at now
      becameWhole: () => this.#queue.add({ type: 'judge', space: '' }),
    })
    const moreIsKnown = () => {
      if (this.#wholeness.completes()) this.#brake.release()
    }
    const report = (space: string, name: string) => this.#queue.add({ type: 'report', space, name })
    const note = (space: string, name: string) => this.#queue.add({ type: 'note', space, name })
    const locations = new SpaceLocations({
      join: {
        placementNames: id => this.#join.placementNames(id),
        waysOf: (...what) => this.#join.waysOf(...what),
        version: () => this.#join.version,
      },
      targetOf: mailbox => this.#mailboxes.known(mailbox)?.targetName,
      bindingTo: (...what) => consents.bindingTo(...what),
      renamed: space => this.#statuses.lost(space),
    })
    this.#statuses = new WorkStatusFollowers({
      join: { workload: space => this.#join.workload(space) },
      locations,
      isNamed: space => !this.#namings.isOpen(space),
    })
    this.#namings = new Namings(owner => {
      if (MAILBOX_NAME.test(owner)) {
        this.#clusterChanged(owner)
        for (const { space, name } of this.#join.placementsOf(owner)) report(space, name)
      } else this.#statuses.named(owner)
    })
    const kinds = new ServedKinds(client)
    const stages = newStages()
    const consents = new Consents(places, (space, through) => this.#join.touchConsent(space, through))
    this.#join = new PlacementJoin(
      {
        copies: (mailboxes, keys, origin) => {
          this.#statuses.changed(origin, mailboxes, keys)
          // all of the others is looked at once more is known
          const isLive = this.#knowledge.isTopologyWhole && this.#workloads.isSynced(origin)
          const ready = mailboxes.filter(
            mailbox => this.#mailboxes.get(mailbox) && (isLive || !this.#checks.isAwaited(mailbox)),
          )
          if (ready.length > 0) this.#queue.addAll(this.#naming(origin, copyTasks(ready, keys, origin)), origin)
        },
        configs: (mailboxes, origin) => this.#queue.addAll(configTasks(mailboxes), origin),
        sources: (space, keys) => this.#queue.addAll(sourceTasks(space, keys), space),
        placement: report,
        placements: (space, names) => this.#queue.addAll(reportTasks(space, names), space),
        lost: (space, name) => {
          this.#brake.lost(space, name)
          if (this.#join.workload(space).hasPaused) note(space, name)
        },
      },
      consents,
    )
    this.#refusals = new ClusterRefusals({
      join: this.#join,
      mailbox: name => this.#mailboxes.get(name),
      clock: clock ?? systemClock,
      changed: report,
    })
    const mailboxAt = (space: string): string => places.pathOf(space)?.split(':').at(-1) ?? ''
    this.#outcomes = new ClusterOutcomes({
      clock: clock ?? systemClock,
      epoch: deps.outcomes?.epoch,
      isAwaited: space => (this.#mailboxes.known(mailboxAt(space))?.desired.unprocessed ?? 1) > 0,
      changed: (space, keys) => {
        const mailbox = mailboxAt(space)
        if (keys === 'all') this.#clusterChanged(mailbox)
        else for (const key of keys) this.#statuses.touched(mailbox, key)
        this.#mailboxes.get(mailbox)?.desired.processed(this.#processedBy(space))
        this.#queue.add({ type: 'cluster', mailbox })
        for (const placement of this.#join.placementsOf(mailbox)) report(placement.space, placement.name)
      },
    })
    const outcome = (space: string) => this.#outcomes.of(space)
    this.#clusterReports = new ClusterReports({ client, outcome, clock: clock ?? systemClock })
    deps.outcomes?.deliverTo(this.#outcomes)
    const outcomes: PlacementOutcomeDeps = {
      join: this.#join,
      mailbox: name => this.#mailboxes.get(name),
      outcome,
      isNamed: owner => !this.#namings.isOpen(owner) && !this.#checks.isOpen(owner),
      ...grantFindings(this.#join, consents),
      found: (...what) => this.#reports.found(...what),
      foundIn: (...where) => this.#reports.foundIn(...where),
      pauses: { locationOf: name => this.#pauses.locationOf(name) },
    }
    this.#reports = new PlacementReports({
      client,
      join: this.#join,
      allowances: consents,
      refusals: this.#refusals,
      stayingCopies: (space, name) => {
        const hold = this.#brake.holdOf(space, name)
        return typeof hold === 'object' ? hold.copies : 0
      },
      behindPause: (...what) => this.#staying.behindPauseOf(...what),
      outcomes,
      clock: clock ?? systemClock,
      events: new TroubleEvents({
        client,
        read: async (space, key) => {
          const fact = this.#join.fact(space, key)
          return fact && (await sources.read(space, fact))
        },
        clock: clock ?? systemClock,
      }),
      told: (key, mailbox) => this.#statuses.touched(mailbox, key),
      again: report,
    })
    const evictions = new Evictions(clock ?? systemClock)
    this.#brake = new Brake({
      join: this.#join,
      clock: clock ?? systemClock,
      mailboxes: () => this.#mailboxes.all(),
      mailbox: name => this.#mailboxes.known(name),
      isWhole: () => this.#wholeness.isWhole,
      isKnown: space => !this.#join.isWorkloadSpace(space) || this.#workloads.isSynced(space),
      isGoing: space => places.isDeleting(space) || places.pathOf(space) === undefined,
      isEvicted: mailbox => evictions.has(mailbox),
      isUnwanted: (mailbox, key) => !this.#leaving.has(mailbox.name) && this.#copies.isUnwanted(mailbox, key),
      // behind all that the space's changes have named
      ask: space => this.#queue.addAll([{ type: 'judge', space }], space),
      again: (copies, space) => this.#queue.addAll(copiesAgain(copies, space), space),
      heldOrFreed: (...what) => this.#statuses.staying(...what),
      tell: (space, name) => {
        note(space, name)
        report(space, name)
      },
    })
    this.#pauses = new Pauses({
      join: this.#join,
      changed: mailbox => {
        for (const { space, name } of this.#join.placementsOf(mailbox)) note(space, name)
        if (this.#mailboxes.get(mailbox)) listener.synced(mailbox)
      },
    })
    this.#staying = new StayingCopies({
      join: this.#join,
      brake: this.#brake,
      pauses: this.#pauses,
      mailbox: name => this.#mailboxes.get(name),
      changed: (space, mailbox, key) => {
        this.#statuses.staying(space, [{ mailbox, key }])
        for (const one of this.#join.placementsOf(mailbox)) if (one.space === space) report(space, one.name)
      },
    })
    this.#crowdLog = new CrowdLog(logger, clock ?? systemClock)
    this.#notes = new PlacementNotes({
      client,
      join: this.#join,
      pauses: this.#pauses,
      brake: this.#brake,
      clusterOf: mailbox => this.#leaving.targetOf(mailbox),
      clock: clock ?? systemClock,
      log: this.#crowdLog,
    })
    this.#records = new UpsyncRecords(client, (mailbox, key) => this.#queue.add({ type: 'asked', mailbox, key }))
    const cache = new ObjectCache(CACHED_OBJECTS)
    this.#workloads = new Workloads({
      ...common,
      signal,
      cache,
      workload: space => this.#join.workload(space),
      synced: space => {
        this.#knowledge.release()
        this.#brake.release()
        this.#closing.closeIfIdle(space)
      },
      gone: (space, key, byName) => this.#brake.sourceGone(space, key, byName),
      came: (space, key) => this.#brake.sourceCame(space, key),
      pauseChanged: (space, key) => {
        for (const name of this.#join.placementNames(space)) note(space, name)
        for (const { name } of this.#mailboxes.all()) this.#queue.addAll(inHand.ownedBy(space, [name], key), space)
      },
      namespaceGoing: (space, namespace) =>
        this.#brake.namespaceGoing(space, namespace, this.#join.workload(space).inNamespace(namespace)),
      changed: (space, told) => {
        if (told) this.#queue.add({ type: 'source', space, key: told })
        this.#closing.closeIfIdle(space)
      },
      kindsChanged: space => {
        this.#feedback.forgetKinds(space)
        kinds.forget(space)
      },
    })
    const listener = mailboxListener({
      add: task => this.#queue.add(task),
      addAll: (tasks, owner) => this.#queue.addAll(this.#naming(owner, tasks), owner),
      look: mailbox => this.#checks.ask(mailbox),
      join: this.#join,
      mailbox: name => this.#mailboxes.get(name),
      touched: (mailbox, key) => this.#statuses.touched(mailbox, key),
    })
    const synced = (mailbox: string) => {
      listener.synced(mailbox)
      moreIsKnown()
    }
    this.#mailboxes = new Mailboxes({ ...common, signal, cache, stages }, { ...listener, synced })
    deps.figures?.show({
      stages,
      queues: () => ({ 'placement-translator': this.#queue.size }),
      lagging: most => laggingClusters(this.#mailboxes.all(), (clock ?? systemClock).now(), most),
    })
    this.#knowledge = new Knowledge({
      join: this.#join,
      workloads: this.#workloads,
      topology: () => this.#topology,
      addAll: tasks => this.#queue.addAll(tasks),
      released: () => this.#checks.release(),
    })
    const content = { join: this.#join, mailbox: (name: string) => this.#mailboxes.get(name) }
    this.#checks = new MailboxChecks({
      work: turns.begin({ owner: CHECKS }),
      mailbox: content.mailbox,
      knows: mailbox => this.#knowledge.knowsMailbox(mailbox),
      keys: mailbox => contentOf(content, mailbox),
      isRight: (mailbox, key) =>
        guard?.suspects?.(() => taskId({ type: 'copy', mailbox: mailbox.name, key })) !== true &&
        this.#copies.isRight(mailbox, key),
      found: (mailbox, keys) =>
        this.#queue.addAll(this.#naming(mailbox, contentTasks(content, mailbox, keys)), MAILBOXES),
      done: () => this.#mailboxes.looked(),
      failed: (mailbox, error) => logger.error({ mailbox, err: error }, 'not all of a mailbox could be looked at'),
    })
    this.#closing = new SpaceClosing({
      join: this.#join,
      workloads: this.#workloads,
      places,
      // behind all that the space's changes have named
      ask: space => this.#queue.addAll([{ type: 'close', space }], space),
    })
    const releases = new Releases()
    const closed = new ClosedMailboxes({
      spaceOf: mailbox => this.#mailboxes.known(mailbox)?.space,
      tell: (source, told) => this.#reports.reportCopy(source, told),
      withdraw: (source, reason) => this.#reports.withdrawCopy(source, reason),
    })
    const intake = new TopologyIntake({
      join: this.#join,
      consents,
      releases,
      leaving: this.#leaving,
      closed,
      brake: this.#brake,
      pauses: this.#pauses,
      evictions,
      pauseChanged: (space, name, mailboxes) => {
        note(space, name)
        const keys = this.#join.workload(space).selectedBy(name)
        this.#queue.addAll(copyTasks(mailboxes, keys, space), space)
        this.#queue.addAll(inHand.ownedBy(space, mailboxes), space)
        this.#queue.addAll(configTasks(mailboxes), space)
      },
      stays: mailbox => {
        if (this.#mailboxes.get(mailbox)) listener.synced(mailbox)
      },
      released: mailbox => {
        for (const task of inHand.contestedIn(mailbox)) this.#queue.add(task)
      },
      placed: space => this.#workloads.open(space),
      unplaced: (space, name) => {
        this.#reports.forget(space, name)
        this.#notes.forget(space, name)
        this.#refusals.forget(space, name)
        this.#closing.closeIfIdle(space)
      },
    })
    const sources = new SourceReader({
      client,
      cache,
      turns,
      location: (cluster, name) => intake.location(cluster, name),
      customizer: (space, reference) => intake.customizer(space, reference),
    })
    const answers = [WORK_STATUSES, CLUSTER_WORK_STATUSES].map((kind, i) => {
      const answerer = new WorkStatuses(
        {
          client,
          join: this.#join,
          cache,
          sources,
          kinds,
          clusters: outcomes,
          mailbox: name => this.#mailboxes.get(name),
          locations,
          followers: this.#statuses,
          staying: this.#staying,
          isKnown: space =>
            this.#knowledge.isTopologyWhole && (!this.#join.isWorkloadSpace(space) || this.#workloads.isSynced(space)),
          pathOf: space => places.pathOf(space),
        },
        { isNamespaced: i === 0 },
      )
      deps.answers?.answerFor(kind, answerer)
      return kind
    })
    this.#undeliver = () => {
      deps.outcomes?.deliverTo(undefined)
      deps.previews?.deliverTo(undefined)
      deps.figures?.show(undefined)
      for (const kind of answers) deps.answers?.answerFor(kind, undefined)
    }
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
      again: (mailbox, key) => this.#queue.add(inHand.again(mailbox, key)),
      rules,
      keepsOut: (mailbox, key, claims) => closed.keepsOut(mailbox, key, claims),
      brake: this.#brake,
      pauses: this.#pauses,
      maySecure: source => {
        const { clusterScoped, isUncertain } = consents.allowance(source.space, source.location)
        return clusterScoped || (isUncertain ? undefined : false)
      },
      withheld: (source, told) => this.#reports.reportCopy(source, told),
      unserved: (source, told) => this.#reports.reportUnserved(source, told),
      written: (mailbox, key) => this.#mailboxes.written(mailbox, key),
      told: (mailbox, key, object) => this.#mailboxes.toldEarly(mailbox, key, object),
      heldBack: new HeldBack({
        reportCopy: (source, told) => this.#reports.reportCopy(source, told),
        withdrawCopy: (source, reason) => this.#reports.withdrawCopy(source, reason),
      }),
      staying: this.#staying,
      verdictChanged: (mailbox, key) => {
        for (const { space } of join.sourcesOf(mailbox, key)) this.#queue.add({ type: 'source', space, key })
      },
      meansOther: (space, key) => this.#queue.add({ type: 'source', space, key }),
      mailbox: name => {
        const isOpen = this.#knowledge.knowsMailbox(name) && this.#pauses.locationOf(name) === undefined
        return isOpen ? this.#mailboxes.get(name) : undefined
      },
    })
    this.#feedback = new FeedbackReconciler({
      client,
      join,
      cache,
      sources,
      mailbox: known,
      conflicts: new Conflicts(join, conflictReports(this.#reports)),
      turns,
      clock: clock ?? systemClock,
    })
    deps.previews?.deliverTo(
      new PlacementPreviews({
        client,
        join,
        turns,
        consents,
        rules,
        where: () => deps.where?.answerer,
        live: deps.live,
        now: () => (clock ?? systemClock).now(),
        brake: this.#brake,
        pauses: this.#pauses,
        isLeaving: mailbox => this.#leaving.has(mailbox),
        wouldKeepOut: (mailbox, key) => closed.wouldKeepOut(mailbox, key),
        mailbox: known,
        knows: (space, key) => this.#knowledge.knowsSource(space, key),
        knowsMailbox: name => this.#knowledge.knowsMailbox(name),
        location: (cluster, name) => intake.location(cluster, name),
        customizer: (space, reference) => intake.customizer(space, reference),
      }),
    )
    this.#topology = new PlacedSource({
      ...common,
      places,
      space: '*',
      resources: [EDGE_PLACEMENTS, SLICES, LOCATIONS, SYNC_TARGETS, CUSTOMIZERS, INVENTORY_BINDINGS, PLACEMENT_GRANTS],
      handler: {
        begin: () => intake.begin(),
        change: event => intake.change(event),
        vanished: ref => intake.vanished(ref),
        synced: () => {
          intake.synced()
          this.#knowledge.topologyIsWhole()
          moreIsKnown()
        },
      },
    })
    const workspaces = new StreamSource({
      ...common,
      space: MAILBOX_PARENT,
      resources: [WORKSPACES],
      handler: {
        change: event => this.#mailboxes.workspaceChanged(event),
        vanished: ref => this.#mailboxes.close(ref.name),
        synced: () => {
          this.#wholeness.workspacesAreSynced()
          moreIsKnown()
        },
      },
    })
    const convergence = new Convergence({
      copies: this.#copies,
      join,
      statuses: this.#statuses,
      add: task => this.#queue.add(task),
      addAll: (tasks, space) => this.#queue.addAll(tasks, space),
    })
    const router = new TaskRouter({
      client: this.#client,
      join,
      mailboxes: this.#mailboxes,
      knowledge: this.#knowledge,
      leaving: this.#leaving,
      pauses: this.#pauses,
      staying: this.#staying,
      copies: this.#copies,
      convergence,
      records: this.#records,
      refusals: this.#refusals,
      clusterReports: this.#clusterReports,
      feedback: this.#feedback,
      reports: this.#reports,
      notes: this.#notes,
      brake: this.#brake,
      closing: this.#closing,
    })
    const together = new CopiesTogether({
      copies: this.#copies,
      mailbox: name => (this.#isOpen(name) ? this.#mailboxes.get(name) : undefined),
      converged: copies => convergence.converged(copies),
    })
    this.#unfollow = consents.follow()
    this.#running = Promise.all([
      this.#topology.run(signal),
      workspaces.run(signal),
      this.#begin(signal, turns, places),
      this.#queue.run(task => router.reconcile(task), { concurrency: CONCURRENCY, signal, together }),
    ])
  }

  /** What is to be done once the topology is known whole for the first time. */
  async #begin(signal: AbortSignal, turns: WorkTurns, places: SpacePlaces): Promise<void> {
    const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([this.#topology.synced, stopped])
    if (!signal.aborted) this.#logger.info({ controller: 'placement-translator' }, 'controller is in step')
    // in mailboxes it is without effect, and they hold most of what there is
    const isLeftOut = (space: string) => standsInMailbox(places, space) === true
    const options = { client: this.#client, logger: this.#logger, turns, isLeftOut }
    this.#closing.takeBack(await spacesWithFeedback(options, signal))
  }

  async idle(): Promise<void> {
    do {
      await this.#checks.idle()
      await this.#queue.idle()
    } while (!this.#checks.isIdle)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#checks.stop()
    await Promise.all([this.#running, this.#workloads.stop(), this.#mailboxes.stop()])
    this.#unfollow()
    this.#undeliver()
    this.#outcomes.stop()
    this.#crowdLog.close()
  }

  /** Whether copies in a mailbox may be worked on. */
  #isOpen(mailbox: string): boolean {
    if (this.#leaving.has(mailbox) || this.#pauses.locationOf(mailbox) !== undefined) return false
    return this.#knowledge.knowsMailbox(mailbox)
  }

  #clusterChanged(mailbox: string): void {
    this.#statuses.clusterChanged(mailbox, () => this.#join.claimsIn(mailbox).keys())
  }

  #processedBy(space: string): number {
    const { live, compared, processed } = this.#outcomes.of(space)
    return live && compared ? processed : 0
  }

  /** The copies that tasks name may have to change from now on. */
  #naming(owner: string, tasks: Iterable<Task>): Iterable<Task> {
    return this.#namings.of(owner, tasks, task => {
      if (task.type === 'copy') this.#mailboxes.known(task.mailbox)?.desired.name(task.key)
    })
  }
}
