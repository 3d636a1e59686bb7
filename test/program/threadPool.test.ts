/** Long work is bounded, fair between owners, and ends with whoever wanted it. */
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import {
  JobError,
  type JobFailure,
  type JobKind,
  ThreadPool,
  type ThreadPoolOptions,
} from '../../src/program/threadPool.ts'
import { PATIENCE_MS } from '../support/patience.ts'

const DOUBLE: JobKind<number, number> = { name: 'double', limitMs: PATIENCE_MS }
const HELD: JobKind<Int32Array, string> = { name: 'held', limitMs: PATIENCE_MS }
const endless = (limitMs = PATIENCE_MS): JobKind<null, never> => ({ name: 'endless', limitMs })
const of = (name: string): JobKind<null, never> => ({ name, limitMs: PATIENCE_MS })

function poolFor(t: Test, options: Partial<ThreadPoolOptions> = {}): { pool: ThreadPool; started: () => number } {
  let started = 0
  const pool = new ThreadPool({
    threads: 2,
    start: () => {
      started++
      const resourceLimits = { maxOldGenerationSizeMb: 32 }
      return new Worker(join(import.meta.dirname, 'poolThread.ts'), { resourceLimits })
    },
    ...options,
  })
  t.teardown(() => pool.close())
  return { pool, started: () => started }
}

/** A job that reports its start, and ends on command. */
function held(pool: ThreadPool, owner: string, signal?: AbortSignal) {
  const memory = new Int32Array(new SharedArrayBuffer(8))
  const done = pool.run(HELD, { input: memory, owner, signal })
  const release = (): void => {
    Atomics.store(memory, 1, 1)
    Atomics.notify(memory, 1)
  }
  const begun = async (): Promise<void> => {
    const waiting = Atomics.waitAsync(memory, 0, 0)
    if (waiting.async) await waiting.value
  }
  return { done, release, begun }
}

const fails = (t: Test, job: Promise<unknown>, why: JobFailure): Promise<unknown> =>
  t.rejects(job, { name: JobError.name, why } as unknown as Error)

t.test('results come, from as few threads as will do', async t => {
  const { pool, started } = poolFor(t)
  t.equal(started(), 0, 'no thread before there is a job')
  for (let n = 0; n < 5; n++) t.equal(await pool.run(DOUBLE, { input: n, owner: 'a' }), 2 * n)
  t.equal(started(), 1)
})

t.test("an owner's jobs wait for each other and for nobody else's, nor do others for them", async t => {
  const { pool, started } = poolFor(t)
  const first = held(pool, 'a')
  await first.begun()
  const told: string[] = []
  const second = pool.run(DOUBLE, { input: 1, owner: 'a' }).then(() => told.push('a'))
  await pool.run(DOUBLE, { input: 1, owner: 'b' }).then(() => told.push('b'))
  t.strictSame(told, ['b'])
  first.release()
  await second
  t.equal(await first.done, 'let go')
  t.equal(started(), 2)
})

t.test('owners take turns, however many jobs each has', async t => {
  const { pool } = poolFor(t, { threads: 1 })
  const first = held(pool, 'a')
  await first.begun()
  const told: string[] = []
  const job = (owner: string): Promise<unknown> => pool.run(DOUBLE, { input: 1, owner }).then(() => told.push(owner))
  const all = [job('a'), job('a'), job('a'), job('b'), job('b'), job('c')]
  first.release()
  await Promise.all(all)
  t.strictSame(told, ['a', 'b', 'c', 'a', 'b', 'a'])
})

t.test('an owner with many in line is refused, others are not', async t => {
  const { pool } = poolFor(t, { line: 2 })
  const first = held(pool, 'a')
  await first.begun()
  const waiting = [1, 2].map(input => pool.run(DOUBLE, { input, owner: 'a' }))
  await fails(t, pool.run(DOUBLE, { input: 3, owner: 'a' }), 'crowded')
  t.equal(await pool.run(DOUBLE, { input: 4, owner: 'b' }), 8)
  first.release()
  t.strictSame(await Promise.all(waiting), [2, 4])
})

t.test('what does not end is ended, and its place is free again', async t => {
  const { pool } = poolFor(t, { threads: 1 })
  await fails(t, pool.run(endless(50), { input: null, owner: 'a' }), 'time')
  t.equal(await pool.run(DOUBLE, { input: 1, owner: 'a' }), 2)
})

