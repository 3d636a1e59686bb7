/**
 * Rate of a placement's reports: once a second under steady change. A change after a quiet second is reported sooner. One that reaches a
 * thousand clusters at once is reported when the last of them has it.
 *
 * All of a space have a pace, too: one cluster that says something else each moment can change hundreds of them at once.
 */
import { Rate } from '../../../client/rate.ts'

/** Once a second, a few sooner; these as soon after each other as `APART_MS` says. */
const OWN = new Rate({ everyMs: 1000, atOnce: 8 })
const APART_MS = 250

/** Looks at placements of one space that were looked at before: so many at once, and then this far apart. */
const SPACE = new Rate({ everyMs: 20, atOnce: 50 })
/** Spaces that are kept before those are let go that have nothing to wait for. */
const MOST_SPACES = 1000

interface Paid {
  /** Until when the looks so far are paid for. */
  untilMs: number
  lastMs: number
}

export class ReportPace {
  /** By `space placement`. */
  readonly #paid = new Map<string, Paid>()
  /** By space: until when its looks so far are paid for. */
  readonly #spaces = new Map<string, number>()
  /** When looks that have to wait for others of their space come. */
  readonly #due = new Map<string, number>()

  /** How long the next look has to wait. */
  waitMs(id: string, nowMs: number): number {
    const paid = this.#paid.get(id)
    if (!paid) return 0
    const own = Math.max(paid.lastMs + APART_MS - nowMs, OWN.waitMs(paid.untilMs, nowMs))
    return own > 0 ? own : Math.max(0, this.#dueIn(id, nowMs) - nowMs)
  }

  #dueIn(id: string, nowMs: number): number {
    const known = this.#due.get(id)
    if (known !== undefined) return known
    const space = spaceOf(id)
    if (this.#spaces.size >= MOST_SPACES) this.#forgetPaid(nowMs)
    const paidMs = this.#spaces.get(space)
    this.#spaces.set(space, SPACE.paid(paidMs, nowMs))
    const due = nowMs + SPACE.waitMs(paidMs, nowMs)
    this.#due.set(id, due)
    return due
  }

  /** Placements with paid looks may begin anew; others stay, whatever is deleted of them. */
  #forgetPaid(nowMs: number): void {
    for (const [space, untilMs] of this.#spaces) if (untilMs <= nowMs) this.#spaces.delete(space)
  }

  looked(id: string, nowMs: number): void {
    const untilMs = OWN.paid(this.#paid.get(id)?.untilMs, nowMs)
    this.#paid.set(id, { untilMs, lastMs: nowMs })
    this.#due.delete(id)
  }

  forget(id: string): void {
    this.#paid.delete(id)
    this.#due.delete(id)
  }
}

function spaceOf(id: string): string {
  return id.slice(0, id.indexOf(' '))
}
