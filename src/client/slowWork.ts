/**
 * Work that takes long no longer takes the place of others', and whoever (a party: a space) has much of it under way waits alone.
 * It is slow once it took {@link SLOW_MS}; from then on it is counted here, until it ends.
 */
import type { Clock } from './clock.ts'
import { FairQueue, type Lane } from './fairQueue.ts'

const SLOW_MS = 200
/** Slow work of one party, beyond which no further one is begun. */
const SLOW_LIMIT = 4

interface SlowWorkDeps<T> {
  clock: Clock
  /** Whether an item that waits here is still to be begun: else it is passed over. */
  isWanted(item: T): boolean
  /** Some work became slow: there is room for others. */
  becameSlow(): void
  /** A waiting item here waits for its turn again. */
  back(item: T, lane: Lane): void
}

export class SlowWork<T extends object> {
  readonly #deps: SlowWorkDeps<T>
  /** Slow items of a party, and items that wait for their end. */
  readonly #parties = new Map<string, { running: number; waiting: FairQueue<T> }>()
  #running = 0

  constructor(deps: SlowWorkDeps<T>) {
    this.#deps = deps
  }

  /** Number over all parties. */
  get running(): number {
    return this.#running
  }

  /** Whether the party has so much under way that the item waits here now. */
  holds(party: string, item: T, lane: Lane): boolean {
    const slow = this.#parties.get(party)
    if (slow === undefined || slow.running < SLOW_LIMIT) return false
    slow.waiting.add(item, lane)
    return true
  }

  /** Work of a party begins; to be called back when it ends. */
  begin(party: string): () => void {
    let isSlow = false
    const cancel = this.#deps.clock.after(SLOW_MS, () => {
      isSlow = true
      this.#count(party, 1)
      this.#deps.becameSlow()
    })
    return () => {
      cancel()
      if (isSlow) this.#count(party, -1)
    }
  }

  clear(): void {
    this.#parties.clear()
    this.#running = 0
  }

  #count(party: string, change: 1 | -1): void {
    const slow = this.#parties.get(party) ?? { running: 0, waiting: new FairQueue<T>() }
    this.#parties.set(party, slow)
    slow.running += change
    this.#running += change
    if (slow.running === 0) this.#parties.delete(party)
    if (slow.running >= SLOW_LIMIT) return
    const { isWanted, back } = this.#deps
    // with the last slow one go all who waited for it: nobody else would wake them
    for (let next = slow.waiting.take(isWanted); next; next = slow.waiting.take(isWanted)) {
      back(next.item, next.lane)
      if (slow.running > 0) return
    }
  }
}
