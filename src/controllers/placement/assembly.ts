/** The parts of the translator, room by room: each is made of the parts above it. signalReaders.ts has the readers of their signals. */

import { CrowdLog } from '../../client/crowdLog.ts'
import type { Desks } from '../../placement/desks/desks.ts'
import { isInDoubt } from '../../placement/outcome/clusterOutcome.ts'
import type { EventRecorder } from '../eventRecorder.ts'
import { type SpacePlaces, standsInMailbox } from '../placedSource.ts'
import type { ControllerRuntime } from '../spacesController.ts'
import type { WhereDesk } from '../whereDesk.ts'
import { Convergence } from './convergence.ts'
import { CopiesTogether } from './copies/copiesTogether.ts'
import { CopyChecks } from './copies/copyChecks.ts'
import type { CopyDeps } from './copies/copyDeps.ts'
import { CopyMaking } from './copies/copyMaking.ts'
import { CopyNotes } from './copies/copyNotes.ts'
import { CopyReconciler } from './copies/copyReconciler.ts'
import { CopyRemovals } from './copies/copyRemovals.ts'
import { CopyWriter } from './copies/copyWriter.ts'
import { type DecisionFacts, isNeededThere, isUnwanted } from './copies/decide.ts'
import { MailboxChecks } from './copies/mailboxChecks.ts'
import { SharedCopies } from './copies/sharedCopies.ts'
import { SourceReader } from './copies/sourceReader.ts'
import { FeedbackReconciler } from './feedback/feedbackReconciler.ts'
import { Consents } from './inventory/consents.ts'
import { ServedKinds } from './inventory/servedKinds.ts'
import type { Topology } from './inventory/topology.ts'
import { ObjectCache } from './join/objectCache.ts'
import { PendingCopies } from './join/pendingCopies.ts'
import { PendingMarks } from './join/pendingMarks.ts'
import { PlacementJoin } from './join/placementJoin.ts'
import { Readiness } from './join/readiness.ts'
import { SpaceClosing } from './join/spaceClosing.ts'
import { SpaceLocations } from './join/spaceLocations.ts'
import { Tasks } from './join/tasks.ts'
import { WaitingIntakes } from './join/waitingIntakes.ts'
import { Workloads } from './join/workloads.ts'
import { CopiesInHand, copiesAgain } from './mailboxes/copiesInHand.ts'
import type { OwnershipRules } from './mailboxes/copyOwnership.ts'
import { newStageTimes } from './mailboxes/copyTimings.ts'
import { explainedClient } from './mailboxes/explainedClient.ts'
import { Mailboxes } from './mailboxes/mailboxes.ts'
import { MailboxTasks } from './mailboxes/mailboxTasks.ts'
import { Remarks } from './mailboxes/remarks.ts'
import { UnschedulableMailboxes } from './mailboxes/unschedulableMailboxes.ts'
import { UpsyncRecords } from './mailboxes/upsyncRecords.ts'
import { Brake } from './retention/brake.ts'
import { Pauses } from './retention/pauses.ts'
import { RetainedCopies } from './retention/retainedCopies.ts'
import { clusterAway, clusterContent } from './rollout/clusterContent.ts'
import { RevisionStore } from './rollout/revisionStore.ts'
import { Rollouts } from './rollout/rollouts.ts'
import { Signals } from './signals/signals.ts'
import { ClusterOutcomes } from './status/clusterOutcomes.ts'
import { differingDefinitions } from './status/conditions/differingDefinitions.ts'
import { DueObjects } from './status/conditions/dueObjects.ts'
import { HoldReports } from './status/conditions/holdReports.ts'
import { RestoreReports } from './status/conditions/restoreReports.ts'
import { WithheldStatuses } from './status/conditions/withheldStatuses.ts'
import { CopyMarks } from './status/copyMarks.ts'
import { OutageEvents } from './status/events/outageEvents.ts'
import { TroubleEvents } from './status/events/troubleEvents.ts'
import type { PlacementOutcomeDeps } from './status/placementOutcome.ts'
import { PlacementReports } from './status/placementReports.ts'
import { grantFindings } from './status/spaceCluster.ts'
import { ClusterReports } from './status/syncTargets/clusterReports.ts'
import { WorkStatuses } from './status/workStatuses/workStatuses.ts'
import { WorkStatusFollowers } from './status/workStatuses/workStatusFollowers.ts'
import { Collectors } from './summaries/collectors.ts'
import { Summaries } from './summaries/summaries.ts'
import { SummaryFollowers } from './summaries/summaryFollowers.ts'
import { SummarySubjects } from './summaries/summarySubjects.ts'

