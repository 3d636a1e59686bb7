/**
 * Whether syncers live: their heartbeats in the mailboxes, shown on the SyncTargets where people look.
 *
 * A syncer may write its own mailbox only, so the center carries the news. `Ready` turns False when no heartbeat came for a
 * while; the moment is planned by a timer for each mailbox, nothing is polled.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { objects } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import {
  EDGE_API_VERSION,
  MAILBOX_NAME,
  MAILBOX_PARENT,
  SYNC_TARGET_NAME_ANNOTATION,
  SYNC_TARGETS,
  SYNCER_CONFIG_NAME,
  SYNCER_CONFIGS,
} from '../../apimachinery/placement.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import { type Clock, systemClock } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import type { Logger } from '../../client/logger.ts'
import { StreamSource } from '../../client/streamSource.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { ControllerHandle } from '../controllerHandle.ts'
import { type SpacePlaces, standsInMailbox } from '../placedSource.ts'
import { unlessSpaceGone } from '../spaceGone.ts'

export interface SyncerLivenessDeps {
  client: Client
  places: SpacePlaces
  logger: Logger
  clock?: Clock
  random?: () => number
  signal: AbortSignal
}

interface Mailbox {
  /** Logical-cluster id of the mailbox space; `''` until it is ready. */
  space: string
  /** Where its SyncTarget is. */
  targetSpace: string
  targetName: string
}

interface Heartbeat {
  /** RFC 3339, as the syncer says it. */
  text: string
  /**
   * By our clock. News counts from when it came, whatever the cluster's clock says: a wrong one must neither keep a dead syncer
   * alive nor make a live one silent. Of what stood there when we began nobody knows when it came but the syncer.
   */
  atMs: number
}

/** Three missed heartbeats. */
const SILENCE_MS = 45_000
const OPTIONS = { fieldManager: 'mailbox-controller' }

/** Starts at once and runs until `signal` aborts or `stop`. */
export function startSyncerLiveness(deps: SyncerLivenessDeps): ControllerHandle {
  const running = new SyncerLiveness(deps)
  return { idle: () => running.idle(), stop: () => running.stop() }
}

/** Keys are mailbox names. */
class SyncerLiveness {
  readonly #client: Client
  readonly #places: SpacePlaces
  readonly #clock: Clock
  readonly #controller: Controller<string>
  readonly #mailboxes = new Map<string, Mailbox>()
  readonly #bySpace = new Map<string, string>()
  /** By space; absent when none ever came. */
  readonly #heartbeats = new Map<string, Heartbeat>()
  readonly #configured = new Set<string>()
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor(deps: SyncerLivenessDeps) {
    const { client, places, logger, clock, random, signal } = deps
    const common = { client, logger, ...(clock && { clock }), ...(random && { random }) }
    this.#client = client
    this.#places = places
    this.#clock = clock ?? systemClock
    this.#controller = new Controller<string>({
      name: 'syncer-liveness',
      ...common,
      sources: [
        new StreamSource({
          ...common,
          space: MAILBOX_PARENT,
          resources: [WORKSPACES],
          handler: { change: event => this.#workspaceChanged(event), vanished: ref => this.#forget(ref.name) },
        }),
        new StreamSource({
          ...common,
          space: '*',
          resources: [SYNCER_CONFIGS],
          handler: { change: event => this.#configChanged(event) },
        }),
      ],
      party: name => this.#mailboxes.get(name)?.targetSpace ?? '',
      reconcile: name => this.#reconcile(name),
    })
    this.#running = this.#controller.run(AbortSignal.any([signal, this.#stop.signal]))
  }

