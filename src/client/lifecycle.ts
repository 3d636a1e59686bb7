/**
 * Parts of a process, by name: each starts once all that it needs runs, and everything stops in reverse, also after a start that failed.
 */

export interface Part {
  readonly name: string
  /** Names of the parts that run before this one starts, and until it has stopped. */
  readonly needs?: readonly string[]
  start?(): Promise<void> | void
  /** Called once `start` was, even when that failed. */
  stop?(): Promise<void> | void
}

export class Lifecycle {
  readonly #parts: readonly Part[]
  /** Those whose start was called, in that order. */
  #begun: Part[] = []

  /** @throws Error when a need is no part, a name stands twice, or needs go in a circle */
  constructor(parts: readonly Part[]) {
    this.#parts = inOrder(parts)
  }

  /** @throws what a part throws, once all that had begun is stopped */
  async start(): Promise<void> {
    for (const part of this.#parts) {
      this.#begun.push(part)
      try {
        await part.start?.()
      } catch (error) {
        await this.stop().catch(stopping => {
          throw new AggregateError([error, stopping], `${part.name} did not start, and not everything stopped`)
        })
        throw error
      }
    }
  }

  /**
   * Without effect on what never began or has stopped. A part that fails to stop keeps no other one running.
   * @throws AggregateError of what parts threw, when all have been stopped
   */
  async stop(): Promise<void> {
    const parts = this.#begun.reverse()
    this.#begun = []
    const failures: unknown[] = []
    for (const part of parts) {
      try {
        await part.stop?.()
      } catch (error) {
        failures.push(new Error(`${part.name} did not stop`, { cause: error }))
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '))
  }
}

/** Needs come first; otherwise as declared. */
function inOrder(parts: readonly Part[]): Part[] {
  const byName = new Map(parts.map(part => [part.name, part]))
  if (byName.size < parts.length) throw new Error('two parts have one name')
  const ordered = new Set<Part>()
  const place = (part: Part, path: readonly string[]): void => {
    if (ordered.has(part)) return
    if (path.includes(part.name)) throw new Error(`parts need each other: ${[...path, part.name].join(' > ')}`)
    for (const name of part.needs ?? []) {
      const needed = byName.get(name)
      if (!needed) throw new Error(`${part.name} needs ${name}, which is no part`)
      place(needed, [...path, part.name])
    }
    ordered.add(part)
  }
  for (const part of parts) place(part, [])
  return [...ordered]
}
