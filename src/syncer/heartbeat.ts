/**
 * What a syncer tells of itself in the status of the configs of its mailbox: what it refuses, and whether it holds still or leaves.
 * That it lives its connection says; a center of an earlier release wants to be told, every few seconds.
 */
import { isStatusError } from '../apimachinery/errors.ts'
import { SYNCER_CONFIG_NAME } from '../apimachinery/placement.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import { equalJson } from '../apimachinery/values.ts'
import type { SpaceClient } from '../client/client.ts'
import { type Clock, pause } from '../client/clock.ts'
import type { Logger } from '../client/logger.ts'
import type { MailboxMirror, Mirrored } from './mirror.ts'
import type { LeaveReport, OrdersReport } from './orders.ts'
import { FIELD_MANAGER } from './ownership.ts'
import type { RefusalReport, Refusals } from './refusals.ts'
import { isSyncConfig } from './syncPlan.ts'

const SOON_MS = 1000
const UNTOLD = { remaining: null, message: null }

/** `null`: nothing to tell, and what was told before goes. */
interface Report {
  readonly refused: RefusalReport | null
  readonly paused: true | null
  readonly leaving: Told<LeaveReport> | null
}

/** Fields that have nothing to tell are said too, as nothing: the report is merged into the one before. */
type Told<T> = { readonly [K in keyof Required<T>]: Required<T>[K] | null }

export interface HeartbeatDeps {
  mailbox: SpaceClient
  mirror: MailboxMirror
  logger: Logger
  everyMs: number
  /** Whether the center hears that we live without being told here. */
  isHeard: () => boolean
  /** What is told beside it in our SyncerConfig, when it changed. */
  refusals: Refusals
  orders: () => OrdersReport
  clock: Clock
}

export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #clock: Clock
  #wake: AbortController | undefined
  #soon: (() => void) | undefined
  #ended = false
  /** The report that the center has; nobody knows what an earlier run left there. */
  #reported: Report | 'unknown' = 'unknown'

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
    this.#clock = deps.clock
  }

  /** Beats now: there is a config that knows nothing of us yet. */
  hurry(): void {
    this.#reported = 'unknown'
    this.#wake?.abort()
  }

  /** Beats now: somebody waits for what there is to tell. */
  tell(): void {
    this.#wake?.abort()
  }

  /** Beats within a second: refusals come in swarms. */
  soon(): void {
    if (this.#ended) return
    this.#soon ??= this.#clock.after(SOON_MS, () => {
      this.#soon = undefined
      this.#wake?.abort()
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController()
      const { signal: woken } = this.#wake
      await this.#beat()
      await pause(this.#clock, this.#deps.everyMs, AbortSignal.any([signal, woken]))
    }
    this.#ended = true
    this.#soon?.()
  }

  async #beat(): Promise<void> {
    const lastSyncerHeartbeatTime = timestamp(new Date(this.#clock.now()))
    const report = this.#report()
    const isNews = this.#reported === 'unknown' || !equalJson(report, this.#reported)
    if (!isNews && this.#deps.isHeard()) return
    const configs = [...this.#deps.mirror.values()].filter(entry => isSyncConfig(entry.resource))
    const told = await Promise.all(
      configs.map(async config => {
        const reports =
          isNews && config.object.metadata.name === SYNCER_CONFIG_NAME && config.object.kind === 'SyncerConfig'
        const status = { lastSyncerHeartbeatTime, ...(reports && report) }
        return (await this.#tell(config, { status })) && reports
      }),
    )
    if (told.includes(true)) this.#reported = report
  }

  #report(): Report {
    const { refusals, orders } = this.#deps
    const { paused = null, leaving = null } = orders()
    return { refused: refusals.report() ?? null, paused, leaving: leaving && { ...UNTOLD, ...leaving } }
  }

  /** Whether it arrived. */
  async #tell({ resource, object }: Mirrored, patch: object): Promise<boolean> {
    const { mailbox, logger } = this.#deps
    try {
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER }
      await mailbox.patch(resource, { name: object.metadata.name ?? '' }, 'merge', patch, options)
      return true
    } catch (error) {
      // Deleted meanwhile: the stream says so, too.
      if (!isStatusError(error, 'NotFound')) logger.warn({ err: error }, 'the heartbeat did not reach the center')
      return false
    }
  }
}