  idle(): Promise<void> {
    return this.#controller.queue.idle()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #workspaceChanged(event: StreamEvent): void {
    const match = MAILBOX_NAME.exec(event.name)
    if (!match) return
    if (event.type === 'DELETED') {
      this.#forget(event.name)
      return
    }
    const { spec, status, metadata } = event.object
    const targetName = metadata.annotations?.[SYNC_TARGET_NAME_ANNOTATION]
    if (targetName === undefined || metadata.deletionTimestamp !== undefined) return
    const ready = isRecord(status) && status.phase === 'Ready' && isRecord(spec) && typeof spec.cluster === 'string'
    const space = ready ? String(spec.cluster) : ''
    this.#mailboxes.set(event.name, { space, targetSpace: match[1]!, targetName })
    if (space) this.#bySpace.set(space, event.name)
    this.#controller.add(event.name)
  }

  #forget(name: string): void {
    const mailbox = this.#mailboxes.get(name)
    this.#mailboxes.delete(name)
    if (!mailbox) return
    this.#bySpace.delete(mailbox.space)
    this.#heartbeats.delete(mailbox.space)
    this.#configured.delete(mailbox.space)
  }

  #configChanged(event: StreamEvent): void {
    if (event.name !== SYNCER_CONFIG_NAME) return
    if (event.type === 'DELETED') this.#configured.delete(event.space)
    else {
      this.#configured.add(event.space)
      const { status } = event.object
      const text = isRecord(status) ? status.lastSyncerHeartbeatTime : undefined
      if (typeof text !== 'string' || this.#heartbeats.get(event.space)?.text === text) return
      const now = this.#clock.now()
      this.#heartbeats.set(event.space, {
        text,
        atMs: event.type === 'MODIFIED' ? now : Math.min(Date.parse(text), now),
      })
    }
    const mailbox = this.#bySpace.get(event.space)
    if (mailbox) this.#controller.add(mailbox)
  }

  async #reconcile(name: string): Promise<ReconcileResult> {
    const mailbox = this.#mailboxes.get(name)
    if (!mailbox?.space) return {}
    // what an earlier release made for a SyncTarget in a mailbox; the mailbox controller removes it
    if (standsInMailbox(this.#places, mailbox.targetSpace)) return {}
    await unlessSpaceGone(mailbox.space, this.#ensureConfig(mailbox.space))
    const heartbeat = this.#heartbeats.get(mailbox.space)
    if (heartbeat === undefined) return {}
    const silentMs = this.#clock.now() - heartbeat.atMs
    const alive = silentMs < SILENCE_MS
    await this.#report(mailbox, heartbeat.text, alive)
    return alive ? { requeueAfterMs: SILENCE_MS - silentMs } : {}
  }

  /** A syncer has a place for its heartbeat before any placement selects its cluster. */
  async #ensureConfig(space: string): Promise<void> {
    if (this.#configured.has(space)) return
    const config = {
      apiVersion: EDGE_API_VERSION,
      kind: 'SyncerConfig',
      metadata: { name: SYNCER_CONFIG_NAME },
      spec: {},
    }
    try {
      await this.#client.in(space).create(SYNCER_CONFIGS, config, OPTIONS)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }

  async #report(mailbox: Mailbox, heartbeat: string, alive: boolean): Promise<void> {
    const api = this.#client.in(mailbox.targetSpace)
    try {
      const target = await api.get(SYNC_TARGETS, { name: mailbox.targetName })
      const status = isRecord(target.status) ? target.status : {}
      const before = objects(status.conditions)
      const old = before.find(condition => condition.type === 'Ready')
      const value = alive ? 'True' : 'False'
      const moved = old?.status !== value
      const ready = {
        type: 'Ready',
        status: value,
        reason: alive ? 'SyncerAlive' : 'SyncerSilent',
        message: alive ? 'the syncer reports' : 'no heartbeat of the syncer came in time',
        lastTransitionTime: moved ? timestamp(new Date(this.#clock.now())) : old?.lastTransitionTime,
      }
      const conditions = [...before.filter(condition => condition.type !== 'Ready'), ready]
      await api.patch(
        SYNC_TARGETS,
        { name: mailbox.targetName },
        'merge',
        { status: { lastSyncerHeartbeatTime: heartbeat, conditions } },
        { ...OPTIONS, subresource: 'status' },
      )
    } catch (error) {
      // Deleted: the mailbox goes with it.
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }
}
