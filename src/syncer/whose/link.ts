/**
 * One side of the syncer as a connection with a state: one line when it breaks, one when it is back, however many loops
 * notice. Wraps the clients of that side; what their calls throw passes through.
 */
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import { aroundCalls } from '../../client/aroundCalls.ts'
import type { Client, SpaceClient, StreamBatch, StreamOptions, WatchEvent } from '../../client/client.ts'
import { DiscoveryError } from '../../client/discoveryError.ts'
import { isFutureVersion } from '../../client/futureVersion.ts'
import type { Logger } from '../../client/logger.ts'

interface LinkOptions {
  /** For the log: `the center`, `the cluster`. */
  name: string
  /** Meaning of a refused credential here, and the remedy, where the server gives none. */
  refusedHint: string
  /** Called when it breaks, and when it is back. */
  onChange?: (isUp: boolean) => void
  logger: Logger
}

/** `unsupported`: it answers, and gives no stream to a syncer of this release. */
export type LinkState = 'up' | 'refused' | 'unsupported' | 'unreachable'

/** A single broken connection is everyday life (load balancers, rollouts); the next try tells. */
const FAILURES_THAT_MATTER = 2

export class Link {
  readonly #options: LinkOptions
  readonly #reported = new WeakSet<object>()
  #state: LinkState = 'up'
  /** In a row. */
  #unreachable = 0
  /** The last error: all requests of one connection fail with it. */
  #broken: unknown
  /** Ever. */
  #failures = 0
  /** How often it was back. */
  #recoveries = 0

  constructor(options: LinkOptions) {
    this.#options = options
  }

  get state(): LinkState {
    return this.#state
  }

  /** Whether an error is this link's trouble, which the link itself puts into words. */
  isReported(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#reported.has(error)
  }

  watchOver(client: SpaceClient): SpaceClient {
    return {
      ...aroundCalls(client, (_verb, call) => this.#seen(call())),
      watch: (resource, options) => this.#seenEach(this.#watch(client.watch(resource, options))),
    }
  }

  /** Also asks for a new start when the server does not know our cursor yet: it came back from a backup. */
  watchOverAll(client: Client): Client {
    return { in: space => this.watchOver(client.in(space)), stream: options => this.#stream(client, options) }
  }

  async *#stream(client: Client, options: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    try {
      yield* this.#seenEach(client.stream(options))
    } catch (error) {
      if (isFutureVersion(error)) throw statusError.expired('the server is behind our cursor')
      throw error
    }
  }

  /** A watch of a plain cluster may be silent for long: one that was cut for it is just opened again. */
  async *#watch(watch: AsyncIterable<readonly WatchEvent[]>): AsyncGenerator<readonly WatchEvent[], void, void> {
    try {
      yield* watch
    } catch (error) {
      if (!isSilence(error)) throw error
    }
  }

  async *#seenEach<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    const before = this.#failures
    let begun: number | undefined = this.#recoveries
    try {
      for await (const item of source) {
        begun = undefined
        // A connection from before the trouble proves nothing about it.
        if (before === this.#failures) this.#succeeded(true)
        yield item
      }
    } catch (error) {
      this.#failed(error, begun)
      throw error
    }
  }

  async #seen<T>(call: Promise<T>): Promise<T> {
    const begun = this.#recoveries
    try {
      const answer = await call
      this.#succeeded()
      return answer
    } catch (error) {
      this.#failed(error, begun)
      throw error
    }
  }

  #succeeded(isStream = false): void {
    const { name, logger } = this.#options
    this.#unreachable = 0
    // whoever gives no stream may well answer everything else
    if (this.#state === 'up' || (this.#state === 'unsupported' && !isStream)) return
    this.#state = 'up'
    this.#recoveries++
    logger.info({}, `${name} answers again`)
    this.#options.onChange?.(true)
  }

  /** `begun`: number of recoveries at its start; absent where it had answered before. */
  #failed(error: unknown, begun = this.#recoveries): void {
    const { name, refusedHint, logger } = this.#options
    const state = stateAfter(error)
    if (state === 'up' || !(error instanceof Error)) return
    this.#failures++
    this.#reported.add(error)
    // a request from before the recovery, with an old credential maybe, is no news of the present state
    if (begun !== this.#recoveries) return
    if (state === 'unreachable') {
      if (error.cause !== undefined && error.cause === this.#broken) return
      this.#broken = error.cause
      if (++this.#unreachable < FAILURES_THAT_MATTER) return
    }
    if (this.#state === state) return
    if (this.#state === 'up') this.#options.onChange?.(false)
    this.#state = state
    const trying = 'trying again until it is accepted'
    if (state === 'refused') {
      const why = error.message === 'Unauthorized' ? refusedHint : error.message
      logger.warn({ reason: 'Unauthorized' }, `${name} refuses the syncer's credential: ${why}; ${trying}`)
    } else if (state === 'unsupported') logger.warn({}, `${name} turns this syncer away: ${error.message}; ${trying}`)
    else logger.warn({}, `${name} cannot be reached, trying again until it answers: ${error.message}`)
  }
}

function stateAfter(error: unknown): LinkState {
  if (isStatusError(error, 'Unauthorized')) return 'refused'
  if (isStatusError(error, 'NotAcceptable')) return 'unsupported'
  // Only a failed connection has a cause below it; a server that answers 503 can be reached.
  const broken = isStatusError(error, 'ServiceUnavailable') && !(error instanceof DiscoveryError)
  return broken && (error.cause !== undefined || isSilence(error)) ? 'unreachable' : 'up'
}

/** How the client calls a connection on which nothing came for too long. */
function isSilence(error: unknown): boolean {
  return isStatusError(error, 'ServiceUnavailable') && error.message.startsWith('no word from ')
}
