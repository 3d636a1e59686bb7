/**
 * Metrics that each thread has of its own, collected on demand. A thread without an answer in time keeps its last ones; the counts of an
 * ended thread stay counted.
 */
import { gauge, type Metric } from '../metrics/metric.ts'
import { countersOf, sumMetrics } from '../metrics/metricSums.ts'

interface ThreadFiguresDeps<T> {
  ask(thread: T): void
  /** Calls `run` when nobody waits any longer; the answer cancels that. */
  after(run: () => void): () => void
}

interface Figures {
  text: string
  waiting: PromiseWithResolvers<void> | undefined
}

export class ThreadFigures<T> {
  readonly #deps: ThreadFiguresDeps<T>
  readonly #threads = new Map<T, Figures>()
  /** Counts of ended threads. */
  #past = ''

  constructor(deps: ThreadFiguresDeps<T>) {
    this.#deps = deps
  }

  joined(thread: T): void {
    this.#threads.set(thread, { text: '', waiting: undefined })
  }

  answered(thread: T, text: string): void {
    const figures = this.#threads.get(thread)
    if (figures === undefined) return
    figures.text = text
    this.#settle(figures)
  }

  gone(thread: T): void {
    const figures = this.#threads.get(thread)
    if (figures === undefined) return
    this.#threads.delete(thread)
    this.#past = sumMetrics([this.#past, countersOf(figures.text)])
    this.#settle(figures)
  }

  /** Nobody answers any more. */
  close(): void {
    for (const figures of this.#threads.values()) this.#settle(figures)
  }

  /** In the text exposition format. */
  async all(): Promise<readonly string[]> {
    await Promise.all([...this.#threads].map(([thread, figures]) => this.#ask(thread, figures)))
    return [this.#past, ...Array.from(this.#threads.values(), ({ text }) => text)]
  }

  async #ask(thread: T, figures: Figures): Promise<void> {
    if (figures.waiting === undefined) {
      figures.waiting = Promise.withResolvers()
      this.#deps.ask(thread)
    }
    const cancel = this.#deps.after(() => this.#settle(figures))
    await figures.waiting.promise
    cancel()
  }

  #settle(figures: Figures): void {
    figures.waiting?.resolve()
    figures.waiting = undefined
  }
}

const THREAD_ENDS = ['failed', 'still', 'behind'] as const
export type ThreadEnd = (typeof THREAD_ENDS)[number]

/** @param threads `ended`: how many ended that were to go on, by why */
export function threadMetrics(threads: {
  readonly size: number
  readonly ended: Readonly<Record<ThreadEnd, number>>
}): Metric[] {
  return [
    gauge('orrery_api_threads', 'Threads that answer requests beside the main one.', () => threads.size),
    {
      name: 'orrery_api_threads_ended_total',
      help: 'Threads that ended and were replaced: by themselves, since they stood still, or since they fell behind the writes.',
      type: 'counter',
      labels: { reason: THREAD_ENDS },
      samples: () => Object.entries(threads.ended).map(([reason, count]) => [{ reason }, count]),
    },
  ]
}
