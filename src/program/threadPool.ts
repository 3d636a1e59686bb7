/**
 * The threads for work that may take long: what one user asks for shall not hold the loop that serves all. They are few, for all sorts of
 * work together; they start with the first work and end after a quiet while.
 *
 * Every job has an owner, whom it is done for (a space). An owner has one thread at a time, and owners take turns: whoever asks for much
 * waits for themselves. A thread ends with its job when that takes too long or too much memory, or when its result is unwanted. The next
 * job gets another thread.
 */
import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import type { JobCall, JobMessage } from './serveJobs.ts'

/** A sort of work. */
export interface JobKind<_Input, _Result> {
  /** That the threads know it by. */
  readonly name: string
  /** Bound on the processor's time for one job; on a busy machine it may take some times as long. */
  readonly limitMs: number
}

export interface Job<Input> {
  input: Input
  /** Whom it is done for. */
  owner: string
  /** Aborts when nobody wants the result any more. */
  signal?: AbortSignal | undefined
}

/**
 * Reason of a missing result. It took too long or too much memory, its owner has too many in line, its waiter has gone, or the pool is
 * closed. A job that failed itself is a fault of the program.
 */
export type JobFailure = 'time' | 'memory' | 'crowded' | 'aborted' | 'closed' | 'failed'

export class JobError extends Error {
  readonly why: JobFailure

  constructor(why: JobFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'JobError'
    this.why = why
  }
}

export interface ThreadPoolOptions {
  /** Starts a thread that runs `serveJobs`. */
  start(): Worker
  /** Default: one less than there are processors, two to four. */
  threads?: number
  /** Jobs of one owner that may wait. */
  line?: number
  idleMs?: number
  /** Idle time of a thread whose heap has grown. */
  grownIdleMs?: number
}

/** Share of a machine's processors, so that the serving loop keeps one. */
const THREADS = Math.min(4, Math.max(2, availableParallelism() - 1))
export const LINE = 16
const IDLE_MS = 30_000
/** A heap that has grown stays as large as it is, mostly as garbage, for as long as its thread has nothing to do. */
const GROWN_BYTES = 64 * 1024 * 1024
const GROWN_IDLE_MS = 2000
const START_LIMIT_MS = 30_000
/** How often as long as its processor's time a thread may leave us without a word of what it has used. */
const BUSY_MACHINE = 4
/** How often as long a job may take by the clock, however little of the processor it is given. */
const BUSIEST_MACHINE = 20
/** At least between two looks at it. */
const LOOK_MS = 10

/** A job that waits or runs. */
interface Task {
  readonly kind: JobKind<unknown, unknown>
  readonly job: Job<unknown>
  settle(result: { result: unknown } | JobError): void
}

/** One thread; has a task or is idle. */
interface Seat {
  readonly worker: Worker
  task: Task | undefined
  timer: NodeJS.Timeout | undefined
}

export class ThreadPool {
  readonly #options: Required<ThreadPoolOptions>
  readonly #seats = new Set<Seat>()
  /** Threads on their way to an end: some work cannot be stopped at once. */
  readonly #ending = new Set<Worker>()
  /** By owner, in the order in which they are served next. Never empty lists. */
  readonly #lines = new Map<string, Task[]>()
  /** Owners with a thread. */
  readonly #busy = new Set<string>()
  #closed = false

