/** StatusCollectors of all spaces, compiled when they are first used. */
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
}

/** A collector with the resourceVersion as which it was written. */
export interface UsedCollector {
  readonly collector: Collector
  readonly revision: number
}

/** Names that a message shows. */
const MAX_NAMED = 5

export class Collectors {
  readonly #bySpace = new Map<string, Map<string, Known & { used?: UsedCollector }>>()
  readonly #changed: Signals['spaceChanged']

  constructor(changed: Signals['spaceChanged']) {
    this.#changed = changed
  }

  set(space: string, name: string, object: KubeObject | undefined): void {
    const known = this.#bySpace.get(space) ?? new Map<string, Known>()
    if (object && known.has(name) && equalJson(known.get(name)!.spec, object.spec)) return
    if (object) {
      known.set(name, { spec: object.spec, revision: Number(object.metadata.resourceVersion), read: undefined })
      this.#bySpace.set(space, known)
    } else if (known.delete(name) && known.size === 0) this.#bySpace.delete(space)
    this.#changed.send(space, 'collector', name)
  }

  /** `undefined`: it is not there, or cannot work. */
  get(space: string, name: string): UsedCollector | undefined {
    const known = this.#bySpace.get(space)?.get(name)
    if (!known) return undefined
    const { collector } = this.#read(name, known)
    if (collector) known.used ??= { collector, revision: known.revision }
    return known.used
  }

  /** Why some of these do not work; `undefined`: all of them do. */
  problem(space: string, names: readonly string[]): Reason | undefined {
    const known = this.#bySpace.get(space)
    const missing = names.filter(name => !known?.has(name))
    if (missing.length > 0) {
      const message = `there is no StatusCollector ${some(missing)} in this space: create it, or take the name out of statusCollectors`
      return { reason: 'CollectorMissing', message }
    }
    for (const name of names) {
      const [problem] = this.#read(name, known!.get(name)!).problems ?? []
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
