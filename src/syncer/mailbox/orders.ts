/**
 * Orders of the center to a syncer beside its downsync, in annotations of its SyncerConfig `the-one`: hold still, or leave the cluster. And
 * how far it is with that, for the status of that SyncerConfig.
 *
 * An order to leave is final: it comes with the end of the mailbox, and nothing is carried any more whatever the mailbox says.
 */
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import type { Logger } from '../../client/logger.ts'
import {
  type DetachPolicy,
  LEAVE_ANNOTATION,
  PAUSED_ANNOTATION,
  SYNCER_CONFIG_NAME,
  SYNCER_CONFIGS,
} from '../../placement/words/placement.ts'
import type { MailboxMirror } from './mirror.ts'

/** How far a syncer is with leaving, as the status of a SyncerConfig has it. */
export interface LeaveReport {
  readonly policy: DetachPolicy
  readonly done: boolean
  /** Absent until the first look at the cluster has counted. */
  readonly remaining?: number
  readonly message?: string
}

/** Absent: nothing to tell. */
export interface OrdersReport {
  readonly paused?: true
  readonly leaving?: LeaveReport
}

interface OrdersDeps {
  mirror: MailboxMirror
  logger: Logger
  /** Resolves when nothing is written to the cluster any more. */
  hold(): Promise<void>
  resume(): void
  /** Leaves the cluster, and tells how far it is; an order that changes comes again, when the one before has been cut short. */
  leave(policy: DetachPolicy, report: (report: LeaveReport) => void): Promise<void>
  /** There is something new to tell. */
  onNews(): void
}

/** The config that a center writes for its syncer. */
export const OWN_CONFIG = { ...SYNCER_CONFIGS, namespace: '', name: SYNCER_CONFIG_NAME }

export class Orders {
  readonly #deps: OrdersDeps
  #paused = false
  #leave: DetachPolicy | undefined
  #report: OrdersReport = {}
  readonly #work = new Set<Promise<unknown>>()

  constructor(deps: OrdersDeps) {
    this.#deps = deps
  }

  /** Whether the cluster is being left: nothing crosses any more, in either direction. */
  get leaving(): boolean {
    return this.#leave !== undefined
  }

  report(): OrdersReport {
    return this.#report
  }

  /** To be called when the mirror has another `the-one`, before anything is done about the change. */
  look(): void {
    const { logger, hold, resume, leave } = this.#deps
    const config = this.#deps.mirror.get(OWN_CONFIG)?.object
    // Without it nothing is known, and the last order holds.
    if (config === undefined) return
    const annotations = config.metadata.annotations ?? {}
    const order = policyIn(annotations[LEAVE_ANNOTATION])
    const paused = annotations[PAUSED_ANNOTATION] === 'true'
    if (order !== undefined && order !== this.#leave) {
      this.#leave = order
      const what = order === 'Orphan' ? 'what was placed there stays' : 'what was placed there is deleted'
      logger.info({ policy: order }, `the SyncTarget is being deleted: leaving the cluster, and ${what}`)
      this.#setReport({ leaving: { policy: order, done: false } })
      this.#start(
        hold().then(() => leave(order, report => this.#leave === order && this.#setReport({ leaving: report }))),
      )
      return
    }
    if (this.leaving || paused === this.#paused) return
    this.#paused = paused
    if (paused) {
      logger.info({}, 'the cluster is paused: nothing is applied and nothing is deleted there until that is over')
      this.#start(hold().then(() => this.#paused && !this.leaving && this.#setReport({ paused: true })))
      return
    }
    logger.info({}, 'the cluster is not paused any more')
    resume()
    this.#setReport({})
  }

  /** Resolves when nothing is under way any more; to be called when the syncer ends. */
  async ended(): Promise<void> {
    await Promise.all(this.#work)
  }

  #start(work: Promise<unknown>): void {
    this.#work.add(work)
    void work.finally(() => this.#work.delete(work))
  }

  #setReport(report: OrdersReport): void {
    this.#report = report
    this.#deps.onNews()
  }
}

/** Whether an object is the SyncerConfig that carries orders. */
export function carriesOrders(
  resource: GroupResource,
  object: Readonly<KubeObject> | undefined,
  name: string,
): boolean {
  return (
    object !== undefined &&
    name === SYNCER_CONFIG_NAME &&
    resource.group === SYNCER_CONFIGS.group &&
    resource.resource === SYNCER_CONFIGS.resource
  )
}

function policyIn(text: string | undefined): DetachPolicy | undefined {
  return text === 'Orphan' || text === 'Delete' ? text : undefined
}
