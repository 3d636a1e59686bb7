/** Placements with a rollout strategy, by space: which of them are not loaded yet, and which have a rollout that goes on. */
import { MapOfMaps, MapOfSets } from '../../../apimachinery/nestedMaps.ts'
import { baseOfRevision, revisionBase } from '../../../placement/rollout/revisionNames.ts'
import type { StagedPlacement } from './stagedPlacement.ts'

export class StagedPlacements {
  /** By space and the base of the names of its revisions, so that these lead to it. */
  readonly #spaces = new MapOfMaps<StagedPlacement>()
  /** Those of which it is not known which revisions their destinations have. */
  readonly #unloaded = new MapOfSets<StagedPlacement>()
  readonly #rolling = new MapOfSets<StagedPlacement>()

  get(space: string, name: string): StagedPlacement | undefined {
    return this.#spaces.get(space, revisionBase(name))
  }

  /** The placement that a PlacementRevision or PlacementRollout is about. */
  ofRevision(space: string, object: string): StagedPlacement | undefined {
    return this.#spaces.get(space, baseOfRevision(object))
  }

  add(placement: StagedPlacement): void {
    const { space, name } = placement.id
    this.#spaces.set(space, revisionBase(name), placement)
    this.#unloaded.add(space, placement)
  }

  delete(placement: StagedPlacement): void {
    const { space, name } = placement.id
    this.#spaces.delete(space, revisionBase(name))
    this.loaded(placement)
    this.rests(placement)
  }

  *all(): Generator<StagedPlacement> {
    for (const [, placements] of this.#spaces) yield* placements.values()
  }

  /** Whether it is known which revisions the destinations of a space's placements have. */
  isKnown(space: string): boolean {
    return !this.#unloaded.has(space)
  }

  isLoaded(placement: StagedPlacement): boolean {
    return !this.#unloaded.of(placement.id.space).has(placement)
  }

  loaded(placement: StagedPlacement): void {
    this.#unloaded.delete(placement.id.space, placement)
  }

  /** A rollout of it goes on, unless it is gone meanwhile. */
  rolls(placement: StagedPlacement): void {
    const { space, name } = placement.id
    if (this.get(space, name) === placement) this.#rolling.add(space, placement)
  }

  /** No rollout of it goes on. */
  rests(placement: StagedPlacement): void {
    this.#rolling.delete(placement.id.space, placement)
  }

  isRolling(placement: StagedPlacement): boolean {
    return this.#rolling.of(placement.id.space).has(placement)
  }

  get isAnyRolling(): boolean {
    return this.#rolling.size > 0
  }

  in(space: string): Iterable<StagedPlacement> {
    return this.#spaces.of(space).values()
  }
}
