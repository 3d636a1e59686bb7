/**
 * Which stored objects of a space a question moves without asking about them: those that an EdgePlacement in it selects otherwise
 * than the stored one does, and those that name a Customizer in it. Pure.
 */
import { CUSTOMIZERS, EDGE_PLACEMENTS } from '../../apimachinery/placement.ts'
import { MAX_PREVIEW_MOVED, type PreviewedObject } from '../../apimachinery/placementPreview.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { namespaceKey, objectKey, resourceKey } from './names.ts'
import { compilePlacement, downsyncs, type PlacementSpec } from './placementSpec.ts'
import type { ObjectFact, Workload } from './workload.ts'

/** What of the join it asks. */
export interface Stored {
  readonly workload: Pick<Workload, 'keys' | 'get' | 'withCustomizer'>
  spec(name: string): PlacementSpec | undefined
}

export interface Moves {
  /** EdgePlacements as they would be, by name. */
  readonly specs: ReadonlyMap<string, PlacementSpec>
  /** Some of them, by key. */
  readonly moved: ReadonlyMap<string, ObjectFact>
  /** How many each object of the question moves; absent of those that move nothing by their kind. */
  readonly counts: ReadonlyMap<PreviewedObject, number>
}

export function* movesOf(objects: readonly PreviewedObject[], { workload, spec }: Stored): Steps<Moves> {
  const asked = new Set(objects.map(keyOf))
  const specs = new Map<string, PlacementSpec>()
  const moved = new Map<string, ObjectFact>()
  const counts = new Map<PreviewedObject, number>()
  const move = (by: PreviewedObject, key: string): void => {
    const fact = workload.get(key)
    if (!fact || asked.has(key)) return
    counts.set(by, (counts.get(by) ?? 0) + 1)
    if (moved.size < MAX_PREVIEW_MOVED) moved.set(key, fact)
  }
  for (const one of objects) {
    const { name = '', namespace = '' } = one.object.metadata
    const kind = resourceKey(one.resource)
    if (kind === resourceKey(CUSTOMIZERS)) {
      counts.set(one, 0)
      for (const key of workload.withCustomizer(`${namespace}/${name}`)) move(one, key)
    }
    if (kind !== resourceKey(EDGE_PLACEMENTS)) continue
    counts.set(one, 0)
    const [before, after] = [spec(name), compilePlacement(one.object)]
    specs.set(name, after)
    for (const key of workload.keys()) {
      const fact = workload.get(key)!
      const labels = workload.get(namespaceKey(fact.namespace))?.labels
      const was = before !== undefined && downsyncs(before, fact, labels)
      if (was !== downsyncs(after, fact, labels)) move(one, key)
      yield
    }
  }
  return { specs, moved, counts }
}

function keyOf({ resource, object: { metadata } }: PreviewedObject): string {
  return objectKey(resource, metadata.namespace ?? '', metadata.name ?? '')
}
