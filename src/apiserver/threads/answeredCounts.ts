/** What a thread answered, until it tells the main thread, which has the metrics of all. */
import { labelsOf, type Observation } from '../server/metrics.ts'
import type { Answered } from './apiThreads.ts'

export class AnsweredCounts {
  readonly #counts = new Map<string, Answered & { readonly seconds: number[] }>()

  /** Of what the server names: so there are few sorts. */
  observe({ verb, type, code, seconds }: Observation): void {
    const { group, resource } = labelsOf(type)
    const id = `${verb} ${code} ${resource} ${group}`
    const known = this.#counts.get(id)
    if (known === undefined) this.#counts.set(id, { verb, group, resource, code, seconds: [seconds] })
    else known.seconds.push(seconds)
  }

  /** What there is since the last call. */
  take(): readonly Answered[] {
    const taken = [...this.#counts.values()]
    this.#counts.clear()
    return taken
  }
}
