/**
 * The syncer: one stream of the mailbox space in, server-side apply out; status and upsynced objects back.
 *
 * Downsync, status return and upsync each have a queue of their own, so any may stall or fail alone; what one tells the other
 * lives on the objects. It opens all connections itself and lives through days without the center.
 */
import { isSameOffer, type Offer } from '../apimachinery/offer.ts'
import type { ClusterVersions, OutcomeState } from '../apimachinery/outcome.ts'
import type { Random } from '../client/backoff.ts'
import type { Client, SpaceClient } from '../client/client.ts'
import { type Clock, systemClock } from '../client/clock.ts'
import type { Logger } from '../client/logger.ts'
import { TerminalError } from '../client/reconcileFailures.ts'
import { type Reconcile, WorkQueue } from '../client/workqueue.ts'
import { Allowance } from './allowance.ts'
import { clusterOffer } from './clusterOffer.ts'
import { ClusterSide } from './clusterSide.ts'
import { ClusterSight } from './clusterSight.ts'
import { leaveCluster } from './departure.ts'
import { Downsync } from './downsync.ts'
import { EmptiedNamespaces } from './emptiedNamespaces.ts'
import { Heartbeat } from './heartbeat.ts'
import {
  type ClusterRecord,
  checkNote,
  checkSpace,
  checkSyncTarget,
  claim,
  claimAgain,
  forgetConfirmation,
  forgetMailbox,
  handedOver,
  isFrom,
  type Mailbox,
  mailboxIn,
  mailboxOf,
  noteAgain,
  recordOf,
  requireOtherServer,
  watchRecord,
} from './identity.ts'
import { ClusterLease } from './lease.ts'
import { Link } from './link.ts'
import { LiveAnswers } from './liveAnswers.ts'
import { MailboxFeed } from './mailboxFeed.ts'
import { keyOf, keyText, type MailboxMirror, type SyncKey } from './mirror.ts'
import { carriesOrders, Orders, OWN_CONFIG } from './orders.ts'
import { OutcomeReporter } from './outcomeReporter.ts'
import { Outcomes } from './outcomes.ts'
import { quietLogger } from './quietLogger.ts'
import { rateLimited, TokenBucket } from './rateLimit.ts'
import { Refusals } from './refusals.ts'
import { ADOPTED, RemovalBrake } from './removalBrake.ts'
import { retrying } from './retrying.ts'
import { ServedResources } from './served.ts'
import { StatusLimit } from './statusLimit.ts'
import { returnStatus } from './statusReturn.ts'
import { SyncerState } from './syncerState.ts'
import type { SyncerStatus } from './syncerStatus.ts'
import { isSyncConfig } from './syncPlan.ts'
import { Upsync } from './upsync.ts'
import { STATE_NOT_KEPT } from './verdicts.ts'
import { writesAfter } from './writesAfter.ts'

export interface SyncerOptions {
  /** The server that holds the mailbox. */
  center: Client
  /** The mailbox space: id, path, or `''` for the one that the credential implies. */
  space: string
  cluster: SpaceClient
  /** Where cursor and mirror are kept; without it every start reads the whole mailbox. */
  stateDir?: string
  /** How often a center of an earlier release is told that we live; another one hears a word in four times that. Default 15 s. */
  heartbeatMs?: number
  /** Of the SyncTarget that the mailbox must be for; any, when absent. */
  syncTargetUid?: string
  /** Whether what was in the cluster before may be taken over, not only what its source says may be. */
  adoptExisting?: boolean
  /**
   * So that one syncer serves the cluster at a time: others stand by. `holder` is of this syncer alone; after `durationMs`
   * without a word of it another one takes over. Default: none, and nobody stands by.
   */
  lease?: { holder: string; durationMs: number }
  /** The cluster in the name of a user, when what a space owns is to be written as `orrery:space:<id>`. */
  impersonate?: (user: string) => SpaceClient
  /** What the cluster's owner lets it carry. Default: everything. */
  allowance?: Allowance
  /** What cluster and syncer are, for people who look at the SyncTarget. Default: it is not told. */
  versions?: () => Promise<ClusterVersions>
  /** Requests to the cluster: so many each second, and so many at once. Default: no limit. */
  limit?: { qps: number; burst: number }
  logger: Logger
  clock?: Clock
  random?: Random
}

