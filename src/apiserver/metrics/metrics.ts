/**
 * Metrics of a server, for Prometheus: one list, to which each part of the server brings its own.
 * @see https://kubernetes.io/docs/reference/instrumentation/metrics/
 */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { type Metric, metricText } from './metric.ts'
import { sumMetrics } from './metricSums.ts'

let ofProcess: Registry | undefined

/** One for all servers of a process: each would observe the loop and the garbage collections once more, for ever. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}

export class Metrics {
  readonly #process = processRegistry()
  readonly #metrics: Metric[] = []
  #others: (() => Promise<readonly string[]>) | undefined

  constructor(metrics: readonly Metric[]) {
    this.add(metrics)
  }

  add(metrics: readonly Metric[]): void {
    this.#metrics.push(...metrics)
  }

  /** @param others what {@link Metrics.renderOwn} answers in each of the other threads */
  sumWith(others: () => Promise<readonly string[]>): void {
    this.#others = others
  }

  /** The part of this thread in the sums. */
  renderOwn(): string {
    return this.#text(metric => metric.isOfThreads === true)
  }

  /** Text exposition format and its content type. */
  async render(): Promise<{ contentType: string; body: string }> {
    const own = this.renderOwn()
    const summed = this.#others === undefined ? own : sumMetrics([own, ...(await this.#others())])
    return {
      contentType: this.#process.contentType,
      body: `${await this.#process.metrics()}${this.#text(metric => !metric.isOfThreads)}${summed}`,
    }
  }

  #text(shows: (metric: Metric) => boolean): string {
    return this.#metrics.filter(shows).map(metricText).join('')
  }
}