export interface PlacementTranslatorDeps extends ControllerRuntime, Partial<Desks> {
  places: SpacePlaces
  /** Feeds it. */
  topology: Topology
  events: EventRecorder
  /** Where placements would lead, for previews. Absent: nobody knows. */
  where?: Pick<WhereDesk, 'answerer'> | undefined
}

export type Parts = ReturnType<typeof assemble>

/** Owner of checks of mailboxes: it takes turns with the streams that feed them. */
const CHECKS = 'checks of mailboxes'
/** Whole objects kept at hand; the rest is read again when needed. */
const CACHED_OBJECTS = 2000

/** @param deps `signal` ends all that runs by itself */
export function assemble(deps: PlacementTranslatorDeps & { readonly signal: AbortSignal }) {
  const { client, places, guard, turns, logger, clock, random, events, signal, schema = () => undefined } = deps
  const common = { client, guard, logger, turns, clock, random }
  const signals = new Signals()
  const { copyChanged, mailboxChanged, copiesNamed, known } = signals

  // inventory/
  const { inventory, consents: index } = deps.topology.facts
  const kinds = new ServedKinds(client)
  const consents = new Consents(places, inventory, index, signals.consentChanged)

  // join/
  const tasks = new Tasks(common, signals)
  const join = new PlacementJoin(tasks, signals, consents)
  const cache = new ObjectCache(CACHED_OBJECTS)
  const intakes = new WaitingIntakes({ join, inventory, tasks })
  const stages = newStageTimes()
  const selected = (revision: number): void => {
    const atMs = deps.figures?.writtenAtMs(revision)
    if (atMs !== undefined) stages.selected.add(Math.max(0, clock.now() - atMs) / 1000)
  }
  const isStaged = (space: string): boolean => rollouts.isKnown(space)
  const rolloutWritten = (...what: Parameters<Rollouts['written']>): void => rollouts.written(...what)
  const follow = { signal, cache, join, kinds, intakes, signals, selected, isStaged, rolloutWritten }
  const workloads = new Workloads({ ...common, ...follow })
  const pendingMarks = new PendingMarks(signals)
  const pendingCopies = new PendingCopies({ workloads, pendingMarks, tasks, copiesNamed, soon: queueMicrotask })
  const closing = new SpaceClosing({ join, workloads, places, pendingCopies })
  const locations = new SpaceLocations({ join, inventory, consents })

  // mailboxes/
  const remarks = new Remarks(copyChanged)
  const waits = intakes.ofMailbox.bind(intakes)
  const mailboxTasks = new MailboxTasks(tasks, join, pendingMarks)
  const mailboxes = new Mailboxes({ ...common, signal, cache, stageTimes: stages, waits }, mailboxTasks, signals)
  const mailbox = mailboxes.get.bind(mailboxes)
  const knownMailbox = mailboxes.known.bind(mailboxes)
  const readiness = new Readiness({ join, workloads, topology: deps.topology, mailboxes, tasks, known })
  const inHand = new CopiesInHand(join, mailboxes)
  const records = new UpsyncRecords(client, tasks, join)
  const unschedulable = new UnschedulableMailboxes(name => knownMailbox(name)?.space)
  const cameFrom = (name: string, key: string): string | undefined => mailbox(name)?.copies.get(key)?.owner
  const explained = explainedClient(client, { join, places, cameFrom })
  const rules: OwnershipRules = {
    isReleased: (name, space) =>
      inventory.target(name)?.releases.some(reference => rules.isSpace(reference, space)) === true,
    isSpace: (reference, space) => reference === space || places.pathOf(space) === reference,
  }

  // retention/
  const pauses = new Pauses({ inventory, join, mailboxChanged })
  const isGoneFrom = (space: string, key: string): boolean =>
    standsInMailbox(places, space) === true || (workloads.isSynced(space) && join.fact(space, key) === undefined)
  const facts: DecisionFacts = {
    join,
    rules,
    pauses,
    isLeaving: name => inventory.isLeaving(name),
    isUnschedulable: (mailbox, key) => unschedulable.isUnschedulable(mailbox, key),
    isFollowed: space => closing.isFollowed(space),
    isNeeded: (mailbox, key, copy) => isNeededThere({ join, isGoneFrom }, mailbox, key, copy),
  }
  const brake = new Brake({
    join,
    clock,
    mailboxes: () => mailboxes.all(),
    mailbox: knownMailbox,
    isWhole: () => readiness.isStartWhole,
    isKnown: space => readiness.knowsObjects(space),
    isOpen: name => pendingMarks.isOpen(name),
    isGoing: space => places.isDeleting(space) || places.pathOf(space) === undefined,
    isEvicted: name => inventory.isEvicted(name, clock.now()),
    isLeaving: name => inventory.isLeaving(name),
    isUnwanted: (mailbox, key) => !inventory.isLeaving(mailbox.name) && isUnwanted(facts, mailbox, key),
    keepsAll: (space, name) => pauses.locationOf(name) !== undefined || pauses.leadsPaused(space, name),
    ask: space => pendingCopies.queueBehind({ type: 'judge', space }),
    again: (copies, space) => tasks.addAll(copiesAgain(copies, space), space),
    stays: (space, copies) => {
      const claims = [{ space, placements: [] }]
      for (const { mailbox, key } of copies) copyChanged.send(mailbox, key, 'retained', claims)
      tasks.addAll(inHand.claimantsOf(copies), space)
      for (const mailbox of new Set(copies.map(copy => copy.mailbox)))
        tasks.reportAll(join.placementsOf(mailbox).filter(lead => lead.space === space))
    },
    emptied: space => closing.closeIfIdle(space),
    report: (space, name) => tasks.report(space, name),
  })
  const retained = new RetainedCopies({ join, brake, pauses, mailboxes })

  // copies/
  const location = inventory.location.bind(inventory)
  const customizer = join.customizer.bind(join)
  const sources = new SourceReader({ client, cache, turns, location, customizer, schema })
  const copyDeps: CopyDeps = {
    client: explained,
    facts,
    join,
    cache,
    sources,
    again: (name, key) => tasks.add(inHand.again(name, key)),
    rules,
    brake,
    maySecure: source => {
      const { clusterScoped, isUncertain } = consents.allowance(source.space, source.location)
      return clusterScoped || (isUncertain ? undefined : false)
    },
    written: (mailbox, key) => mailboxes.written(mailbox, key),
    wrote: (...what) => mailboxes.wrote(...what),
    remarks,
    copyChanged,
    mailbox: name => (readiness.knowsMailbox(name) ? mailbox(name) : undefined),
  }
  const making = new CopyMaking(copyDeps)
  const notes = new CopyNotes(copyDeps)
  const writer = new CopyWriter({ ...copyDeps, clock })
  const converge = (...what: Parameters<CopyReconciler['reconcile']>) => copies.reconcile(...what)
  const removals = new CopyRemovals({ ...copyDeps, notes, writer, converge })
  const copies: CopyReconciler = new CopyReconciler({ ...copyDeps, making, notes, writer, removals })
  const sharedCopies = new SharedCopies({ facts, making, notes, writer })
  const copyChecks = new CopyChecks({ facts, remarks, making, notes })
  const work = turns.begin({ owner: CHECKS })
  const checks = new MailboxChecks({ work, mailboxes, readiness, join, copyChecks, tasks, pendingMarks, guard, logger })

  // status/
  const mailboxAt = (space: string): string => places.pathOf(space)?.split(':').at(-1) ?? ''
  const reportCluster = (name: string): void => {
    tasks.add({ type: 'cluster', mailbox: name })
    tasks.reportAll(join.placementsOf(name))
  }
  const outcomes: ClusterOutcomes = new ClusterOutcomes({
    clock,
    epoch: deps.outcomes?.epoch,
    isAwaited: space => (knownMailbox(mailboxAt(space))?.changes.unprocessed ?? 1) > 0,
    changed: (space, keys) => {
      const name = mailboxAt(space)
      for (const key of keys === 'all' ? [] : keys) copyChanged.send(name, key, 'outcome')
      if (keys === 'all') mailboxChanged.send(name, 'outcome')
      const { live, compared, processed } = outcomes.of(space)
      if (live && compared) mailbox(name)?.changes.processed(processed, isInDoubt(outcomes.of(space)))
      reportCluster(name)
    },
    settled: () => {
      for (const { name } of mailboxes.all()) reportCluster(name)
    },
  })
  const outcome = outcomes.of.bind(outcomes)
  const marks = new CopyMarks({ inventory, mailbox, outcome })
  const followers = new WorkStatusFollowers({ join, locations, pendingMarks })
  const clusterReports = new ClusterReports({
    client,
    inventory,
    outcome,
    restoredAt: () => deps.outcomes?.restoredAt,
    events,
    clock,
  })
  const clusters: PlacementOutcomeDeps = {
    join,
    mailbox,
    outcome,
    isNamed: owner => !pendingMarks.isOpen(owner),
    ...grantFindings(join, consents),
    remarks,
    pauses,
    pathOf: space => places.pathOf(space),
  }
  const withheld = new WithheldStatuses(tasks, join)
  const due = new DueObjects(tasks, join)
  const collectors = new Collectors(signals.spaceChanged)
  const log = new CrowdLog(logger, clock)
  const reports = new PlacementReports({
    client,
    join,
    allowances: consents,
    holds: new HoldReports({
      join,
      pauses,
      brake,
      intakes,
      inventory,
      events,
      log,
      restore: new RestoreReports({
        restoredAt: () => deps.outcomes?.restoredAt,
        outcome: name => outcome(mailbox(name)?.space ?? ''),
        inventory,
      }),
      rollout: (space, name) => rollouts.of(space, name),
    }),
    retained,
    withheld,
    due,
    isUnread: name => readiness.awaitsMailbox(name),
    uncollected: (space, name) => collectors.problem(space, join.spec(space, name)?.collectors ?? []),
    definitions: (space, name) => differingDefinitions({ join, locations, mailbox }, space, name),
    outcomes: clusters,
    clock,
    events: new TroubleEvents({
      events,
      read: async (space, key) => {
        const fact = join.fact(space, key)
        return fact && (await sources.read(space, fact))
      },
    }),
    outages: new OutageEvents({ events, clock }),
    tasks,
  })

  // rollout/
  const store = new RevisionStore(client)
  const content = {
    ...clusters,
    pauses,
    health: (name: string) => knownMailbox(name)?.health,
    isLeaving: (name: string) => inventory.isLeaving(name),
  }
  const rollouts: Rollouts = new Rollouts({
    store,
    join,
    clock,
    sources,
    tasks,
    known,
    location,
    labels: ({ cluster, locationName }) => location(cluster, locationName)?.metadata.labels ?? {},
    pathOf: space => places.pathOf(space),
    look: question => clusterContent(content, question),
    away: name => clusterAway(content, name),
    isSilent: name => inventory.target(name)?.silentSince !== undefined,
    isKnown: (space, name) => readiness.knowsPlacement(space, name),
  })

  // feedback/
  const feedback = new FeedbackReconciler({
    client: explained,
    join,
    cache,
    kinds,
    sources,
    mailbox: knownMailbox,
    isKept: (...what) => retained.keeps(...what),
    remarks,
    events,
    withheld,
    due,
    isUnread: name => readiness.awaitsMailbox(name),
    turns,
    clock,
  })

  // summaries/
  const statusDeps = {
    client,
    join,
    cache,
    sources,
    kinds,
    clusters,
    mailbox,
    locations,
    followers,
    retained,
    // held copies are placed by nobody, and would be missing
    isKnown: (space: string) => readiness.knowsSpace(space) && !brake.isUnsure(space),
    pathOf: (space: string) => places.pathOf(space),
  }
  const statuses = new WorkStatuses(statusDeps, { isNamespaced: true })
  const clusterStatuses = new WorkStatuses(statusDeps, { isNamespaced: false })
  const subjects = new SummarySubjects(join, collectors)
  const summaryFollowers = new SummaryFollowers({ join, locations, subjects, mailbox })
  const summaries = new Summaries({
    client,
    join,
    sources,
    kinds,
    mailbox,
    isStale: name => {
      const { live, unreachable } = outcome(mailbox(name)?.space ?? '')
      return !live || unreachable === true
    },
    locations,
    subjects,
    followers: summaryFollowers,
    statuses,
    turns,
    isKnown: space => readiness.knowsSpace(space),
  })

  // beside the rooms
  const convergence = new Convergence({ copies, copyChanged, tasks, clusterReports })
  const together = new CopiesTogether({
    facts,
    remarks,
    sharedCopies,
    removals,
    mailbox: copyDeps.mailbox,
    converged: copies => convergence.converged(copies),
  })

  return {
    signals,
    inventory,
    kinds,
    consents,
    tasks,
    join,
    cache,
    intakes,
    stages,
    workloads,
    pendingCopies,
    closing,
    locations,
    remarks,
    mailboxes,
    readiness,
    inHand,
    records,
    unschedulable,
    facts,
    pauses,
    brake,
    retained,
    rollouts,
    sources,
    location,
    customizer,
    explained,
    checks,
    outcomes,
    clusterReports,
    marks,
    followers,
    collectors,
    statuses,
    clusterStatuses,
    summaries,
    summaryFollowers,
    log,
    reports,
    feedback,
    convergence,
    together,
  }
}
