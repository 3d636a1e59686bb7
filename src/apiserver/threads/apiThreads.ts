/**
 * The API threads as the main thread has them. One that ends is followed by another, one that stands still is ended; what they
 * do not answer comes here as connections.
 */
import { X509Certificate } from 'node:crypto'
import type { Worker } from 'node:worker_threads'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { Clock } from '../../client/clock.ts'
import type { Following, ReplicaLink } from '../../storage/replica/sharedLog.ts'
import type { WatchBudget } from '../flowcontrol/watchBudget.ts'
import { addTally, emptyTally, type WatchTally } from '../flowcontrol/watchTally.ts'
import type { Logger } from '../request/logger.ts'
import type { ShownKeys } from '../server/shownKeys.ts'
import type { Crossing } from './forwarder.ts'
import { PortSocket } from './portSocket.ts'
import { WatchTidings } from './watchTidings.ts'

/** Requests of one sort that a thread answered, and how long each took. */
export interface Answered {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly code: number
  readonly seconds: readonly number[]
}

export type FromThread =
  | { readonly ready: true }
  | { readonly crossing: Crossing }
  | { readonly answered: readonly Answered[] }
  /** How its watches changed. */
  | { readonly watches: WatchTally }
  | { readonly log: keyof Logger; readonly fields: Record<string, unknown>; readonly text: string }

/** `drain`: it takes nothing new; `stop`: it ends when all is answered; `watches`: how those of others changed, or with -1, unchanged. */
export type ToThread =
  | { readonly keys: ShownKeys }
  | { readonly watches: WatchTally; readonly sign: 1 | -1 }
  | { readonly drain: true }
  | { readonly stop: true }

/** What each thread begins with, beside what its user adds. */
export interface ThreadStart {
  readonly link: ReplicaLink
  readonly keys: ShownKeys
  /** Those of all others. */
  readonly watches: WatchTally
  /** One word that it counts up as long as its loop turns. */
  readonly pulse: SharedArrayBuffer
}

/** What is used of a worker. */
export type ApiThread = Pick<Worker, 'postMessage' | 'terminate' | 'on'>

export interface ApiThreadsDeps {
  count: number
  follow(onCut: () => void): Following
  start(begin: ThreadStart, ports: Following['ports']): ApiThread
  keys: ShownKeys
  /** Where connections come in that crossed. */
  take(socket: PortSocket): void
  answered(requests: readonly Answered[]): void
  /** The main thread's, whose bounds are those of all. */
  watches: Pick<WatchBudget, 'all' | 'heard' | 'onChange'>
  clock: Clock
  log: Logger
}

export const PULSE_MS = 1000
/** A thread whose loop has not turned for so long is ended. */
export const STILL_MS = 15_000
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
  lastPulseMs: number
}

export class ApiThreads {
  readonly #deps: ApiThreadsDeps
  readonly #running = new Set<Running>()
  readonly #tidings: WatchTidings
  #keys: ShownKeys
  #failures = 0
  #isStopping = false
  #cancels = new Set<() => void>()

  constructor(deps: ApiThreadsDeps) {
    this.#deps = deps
    this.#keys = deps.keys
    this.#tidings = new WatchTidings({
      budget: deps.watches,
      tell: watches => this.#tell({ watches, sign: 1 }),
      after: (delayMs, run) => this.#after(delayMs, run),
    })
  }

  /** Resolves when each answers, or has ended: then another one comes later, and the main thread answers all meanwhile. */
  async start(): Promise<void> {
    const starts = Array.from({ length: this.#deps.count }, () => this.#startOne())
    this.#after(PULSE_MS, () => this.#look())
    await Promise.all(starts)
  }

  /** For connections from now on. */
  show(keys: ShownKeys): void {
    this.#keys = keys
    this.#tell({ keys })
  }

  drain(): void {
    this.#tell({ drain: true })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const cancel of this.#cancels) cancel()
    this.#tell({ stop: true })
    const cancel = this.#deps.clock.after(STOP_MS, () => this.#terminateAll())
    await Promise.all([...this.#running].map(({ exited }) => exited))
    cancel()
  }

  #tell(message: ToThread, except?: Running): void {
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
    const following = follow(() => log.warn({}, 'an API thread was too slow for what is written; it is replaced'))
    // what it begins with has them
    this.#tidings.tell()
    const begin: ThreadStart = { link: following.link, keys: this.#keys, watches: watches.all, pulse: memory }
    const thread = start(begin, following.ports)
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
      lastPulseMs: clock.now(),
    }
    const begunMs = clock.now()
    this.#running.add(running)
    thread.on('error', error => log.error({ err: messageOf(error) }, 'an API thread failed'))
    thread.on('exit', () => {
      this.#running.delete(running)
      following.end()
      this.#changed(running, running.watches, -1)
      ready.resolve()
      exited.resolve()
      this.#replace(clock.now() - begunMs)
    })
    thread.on('message', (message: FromThread) => {
      if ('ready' in message) {
        running.isReady = true
        ready.resolve()
      } else this.#heard(message, running)
    })
    await ready.promise
  }

  #heard(message: Exclude<FromThread, { ready: true }>, from: Running): void {
    const { log, answered } = this.#deps
    if ('crossing' in message) this.#cross(message.crossing)
    else if ('answered' in message) answered(message.answered)
    else if ('watches' in message) {
      addTally(from.watches, message.watches)
      this.#changed(from, message.watches, 1)
    } else log[message.log](message.fields, message.text)
  }

  #changed(from: Running, watches: WatchTally, sign: 1 | -1): void {
    this.#deps.watches.heard(watches, sign)
    this.#tell({ watches, sign }, from)
  }

  #cross({ port, remoteAddress, remotePort, certificate }: Crossing): void {
    const crossed = Object.assign(new PortSocket(port), {
      remoteAddress,
      remotePort,
      encrypted: true,
      // its thread has verified it
      authorized: certificate !== undefined,
      getPeerX509Certificate: () => certificate && new X509Certificate(certificate),
    })
    this.#deps.take(crossed)
  }

  #replace(livedMs: number): void {
    if (this.#isStopping) return
    if (livedMs >= PROVEN_MS) this.#failures = 0
    const delayMs = Math.min(AGAIN_MOST_MS, AGAIN_MS * 2 ** this.#failures++)
    this.#deps.log.error({ delayMs }, 'an API thread has ended; another one is started')
    this.#after(delayMs, () => void this.#startOne())
  }

  #look(): void {
    const now = this.#deps.clock.now()
    for (const running of this.#running) {
      const pulse = Atomics.load(running.pulse, 0)
      if (pulse !== running.lastPulse) {
        running.lastPulse = pulse
        running.lastPulseMs = now
      } else if (now - running.lastPulseMs >= (running.isReady ? STILL_MS : START_MS)) {
        this.#deps.log.error({}, 'an API thread stands still; it is ended')
        running.lastPulseMs = now
        void running.thread.terminate()
      }
    }
    this.#after(PULSE_MS, () => this.#look())
  }

  #after(delayMs: number, run: () => void): void {
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#cancels.delete(cancel)
      run()
    })
    this.#cancels.add(cancel)
  }
}
