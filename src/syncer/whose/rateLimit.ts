/** At most so many requests per second to a cluster: a token bucket, and a client that asks it before each request. */
import { StatusError } from '../../apimachinery/errors.ts'
import { aroundCalls } from '../../client/aroundCalls.ts'
import type { SpaceClient } from '../../client/client.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'
import { Rate } from '../../client/rate.ts'

interface TokenBucketOptions {
  /** Tokens that come back each second; 0 or less: no limit. */
  qps: number
  /** Tokens that can be saved up; the bucket starts full. */
  burst: number
  clock: Clock
  /** Ends all waiting. */
  signal?: AbortSignal
}

export class TokenBucket {
  /** Absent: no limit. */
  readonly #rate: Rate | undefined
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined
  readonly #waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
  #paidUntilMs: number | undefined
  #timer: (() => void) | undefined

  constructor({ qps, burst, clock, signal }: TokenBucketOptions) {
    if (qps > 0) this.#rate = new Rate({ everyMs: 1000 / qps, atOnce: Math.max(1, burst) })
    this.#clock = clock
    this.#signal = signal
    signal?.addEventListener('abort', () => this.#end(), { once: true })
  }

  /** Resolves when it is the caller's turn, first come first served. @throws StatusError ServiceUnavailable after the abort */
  take(): Promise<void> {
    if (this.#signal?.aborted) return Promise.reject(ended())
    const rate = this.#rate
    if (!rate) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#serve(rate)
    })
  }

  #serve(rate: Rate): void {
    const nowMs = steadyMs(this.#clock)
    // A hair early is in time: time comes in floating point.
    while (this.#waiting.length > 0 && rate.waitMs(this.#paidUntilMs, nowMs) < 1e-3) {
      this.#paidUntilMs = rate.paid(this.#paidUntilMs, nowMs)
      this.#waiting.shift()!.resolve()
    }
    if (this.#waiting.length === 0 || this.#timer) return
    const waitMs = Math.max(1, rate.waitMs(this.#paidUntilMs, nowMs))
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined
      this.#serve(rate)
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
  return aroundCalls(client, async (verb, call) => {
    if (verb !== 'discover') await bucket.take()
    return await call()
  })
}

function ended(): StatusError {
  return new StatusError('ServiceUnavailable', 'the syncer is stopping')
}
