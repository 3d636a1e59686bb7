/**
 * Renews the server's own certificates while it runs, so that one that is never restarted never stops being trusted.
 *
 * The due time is known from the certificates; it is looked at once a day at least, because clocks are set and machines sleep. A failed
 * renewal is retried every ten minutes: weeks are left by then.
 */
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../request/logger.ts'
import { type Pki, renewalDueMs } from './ensurePki.ts'

interface CertificateRenewalDeps {
  /** Keys and certificates in use. */
  pki: Pki
  /** Makes what is due, as `ensurePki` does. */
  ensure(): Promise<Pki>
  /** Takes renewed certificates into use. When it fails, all is tried again. */
  use(pki: Pki): Promise<void>
  /** Its timers keep no process alive. */
  clock: Clock
  log: Logger
}

const RETRY_MS = 10 * 60_000
const LONGEST_WAIT_MS = 86_400_000

export class CertificateRenewal {
  readonly #deps: CertificateRenewalDeps
  #dueMs: number
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(deps: CertificateRenewalDeps) {
    this.#deps = deps
    this.#dueMs = renewalDueMs(deps.pki)
  }

  start(): void {
    this.#wait()
  }

  /** Resolves when nothing is being renewed any more; nothing will be. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.#running
  }

  #wait(): void {
    if (this.#stopped) return
    const { clock } = this.#deps
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(RETRY_MS, this.#dueMs - clock.now()))
    this.#cancel = clock.after(waitMs, () => {
      if (clock.now() < this.#dueMs) this.#wait()
      else this.#running = this.#renew().finally(() => this.#wait())
    })
  }

  async #renew(): Promise<void> {
    const { ensure, use, log } = this.#deps
    try {
      const pki = await ensure()
      await use(pki)
      this.#dueMs = renewalDueMs(pki)
      log.info({ nextRenewal: new Date(this.#dueMs).toISOString() }, 'certificates renewed')
    } catch (error) {
      log.error({ err: error }, 'certificates could not be renewed; they will be tried again')
    }
  }
}
