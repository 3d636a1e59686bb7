/**
 * Exchange between syncers and SyncTargets. Whether a syncer lives, shown on the SyncTarget where people look. Orders on the SyncTarget, to
 * hold still or to leave the cluster, reach the syncer through its mailbox, which also reports their progress.
 *
 * A syncer may write its own mailbox only, so the center carries the news. That it lives its connection says ({@link SyncerConnections}).
 * `Ready` turns False after a silence. While nothing but time has passed nothing is written.
 */
import { type Condition, conditionOf, conditionsOf, mergeConditions } from '../../apimachinery/conditions.ts'
import { str } from '../../apimachinery/fields.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import { CrowdLog } from '../../client/crowdLog.ts'
import { Rate } from '../../client/rate.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { unlessGone, unlessThere } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { RefusedClaim, RefusedClaims } from '../../placement/desks/refusedClaims.ts'
import type { OutcomeSource } from '../../placement/outcome/outcome.ts'
import {
  CLUSTER_FINALIZER,
  EDGE_API_VERSION,
  FORCE_DETACH_ANNOTATION,
  MAILBOX_NAME,
  SYNC_TARGETS,
  SYNCER_CONFIG_NAME,
  SYNCER_CONFIGS,
} from '../../placement/words/placement.ts'
import { type ControllerHandle, startController } from '../controllerHandle.ts'
import type { EventRecorder, RecordedEvent } from '../eventRecorder.ts'
import { type SpacePlaces, standsInMailbox } from '../placedSource.ts'
import type { Inventory, MailboxChange } from '../placement/inventory/inventory.ts'
import type { Topology } from '../placement/inventory/topology.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import type { ControllerRuntime } from '../spacesController.ts'
import { isLeaving, leavingCondition } from './leaving.ts'
import { SyncerConnections } from './syncerConnections.ts'
import {
  ALIVE,
  type ConfigFact,
  carriedCondition,
  configFact,
  isReady,
  type Orders,
  ordersFor,
  pausedCondition,
  readyCondition,
  supportedCondition,
  UNSUPPORTED,
} from './syncerOrders.ts'

interface SyncerLivenessDeps extends ControllerRuntime {
  places: SpacePlaces
  /** Feeds it. */
  topology: Topology
  /** Reports of syncers' connections. Absent: no syncer is ever reported. */
  connections?: Pick<OutcomeSource, 'follow'> | undefined
  /** Absent: none is shown. */
  refusedClaims?: RefusedClaims | undefined
  events: Pick<EventRecorder, 'record'>
}

/** One mailbox and its SyncTarget. */
interface Mailbox {
  /** Logical-cluster id of the mailbox space; `''` until it is ready. */
  space: string
  /** Where its SyncTarget is. */
  targetSpace: string
  targetName: string
  /** The orders of its SyncTarget, as text to be compared. */
  orders?: string | undefined
  /** Until when its reports are paid for. */
  paidUntilMs?: number | undefined
}

const OPTIONS = { fieldManager: 'mailbox-controller' }

/** Starts at once and runs until `stop`. */
export function startSyncerLiveness(deps: SyncerLivenessDeps): ControllerHandle {
  return new SyncerLiveness(deps).handle
}

/**
 * Reports of one syncer that are written on its SyncTarget. A syncer reports seldom; a thief of its credential may report without end,
 * and each write reaches all watchers of the inventory.
 */
const REPORTS = new Rate({ everyMs: 1000, atOnce: 10 })

/** Keys are mailbox names. */
class SyncerLiveness {
  readonly handle: ControllerHandle
  readonly #client: Client
  readonly #places: SpacePlaces
  readonly #clock: Clock
  readonly #controller: Controller<string>
  readonly #mailboxes = new Map<string, Mailbox>()
  readonly #inventory: Inventory
  readonly #begunAtMs: number
  readonly #connections: SyncerConnections
  /** Facts of the SyncerConfig, by space. */
  readonly #configs = new Map<string, ConfigFact>()
  readonly #events: SyncerLivenessDeps['events']
  readonly #log: CrowdLog

  constructor(deps: SyncerLivenessDeps) {
    const { client, places, logger, clock, topology } = deps
    this.#client = client
    this.#places = places
    this.#inventory = topology.facts.inventory
    this.#clock = clock
    this.#log = new CrowdLog(logger, this.#clock)
    this.#events = deps.events
    this.#begunAtMs = this.#clock.now()
    this.#connections = new SyncerConnections(this.#clock, space => this.#touch(space))
    this.#controller = new Controller<string>({
      name: 'syncer-liveness-controller',
      ...deps,
      sources: [
        topology.targetSource,
        new StreamSource({
          ...deps,
          space: '*',
          resources: [SYNCER_CONFIGS],
          handler: { change: event => this.#configChanged(event) },
        }),
      ],
      party: name => this.#mailboxes.get(name)?.targetSpace ?? '',
      reconcile: name => this.#reconcile(name),
    })
    topology.facts.read({
      // a mailbox goes with its SyncTarget
      targetChanged: ({ mailbox }, object) => {
        if (object) this.#targetChanged(mailbox, object)
      },
      mailboxChanged: change => this.#mailboxChanged(change),
    })
    const unfollow = deps.connections?.follow(this.#connections)
    const ignore = deps.refusedClaims?.follow(refused => void this.#recordRefusal(refused))
    this.handle = startController(this.#controller, () => {
      unfollow?.()
      ignore?.()
      this.#log.close()
      this.#connections.stop()
    })
  }

