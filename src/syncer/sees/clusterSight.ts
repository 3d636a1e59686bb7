/**
 * Reachability of the cluster. After an outage it may have lost objects, or be restored to an earlier state, so versions known to watches
 * mean other objects. So nothing known counts any more: all is listed and compared as at a start, leftovers included. Another
 * cluster may answer in its place, so nothing is written before the identity is verified.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import type { Logger } from '../../client/logger.ts'

interface ClusterSightDeps {
  /** Whether it is the cluster that was served. It stays out of sight otherwise, and for as long as that is not to be known. */
  recognize: () => Promise<boolean>
  outcomes: { lostSight(): void; sightIsBack(): void }
  /** Lists anew what is watched. Resolves once the lists are there, or have been waited for long enough. */
  listAnew: () => Promise<void>
  /** Has all that the mailbox holds compared with the cluster. */
  compareAll: () => void
  findLeftovers: () => Promise<void>
  logger: Logger
  signal: AbortSignal
}

export class ClusterSight {
  readonly #deps: ClusterSightDeps
  #isUp = true
  #returning: Promise<void> = Promise.resolve()
  /** Resolves to whether the one that answers is known. */
  #recognized: Promise<boolean> = Promise.resolve(true)

  constructor(deps: ClusterSightDeps) {
    this.#deps = deps
  }

  /** It became out of reach, or answers again. */
  changed(isUp: boolean): void {
    if (this.#deps.signal.aborted || isUp === this.#isUp) return
    this.#isUp = isUp
    if (isUp) this.#come()
    else this.#deps.outcomes.lostSight()
  }

  /** It is as it was at an earlier moment, and nobody saw it go. */
  rolledBack(): void {
    this.#deps.outcomes.lostSight()
    // who returns compares anyway
    if (this.#isUp) this.#come()
  }

  /** Resolves once it is known whose the cluster is that answers. @throws StatusError when it is not the one that was served */
  async known(): Promise<void> {
    if (await this.#recognized) return
    throw new StatusError('ServiceUnavailable', 'the cluster was out of sight, and another one answers in its place')
  }

  /** Resolves when nothing of it is under way. */
  async ended(): Promise<void> {
    await this.#returning
  }

  #come(): void {
    this.#recognized = this.#returning.then(() => this.#deps.recognize())
    this.#returning = this.#recognized.then(isKnown => (isKnown ? this.#return() : undefined))
  }

  async #return(): Promise<void> {
    const { outcomes, listAnew, compareAll, findLeftovers, logger, signal } = this.#deps
    if (!this.#isUp || signal.aborted) return
    logger.info({}, 'the cluster was out of sight; all that is placed there is compared with it again')
    await listAnew()
    // lost again meanwhile: its next return begins anew
    if (!this.#isUp || signal.aborted) return
    compareAll()
    outcomes.sightIsBack()
    await findLeftovers()
  }
}
