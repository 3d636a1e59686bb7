/**
 * The API threads as the main thread has them. One that ends is followed by another, one that stands still is ended; what they
 * do not answer comes here as connections.
 */
import type { Worker } from 'node:worker_threads'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { Clock } from '../../client/clock.ts'
import type { Following, ReplicaLink } from '../../storage/replica/sharedLog.ts'
import type { ShownKeys } from '../connections/tls.ts'
import type { KindDocuments } from '../discovery/kindDocuments.ts'
import type { WatchBudget } from '../flowcontrol/watchBudget.ts'
import { addTally, emptyTally, type WatchTally } from '../flowcontrol/watchTally.ts'
import type { Logger } from '../request/logger.ts'
import { CrossedConnection } from './crossedConnection.ts'
import type { Crossing } from './crossings.ts'
import { answerOf, type DocumentAnswer, type DocumentAsk } from './forwardedDocuments.ts'
import { type ThreadEnd, ThreadFigures } from './threadFigures.ts'
import { WatchTidings } from './watchTidings.ts'

export type FromThread =
  | { readonly ready: true }
  | { readonly crossing: Crossing }
  | { readonly asks: DocumentAsk }
  /** How its watches changed. */
  | { readonly watches: WatchTally }
  /** Its metrics, on {@link ToThread}'s request. */
  | { readonly figures: string }
  | { readonly log: keyof Logger; readonly fields: Record<string, unknown>; readonly text: string }

/**
 * `drain`: it takes nothing new; `stop`: it ends when all is answered. `watches`: changes of others' watches, or with -1, unchanged.
 * `tell`: request for its metrics; `document`: answer to its own request.
 */
export type ToThread =
  | { readonly keys: ShownKeys }
  | { readonly watches: WatchTally; readonly sign: 1 | -1 }
  | { readonly send: 'figures' }
  | { readonly document: DocumentAnswer }
  | { readonly drain: true }
  | { readonly stop: true }

/** Common start data of each thread, beside its user's own. */
export interface ThreadStart {
  readonly link: ReplicaLink
  readonly keys: ShownKeys
  /** Those of all others. */
  readonly watches: WatchTally
  /** One word that it counts up as long as its loop turns. */
  readonly pulse: SharedArrayBuffer
}

/** Used part of a worker. */
export type ApiThread = Pick<Worker, 'postMessage' | 'terminate' | 'on'>

/** Why threads ended: by themselves, since they stood still, or since they did not keep up with what was written. */

export interface ApiThreadsDeps {
  count: number
  /** Another one has begun, or one has ended. */
  resized?: ((count: number) => void) | undefined
  follow(onCut: () => void): Following
  start(data: ThreadStart, ports: Following['ports']): ApiThread
  keys: ShownKeys
  /** Serves a connection that crossed. */
  accept(connection: CrossedConnection): void
  documents: KindDocuments
  /** The main thread's, whose bounds are those of all. */
  watches: Pick<WatchBudget, 'all' | 'add' | 'onChange'>
  /** Default: {@link PULSE_MS}. */
  pulseMs?: number | undefined
  clock: Clock
  log: Logger
}

export const PULSE_MS = 1000
/**
 * A thread whose loop has not turned for so many pulses is ended. They are counted, not timed: when the whole process was stopped
 * for a while, no thread is to blame.
 */
export const STILL_PULSES = 15
/** A thread that has to load the program and all objects, maybe with others, may take longer to begin. */
export const START_MS = 60_000
/** Before a thread is replaced; twice as long each time, until one is up for a minute. */
const AGAIN_MS = 1000
const AGAIN_MOST_MS = 30_000
const PROVEN_MS = 60_000
/** How long it may take to answer what is under way. */
const STOP_MS = 8000

interface Running {
  readonly thread: ApiThread
  readonly following: Following
  readonly pulse: Int32Array
  readonly exited: Promise<void>
  readonly watches: WatchTally
  isReady: boolean
  lastPulse: number
  /** Looks since that was another one. */
  still: number
  /** Why it is about to end. */
  end: ThreadEnd
}

export class ApiThreads {
  readonly #deps: ApiThreadsDeps
  readonly #running = new Set<Running>()
  readonly #tidings: WatchTidings
  readonly #figures: ThreadFigures<ApiThread>
  readonly #ended: Record<ThreadEnd, number> = { failed: 0, still: 0, behind: 0 }
  readonly #pulseMs: number
  #keys: ShownKeys
  #failures = 0
  #isStopping = false
  #cancels = new Set<() => void>()

