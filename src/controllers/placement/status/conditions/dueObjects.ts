/**
 * Objects that an earlier run may know more of than this one: their feedback is judged anew after a start. Conditions of their
 * placement that only a judgement can end stay until then.
 */
import { MapOfMaps } from '../../../../apimachinery/nestedMaps.ts'
import type { PlacementJoin } from '../../join/placementJoin.ts'
import type { Tasks } from '../../join/tasks.ts'

export class DueObjects {
  readonly #tasks: Pick<Tasks, 'report' | 'sources'>
  readonly #join: Pick<PlacementJoin, 'workload'>
  /** Keys by space, then by placement. */
  readonly #due = new MapOfMaps<Set<string>>()

  constructor(tasks: Pick<Tasks, 'report' | 'sources'>, join: Pick<PlacementJoin, 'workload'>) {
    this.#tasks = tasks
    this.#join = join
  }

  /** Judges all objects that a placement names; it is {@link isDue} until then, and is reported after. */
  judge(space: string, placement: string): void {
    const keys = new Set(this.#join.workload(space).namedBy(placement))
    if (keys.size === 0) return
    this.#due.set(space, placement, keys)
    this.#tasks.sources(space, [...keys])
  }

  isDue(space: string, placement: string): boolean {
    return this.#due.get(space, placement) !== undefined
  }

  judged(space: string, key: string): void {
    for (const [placement, keys] of this.#due.of(space)) {
      if (!keys.delete(key) || keys.size > 0) continue
      this.#due.delete(space, placement)
      this.#tasks.report(space, placement)
    }
  }

  forgetPlacement(space: string, placement: string): void {
    this.#due.delete(space, placement)
  }

  forget(space: string): void {
    this.#due.deleteAll(space)
  }
}
