/**
 * Objects that an earlier run may know more of than this one: their feedback is judged anew after a start. Conditions of their
 * placement that only a judgement can end stay until then.
 */
import type { PlacementJoin } from '../../join/placementJoin.ts'
import type { Tasks } from '../../join/tasks.ts'

export class DueObjects {
  readonly #tasks: Pick<Tasks, 'report' | 'sources'>
  readonly #join: Pick<PlacementJoin, 'workload'>
  /** Keys by space, then by placement. Empty sets are removed. */
  readonly #due = new Map<string, Map<string, Set<string>>>()

  constructor(tasks: Pick<Tasks, 'report' | 'sources'>, join: Pick<PlacementJoin, 'workload'>) {
    this.#tasks = tasks
    this.#join = join
  }

  /** Judges all objects that a placement names; it is {@link isDue} until then, and is reported after. */
  judge(space: string, placement: string): void {
    const keys = new Set(this.#join.workload(space).namedBy(placement))
    if (keys.size === 0) return
    const due = this.#due.get(space) ?? new Map<string, Set<string>>()
    this.#due.set(space, due.set(placement, keys))
    this.#tasks.sources(space, [...keys])
  }

  isDue(space: string, placement: string): boolean {
    return this.#due.get(space)?.has(placement) ?? false
  }

  judged(space: string, key: string): void {
    const due = this.#due.get(space)
    for (const [placement, keys] of due ?? []) {
      if (!keys.delete(key) || keys.size > 0) continue
      due?.delete(placement)
      this.#tasks.report(space, placement)
    }
    if (due?.size === 0) this.#due.delete(space)
  }

  forgetPlacement(space: string, placement: string): void {
    const due = this.#due.get(space)
    due?.delete(placement)
    if (due?.size === 0) this.#due.delete(space)
  }

  forget(space: string): void {
    this.#due.delete(space)
  }
}
