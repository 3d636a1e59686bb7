/**
 * Health of the copies of one mailbox, as their cluster reports it. Only those that are not healthy are kept, with the hash of the
 * content that the verdict is about. A status that comes back costs the look at one copy.
 *
 * The syncer speaks of generations of the mailbox's object, so a status is believed when it means the newest one.
 */

import { shortLine } from '../../../apimachinery/shortened.ts'
import { HEALTHY, type HealthVerdict } from '../../../placement/outcome/health.ts'

/** Characters of what is kept, in the cluster's words. */
const MAX_MESSAGE = 300

interface Unhealthy extends HealthVerdict {
  /** The contentHash of the object. */
  readonly content: string
}

export class CopyHealth {
  /** By key; includes suspended ones. */
  readonly #unhealthy = new Map<string, Unhealthy>()

  of(key: string): HealthVerdict {
    return this.#unhealthy.get(key) ?? HEALTHY
  }

  /** Health in this content; `undefined` where the verdict is about other content. */
  in(key: string, content: string): HealthVerdict | undefined {
    const verdict = this.#unhealthy.get(key)
    if (!verdict) return HEALTHY
    return verdict.content === content ? verdict : undefined
  }

  /** The unhealthy ones of these keys: sought on the shorter side. */
  *unhealthyOf(keys: readonly string[], isOne: (key: string) => boolean): Generator<[string, HealthVerdict]> {
    if (keys.length < this.#unhealthy.size) {
      for (const key of keys) {
        const verdict = this.#unhealthy.get(key)
        if (verdict) yield [key, verdict]
      }
    } else for (const entry of this.#unhealthy) if (isOne(entry[0])) yield entry
  }

  /** Whether that is another than before. `content`: the contentHash of the object. */
  note(key: string, { health, message }: HealthVerdict, content: () => string): boolean {
    if (health === 'Healthy') return this.forget(key)
    const before = this.#unhealthy.get(key)
    const shown = shortLine(message, MAX_MESSAGE)
    this.#unhealthy.set(key, { health, message: shown, content: content() })
    return before?.health !== health || before.message !== shown
  }

  /** Whether it was not healthy. */
  forget(key: string): boolean {
    return this.#unhealthy.delete(key)
  }
}
