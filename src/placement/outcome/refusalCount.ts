/** Refusals of one placement, counted by reason, with a few examples of each. */
import type { Reason } from '../words/reason.ts'

/** For each reason. */
const EXAMPLES = 5

interface Counted {
  readonly what: Set<string>
  clusters: number
  /** Refused objects by message, for the first few. */
  readonly examples: Map<string, string[]>
  shown: number
}

export class RefusalCount {
  readonly #reasons = new Map<string, Counted>()

  /** The most frequent reason, and all of them; `undefined`: nothing is refused. */
  get summary(): Reason | undefined {
    const [first] = this.#sorted()
    return first && { reason: first[0], message: this.message() }
  }

  /** Without a message it is counted only. @param what the object or field */
  add(what: string, { reason, message }: { reason: string; message?: string }, clusters: number): void {
    let known = this.#reasons.get(reason)
    if (!known) {
      known = { what: new Set(), clusters: 0, examples: new Map(), shown: 0 }
      this.#reasons.set(reason, known)
    }
    known.clusters += clusters
    known.what.add(what)
    if (message === undefined) return
    const alike = known.examples.get(message)
    // one object may be refused for several causes, such as two owners in two clusters
    if (known.shown === EXAMPLES || alike?.includes(what)) return
    known.shown++
    if (alike) alike.push(what)
    else known.examples.set(message, [what])
  }

  /** Reason by reason, most frequent first: how many, which and what to do. */
  message(): string {
    return this.#sorted()
      .map(([reason, { what, clusters, examples }]) => {
        const rest = what.size - new Set([...examples.values()].flat()).size
        const shown = [...examples].map(([message, alike]) => `${alike.join(', ')}: ${message}`).join('; ')
        return `${reason}: ${what.size} refused (${clusters} ${clusters === 1 ? 'copy' : 'copies'}): ${shown}${rest > 0 ? `; and ${rest} more` : ''}`
      })
      .join('. ')
  }

  #sorted(): [string, Counted][] {
    return [...this.#reasons].sort(
      ([a, one], [b, other]) => other.what.size - one.what.size || other.clusters - one.clusters || (a < b ? -1 : 1),
    )
  }
}
