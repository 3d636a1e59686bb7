/** Placements with a rollout strategy, by space: which of them are not loaded yet, and which have a rollout that goes on. */
import { baseOfRevision, revisionBase } from '../../../placement/rollout/revisionNames.ts'
import { addTo, removeFrom } from '../join/workload.ts'
import type { StagedPlacement } from './stagedPlacement.ts'

export class StagedPlacements {
  /** By space and the base of the names of its revisions, so that these lead to it. */
  readonly #spaces = new Map<string, Map<string, StagedPlacement>>()
  /** Those of which it is not known which revisions their destinations have. */
  readonly #unloaded = new Map<string, Set<StagedPlacement>>()
  readonly #rolling = new Map<string, Set<StagedPlacement>>()

  get(space: string, name: string): StagedPlacement | undefined {
    return this.#spaces.get(space)?.get(revisionBase(name))
  }

  /** The placement that a PlacementRevision or PlacementRollout is about. */
  ofRevision(space: string, object: string): StagedPlacement | undefined {
    return this.#spaces.get(space)?.get(baseOfRevision(object))
  }

  add(placement: StagedPlacement): void {
    const { space, name } = placement.id
    const placements = this.#spaces.get(space) ?? new Map<string, StagedPlacement>()
    this.#spaces.set(space, placements.set(revisionBase(name), placement))
    addTo(this.#unloaded, space, placement)
  }

  delete(placement: StagedPlacement): void {
    const { space, name } = placement.id
    const placements = this.#spaces.get(space)
    placements?.delete(revisionBase(name))
    if (placements?.size === 0) this.#spaces.delete(space)
    this.loaded(placement)
    this.rests(placement)
  }

  *all(): Generator<StagedPlacement> {
    for (const placements of this.#spaces.values()) yield* placements.values()
  }

  /** Whether it is known which revisions the destinations of a space's placements have. */
  isKnown(space: string): boolean {
    return !this.#unloaded.has(space)
  }

  isLoaded(placement: StagedPlacement): boolean {
    return this.#unloaded.get(placement.id.space)?.has(placement) !== true
  }

  loaded(placement: StagedPlacement): void {
    removeFrom(this.#unloaded, placement.id.space, placement)
  }

  /** A rollout of it goes on, unless it is gone meanwhile. */
  rolls(placement: StagedPlacement): void {
    const { space, name } = placement.id
    if (this.get(space, name) === placement) addTo(this.#rolling, space, placement)
  }

  /** No rollout of it goes on. */
  rests(placement: StagedPlacement): void {
    removeFrom(this.#rolling, placement.id.space, placement)
  }

  isRolling(placement: StagedPlacement): boolean {
    return this.#rolling.get(placement.id.space)?.has(placement) === true
  }

  get isAnyRolling(): boolean {
    return this.#rolling.size > 0
  }

  in(space: string): Iterable<StagedPlacement> {
    return this.#spaces.get(space)?.values() ?? []
  }
}