export interface Syncer {
  /** Resolves once the content of the mailbox is known, from the center or from an earlier run; never when stopped before. */
  readonly synced: Promise<void>
  /**
   * Resolves to the reason, as a line for whoever started it, when mailbox and cluster do not belong together. It has ended
   * then, and has touched neither. Never resolves otherwise.
   */
  readonly refused: Promise<string>
  /** Resolves when another syncer took over while the cluster was out of reach; this one has ended then. Else never. */
  readonly deposed: Promise<void>
  /** How it is now. */
  status(): SyncerStatus
  /** Resolves when everything has ended; requests under way are waited for. */
  stop(): Promise<void>
}

/** Objects that are brought at a time; how many requests a cluster has of us at a time its client says. */
const CONCURRENCY = 16
/** A word about nothing new is said so many times less often than a heartbeat was: two of them within what the center takes for silence. */
const QUIET = 5.5
const QUEUE = { baseMs: 100, maxMs: 60_000 }

/**
 * Starts at once, and keeps trying whatever is missing; nothing is thrown. First of all it makes sure that mailbox and cluster
 * belong together: what the cluster says of itself, and what the center says of the mailbox. With the state of an earlier run
 * of that same mailbox it need not wait for the center.
 */
export function startSyncer(options: SyncerOptions): Syncer {
  const { space, heartbeatMs: everyMs = 15_000, random = Math.random, clock = systemClock, stateDir } = options
  const { allowance = new Allowance() } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const synced = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<string>()
  const deposed = Promise.withResolvers<void>()
  /** Leftovers are told from what is wanted only by a complete mirror; the end of the syncer ends the wait. */
  const complete = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => complete.resolve(), { once: true })

  const centerLink = new Link({
    name: 'the center',
    refusedHint:
      'its token is wrong, expired or revoked, or its mailbox was made anew; make another one with ' +
      '"kubectl kubestellar syncer rotate"',
    logger: options.logger,
  })
  const clusterLink = new Link({
    name: 'the cluster',
    refusedHint: 'its token or certificate is wrong, expired or revoked',
    onChange: isUp => sight.changed(isUp),
    logger: options.logger,
  })
  const isTold = (error: unknown): boolean => centerLink.isTold(error) || clusterLink.isTold(error)
  const logger = quietLogger({ logger: options.logger, isTold, clock })
  const tools = { logger, clock, random }

  const center = centerLink.watchOverAll(options.center)
  const mailbox = center.in(space)
  const bucket = options.limit && new TokenBucket({ ...options.limit, clock, signal })
  const overCluster = (client: SpaceClient): SpaceClient =>
    clusterLink.watchOver(bucket ? rateLimited(client, bucket) : client)
  let isDeposed = false
  const lease =
    options.lease &&
    new ClusterLease({
      ...options.lease,
      ...tools,
      cluster: clusterLink.watchOver(options.cluster),
      signal,
      onLost() {
        isDeposed = true
        stopping.abort()
      },
      onRolledBack: () => sight.rolledBack(),
    })
  const fenced = (client: SpaceClient): SpaceClient =>
    writesAfter(overCluster(lease ? lease.fenced(client) : client), () => sight.known())
  /** For its own notes, which it writes before it serves. */
  const plainCluster = overCluster(options.cluster)
  const cluster = fenced(options.cluster)
  const { impersonate } = options
  const mailboxServed = new ServedResources(mailbox)
  // Namespaces take turns: the few objects of one need not wait until all of another's are there.
  const lane = ({ namespace }: SyncKey) => ({ owner: namespace })
  const queue = (): WorkQueue<SyncKey> => new WorkQueue<SyncKey>({ id: keyText, lane, ...tools, ...QUEUE })
  const queues = { down: queue(), status: queue(), up: queue() }

  const state = new SyncerState(stateDir, logger)
  const feed = new MailboxFeed({
    client: center,
    space,
    ...tools,
    state,
    onChange: ({ key, object, previous, revision, isInferred }) => {
      if (!isSyncConfig(key)) outcomes.changed(key, revision)
      if (isInferred) brake.left(key, previous)
      else if (!isSyncConfig(key)) downsync.sourceChanged(key, object, previous)
      if (carriesOrders(key, object, key.name)) orders.look()
      side.mailboxChanged(key, object, previous)
    },
    onHeard: () => reporter.news(),
    onQuestion: question => live.asked(question),
    held: () => brake.keys(),
    onComplete: () => {
      brake.judge()
      downsync.sourcesWhole()
      side.mailboxComplete()
      for (const key of [...downsync.leftovers()]) queues.down.add(key)
      outcomes.whole(carriedKeys(mirror))
      synced.resolve()
      complete.resolve()
    },
    onKept: isKept => {
      const seq = Number(mirror.get(OWN_CONFIG)?.object.metadata.resourceVersion ?? 0)
      if (isKept) outcomes.settle(OWN_CONFIG)
      else outcomes.except(OWN_CONFIG, seq, STATE_NOT_KEPT)
    },
  })
  const { mirror } = feed
  let offer: Offer | undefined
  const outcomes: Outcomes = new Outcomes(clock, () => reporter.news())
  const reporter = new OutcomeReporter({
    mailbox,
    outcomes,
    heard: () => feed.heard,
    everyMs: QUIET * everyMs,
    versions: options.versions,
    onUpgrade: () => side.askAnew(),
    offer: () => offer,
    logger,
    clock,
  })
  let forgetting: Promise<unknown> = Promise.resolve()
  const brake = new RemovalBrake({
    mirror,
    free: (key, object) => {
      downsync.sourceChanged(key, undefined, object)
      downsync.mayBeThere(key)
      queues.down.add(key)
    },
    again: key => queues.down.add(key),
    obeyed: hash => {
      forgetting = persist('noting that what was confirmed is removed', () => forgetConfirmation(plainCluster, hash))
    },
    logger,
    clock,
  })
  const refusals = new Refusals(logger, () => heartbeat.soon())
  const heartbeat = new Heartbeat({
    mailbox,
    mirror,
    refusals,
    orders: () => orders.report(),
    isHeard: () => reporter.isHeard,
    everyMs,
    logger,
    clock,
  })
  const side = new ClusterSide({
    cluster,
    mailboxServed,
    mirror,
    allowance,
    queues,
    ...tools,
    signal,
    onProjected: (resource, change) => downsync.owners.observed(resource, change),
    onConfig: () => heartbeat.hurry(),
  })
  const mirrorComplete = (): boolean => feed.complete
  const isBeingTold = (): boolean => feed.isBeingTold
  const findLeftovers = async (): Promise<void> => {
    await side.findLeftovers((key, object) => {
      // what the mirror lacks was deleted by name, if it follows from what was known when that was made
      if (brake.hasSearched || mirror.get(key)) downsync.foundLeftover(key, object)
      else brake.left(key, object)
    })
    if (signal.aborted) return
    brake.searched()
    if (brake.isAdopted)
      await persist('noting that the cluster was searched', () => forgetConfirmation(plainCluster, ADOPTED))
  }
  const sight: ClusterSight = new ClusterSight({
    recognize: async () => {
      // whose it is was not found out yet: that comes before all else
      if (noted === undefined) return true
      const known = noted
      const found = await orRefuse(() =>
        persist('asking whether the cluster is still the same', () =>
          claimAgain(plainCluster, known, { mailbox, isLeaving: orders.leaving }),
        ),
      )
      noted = found ?? noted
      return found !== undefined
    },
    outcomes: {
      lostSight: () => outcomes.lostSight(),
      sightIsBack: () => outcomes.sightIsBack(feed.complete ? carriedKeys(mirror) : undefined),
    },
    listAnew: () => side.listAnew(),
    compareAll: () => {
      side.lookAtAll()
      for (const key of [...downsync.leftovers()]) queues.down.add(key)
    },
    // until the mirror is complete the first search is still to come
    findLeftovers: async () => (feed.complete ? await findLeftovers() : undefined),
    logger,
    signal,
  })
  const plan = () => side.plan
  const { projected, born, definitions, served } = side
  served.onChange(() => {
    const offered = clusterOffer(served.all(), allowance)
    if (isSameOffer(offered, offer)) return
    offer = offered
    reporter.news()
  })
  const as = impersonate && ((user: string) => fenced(impersonate(user)))
  const downsync: Downsync = new Downsync({
    cluster,
    as,
    served,
    mirror,
    watches: projected,
    plan,
    mirrorComplete,
    isBeingTold,
    echoes: state.echoes,
    refusals,
    outcomes,
    allowance,
    brake,
    emptied: new EmptiedNamespaces({ cluster, as, served, mirror, mirrorComplete, allowance, logger }),
    adoptExisting: options.adoptExisting === true,
    onProduced: key => queues.status.add(key),
    again: key => queues.down.add(key),
    logger,
    clock,
  })
  const live = new LiveAnswers({ mailbox, compare: key => downsync.compare(key), logger })
  const statusLimit = new StatusLimit(logger)
  const upsync = new Upsync({
    mailbox,
    cluster,
    served: mailboxServed,
    clusterServed: served,
    mirror,
    born,
    definitions,
    plan,
    mirrorComplete,
    refusals,
    allowance,
    statusLimit,
    logger,
  })
  let departing: { cut: AbortController; done: Promise<void> } | undefined
  const orders: Orders = new Orders({
    mirror,
    logger,
    hold: () => downsync.hold(),
    resume() {
      for (const key of downsync.resume()) queues.down.add(key)
    },
    async leave(policy, tell) {
      departing?.cut.abort()
      await departing?.done
      const cut = new AbortController()
      const done = leaveCluster({ ...departure, ...tools, signal }, { policy, cut: cut.signal, tell })
      departing = { cut, done }
      await done
    },
    onNews: () => heartbeat.tell(),
  })
  const departure = {
    cluster,
    as: impersonate && ((user: string) => fenced(impersonate(user))),
    served,
    allowance,
    forgetMailbox: () => forgetMailbox(plainCluster),
  }
  const statusReturn = { mailbox, served: mailboxServed, mirror, watches: projected, plan, downsync, statusLimit }

  const work = (on: WorkQueue<SyncKey>, reconcile: Reconcile<SyncKey>): Promise<void> =>
    on.run(reconcile, { concurrency: CONCURRENCY, signal })
  /** What the mailbox is told of a cluster that leaves would be that it is empty. */
  const unlessLeaving =
    (reconcile: Reconcile<SyncKey>): Reconcile<SyncKey> =>
    async (key, ended) => {
      if (!orders.leaving) return await reconcile(key, ended)
    }
  const runClusterSide = async (): Promise<void> => {
    await retrying({ what: 'discovery of the cluster', ...tools, signal }, () => served.refresh())
    side.start()
    await Promise.all([
      work(queues.down, key => outcomes.looking(key, () => downsync.reconcile(key))),
      complete.promise.then(findLeftovers),
    ])
  }
  const runMailboxSide = async (): Promise<void> => {
    await retrying({ what: 'discovery of the mailbox', ...tools, signal }, () => mailboxServed.refresh())
    await Promise.all([
      work(
        queues.status,
        unlessLeaving(key => returnStatus(statusReturn, key)),
      ),
      work(
        queues.up,
        unlessLeaving(key => upsync.reconcile(key)),
      ),
    ])
  }
  const persist = <T>(what: string, attempt: () => Promise<T>): Promise<T | undefined> =>
    retrying({ what, ...tools, signal }, attempt)
  let refusal: string | undefined
  const refuse = (error: TerminalError): void => {
    refusal ??= error.message
    stopping.abort()
  }
  const checkIsOurs = () => persist("asking whether the note is this cluster's", () => checkNote(plainCluster))
  let isServing = false
  /** What the cluster is known by from then on. */
  let noted: ClusterRecord | undefined
  /** Somebody may hand the cluster over while we run, or delete the note by mistake. */
  const guard = async (given: Mailbox): Promise<void> => {
    let writing: Promise<unknown> = Promise.resolve()
    const changed = (now: ClusterRecord | undefined): void => {
      if (orders.leaving && now === undefined) return // by us
      if (now === undefined && !isServing) return // the one that serves may be leaving
      if (now === undefined)
        writing = persist('noting the mailbox in the cluster again', () => noteAgain(plainCluster, given)).catch(refuse)
      else if (!isFrom(now, given)) refuse(handedOver(now, given))
      // the one before may have been replaced by a cluster that was just noted
      else if (now.cluster !== noted?.cluster) writing = Promise.all([writing, orRefuse(checkIsOurs)])
      brake.confirmed(now?.confirmed)
    }
    await watchRecord({ client: plainCluster, ...tools }, signal, changed)
    await writing
  }
  /** `undefined` when the syncer ends, because of what it was given or for another reason. */
  const orRefuse = async <T>(find: () => Promise<T | undefined>): Promise<T | undefined> => {
    try {
      const found = await find()
      return signal.aborted ? undefined : found
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error
      refuse(error)
      return undefined
    }
  }
  const identify = async (): Promise<Mailbox | undefined> => {
    const given = await persist('asking which mailbox this is', () => mailboxOf(mailbox))
    if (given === undefined) return undefined
    if (options.syncTargetUid !== undefined) checkSyncTarget(given.name, options.syncTargetUid)
    await persist('asking whether the cluster is the center itself', () => requireOtherServer(mailbox, plainCluster))
    noted = await persist('asking whether the cluster is served from this mailbox', () =>
      claim(plainCluster, given, mailbox),
    )
    return given
  }
  const runCenter = async (identified: Promise<Mailbox | undefined>): Promise<void> => {
    const given = await identified
    if (given === undefined) return
    const beating = feed.findGoal(signal).then(() => heartbeat.run(signal))
    await Promise.all([feed.run(given.name, signal), beating, reporter.run(signal), runMailboxSide()])
  }
  let keeping: Promise<void> | undefined
  /** Whether this syncer is the one that serves; it stays so from then on, whatever it waits for. */
  const acquire = async (): Promise<boolean> => {
    if (!lease) return true
    if (!(await persist('asking for the Lease of the cluster', () => lease.acquire()))) return false
    keeping ??= lease.keep()
    return true
  }
  const serve = async (
    acquired: Promise<boolean> | undefined,
    identified: Promise<Mailbox | undefined>,
    isRestored: boolean,
  ): Promise<void> => {
    if (!(await (acquired ?? acquire()))) return
    // The one before may have left the cluster: then only the center can say that there is still a mailbox to serve from.
    const isNoted = async (): Promise<boolean> => (await recordOf(plainCluster)) !== undefined
    const hasNote = lease && (await persist('asking from which mailbox the cluster is served', isNoted))
    if (hasNote === false && (await identified) !== undefined && (await orRefuse(identify)) === undefined) return
    if (signal.aborted) return
    isServing = true
    if (isRestored) {
      brake.restore(feed.restoredHold)
      orders.look()
      downsync.sourcesWhole()
      side.mailboxComplete()
      synced.resolve()
    }
    await Promise.all([runCenter(identified), runClusterSide()])
  }
  const run = async (): Promise<void> => {
    const record = await orRefuse(async () => {
      const found = await persist('asking from which mailbox the cluster is served', () => recordOf(plainCluster))
      if (found !== undefined) checkSpace(found, space)
      brake.confirmed(found?.confirmed)
      return found
    })
    // To a center that hears of a second syncer the first one is over. So where a cluster is served already, whoever stands by
    // says nothing to the center.
    const acquired = record && acquire()
    const identified = orRefuse(async () => ((await acquired) === false ? undefined : await identify()))
    const isRestored = record !== undefined && !signal.aborted && (await feed.restore(record.mailbox))
    if (isRestored) noted ??= record
    // Whose the cluster is: what it says itself, where that is enough to serve it while the center is away.
    const given = isRestored ? mailboxIn(record) : await identified
    if (given !== undefined && !signal.aborted)
      await Promise.all([guard(given), serve(acquired, identified, isRestored)])
    await identified
    await keeping
    await forgetting
    await sight.ended()
    await side.stop()
    await orders.ended()
    brake.end()
    await feed.close()
    await lease?.release()
    if (refusal !== undefined) refused.resolve(refusal)
    else if (isDeposed) deposed.resolve()
  }
  let isKnown = false
  void synced.promise.then(() => {
    isKnown = true
  })
  const stateNow = (): SyncerStatus['state'] => {
    if (signal.aborted) return 'ended'
    if (isServing) return 'serving'
    return lease?.isStandingBy ? 'standing by' : 'starting'
  }
  const status = (): SyncerStatus => {
    const exceptions: Partial<Record<OutcomeState, number>> = {}
    for (const [, { state: one }] of outcomes.exceptions) exceptions[one] = (exceptions[one] ?? 0) + 1
    return {
      state: stateNow(),
      center: centerLink.state,
      cluster: clusterLink.state,
      protocol: feed.protocol,
      known: isKnown,
      complete: feed.complete,
      objects: mirror.size,
      heard: feed.heard?.revision,
      waiting: { down: queues.down.size, status: queues.status.size, up: queues.up.size },
      exceptions,
      refused: refusals.count,
      kept: state.isKept ? feed.isKept : undefined,
    }
  }
  const running = run()
  return {
    status,
    synced: synced.promise,
    refused: refused.promise,
    deposed: deposed.promise,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** What the mailbox holds beside what it tells the syncer itself. */
function* carriedKeys(mirror: MailboxMirror): Generator<SyncKey> {
  for (const { resource, object } of mirror.values()) if (!isSyncConfig(resource)) yield keyOf(resource, object)
}
