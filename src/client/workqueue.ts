/**
 * A work queue of keys. Each key waits at most once, is never worked on by two at a time, and comes back with exponential backoff when its
 * work fails. A key added while it is being worked on is worked on again afterwards, so no news is lost. Keys wait in turns of their
 * owners: see {@link FairQueue}.
 *
 * Many keys, and keys without work, delay nothing else on the loop. Beginning work, and taking in the keys of {@link WorkQueue.addAll}, are
 * done in slices.
 * @see https://pkg.go.dev/k8s.io/client-go/util/workqueue for the idea
 */
import type { Work } from '../program/workTurns.ts'
import { Arrivals } from './arrivals.ts'
import { Bundles, type Together } from './bundles.ts'
import { aborted, type Clock } from './clock.ts'
import { FairQueue, type Lane } from './fairQueue.ts'
import { type Logger, silentLogger } from './logger.ts'
import { type Entry, type Place, QueueEntries } from './queueEntries.ts'
import { ReconcileFailures, TerminalError } from './reconcileFailures.ts'
import type { WorkRuntime } from './runtime.ts'
import type { KeyGuard, KeyHold } from './setAside/keyGuard.ts'
import { SlowWork } from './slowWork.ts'

export interface ReconcileResult {
  /** Look at the key again after this time, although nothing failed. */
  requeueAfterMs?: number
  /** Nothing was done yet: the key is added again when enough is known. */
  postponed?: boolean
}

/** Converges one key. Level-based, safe to repeat. Throw to be called again later; {@link TerminalError} to give up. */
// biome-ignore lint/suspicious/noConfusingVoidType: most reconcilers have nothing to say
export type Reconcile<K> = (key: K, signal: AbortSignal) => Promise<ReconcileResult | void>

export interface WorkQueueOptions<K> extends Omit<WorkRuntime, 'logger'> {
  /** Identity of a key. Default: the string itself, or the JSON of an object (mind the order of its fields). */
  id?: (key: K) => string
  /** The same in two strings that are at hand, where many keys wait: nobody puts together what only finds them. Default: the id. */
  place?: ((key: K) => Place) | undefined
  /**
   * Party of the work (a space). Slow work then no longer takes the place of others, and a party with much of it under way waits alone. One
   * space's silent webhooks keep no other space waiting.
   */
  party?: ((key: K) => string) | undefined
  /**
   * In whose turn a key waits. It is called for each added key, also when an equal one already waits in another's turn. The key is then
   * worked on in the turn that comes first. Default: its party's.
   */
  lane?: ((key: K) => Lane) | undefined
  /** How many turns of its owner a part of it has in a row. Default: one. */
  run?: number | undefined
  /** Called for each key that the guard holds back, at each addition, and at the end of the hold (no `hold`). */
  held?: ((key: K, hold: KeyHold | undefined) => void) | undefined
  /** Retry delay bounds. Default 10 ms to 60 s. */
  baseMs?: number
  maxMs?: number
  logger?: Logger
}

interface RunOptions<K, P> {
  /** Keys worked on at the same time, beside those that are done together. Default 4. */
  concurrency?: number
  together?: Together<K, P> | undefined
  /** Ends the run; running reconciles get it as their own signal. */
  signal: AbortSignal
}

interface Worker<K> {
  readonly reconcile: Reconcile<K>
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly bundles: Bundles<K, Entry<K>, unknown> | undefined
}

const NOBODYS: Lane = { owner: '' }

function sameLane(a: Lane, b: Lane): boolean {
  return a.owner === b.owner && a.part === b.part && a.last === b.last
}

function isQueued(entry: { readonly queued: boolean }): boolean {
  return entry.queued
}

export class WorkQueue<K = string> {
  readonly #id: (key: K) => string
  readonly #party: ((key: K) => string) | undefined
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #failures: ReconcileFailures<K>
  readonly #lane: (key: K) => Lane
  readonly #guard: KeyGuard | undefined
  readonly #held: ((key: K, hold: KeyHold | undefined) => void) | undefined
  readonly #beginning: Work
  readonly #arrivals: Arrivals<K>
  readonly #entries: QueueEntries<K>
  /** Waiting entries; also those taken in another turn meanwhile, which are skipped. */
  readonly #waiting: FairQueue<Entry<K>>
  #queued = 0
  #running = 0
  readonly #slow: SlowWork<Entry<K>>
  readonly #stands = (owner: string): boolean => this.#worker?.bundles?.stands(owner) === true
  #worker: Worker<K> | undefined
  #pumping = false
  /** Beginning work goes on in a later turn of the loop. */
  #resting = false
  #stopped = false
  #idleWaiters: (() => void)[] = []
  #settled: (() => void) | undefined

