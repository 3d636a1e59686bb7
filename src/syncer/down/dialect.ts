/**
 * Applies in the words that a cluster's release knows. An older one refuses an apply with a field that its schema does not
 * declare, and names one such field at a time; what was learnt is left out of later applies of the kind from the start.
 */
import { type GroupVersionResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import { undeclaredFields, withoutFields } from '../objects/undeclaredFields.ts'

/** More unknown fields than any two releases differ by in one kind: then something else is wrong. */
const ATTEMPTS = 40
/** A cluster may be upgraded, or its definition of a kind: long enough for what is written in a row. */
const FORGET_MS = 60_000

export class Dialect {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #unknown = new Map<string, { paths: Set<string>; sinceMs: number }>()

  constructor({ logger, clock }: { logger: Logger; clock: Clock }) {
    this.#logger = logger
    this.#clock = clock
  }

  /** @throws what `apply` throws, when that is not about undeclared fields */
  async speak(
    resource: GroupVersionResource,
    copy: Readonly<KubeObject>,
    apply: (body: KubeObject) => Promise<KubeObject>,
  ): Promise<KubeObject> {
    const unknown = this.#unknownOf(resource)
    for (let attempt = 1; ; attempt++) {
      try {
        return await apply(withoutFields(copy, [...unknown]))
      } catch (error) {
        const news = undeclaredFields(error).filter(path => !unknown.has(path))
        if (news.length === 0 || attempt === ATTEMPTS) throw error
        for (const path of news) unknown.add(path)
        const fields = news.join(', ')
        this.#logger.warn({ resource: groupResourceName(resource) }, `the cluster does not know ${fields}: left out`)
      }
    }
  }

  #unknownOf(resource: GroupVersionResource): Set<string> {
    const name = `${groupResourceName(resource)}/${resource.version}`
    const nowMs = this.#clock.now()
    const known = this.#unknown.get(name)
    if (known !== undefined && nowMs - known.sinceMs < FORGET_MS) return known.paths
    const paths = new Set<string>()
    this.#unknown.set(name, { paths, sinceMs: nowMs })
    return paths
  }
}
