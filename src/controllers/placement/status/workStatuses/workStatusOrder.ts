/**
 * The objects of a namespace in the order of their work statuses: sorted anew when one has come or gone, not for each page. Only
 * what somebody lists is kept, and little of that.
 */

import { BoundedCache } from '../../../../apimachinery/boundedCache.ts'
import type { Pace } from '../../../../placement/desks/answered.ts'
import { tailOf } from '../../../../placement/words/workStatusNames.ts'
import type { Workload } from '../../join/workload.ts'

/** An object, behind what stands behind the location in the name of its work status. */
export type Keyed = readonly [tail: string, key: string]

interface Kept {
  readonly workload: Workload
  readonly version: number
  readonly sorted: readonly Keyed[]
}

const NAMESPACES_KEPT = 32
/** Bound on all retained objects: some hundred bytes each. */
const OBJECTS_KEPT = 200_000

export class WorkStatusOrder {
  readonly #kept = new BoundedCache<string, Kept>({
    entries: NAMESPACES_KEPT,
    weight: { limit: OBJECTS_KEPT, of: ({ sorted }) => sorted.length },
  })

  /** `namespace`: `''` for the objects that are in none. Some may have gone since. */
  async of(space: string, namespace: string, workload: Workload, pace: Pace): Promise<readonly Keyed[]> {
    const id = `${space} ${namespace}`
    const known = this.#kept.get(id)
    const { version } = workload
    if (known?.workload === workload && known.version === version) return known.sorted
    const sorted: Keyed[] = []
    for (const key of [...(namespace === '' ? workload.clusterScoped() : workload.inNamespace(namespace))]) {
      sorted.push([tailOf(key), key])
      if (pace.due) await pace.rest()
    }
    sorted.sort(([a], [b]) => (a < b ? -1 : 1))
    if (workload.version === version) this.#kept.set(id, { workload, version, sorted })
    return sorted
  }
}