  constructor(options: WorkQueueOptions<K>) {
    this.#id = options.id ?? (key => (typeof key === 'string' ? key : JSON.stringify(key)))
    const { party, place } = options
    this.#entries = new QueueEntries<K>(place ?? (key => ({ part: '', name: this.#id(key) })))
    this.#party = party
    this.#lane = options.lane ?? (party ? key => ({ owner: party(key) }) : () => NOBODYS)
    this.#waiting = new FairQueue<Entry<K>>(options.run === undefined ? {} : { run: options.run })
    this.#guard = options.guard
    this.#held = options.held
    this.#clock = options.clock
    this.#logger = options.logger ?? silentLogger
    this.#failures = new ReconcileFailures<K>({
      backoff: { baseMs: options.baseMs ?? 10, maxMs: options.maxMs ?? 60_000 },
      clock: this.#clock,
      random: options.random,
      logger: this.#logger,
    })
    this.#slow = new SlowWork<Entry<K>>({
      clock: this.#clock,
      isWanted: isQueued,
      becameSlow: () => this.#schedulePump(),
      back: (entry, lane) => this.#waiting.add(entry, lane),
    })
    const { turns } = options
    this.#beginning = turns.begin({ owner: 'beginning' })
    this.#arrivals = new Arrivals({
      work: turns.begin({ owner: 'arriving' }),
      add: key => this.add(key),
      waiting: owner => this.#waiting.waiting(owner),
      over: () => {
        if (this.size === 0) this.#wakeIdle()
      },
      logger: this.#logger,
    })
  }

  /** Keys that wait or run now; those that only wait for a timer are not counted, those that are yet to be added as one. */
  get size(): number {
    return this.#queued + this.#running + (this.#arrivals.isEmpty ? 0 : 1)
  }

  /** Asks for a reconcile of `key` soon, also when a retry of it waits for its time. Without effect after the run ended. */
  add(key: K): void {
    if (this.#stopped) return
    this.#enqueue(this.#entries.of(key, this.#lane(key)))
  }

  /**
   * Asks the same for many keys. They are drawn now as far as the slice of this turn goes, and in later turns. Those of one owner come in
   * order and behind its earlier ones; their source may read the present. A key that a later call of {@link add} names is worked on then,
   * and again when its place here comes. No more is drawn of an owner with much in the queue until less waits. The exception is `first`,
   * which is drawn before all other iterators of the owner, for the effect of drawing it.
   */
  addAll(keys: Iterable<K>, owner = '', first?: Iterable<unknown>): void {
    if (!this.#stopped) this.#arrivals.add(keys, owner, first)
  }

  /** Asks for a reconcile `delayMs` from now; of several such wishes for a key the earliest is kept. */
  addAfter(key: K, delayMs: number): void {
    if (this.#stopped) return
    const entry = this.#entries.of(key, this.#lane(key))
    const atMs = this.#clock.now() + delayMs
    if (entry.later && entry.later.atMs <= atMs) return
    entry.later?.cancel()
    const cancel = this.#clock.after(Math.max(0, delayMs), () => {
      entry.later = undefined
      this.#enqueue(entry)
    })
    entry.later = { atMs, cancel }
  }

  /**
   * Works until the signal aborts; resolves once the running reconciles have settled. To be called once. Keys may be added
   * before.
   */
  async run<P>(reconcile: Reconcile<K>, options: RunOptions<K, P>): Promise<void> {
    if (this.#worker || this.#stopped) throw new Error('a work queue runs once')
    const { signal, concurrency = 4, together } = options
    const bundles =
      together &&
      new Bundles<K, Entry<K>, P>(
        together,
        (entries, work, over) => void this.#workTogether(entries, work, { reconcile, signal, over }),
      )
    this.#worker = { reconcile, concurrency, signal, bundles }
    this.#pump()
    if (!signal.aborted) await aborted(signal)
    this.#stop()
    if (this.#running > 0) await new Promise<void>(resolve => (this.#settled = resolve))
  }

  /** Resolves when no key waits or runs (at once when that is so now). Keys that wait for a timer do not count. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve()
    return new Promise(resolve => this.#idleWaiters.push(resolve))
  }

  #enqueue(entry: Entry<K>, lane = entry.lane): void {
    if (this.#stopped) return
    if (entry.running) {
      entry.dirty ??= []
      if (!entry.dirty.some(other => sameLane(other, lane))) entry.dirty.push(lane)
      return
    }
    entry.cancelRetry?.()
    entry.cancelRetry = undefined
    if (this.#guard && this.#guard.holdsAny !== false && this.#isHeld(this.#guard, entry)) return
    if (!entry.queued) this.#queued++
    entry.queued = true
    this.#waiting.add(entry, lane)
    this.#schedulePump()
  }

  #isHeld(guard: KeyGuard, entry: Entry<K>): boolean {
    const hold = guard.holds(this.#id(entry.key), () => {
      this.#held?.(entry.key, undefined)
      this.#enqueue(entry)
    })
    if (hold) this.#held?.(entry.key, hold)
    return hold !== undefined
  }

  /** Reconciles start from a microtask, never inside the call that added the key. */
  #schedulePump(): void {
    if (this.#pumping || !this.#worker) return
    this.#pumping = true
    queueMicrotask(() => {
      this.#pumping = false
      this.#pump()
    })
  }

  #pump(): void {
    const worker = this.#worker
    if (!worker || this.#stopped || this.#resting || worker.signal.aborted) return
    this.#begin(worker)
    worker.bundles?.begin()
    this.#arrivals.goOn()
  }

  #begin(worker: Worker<K>): void {
    const { bundles, concurrency } = worker
    while (this.#running - (bundles?.running ?? 0) - this.#slow.running < concurrency) {
      if ((this.#queued > 0 || (bundles?.standing ?? 0) > 0) && this.#beginning.due) {
        void this.#rest()
        return
      }
      const next = this.#next(bundles)
      if (!next) return
      const { item: entry, lane } = next
      if (!bundles?.take(entry, lane.owner)) void this.#work(entry, worker.reconcile, worker.signal)
    }
  }

  #next(bundles: Worker<K>['bundles']): { readonly item: Entry<K>; readonly lane: Lane } | undefined {
    const held = bundles?.next()
    if (held) return held
    for (;;) {
      const taken = this.#waiting.take(isQueued, this.#stands)
      if (!taken) return undefined
      const { item: entry, lane } = taken
      if (this.#party && this.#slow.holds(this.#party(entry.key), entry, lane)) continue
      entry.queued = false
      this.#queued--
      entry.running = true
      this.#running++
      return taken
    }
  }

  /** Never rejects. */
  async #workTogether(
    entries: readonly Entry<K>[],
    work: () => Promise<readonly boolean[]>,
    { reconcile, signal, over }: { reconcile: Reconcile<K>; signal: AbortSignal; over: () => void },
  ): Promise<void> {
    const guard = this.#guard
    const ids = guard ? entries.map(({ key }) => this.#id(key)) : []
    const tickets = guard?.beginMany?.(ids) ?? ids.map(id => guard!.begin(id))
    let isDone: readonly boolean[] = []
    try {
      isDone = await work()
    } catch (error) {
      // each alone says what is wrong with it
      this.#logger.debug({ err: error }, 'what was begun together is done one by one')
    }
    over()
    for (const ticket of tickets) guard?.end(ticket, false)
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!
      if (!isDone[i]) {
        void this.#work(entry, reconcile, signal)
        continue
      }
      entry.failures = 0
      this.#settle(entry)
    }
    this.#ended()
  }

  /** Work that ends without waiting for anything begins the next one: without a rest that would never end. */
  async #rest(): Promise<void> {
    this.#resting = true
    await this.#beginning.rest()
    this.#resting = false
    this.#pump()
  }

  /** Never rejects: what the reconcile throws ends in the log and the retry timer. */
  async #work(entry: Entry<K>, reconcile: Reconcile<K>, signal: AbortSignal): Promise<void> {
    const ended = this.#party && this.#slow.begin(this.#party(entry.key))
    const ticket = this.#guard?.begin(this.#id(entry.key))
    let postponed = false
    try {
      const result = await reconcile(entry.key, signal)
      entry.failures = 0
      postponed = result?.postponed === true
      if (result?.requeueAfterMs !== undefined) this.addAfter(entry.key, result.requeueAfterMs)
    } catch (error) {
      this.#failed(entry, error, signal)
    }
    if (ticket !== undefined) this.#guard?.end(ticket, postponed)
    ended?.()
    this.#settle(entry)
    this.#ended()
  }

  /** Its work is over. */
  #settle(entry: Entry<K>): void {
    entry.running = false
    this.#running--
    const { dirty } = entry
    if (dirty) {
      entry.dirty = undefined
      for (const lane of dirty) this.#enqueue(entry, lane)
    } else if (!entry.queued && !entry.cancelRetry && !entry.later) {
      this.#entries.forget(entry)
    }
  }

  /** There is room for others. */
  #ended(): void {
    this.#pump()
    if (this.#running === 0) this.#settled?.()
    if (this.size === 0) this.#wakeIdle()
  }

  #wakeIdle(): void {
    for (const wake of this.#idleWaiters.splice(0)) wake()
  }

  #failed(entry: Entry<K>, error: unknown, signal: AbortSignal): void {
    if (signal.aborted || this.#stopped) {
      this.#failures.interrupted(entry.key, error)
      return
    }
    if (error instanceof TerminalError) {
      entry.failures = 0
      this.#failures.terminal(entry.key, error)
      return
    }
    const retryInMs = this.#failures.failed(entry.key, ++entry.failures, error)
    if (entry.dirty) return
    entry.cancelRetry = this.#clock.after(retryInMs, () => {
      entry.cancelRetry = undefined
      this.#enqueue(entry)
    })
  }

  #stop(): void {
    this.#stopped = true
    this.#running -= this.#worker?.bundles?.standing ?? 0
    this.#worker?.bundles?.clear()
    this.#entries.clear()
    this.#waiting.clear()
    this.#arrivals.stop()
    this.#queued = 0
    this.#slow.clear()
    for (const wake of this.#idleWaiters.splice(0)) wake()
  }
}
