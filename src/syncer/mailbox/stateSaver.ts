/** When the state of a syncer is written: a while after it changed, and again later where the disk did not take it. */
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import type { MirrorState } from './mirror.ts'
import type { SyncerState } from './syncerState.ts'

interface StateSaverDeps {
  state: SyncerState
  /** The row to be saved with the state; `undefined`: it fits no cursor now. */
  current: () => MirrorState | undefined
  /** Whether the state is kept, after each attempt. */
  onKept: (isKept: boolean) => void
  logger: Logger
  clock: Clock
}

/** A failed write is repeated after this: the disk may have room by then. */
const SAVE_AGAIN_MS = 30_000
const NOT_SAVED = 'the state cannot be saved; it is tried again, and a restart until then will read the whole mailbox'

export class StateSaver {
  readonly #deps: StateSaverDeps
  #pending: { atMs: number; cancel: () => void } | undefined
  #saving: Promise<void> = Promise.resolve()
  #isKept: boolean
  #isClosed = false

  constructor(deps: StateSaverDeps) {
    this.#deps = deps
    this.#isKept = deps.state.isKept
  }

  /** `false` also where the last write failed. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** The soonest of several wishes is kept. */
  schedule(delayMs: number): void {
    const { state, clock } = this.#deps
    if (!state.isKept) return
    const atMs = clock.now() + delayMs
    if (this.#pending && this.#pending.atMs <= atMs) return
    this.#pending?.cancel()
    this.#pending = { atMs, cancel: clock.after(delayMs, () => this.#save()) }
  }

  /** Writes a pending change now. */
  async flush(): Promise<void> {
    if (this.#pending) this.#save()
    await this.#saving
  }

  /** Writes a pending change for the last time. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.flush()
    await this.#deps.state.close()
  }

  /** Records whether the disk holds the state. */
  keeps(isKept: boolean): void {
    const { logger, onKept } = this.#deps
    if (isKept && !this.#isKept) logger.info({}, 'the state is saved again')
    this.#isKept = isKept
    onKept(isKept)
  }

  #save(): void {
    const { state, current, logger } = this.#deps
    this.#pending?.cancel()
    this.#pending = undefined
    this.#saving = this.#saving
      .then(async () => {
        const saved = current()
        if (!saved) return
        await state.save(saved)
        this.keeps(true)
      })
      .catch(error => {
        // its cause may have other words each time
        logger[this.#isKept ? 'error' : 'debug']({ err: error }, NOT_SAVED)
        this.keeps(false)
        if (!this.#isClosed) this.schedule(SAVE_AGAIN_MS)
      })
  }
}
