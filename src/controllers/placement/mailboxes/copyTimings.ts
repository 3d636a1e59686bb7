/**
 * How long copies take on their way, stage by stage, for the server's metrics. Each mailbox times a bounded number at once: the first
 * copies of a bulk stand for it.
 */

import { Distribution } from '../../../apimachinery/distribution.ts'
import type { Clock } from '../../../client/clock.ts'
import type { CarryFigures, Stage } from '../../../placement/desks/carryFigures.ts'

/** Upper bounds in seconds. */
const BOUNDS: readonly number[] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
/** Copies of one mailbox that are timed at once: each costs as much memory as a copy itself, in thousands of mailboxes. */
export const TIMED = 32

export type StageTimes = CarryFigures['stageTimes']

export function newStageTimes(): StageTimes {
  const distribution = (): Distribution => new Distribution(BOUNDS)
  return {
    selected: distribution(),
    projected: distribution(),
    delivered: distribution(),
    applied: distribution(),
    returned: distribution(),
  }
}

/** That copies pass one after the other. */
type CopyStage = Exclude<Stage, 'selected' | 'returned'>

interface Timed {
  /** When its newest stage began. */
  atMs: number
  /** The one that ends next; `done`: nothing but a status is awaited. */
  next: CopyStage | 'done'
  /** When it was written, as long as no status came back. */
  writtenAtMs: number | undefined
}

export class CopyTimings {
  readonly #clock: Clock
  readonly #times: StageTimes
  readonly #timed = new Map<string, Timed>()
  /** Those of which nothing but a status is awaited. */
  readonly #done = new Set<string>()
  /** Those that the syncer has looked at, and did not make so. */
  readonly #failed = new Set<string>()

  constructor(clock: Clock, times: StageTimes) {
    this.#clock = clock
    this.#times = times
  }

  /** A change has named it. */
  named(key: string): void {
    const known = this.#timed.get(key)
    if (known && known.next !== 'done' && !this.#failed.has(key)) return
    if (known) this.gone(key)
    else if (this.#timed.size >= TIMED && !this.#makeRoom()) return
    this.#timed.set(key, { atMs: this.#clock.now(), next: 'projected', writtenAtMs: undefined })
  }

  /** It is known what the copy is to say, and is being written. */
  projected(key: string): void {
    this.#end(key, 'projected', 'delivered')
  }

  written(key: string): void {
    const one = this.#end(key, 'delivered', 'applied')
    if (one) one.writtenAtMs = one.atMs
  }

  /** The copy is as it should be: without a write there is nothing to be timed. */
  converged(key: string): void {
    if (this.#timed.get(key)?.next === 'projected') this.gone(key)
  }

  /** The syncer has looked at it, and made it so unless that is in doubt. */
  processed(key: string, isInDoubt: (key: string) => boolean): void {
    if (this.#timed.get(key)?.next !== 'applied') return
    if (isInDoubt(key)) this.#failed.add(key)
    else this.#end(key, 'applied', 'done')
  }

  /** The syncer tries again by itself what failed. */
  lookAgain(isInDoubt: (key: string) => boolean): void {
    for (const key of this.#failed) {
      if (isInDoubt(key)) continue
      this.#failed.delete(key)
      this.#end(key, 'applied', 'done')
    }
  }

  /** A status of it came back. */
  returned(key: string): void {
    const one = this.#timed.get(key)
    if (one?.writtenAtMs === undefined) return
    this.#times.returned.add((this.#clock.now() - one.writtenAtMs) / 1000)
    one.writtenAtMs = undefined
    if (one.next === 'done') this.gone(key)
  }

  gone(key: string): void {
    this.#timed.delete(key)
    this.#done.delete(key)
    this.#failed.delete(key)
  }

  #end(key: string, stage: CopyStage, next: Timed['next']): Timed | undefined {
    const one = this.#timed.get(key)
    if (one?.next !== stage) return undefined
    const nowMs = this.#clock.now()
    this.#times[stage].add((nowMs - one.atMs) / 1000)
    one.atMs = nowMs
    one.next = next
    if (next === 'done') this.#done.add(key)
    return one
  }

  /** Copies that never report a status, and failed ones, make room for newer ones. */
  #makeRoom(): boolean {
    for (const keys of [this.#done, this.#failed]) {
      for (const key of keys) {
        this.gone(key)
        return true
      }
    }
    return false
  }
}