  #mailboxChanged({ name, after }: MailboxChange): void {
    if (!after || after.terminating) {
      this.#forget(name)
      return
    }
    const { space, syncTargetName: targetName } = after
    if (targetName === undefined) return
    const mailbox: Mailbox = this.#mailboxes.get(name) ?? {
      space,
      targetSpace: MAILBOX_NAME.exec(name)![1]!,
      targetName,
    }
    this.#mailboxes.set(name, Object.assign(mailbox, { space, targetName }))
    this.#controller.add(name)
  }

  #forget(name: string): void {
    const mailbox = this.#mailboxes.get(name)
    this.#mailboxes.delete(name)
    if (!mailbox) return
    this.#connections.forget(mailbox.space)
    this.#configs.delete(mailbox.space)
  }

  /** Only the orders for the syncer matter here; the status is written by this controller. */
  #targetChanged(name: string, target: KubeObject): void {
    const mailbox = this.#mailboxes.get(name)
    const orders = JSON.stringify([ordersFor(target), target.metadata.annotations?.[FORCE_DETACH_ANNOTATION]])
    if (!mailbox || mailbox.orders === orders) return
    mailbox.orders = orders
    this.#controller.add(name)
  }

  #configChanged(event: StreamEvent): void {
    if (event.name !== SYNCER_CONFIG_NAME) return
    if (event.type === 'DELETED') this.#configs.delete(event.space)
    else {
      const before = this.#configs.get(event.space)
      const now = configFact(event.object)
      this.#configs.set(event.space, now)
      if (equalJson(before, now)) return
    }
    this.#touch(event.space)
  }

  #touch(space: string): void {
    const mailbox = this.#inventory.mailboxAt(space)
    if (mailbox) this.#controller.add(mailbox)
  }

  async #reconcile(name: string): Promise<ReconcileResult> {
    const mailbox = this.#mailboxes.get(name)
    if (!mailbox?.space) return {}
    if (standsInMailbox(this.#places, mailbox.targetSpace)) return {}
    await unlessSpaceGone(mailbox.space, this.#ensureConfig(mailbox.space))
    const target = await unlessGone(
      unlessSpaceGone(
        mailbox.targetSpace,
        this.#client.in(mailbox.targetSpace).get(SYNC_TARGETS, { name: mailbox.targetName }),
      ),
    )
    // its mailbox goes with it
    if (target === undefined || target.metadata.uid !== MAILBOX_NAME.exec(name)?.[2]) return {}
    await unlessSpaceGone(mailbox.space, this.#order(mailbox.space, ordersFor(target)))
    // it lived when the server ended, and has some time to come back
    if (isReady(target) && (this.#connections.of(mailbox.space)?.seenAtMs ?? -1) < this.#begunAtMs)
      this.#connections.seen(mailbox.space)
    const connection = this.#connections.of(mailbox.space)
    if (connection === undefined && !isLeaving(target)) return {}
    const { speech } = connection ?? {}
    // who was turned away serves nothing that it could leave
    if (speech === undefined || 'protocol' in speech) await this.#hold(target, mailbox)
    const status = this.#statusOf(target, mailbox)
    if (!equalJson({ ...(isRecord(target.status) && target.status), ...status }, target.status)) {
      const nowMs = steadyMs(this.#clock)
      const waitMs = REPORTS.waitMs(mailbox.paidUntilMs, nowMs)
      if (waitMs > 0) return { requeueAfterMs: waitMs }
      mailbox.paidUntilMs = REPORTS.paid(mailbox.paidUntilMs, nowMs)
      await this.#report(target, mailbox, status)
    }
    return {}
  }

  /** A syncer has a place for its reports before any placement selects its cluster. */
  async #ensureConfig(space: string): Promise<void> {
    if (this.#configs.has(space)) return
    const config = {
      apiVersion: EDGE_API_VERSION,
      kind: 'SyncerConfig',
      metadata: { name: SYNCER_CONFIG_NAME },
      spec: {},
    }
    await unlessThere(this.#client.in(space).create(SYNCER_CONFIGS, config, OPTIONS))
  }

  /** Copies the SyncTarget's orders to its syncer. */
  async #order(space: string, orders: Orders): Promise<void> {
    if (equalJson(this.#configs.get(space)?.orders, orders)) return
    const body = { metadata: { annotations: orders } }
    await this.#client.in(space).patch(SYNCER_CONFIGS, { name: SYNCER_CONFIG_NAME }, 'merge', body, OPTIONS)
  }

  /** From now on the SyncTarget does not go before its syncer has left the cluster. */
  async #hold({ metadata }: KubeObject, { targetSpace, targetName }: Mailbox): Promise<void> {
    const { deletionTimestamp, uid, resourceVersion, finalizers = [] } = metadata
    if (deletionTimestamp !== undefined || finalizers.includes(CLUSTER_FINALIZER)) return
    const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, CLUSTER_FINALIZER] } }
    await unlessGone(this.#client.in(targetSpace).patch(SYNC_TARGETS, { name: targetName }, 'merge', body, OPTIONS))
  }

  #statusOf(target: KubeObject, mailbox: Mailbox): object {
    const { alive = false, speech } = this.#connections.of(mailbox.space) ?? {}
    const before = conditionsOf(target)
    const answers: unknown = JSON.parse(this.#configs.get(mailbox.space)?.answers ?? '{}')
    const current: Condition[] = [readyCondition(alive, speech)]
    if (speech !== undefined) current.push(supportedCondition(speech))
    const paused = pausedCondition(target, answers, alive)
    if (paused.status === 'True' || before.some(({ type }) => type === paused.type)) current.push(paused)
    if (isLeaving(target)) current.push(leavingCondition(target, answers, alive))
    const carried = carriedCondition(answers)
    if (carried.status === 'False' || before.some(({ type }) => type === carried.type)) current.push(carried)
    const now = timestamp(new Date(this.#clock.now()))
    const { conditions, isChanged } = mergeConditions(before, current, now)
    const heartbeat = this.#heartbeatOf(target, mailbox, !isChanged)
    return { ...(heartbeat !== undefined && { lastSyncerHeartbeatTime: heartbeat }), conditions }
  }

  /**
   * Time of its last sign of life, by the server's clock. While a connection proves it and all is the same, the reported time stands.
   */
  #heartbeatOf(target: KubeObject, { space }: Mailbox, isSame: boolean): string | undefined {
    const connection = this.#connections.of(space)
    if (connection === undefined) return undefined
    const reported = str(target.status, 'lastSyncerHeartbeatTime')
    return isSame && reported !== '' ? reported : timestamp(new Date(connection.seenAtMs))
  }

  async #report(target: KubeObject, mailbox: Mailbox, status: object): Promise<void> {
    const api = this.#client.in(mailbox.targetSpace)
    const body = { metadata: { uid: target.metadata.uid }, status }
    const options = { ...OPTIONS, subresource: 'status' }
    // before the status has it, as no later step would record it; recorded twice it is the same Event
    await this.#recordOutage(target, mailbox, status)
    // where it was deleted, or made anew under the same name, the mailbox goes with it
    const written = unlessGone(api.patch(SYNC_TARGETS, { name: mailbox.targetName }, 'merge', body, options))
    if (await written) this.#logChange(target, mailbox, status)
  }

  /** In the inventory, for a cluster with earlier reports: an outage, and its end. */
  async #recordOutage(target: KubeObject, { targetSpace }: Mailbox, status: object): Promise<void> {
    const isSame = reasonIn(status) === reasonIn(target.status)
    if (isSame || str(target.status, 'lastSyncerHeartbeatTime') === '') return
    await this.#events.record(targetSpace, target, { component: OPTIONS.fieldManager, ...outageEvent(status) })
  }

  /** The refusal stands on the claim, too. */
  async #recordRefusal({ inventory, syncTarget, claim, message }: RefusedClaim): Promise<void> {
    const event = { component: OPTIONS.fieldManager, reason: 'ClaimRefused', message, place: claim }
    try {
      await this.#events.record(inventory, syncTarget, { ...event, room: 'claims' })
    } catch (error) {
      this.#log.log('warn', { space: inventory, err: messageOf(error) }, 'a refused claim of a syncer gets no Event')
    }
  }

  /** An operator acts on clusters that go, and waits for them to come. */
  #logChange(target: KubeObject, { targetSpace, targetName }: Mailbox, status: object): void {
    const is = isReady({ ...target, status })
    if (conditionOf({ status }, 'Ready') === undefined || is === isReady(target)) return
    const fields = { space: targetSpace, syncTarget: targetName, reason: reasonIn(status) }
    if (is) this.#log.log('info', fields, 'the syncer of a cluster is there')
    else this.#log.log('warn', fields, 'the syncer of a cluster is silent: the cluster keeps its content')
  }
}

function reasonIn(status: unknown): string {
  return str(conditionOf({ status }, 'Ready'), 'reason')
}

/** A refused syncer is not silent: the Event names the side that needs an upgrade. */
function outageEvent(status: object): RecordedEvent {
  const reason = reasonIn(status)
  const isTurnedAway = reason === UNSUPPORTED
  const message = str(conditionOf({ status }, isTurnedAway ? 'SyncerSupported' : 'Ready'), 'message')
  if (isTurnedAway) return { reason, message }
  return reason === ALIVE ? { type: 'Normal', reason: 'ClusterHeard', message } : { reason: 'ClusterSilent', message }
}
