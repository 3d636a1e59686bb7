/** The report in the status of SyncerConfig `the-one`: a summary of refusals, and whether the syncer holds still or leaves. Written when it changes. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { at } from '../../apimachinery/fields.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'
import { aborted, type Clock, pause } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import type { AssociatedStatus } from '../../placement/desks/syncerConfig.ts'
import { SYNCER_CONFIGS } from '../../placement/words/placement.ts'
import type { MailboxMirror } from '../mailbox/mirror.ts'
import { type LeaveReport, type OrdersReport, OWN_CONFIG } from '../mailbox/orders.ts'
import { SYNCER_MANAGER } from '../objects/marks.ts'
import type { RefusalReport, Refusals } from './refusals.ts'

const SOON_MS = 1000
/** Before a report that did not arrive is sent again. */
const AGAIN_MS = 15_000
const UNREPORTED = { remaining: null, message: null }

/** `null`: nothing to report; the former value goes. */
interface Report {
  readonly refused: RefusalReport | null
  readonly paused: true | null
  readonly leaving: Merged<LeaveReport> | null
  readonly associated: AssociatedStatus | null
}

/** Fields without a value are reported as null: the report is merged into the one before. */
type Merged<T> = { readonly [K in keyof Required<T>]: Required<T>[K] | null }

export interface ConfigReportDeps {
  mailbox: SpaceClient
  mirror: MailboxMirror
  logger: Logger
  refusals: Refusals
  orders: () => OrdersReport
  /** `undefined`: all that belongs to copies is carried up; `unknown`: not all of it was looked at yet. */
  associated: () => AssociatedStatus | 'unknown' | undefined
  clock: Clock
}

export class ConfigReport {
  readonly #deps: ConfigReportDeps
  readonly #clock: Clock
  #wake: AbortController | undefined
  #soon: (() => void) | undefined
  #ended = false
  /** The report that the center has; what an earlier run left there is unknown. */
  #reported: Report | 'unknown' = 'unknown'

  constructor(deps: ConfigReportDeps) {
    this.#deps = deps
    this.#clock = deps.clock
  }

  /** Reports now: a config appeared without a report. */
  hurry(): void {
    this.#reported = 'unknown'
    this.#wake?.abort()
  }

  /** Reports news now: somebody waits for them. */
  now(): void {
    this.#wake?.abort()
  }

  /** Reports within a second: refusals come in swarms. */
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
      const woken = AbortSignal.any([signal, this.#wake.signal])
      if (await this.#write()) await aborted(woken)
      else await pause(this.#clock, AGAIN_MS, woken)
    }
    this.#ended = true
    this.#soon?.()
  }

  /** False where it is to be tried again. */
  async #write(): Promise<boolean> {
    const { mailbox, mirror, logger } = this.#deps
    const report = this.#report()
    const config = mirror.get(OWN_CONFIG)
    if (config === undefined || (this.#reported !== 'unknown' && equalJson(report, this.#reported))) return true
    const status = { lastSyncerHeartbeatTime: timestamp(new Date(this.#clock.now())), ...report }
    try {
      const options = { subresource: 'status', fieldManager: SYNCER_MANAGER }
      await mailbox.patch(SYNCER_CONFIGS, { name: OWN_CONFIG.name }, 'merge', { status }, options)
      this.#reported = report
      return true
    } catch (error) {
      // Deleted meanwhile: the stream says so, too.
      if (isStatusError(error, 'NotFound')) return true
      logger.warn({ err: error }, 'the report of refusals and orders did not reach the center')
      return false
    }
  }

  #report(): Report {
    const { mirror, refusals, orders, associated } = this.#deps
    const { paused = null, leaving = null } = orders()
    const found = associated()
    // until all was looked at, an earlier run may know more
    const known = found === 'unknown' ? at(mirror.get(OWN_CONFIG)?.object.status, 'associated') : found
    return {
      refused: refusals.report() ?? null,
      paused,
      leaving: leaving && { ...UNREPORTED, ...leaving },
      associated: (known as AssociatedStatus | undefined) ?? null,
    }
  }
}
