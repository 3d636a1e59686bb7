/**
 * How the copies of one mailbox are, as their cluster reports them: kept of those alone that are not healthy. A status that comes
 * back costs the look at one copy.
 *
 * The syncer speaks of generations of the mailbox's object, so a status is believed when it means the newest one.
 */

import { shortLine } from '../../../apimachinery/shortened.ts'
import { HEALTHY, type HealthVerdict } from '../../../placement/outcome/health.ts'

/** Characters of what is kept, in the cluster's words. */
const MAX_MESSAGE = 300

export class CopyHealth {
  /** By key; with those that are told to stand still. */
  readonly #unhealthy = new Map<string, HealthVerdict>()

  of(key: string): HealthVerdict {
    return this.#unhealthy.get(key) ?? HEALTHY
  }

  /** Of these keys, those that are not healthy: looked for where there are fewer. */
  *unhealthyOf(keys: readonly string[], isOne: (key: string) => boolean): Generator<[string, HealthVerdict]> {
    if (keys.length < this.#unhealthy.size) {
      for (const key of keys) {
        const verdict = this.#unhealthy.get(key)
        if (verdict) yield [key, verdict]
      }
    } else for (const entry of this.#unhealthy) if (isOne(entry[0])) yield entry
  }

  /** Whether that is another than before. */
  note(key: string, { health, message }: HealthVerdict): boolean {
    if (health === 'Healthy') return this.forget(key)
    const before = this.#unhealthy.get(key)
    const shown = shortLine(message, MAX_MESSAGE)
    if (before?.health === health && before.message === shown) return false
    this.#unhealthy.set(key, { health, message: shown })
    return true
  }

  /** Whether it was not healthy. */
  forget(key: string): boolean {
    return this.#unhealthy.delete(key)
  }
}
