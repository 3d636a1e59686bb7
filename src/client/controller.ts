/**
 * The controller runtime: sources turn what happens into keys, a work queue deduplicates them, `reconcile` converges one
 * key without knowing what woke it. Work starts when every source knows the present, so nothing is decided on half a view.
 */
import type { Together } from './bundles.ts'
import { aborted } from './clock.ts'
import type { Logger } from './logger.ts'
import { type Reconcile, WorkQueue, type WorkQueueOptions } from './workqueue.ts'

/** Something that keeps itself up to date for as long as it runs (an informer, a stream source). */
export interface Source {
  /** Resolves when the source has seen everything that existed when it started. */
  readonly synced: Promise<void>
  /** Runs until the signal aborts. Transport failures are its own business; a rejection stops the controller. */
  run(signal: AbortSignal): Promise<void>
}

export interface ControllerOptions<K> extends WorkQueueOptions<K> {
  /** Names the controller in the log. */
  name: string
  /** They call `controller.add` (or hold its queue) from their handlers. */
  sources: readonly Source[]
  reconcile: Reconcile<K>
  logger: Logger
  /** Keys reconciled at the same time. Default 4. */
  concurrency?: number
  /** As in {@link WorkQueue}. */
  together?: Together<K, unknown> | undefined
}

export class Controller<K> {
  readonly name: string
  readonly queue: WorkQueue<K>
  readonly #options: ControllerOptions<K>
  #stop: AbortController | undefined
  #running: Promise<void> | undefined

  constructor(options: ControllerOptions<K>) {
    this.name = options.name
    this.#options = options
    this.queue = new WorkQueue<K>(options)
  }

  add(key: K): void {
    this.queue.add(key)
  }

  /** As {@link WorkQueue.addAll}. */
  addAll(keys: Iterable<K>, owner?: string): void {
    this.queue.addAll(keys, owner)
  }

  /** Runs sources and reconciles until the signal aborts. To be called once. @throws what a source throws */
  async run(signal: AbortSignal): Promise<void> {
    const { name, sources, reconcile, concurrency, together, logger } = this.#options
    const own = new AbortController()
    const stop = AbortSignal.any([signal, own.signal])
    const watching = sources.map(source => source.run(stop))
    const working = (async () => {
      await Promise.race([Promise.all(sources.map(source => source.synced)), aborted(stop)])
      if (!stop.aborted) logger.debug({ controller: name }, 'controller is in step')
      await this.queue.run(reconcile, { signal: stop, together, ...(concurrency !== undefined && { concurrency }) })
    })()
    try {
      await Promise.all([...watching, working])
    } finally {
      own.abort()
      await Promise.allSettled([...watching, working])
    }
  }

  /** Like `run`, in the background until `stop`; a source that fails is logged. */
  start(): void {
    if (this.#running) throw new Error(`controller ${this.name} runs already`)
    this.#stop = new AbortController()
    this.#running = this.run(this.#stop.signal).catch(error => {
      this.#options.logger.error({ controller: this.name, err: error }, 'controller failed')
    })
  }

  /** Resolves when sources and running reconciles have ended. */
  async stop(): Promise<void> {
    this.#stop?.abort()
    await this.#running
  }
}