  constructor(options: ThreadPoolOptions) {
    this.#options = {
      threads: THREADS,
      line: LINE,
      idleMs: IDLE_MS,
      grownIdleMs: GROWN_IDLE_MS,
      ...options,
    }
  }

  /** Threads that run, with those that are about to end. */
  get threads(): number {
    return this.#seats.size + this.#ending.size
  }

  /** `input` and the result are copied, as `structuredClone` would. @throws JobError */
  run<Input, Result>(kind: JobKind<Input, Result>, job: Job<Input>): Promise<Result> {
    const { owner, signal } = job
    if (this.#closed) return Promise.reject(new JobError('closed', 'the server is about to end'))
    if (signal?.aborted) return Promise.reject(aborted())
    const line = this.#lines.get(owner) ?? []
    if (line.length >= this.#options.line) {
      return Promise.reject(new JobError('crowded', `${line.length} such requests of ${owner} are waiting already`))
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => this.#abort(task)
      const task: Task = {
        kind,
        job,
        settle: outcome => {
          signal?.removeEventListener('abort', leave)
          if (outcome instanceof JobError) reject(outcome)
          else resolve(outcome.result as Result)
        },
      }
      signal?.addEventListener('abort', leave)
      line.push(task)
      this.#lines.set(owner, line)
      this.#serve()
    })
  }

  /** Ends all threads; what waits or runs fails. */
  async close(): Promise<void> {
    this.#closed = true
    const over = new JobError('closed', 'the server is about to end')
    const waiting = [...this.#lines.values()].flat()
    this.#lines.clear()
    for (const task of waiting) task.settle(over)
    const workers = [...this.#seats].map(seat => seat.worker)
    for (const seat of [...this.#seats]) this.#drop(seat, over)
    await Promise.all([...workers, ...this.#ending].map(worker => worker.terminate()))
  }

  /** Gives waiting jobs to free threads, one to each owner, and starts threads as long as there may be more. */
  #serve(): void {
    for (const owner of [...this.#lines.keys()]) {
      if (this.#busy.has(owner)) continue
      const seat = this.#freeSeat()
      if (seat === undefined) return
      const line = this.#lines.get(owner)!
      const task = line.shift()!
      this.#lines.delete(owner)
      // its next job comes after one of everybody else's
      if (line.length > 0) this.#lines.set(owner, line)
      this.#begin(seat, task)
    }
  }

  #freeSeat(): Seat | undefined {
    for (const seat of this.#seats) if (seat.task === undefined) return seat
    const { threads, start } = this.#options
    // Threads that do not end hold up others only when there are as many of them again.
    if (this.#seats.size >= threads || this.#seats.size + this.#ending.size >= 2 * threads) return undefined
    const seat: Seat = { worker: start(), task: undefined, timer: undefined }
    this.#seats.add(seat)
    seat.worker.unref()
    seat.worker.on('message', (message: JobMessage) => this.#receive(seat, message))
    seat.worker.on('error', (error: NodeJS.ErrnoException) => this.#drop(seat, failureOf(error)))
    seat.worker.on('exit', () => {
      this.#ending.delete(seat.worker)
      this.#drop(seat, new JobError('failed', 'its thread ended'))
    })
    return seat
  }

  #begin(seat: Seat, task: Task): void {
    seat.task = task
    this.#busy.add(task.job.owner)
    // With the job itself there is somebody who waits: a process that has nothing else to do does not end before.
    seat.worker.ref()
    this.#limit(seat, START_LIMIT_MS)
    seat.worker.postMessage({ name: task.kind.name, input: task.job.input } satisfies JobCall)
  }

  #receive(seat: Seat, message: JobMessage): void {
    const { task } = seat
    if (task === undefined) return
    if ('begun' in message) {
      this.#limitWork(seat, task, message)
      return
    }
    this.#free(seat)
    seat.worker.unref()
    this.#limitIdle(seat, 'heapBytes' in message && message.heapBytes > GROWN_BYTES)
    task.settle('failure' in message ? new JobError('failed', message.failure) : message)
    this.#serve()
  }

  #limit(seat: Seat, limitMs: number): void {
    clearTimeout(seat.timer)
    seat.timer = setTimeout(() => {
      this.#drop(seat, tookTooLong(limitMs))
    }, limitMs)
  }

  /** By the processor's time, so that what is refused depends little on what else the machine does. */
  #limitWork(seat: Seat, task: Task, { begun }: { begun: NodeJS.CpuUsage }): void {
    const { limitMs } = task.kind
    const endMs = performance.now() + BUSIEST_MACHINE * limitMs
    const end = (): void => this.#drop(seat, tookTooLong(limitMs))
    const lookIn = (ms: number): void => {
      clearTimeout(seat.timer)
      seat.timer = setTimeout(look, ms)
    }
    const look = (): void => {
      const leftMs = endMs - performance.now()
      // Some of V8's work has no such check.
      seat.timer = setTimeout(end, Math.max(0, Math.min(leftMs, BUSY_MACHINE * limitMs)))
      seat.worker.cpuUsage(begun).then(
        ({ user, system }) => {
          if (seat.task !== task) return
          const unusedMs = limitMs - (user + system) / 1000
          if (unusedMs <= 0) end()
          else if (leftMs > unusedMs) lookIn(Math.max(LOOK_MS, unusedMs))
        },
        (error: unknown) => this.#drop(seat, failureOf(error as NodeJS.ErrnoException)),
      )
    }
    lookIn(limitMs)
  }

  #limitIdle(seat: Seat, isGrown: boolean): void {
    clearTimeout(seat.timer)
    const { idleMs, grownIdleMs } = this.#options
    seat.timer = setTimeout(() => this.#drop(seat, aborted()), isGrown ? grownIdleMs : idleMs).unref()
  }

  #abort(task: Task): void {
    const { owner } = task.job
    const line = this.#lines.get(owner)
    const place = line?.indexOf(task) ?? -1
    if (place >= 0) {
      line!.splice(place, 1)
      if (line!.length === 0) this.#lines.delete(owner)
      task.settle(aborted())
      return
    }
    for (const seat of this.#seats) if (seat.task === task) this.#drop(seat, aborted())
  }

  #free(seat: Seat): void {
    if (seat.task !== undefined) this.#busy.delete(seat.task.job.owner)
    seat.task = undefined
  }

  /** Ends a thread, whatever it does. */
  #drop(seat: Seat, why: JobError): void {
    if (!this.#seats.delete(seat)) return
    clearTimeout(seat.timer)
    const { task, worker } = seat
    this.#free(seat)
    this.#ending.add(worker)
    worker.unref()
    void worker.terminate().then(() => {
      this.#ending.delete(worker)
      if (!this.#closed) this.#serve()
    })
    task?.settle(why)
    if (!this.#closed) this.#serve()
  }
}

function tookTooLong(limitMs: number): JobError {
  return new JobError('time', `it took longer than ${limitMs / 1000} s`)
}

function aborted(): JobError {
  return new JobError('aborted', 'nobody waits for it any more')
}

function failureOf(error: NodeJS.ErrnoException): JobError {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new JobError('memory', 'it took too much memory', { cause: error })
  return new JobError('failed', 'its thread failed', { cause: error })
}