/** A thread on a machine that hardly lets it work: it gets a thousandth of each millisecond, until enough reads. */
class StarvedThread extends EventEmitter {
  #asked = 0
  readonly #patience: number

  constructor(patience: number) {
    super()
    this.#patience = patience
  }

  ref(): void {}
  unref(): void {}
  postMessage(): void {
    this.emit('message', { begun: { user: 0, system: 0 } })
  }
  async cpuUsage(): Promise<NodeJS.CpuUsage> {
    if (++this.#asked === this.#patience) setImmediate(() => this.emit('message', { result: 'done' }))
    return { user: this.#asked, system: 0 }
  }
  async terminate(): Promise<void> {}
}

t.test('a job gets its time of the processor, however long a busy machine takes to give it that', async t => {
  const { pool } = poolFor(t, { start: () => new StarvedThread(6) as unknown as Worker })
  // by the clock it takes far longer than four times that
  const kind: JobKind<null, string> = { name: 'starved', limitMs: 100 }
  t.equal(await pool.run(kind, { input: null, owner: 'a' }), 'done')
})

t.test('so is what takes all memory', async t => {
  const { pool } = poolFor(t, { threads: 1 })
  await fails(t, pool.run(of('greedy'), { input: null, owner: 'a' }), 'memory')
  t.equal(await pool.run(DOUBLE, { input: 1, owner: 'a' }), 2)
})

t.test('a thread that ends by itself is replaced, and a job that fails says why', async t => {
  const { pool } = poolFor(t, { threads: 1 })
  await fails(t, pool.run(of('exits'), { input: null, owner: 'a' }), 'failed')
  await t.rejects(pool.run(of('broken'), { input: null, owner: 'a' }), { message: /a fault of ours/ })
  await t.rejects(pool.run(of('unknown'), { input: null, owner: 'a' }), { message: /there is no job unknown/ })
  t.equal(await pool.run(DOUBLE, { input: 1, owner: 'a' }), 2)
})

t.test('a job ends when nobody wants it any more, running or not', async t => {
  const { pool, started } = poolFor(t, { threads: 1 })
  const gone = new AbortController()
  const running = held(pool, 'a', gone.signal)
  await running.begun()
  const left = new AbortController()
  const waiting = pool.run(DOUBLE, { input: 1, owner: 'a', signal: left.signal })
  left.abort()
  await fails(t, waiting, 'aborted')
  gone.abort()
  await fails(t, running.done, 'aborted')
  await fails(t, pool.run(DOUBLE, { input: 1, owner: 'a', signal: gone.signal }), 'aborted')
  t.equal(await pool.run(DOUBLE, { input: 2, owner: 'a' }), 4)
  t.equal(started(), 2, 'the thread that was ended was replaced')
})

t.test('a thread whose heap has grown is not kept for the next job', async t => {
  const start = (): Worker => new Worker(join(import.meta.dirname, 'poolThread.ts'))
  const { pool } = poolFor(t, { idleMs: PATIENCE_MS, grownIdleMs: 1, start })
  await pool.run(DOUBLE, { input: 1, owner: 'a' })
  t.equal(pool.threads, 1)
  const large: JobKind<number, number> = { name: 'large', limitMs: PATIENCE_MS }
  t.equal(await pool.run(large, { input: 80, owner: 'a' }), 80)
  while (pool.threads > 0) await new Promise(resolve => setTimeout(resolve, 1))
  t.equal(await pool.run(DOUBLE, { input: 1, owner: 'a' }), 2)
})

t.test('threads end when there is nothing to do, and all with the pool', async t => {
  const { pool } = poolFor(t, { idleMs: 1 })
  await pool.run(DOUBLE, { input: 1, owner: 'a' })
  while (pool.threads > 0) await new Promise(resolve => setTimeout(resolve, 1))
  const running = held(pool, 'a')
  const waiting = pool.run(DOUBLE, { input: 1, owner: 'a' })
  await running.begun()
  const refused = [fails(t, running.done, 'closed'), fails(t, waiting, 'closed')]
  await pool.close()
  await Promise.all(refused)
  t.equal(pool.threads, 0)
  await fails(t, pool.run(DOUBLE, { input: 1, owner: 'a' }), 'closed')
})
