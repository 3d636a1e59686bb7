/**
 * The syncer: one stream of the mailbox space in, server-side apply out; status and upsynced objects back. Here is its life: it
 * finds out whose the cluster is ({@link Custody}), waits for its turn, and carries ({@link Carriage}) until it is stopped.
 *
 * It opens all connections itself and lives through days without the center.
 */

import type { Client, SpaceClient } from '../client/client.ts'
import { pause } from '../client/clock.ts'
import { retrying } from '../client/retrying.ts'
import type { WorkRuntime } from '../client/runtime.ts'
import type { ClusterVersions } from '../placement/outcome/outcome.ts'
import { Carriage } from './carriage.ts'
import { ClusterAllowance } from './mailbox/clusterAllowance.ts'
import { SyncerState } from './mailbox/syncerState.ts'
import type { SyncerStatus } from './tells/syncerStatus.ts'
import { type Mailbox, mailboxIn } from './whose/clusterRecord.ts'
import { Custody } from './whose/custody.ts'
import { Sides } from './whose/sides.ts'

export interface SyncerOptions extends Omit<WorkRuntime, 'guard'> {
  /** The server that holds the mailbox. */
  center: Client
  /** The mailbox space: id, path, or `''` for the one that the credential implies. */
  space: string
  /** The mailbox by a credential that begins no session at the center. Default: as `center` reads it. */
  looking?: SpaceClient
  cluster: SpaceClient
  /** Where cursor and mirror are kept; without it every start reads the whole mailbox. */
  stateDir?: string
  /** Between two reports without news, where the center asks for no longer time. Default 70 s. */
  quietMs?: number
  /** Uid of the SyncTarget that the mailbox must be for. Absent: any. */
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
  /** Kinds and namespaces that the cluster's owner allows. Default: all. */
  allowance?: ClusterAllowance
  /** Versions of cluster and syncer, for people who look at the SyncTarget. Default: not reported. */
  versions?: () => Promise<ClusterVersions>
  /** Requests to the cluster: so many each second, and so many at once. Default: no limit. */
  limit?: { qps: number; burst: number }
}

/** So long whoever stands by waits for the center before it does. */
const LOOK_PATIENCE_MS = 10_000

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

/**
 * Starts at once, and keeps trying whatever is missing; nothing is thrown. First of all it makes sure that mailbox and cluster belong
 * together, by the cluster's record and the center's. With the state of an earlier run of that same mailbox it need not wait for the
 * center.
 */
export function startSyncer(options: SyncerOptions): Syncer {
  const { space, stateDir, quietMs = 70_000, adoptExisting = false, versions, syncTargetUid } = options
  const { clock, random, turns, allowance = new ClusterAllowance() } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const refused = Promise.withResolvers<string>()
  const deposed = Promise.withResolvers<void>()
  let isServing = false
  let isDeposed = false

  const sides: Sides = new Sides({
    ...options,
    signal,
    onReach: isUp => carriage.sight.changed(isUp),
    onRolledBack: () => carriage.sight.rolledBack(),
    onLost() {
      isDeposed = true
      stopping.abort()
    },
    known: () => carriage.sight.known(),
  })
  const { logger, mailbox, lease } = sides
  const tools = { logger, clock, random, signal }
  const custody: Custody = new Custody({
    mailbox,
    looking: sides.looking,
    cluster: sides.plainCluster,
    space,
    syncTargetUid,
    isServing: () => isServing,
    isLeaving: () => carriage.orders.leaving,
    onConfirmed: hash => carriage.brake.confirmed(hash),
    onRefused: () => stopping.abort(),
    ...tools,
  })
  const state = new SyncerState(stateDir, logger)
  const carriage: Carriage = new Carriage({
    sides,
    space,
    state,
    custody,
    allowance,
    adoptExisting,
    quietMs,
    versions,
    turns,
    ...tools,
  })

  let keeping: Promise<void> | undefined
  /** Whether this syncer is the one that serves; it stays so from then on, whatever it waits for. */
  const acquire = async (): Promise<boolean> => {
    if (!lease) return true
    if (!(await retrying({ what: 'asking for the Lease of the cluster', ...tools }, () => lease.acquire())))
      return false
    keeping ??= lease.keep()
    return true
  }
  const runMailbox = async (identified: Promise<Mailbox | undefined>): Promise<void> => {
    const given = await identified
    if (given !== undefined) await carriage.runMailbox(given.name)
  }
  const serve = async (
    acquired: Promise<boolean> | undefined,
    identified: Promise<Mailbox | undefined>,
    isRestored: boolean,
  ): Promise<void> => {
    if (!(await (acquired ?? acquire()))) return
    // The one before may have left the cluster: then only the center can say that there is still a mailbox to serve from.
    const isNoted = lease && (await custody.isNoted())
    if (isNoted === false && (await identified) !== undefined && (await custody.identify()) === undefined) return
    if (signal.aborted) return
    isServing = true
    if (isRestored) carriage.restored()
    await Promise.all([runMailbox(identified), carriage.runCluster()])
  }
  const run = async (): Promise<void> => {
    const record = await custody.record()
    const unknown = Promise.withResolvers<void>()
    const looked = custody.look(unknown.resolve)
    // A center that is away does not keep a cluster that is known from being served.
    const isSeen = Promise.race([looked, unknown.promise, pause(clock, LOOK_PATIENCE_MS, signal)])
    // A second syncer at the center ends the first. A standby of a served cluster therefore only reads from the center.
    const acquired = record && isSeen.then(acquire)
    const identify = async () =>
      (await looked) === undefined || (await acquired) === false ? undefined : await custody.identify()
    const identified = identify()
    const isRestored = record !== undefined && !signal.aborted && (await carriage.feed.restore(record.mailbox))
    if (isRestored) custody.trust(record)
    // Mailbox of the cluster: its own record, where that suffices to serve it while the center is away.
    const given = isRestored ? mailboxIn(record) : await identified
    if (given !== undefined && !signal.aborted)
      await Promise.all([custody.guard(given), serve(acquired, identified, isRestored)])
    await identified
    await keeping
    await carriage.ended()
    await lease?.release()
    if (custody.refusal !== undefined) refused.resolve(custody.refusal)
    else if (isDeposed) deposed.resolve()
  }
  const stateNow = (): SyncerStatus['state'] => {
    if (signal.aborted) return 'ended'
    if (isServing) return 'serving'
    return lease?.isStandingBy ? 'standing by' : 'starting'
  }
  const running = run()
  return {
    status: () => ({ state: stateNow(), ...sides.states, ...carriage.status() }),
    synced: carriage.known,
    refused: refused.promise,
    deposed: deposed.promise,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
