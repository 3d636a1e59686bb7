/**
 * How often what a syncer says is written on its SyncTarget: some reports at once, then one a second. A syncer says little; who
 * stole its credential may say as much as the server takes, and everybody who watches the inventory would hear each word.
 */

const EVERY_MS = 1000
const AT_ONCE = 10

export class ReportPace {
  /** By name: until when what was written is paid for, at one in `EVERY_MS`. */
  readonly #paidUntilMs = new Map<string, number>()

  /** How long the next report has to wait; 0 when it may be written now, which then counts. */
  take(name: string, nowMs: number): number {
    const paid = Math.max(this.#paidUntilMs.get(name) ?? 0, nowMs)
    const waitMs = paid - nowMs - (AT_ONCE - 1) * EVERY_MS
    if (waitMs > 0) return waitMs
    this.#paidUntilMs.set(name, paid + EVERY_MS)
    return 0
  }

  forget(name: string): void {
    this.#paidUntilMs.delete(name)
  }
}
