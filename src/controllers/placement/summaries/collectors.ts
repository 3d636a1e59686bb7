/** StatusCollectors of all spaces, compiled when they are first used. */
import { MapOfMaps } from '../../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { someOf } from '../../../apimachinery/someOf.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { type Collector, type ReadCollector, readCollector } from '../../../placement/summary/collector.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Signals } from '../signals/signals.ts'

interface Known {
  readonly spec: unknown
  readonly revision: number
  read: ReadCollector | undefined
  used?: UsedCollector
}

/** A collector with the resourceVersion as which it was written. */
export interface UsedCollector {
  readonly collector: Collector
  readonly revision: number
}

/** Names that a message shows. */
const MAX_NAMED = 5

export class Collectors {
  readonly #known = new MapOfMaps<Known>()
  readonly #changed: Signals['spaceChanged']

  constructor(changed: Signals['spaceChanged']) {
    this.#changed = changed
  }

  set(space: string, name: string, object: KubeObject | undefined): void {
    const known = this.#known.get(space, name)
    if (object && known && equalJson(known.spec, object.spec)) return
    const revision = Number(object?.metadata.resourceVersion)
    this.#known.set(space, name, object && { spec: object.spec, revision, read: undefined })
    this.#changed.send(space, 'collector', name)
  }

  /** `undefined`: it is not there, or cannot work. */
  get(space: string, name: string): UsedCollector | undefined {
    const known = this.#known.get(space, name)
    if (!known) return undefined
    const { collector } = this.#read(name, known)
    if (collector) known.used ??= { collector, revision: known.revision }
    return known.used
  }

  /** Why some of these do not work; `undefined`: all of them do. */
  problem(space: string, names: readonly string[]): Reason | undefined {
    const known = this.#known.of(space)
    const missing = names.filter(name => !known.has(name))
    if (missing.length > 0) {
      const message = `there is no StatusCollector ${some(missing)} in this space: create it, or take the name out of statusCollectors`
      return { reason: 'CollectorMissing', message }
    }
    for (const name of names) {
      const [problem] = this.#read(name, known.get(name)!).problems ?? []
      if (problem)
        return { reason: 'CollectorInvalid', message: `StatusCollector "${name}": ${problem.field}: ${problem.detail}` }
    }
    return undefined
  }

  #read(name: string, known: Known): ReadCollector {
    known.read ??= readCollector({ apiVersion: '', kind: '', metadata: { name }, spec: known.spec })
    return known.read
  }
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(name => JSON.stringify(name))
  return someOf(shown, MAX_NAMED, names.length)
}