  constructor(deps: ApiThreadsDeps) {
    this.#deps = deps
    this.#keys = deps.keys
    this.#pulseMs = deps.pulseMs ?? PULSE_MS
    this.#figures = new ThreadFigures({
      ask: thread => thread.postMessage({ send: 'figures' } satisfies ToThread),
      after: (run: () => void) => deps.clock.after(this.#pulseMs, run),
    })
    this.#tidings = new WatchTidings({
      budget: deps.watches,
      send: watches => this.#post({ watches, sign: 1 }),
      after: (delayMs, run) => this.#after(delayMs, run),
    })
  }

  /** Resolves when each answers, or has ended: then another one comes later, and the main thread answers all meanwhile. */
  async start(): Promise<void> {
    const starts = Array.from({ length: this.#deps.count }, () => this.#startOne())
    this.#after(this.#pulseMs, () => this.#look())
    await Promise.all(starts)
  }

  /** How many answer now. */
  get size(): number {
    let ready = 0
    for (const { isReady } of this.#running) if (isReady) ready++
    return ready
  }

  /** How many ended that were to go on. */
  get ended(): Readonly<Record<ThreadEnd, number>> {
    return this.#ended
  }

  /** Metrics to add to the main thread's: see {@link ThreadFigures}. */
  figures(): Promise<readonly string[]> {
    return this.#figures.all()
  }

  /** For connections from now on. */
  show(keys: ShownKeys): void {
    this.#keys = keys
    this.#post({ keys })
  }

  drain(): void {
    this.#post({ drain: true })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const cancel of this.#cancels) cancel()
    this.#figures.close()
    this.#post({ stop: true })
    const cancel = this.#deps.clock.after(STOP_MS, () => this.#terminateAll())
    await Promise.all([...this.#running].map(({ exited }) => exited))
    cancel()
  }

  #post(message: ToThread, except?: Running): void {
    for (const running of this.#running) if (running !== except) running.thread.postMessage(message)
  }

  #terminateAll(): void {
    for (const { thread } of this.#running) void thread.terminate()
  }

  async #startOne(): Promise<void> {
    try {
      await this.#run()
    } catch (error) {
      this.#deps.log.error({ err: messageOf(error) }, 'an API thread could not be started')
      this.#replace(0)
    }
  }

  async #run(): Promise<void> {
    const { follow, start, watches, clock, log } = this.#deps
    const memory = new SharedArrayBuffer(4)
    // it ends by itself then
    const following = follow(() => {
      log.warn({}, 'an API thread was too slow for what is written; it is replaced')
      running.end = 'behind'
    })
    // what it begins with has them
    this.#tidings.send()
    const data: ThreadStart = { link: following.link, keys: this.#keys, watches: watches.all, pulse: memory }
    const thread = start(data, following.ports)
    const exited = Promise.withResolvers<void>()
    const ready = Promise.withResolvers<void>()
    const running: Running = {
      thread,
      following,
      pulse: new Int32Array(memory),
      exited: exited.promise,
      watches: emptyTally(),
      isReady: false,
      lastPulse: 0,
      still: 0,
      end: 'failed',
    }
    const begunMs = clock.now()
    this.#running.add(running)
    this.#deps.resized?.(this.#running.size)
    thread.on('error', error => log.error({ err: messageOf(error) }, 'an API thread failed'))
    thread.on('exit', () => {
      this.#running.delete(running)
      following.end()
      this.#changed(running, running.watches, -1)
      this.#figures.gone(thread)
      ready.resolve()
      exited.resolve()
      this.#deps.resized?.(this.#running.size)
      if (this.#isStopping) return
      this.#ended[running.end]++
      this.#replace(clock.now() - begunMs)
    })
    thread.on('message', (message: FromThread) => {
      if ('ready' in message) {
        running.isReady = true
        // its pulses begin now: looks of the time that it took to begin do not count
        running.still = 0
        this.#figures.joined(thread)
        ready.resolve()
      } else this.#received(message, running)
    })
    await ready.promise
  }

  #received(message: Exclude<FromThread, { ready: true }>, from: Running): void {
    const { log } = this.#deps
    if ('crossing' in message) this.#deps.accept(new CrossedConnection(message.crossing))
    else if ('asks' in message) void this.#answer(message.asks, from)
    else if ('figures' in message) this.#figures.answered(from.thread, message.figures)
    else if ('watches' in message) {
      addTally(from.watches, message.watches)
      this.#changed(from, message.watches, 1)
    } else log[message.log](message.fields, message.text)
  }

  #changed(from: Running, watches: WatchTally, sign: 1 | -1): void {
    this.#deps.watches.add(watches, sign)
    this.#post({ watches, sign }, from)
  }

  async #answer(ask: DocumentAsk, { thread }: Running): Promise<void> {
    const answer = await answerOf(ask, this.#deps.documents)
    const bytes = answer.document ? [answer.document.body.buffer] : []
    thread.postMessage({ document: answer } satisfies ToThread, bytes)
  }

  #replace(livedMs: number): void {
    if (this.#isStopping) return
    if (livedMs >= PROVEN_MS) this.#failures = 0
    const delayMs = Math.min(AGAIN_MOST_MS, AGAIN_MS * 2 ** this.#failures++)
    this.#deps.log.error({ delayMs }, 'an API thread has ended; another one is started')
    this.#after(delayMs, () => void this.#startOne())
  }

  #look(): void {
    for (const running of this.#running) {
      const pulse = Atomics.load(running.pulse, 0)
      if (pulse !== running.lastPulse) {
        running.lastPulse = pulse
        running.still = 0
      } else if (++running.still >= (running.isReady ? STILL_PULSES : START_MS / this.#pulseMs)) {
        this.#deps.log.error({}, 'an API thread stands still; it is ended')
        running.still = 0
        running.end = 'still'
        void running.thread.terminate()
      }
    }
    this.#after(this.#pulseMs, () => this.#look())
  }

  #after(delayMs: number, run: () => void): void {
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#cancels.delete(cancel)
      run()
    })
    this.#cancels.add(cancel)
  }
}
