/** Tells the center that the syncer lives: `status.lastSyncerHeartbeatTime` of every config in the mailbox. */
import { isStatusError } from '../apimachinery/errors.ts'
import type { SpaceClient } from '../client/client.ts'
import { pause, systemClock } from '../client/clock.ts'
import type { Logger } from '../client/logger.ts'
import type { MailboxMirror } from './mirror.ts'
import { FIELD_MANAGER } from './ownership.ts'
import { isSyncConfig } from './syncPlan.ts'

export interface HeartbeatDeps {
  mailbox: SpaceClient
  mirror: MailboxMirror
  logger: Logger
  everyMs: number
}

export class Heartbeat {
  readonly #deps: HeartbeatDeps
  #failing = false

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#beat()
      await pause(systemClock, this.#deps.everyMs, signal)
    }
  }

  async #beat(): Promise<void> {
    const { mailbox, mirror, logger } = this.#deps
    const lastSyncerHeartbeatTime = `${new Date(systemClock.now()).toISOString().slice(0, 19)}Z`
    for (const { resource, object } of [...mirror.values()].filter(entry => isSyncConfig(entry.resource))) {
      try {
        const patch = { status: { lastSyncerHeartbeatTime } }
        await mailbox.patch(resource, { name: object.metadata.name ?? '' }, 'merge', patch, {
          subresource: 'status',
          fieldManager: FIELD_MANAGER,
        })
        this.#failing = false
      } catch (error) {
        // One line for each outage: the stream says when it is over.
        if (!this.#failing && !isStatusError(error, 'NotFound'))
          logger.warn({ err: error }, 'the heartbeat did not reach the center')
        this.#failing = true
      }
    }
  }
}
