/** Tells the center that the syncer lives: `status.lastSyncerHeartbeatTime` of every config in the mailbox. */
import { isStatusError } from '../apimachinery/errors.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import type { SpaceClient } from '../client/client.ts'
import { type Clock, pause, systemClock } from '../client/clock.ts'
import type { Logger } from '../client/logger.ts'
import type { MailboxMirror, Mirrored } from './mirror.ts'
import { FIELD_MANAGER } from './ownership.ts'
import { isSyncConfig } from './syncPlan.ts'

export interface HeartbeatDeps {
  mailbox: SpaceClient
  mirror: MailboxMirror
  logger: Logger
  everyMs: number
  clock?: Clock
}

export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #clock: Clock
  #wake: AbortController | undefined

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
  }

  /** Beats now: there is a config that knows nothing of us yet. */
  hurry(): void {
    this.#wake?.abort()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController()
      const { signal: woken } = this.#wake
      await this.#beat()
      await pause(this.#clock, this.#deps.everyMs, AbortSignal.any([signal, woken]))
    }
  }

  async #beat(): Promise<void> {
    const lastSyncerHeartbeatTime = timestamp(new Date(this.#clock.now()))
    const configs = [...this.#deps.mirror.values()].filter(entry => isSyncConfig(entry.resource))
    await Promise.all(configs.map(config => this.#tell(config, { status: { lastSyncerHeartbeatTime } })))
  }

  async #tell({ resource, object }: Mirrored, patch: object): Promise<void> {
    const { mailbox, logger } = this.#deps
    try {
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER }
      await mailbox.patch(resource, { name: object.metadata.name ?? '' }, 'merge', patch, options)
    } catch (error) {
      // Deleted meanwhile: the stream says so, too.
      if (!isStatusError(error, 'NotFound')) logger.warn({ err: error }, 'the heartbeat did not reach the center')
    }
  }
}
