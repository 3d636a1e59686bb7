/** At most so many requests per second to a cluster: a token bucket, and a client that asks it before each request. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { SpaceClient } from '../../client/client.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'

export interface TokenBucketOptions {
  /** Tokens that come back each second; 0 or less: no limit. */
  qps: number
  /** Tokens that can be saved up; the bucket starts full. */
  burst: number
  clock: Clock
  /** Ends all waiting. */
  signal?: AbortSignal
}

export class TokenBucket {
  readonly #qps: number
  readonly #burst: number
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined
  readonly #waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
  #tokens: number
  #filledAtMs: number
  #timer: (() => void) | undefined

  constructor({ qps, burst, clock, signal }: TokenBucketOptions) {
    this.#qps = qps
    this.#burst = Math.max(1, burst)
    this.#clock = clock
    this.#signal = signal
    this.#tokens = this.#burst
    this.#filledAtMs = steadyMs(clock)
    signal?.addEventListener('abort', () => this.#end(), { once: true })
  }

  /** Resolves when it is the caller's turn, first come first served. @throws StatusError ServiceUnavailable after the abort */
  take(): Promise<void> {
    if (this.#signal?.aborted) return Promise.reject(ended())
    if (this.#qps <= 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#serve()
    })
  }

  #serve(): void {
    const nowMs = steadyMs(this.#clock)
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#filledAtMs) / 1000) * this.#qps)
    this.#filledAtMs = nowMs
    // A hair less than one is one: time comes in floating point.
    while (this.#waiting.length > 0 && this.#tokens > 1 - 1e-6) {
      this.#tokens -= 1
      this.#waiting.shift()!.resolve()
    }
    if (this.#waiting.length === 0 || this.#timer) return
    const waitMs = Math.max(1, ((1 - this.#tokens) / this.#qps) * 1000)
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined
      this.#serve()
    })
  }

  #end(): void {
    this.#timer?.()
    this.#timer = undefined
    for (const { reject } of this.#waiting.splice(0)) reject(ended())
  }
}

/** Watches and discovery are few and pass freely. */
export function rateLimited(client: SpaceClient, bucket: TokenBucket): SpaceClient {
  const after = async <T>(call: () => Promise<T>): Promise<T> => {
    await bucket.take()
    return await call()
  }
  return {
    get: (...args) => after(() => client.get(...args)),
    list: (...args) => after(() => client.list(...args)),
    create: (...args) => after(() => client.create(...args)),
    update: (...args) => after(() => client.update(...args)),
    patch: (...args) => after(() => client.patch(...args)),
    delete: (...args) => after(() => client.delete(...args)),
    discover: () => client.discover(),
    watch: (resource, options) => client.watch(resource, options),
  }
}

function ended(): StatusError {
  return new StatusError('ServiceUnavailable', 'the syncer is stopping')
}
