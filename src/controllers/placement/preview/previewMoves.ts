/**
 * Stored objects of a space that a question moves without containing them. Its EdgePlacement selects them otherwise than the stored one or
 * leads elsewhere, or they name its Customizer. Pure.
 */

import type { Steps } from '../../../apimachinery/steps.ts'
import { MAX_PREVIEW_MOVED, type PreviewedObject } from '../../../placement/desks/placementPreview.ts'
import { downsyncs, upsyncs } from '../../../placement/select/placementSpec.ts'
import { namespaceKey, objectKey, resourceKey } from '../../../placement/words/names.ts'
import { CUSTOMIZERS, EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import type { ObjectFact, Workload } from '../join/workload.ts'
import type { ImaginedPlacement } from './imaginedPlacements.ts'

/** Part of the join that it reads. */
export interface Stored {
  readonly workload: Pick<Workload, 'get' | 'withCustomizer' | 'selects'> & { keys(): Iterable<string> }
}

export interface Moves {
  /** EdgePlacements as they would be, by name. */
  readonly placements: ReadonlyMap<string, ImaginedPlacement>
  /** Some of them, by key. */
  readonly moved: ReadonlyMap<string, ObjectFact>
  /** How many each object of the question moves; absent of those that move nothing by their kind. */
  readonly counts: ReadonlyMap<PreviewedObject, number>
  /** Keys of all that EdgePlacements move. */
  readonly movers: ReadonlySet<string>
}

export function* movesOf(
  objects: readonly PreviewedObject[],
  placements: ReadonlyMap<string, ImaginedPlacement>,
  { workload }: Stored,
): Steps<Moves> {
  const requested = new Set(objects.map(keyOf))
  const moved = new Map<string, ObjectFact>()
  const counts = new Map<PreviewedObject, number>()
  const movers = new Set<string>()
  const move = (by: PreviewedObject, key: string): boolean => {
    const fact = workload.get(key)
    if (!fact || requested.has(key)) return false
    counts.set(by, (counts.get(by) ?? 0) + 1)
    if (moved.size < MAX_PREVIEW_MOVED) moved.set(key, fact)
    return true
  }
  for (const one of objects) {
    const { name = '', namespace = '' } = one.object.metadata
    const kind = resourceKey(one.resource)
    if (kind === resourceKey(CUSTOMIZERS)) {
      counts.set(one, 0)
      for (const key of workload.withCustomizer(`${namespace}/${name}`)) move(one, key)
    }
    const placement = kind === resourceKey(EDGE_PLACEMENTS) ? placements.get(name) : undefined
    if (!placement) continue
    counts.set(one, 0)
    for (const key of workload.keys()) {
      const fact = workload.get(key)!
      const labels = workload.get(namespaceKey(fact.namespace))?.labels
      const { before, spec, changed } = placement
      const was = before !== undefined && downsyncs(before, fact, labels)
      const is = downsyncs(spec, fact, labels)
      const isOther = changed.size > 0 || (before?.isPaused ?? false) !== spec.isPaused
      // what defines the kind of what it selects goes there too
      const goesElsewhere = (isOther && (was || is || workload.selects(name, key))) || carriesOtherwise(placement, fact)
      if ((was !== is || goesElsewhere) && move(one, key)) movers.add(key)
      yield
    }
  }
  return { placements, moved, counts, movers }
}

/** Whether upsync sets of a placement would name an object otherwise, or lead elsewhere with it: whatever places it stays, or goes, by that. */
export function carriesOtherwise({ before, spec, changed }: ImaginedPlacement, fact: ObjectFact): boolean {
  const was = before !== undefined && upsyncs(before.upsyncTests, fact)
  const is = upsyncs(spec.upsyncTests, fact)
  return was !== is || (is && changed.size > 0)
}

function keyOf({ resource, object: { metadata } }: PreviewedObject): string {
  return objectKey(resource, metadata.namespace ?? '', metadata.name ?? '')
}
