/**
 * The log for events that may meet many at once, as clusters when their network breaks. Each has a line of its own, up to a number of them
 * in a while, and one line at its end counts the others. An event that meets all is one matter for readers.
 */
import type { LogFields } from '../apimachinery/logFields.ts'
import { type Clock, steadyMs } from './clock.ts'
import type { Logger } from './logger.ts'

const LINES = 20
const WHILE_MS = 10_000
/** Texts are our own, and few. */
type Level = 'info' | 'warn'

export class CrowdLog {
  readonly #logger: Pick<Logger, Level>
  readonly #clock: Clock
  #sinceMs = Number.NEGATIVE_INFINITY
  #lines = 0
  /** How often each text was not written, with its level. */
  readonly #held = new Map<string, { level: Level; count: number }>()
  #cancel: (() => void) | undefined

  constructor(logger: Pick<Logger, Level>, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  log(level: Level, fields: LogFields, text: string): void {
    const nowMs = steadyMs(this.#clock)
    if (nowMs - this.#sinceMs >= WHILE_MS) {
      this.#flush()
      this.#sinceMs = nowMs
      this.#lines = 0
    }
    if (this.#lines < LINES) {
      this.#lines++
      this.#logger[level](fields, text)
      return
    }
    const held = this.#held.get(text)
    if (held) held.count++
    else this.#held.set(text, { level, count: 1 })
    this.#cancel ??= this.#clock.after(Math.max(0, this.#sinceMs + WHILE_MS - nowMs), () => this.#flush())
  }

  /** Logs the retained count; no line follows. */
  close(): void {
    this.#flush()
  }

  #flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const [text, { level, count }] of this.#held) this.#logger[level]({ count }, `and so for others: ${text}`)
    this.#held.clear()
  }
}
