/** API threads that end, stand still or cannot be reached: the reaction of the main thread. */
import { EventEmitter } from 'node:events'
import t from 'tap'
import { WatchBudget } from '../../../src/apiserver/flowcontrol/watchBudget.ts'
import type { WatchTally } from '../../../src/apiserver/flowcontrol/watchTally.ts'
import {
  type ApiThread,
  ApiThreads,
  type ApiThreadsDeps,
  type FromThread,
  PULSE_MS,
  START_MS,
  STILL_PULSES,
  type ThreadStart,
  type ToThread,
} from '../../../src/apiserver/threads/apiThreads.ts'
import { WatchTidings } from '../../../src/apiserver/threads/watchTidings.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

class FakeThread extends EventEmitter {
  readonly told: ToThread[] = []
  readonly pulse: Int32Array
  terminated = 0

  constructor({ pulse }: ThreadStart) {
    super()
    this.pulse = new Int32Array(pulse)
  }

  postMessage(message: ToThread): void {
    this.told.push(message)
  }

  async terminate(): Promise<number> {
    this.terminated++
    this.emit('exit', 1)
    return 1
  }

  says(message: FromThread): void {
    this.emit('message', message)
  }
}

function threadsOf(count: number, refuses: () => boolean = () => false, more: Partial<ApiThreadsDeps> = {}) {
  const clock = new FakeClock()
  const threads: FakeThread[] = []
  const begun: ThreadStart[] = []
  const errors: string[] = []
  const watches = new WatchBudget(800)
  const cuts: (() => void)[] = []
  let followers = 0
  const apiThreads = new ApiThreads({
    count,
    follow(onCut) {
      followers++
      cuts.push(onCut)
      return { link: {} as never, ports: [], end: () => followers-- }
    },
    start(begin) {
      if (refuses()) throw new Error('no more threads')
      begun.push(begin)
      threads.push(new FakeThread(begin))
      return threads.at(-1) as unknown as ApiThread
    },
    keys: { cert: 'first', key: '', ca: '' },
    accept() {},
    documents: { get: () => undefined },
    watches,
    clock,
    ...more,
    log: { info() {}, warn() {}, error: (_, text) => errors.push(text) },
  })
  return { apiThreads, clock, threads, begun, errors, watches, cuts, followers: () => followers }
}

t.test('a thread that stands still is ended and replaced; one whose loop turns is left alone', async t => {
  const { apiThreads, clock, threads, errors, followers, cuts } = threadsOf(2)
  const started = apiThreads.start()
  for (const thread of threads) thread.says({ ready: true })
  await started
  const [still, alive] = threads as [FakeThread, FakeThread]
  t.equal(apiThreads.size, 2)
  for (let pulses = 0; pulses < STILL_PULSES; pulses++) {
    Atomics.add(alive.pulse, 0, 1)
    await clock.advance(PULSE_MS)
  }
  t.equal(still.terminated, 1)
  t.equal(alive.terminated, 0)
  t.match(errors, ['an API thread stands still; it is ended', 'an API thread has ended; another one is started'])
  await clock.advance(PULSE_MS)
  t.equal(threads.length, 3, 'another one is there')
  t.equal(followers(), 2, 'and nobody keeps a log for the one that is gone')
  t.equal(apiThreads.size, 1, 'it has not begun yet')
  cuts[1]!()
  alive.emit('exit', 1)
  threads[2]!.emit('exit', 1)
  t.same(apiThreads.ended, { failed: 1, still: 1, behind: 1 })
})

t.test('of a process that was stopped for a while no thread is ended', async t => {
  const { apiThreads, clock, threads } = threadsOf(2)
  const started = apiThreads.start()
  for (const thread of threads) thread.says({ ready: true })
  await started
  clock.leap(3_600_000)
  await clock.advance(PULSE_MS)
  for (const { pulse } of threads) Atomics.add(pulse, 0, 1)
  await clock.advance((STILL_PULSES - 1) * PULSE_MS)
  t.same(
    threads.map(({ terminated }) => terminated),
    [0, 0],
  )
})

t.test('metrics of all threads are asked for; one that says nothing is waited for until the next look', async t => {
  const { apiThreads, clock, threads } = threadsOf(2)
  const started = apiThreads.start()
  for (const thread of threads) thread.says({ ready: true })
  await started
  const [one, other] = threads as [FakeThread, FakeThread]
  const counted = (count: number): string => `# HELP c .\n# TYPE c counter\nc ${count}\n`
  const both = apiThreads.figures()
  t.same(one.told, [{ send: 'figures' }])
  one.says({ figures: counted(2) })
  other.says({ figures: counted(3) })
  t.same(await both, ['', counted(2), counted(3)])
  const late = apiThreads.figures()
  one.says({ figures: counted(5) })
  await clock.advance(PULSE_MS)
  t.same(await late, ['', counted(5), counted(3)], 'as it was last')
  const ends = apiThreads.figures()
  one.says({ figures: counted(6) })
  other.emit('exit', 1)
  t.same(await ends, [counted(3), counted(6)], 'what it had counted is not lost')
})

t.test('a thread that takes long to begin is left to it, though not for ever', async t => {
  const { apiThreads, clock, threads } = threadsOf(2)
  const started = apiThreads.start()
  const [slow, hangs] = threads as [FakeThread, FakeThread]
  await clock.advance(START_MS - PULSE_MS)
  t.equal(slow.terminated, 0)
  slow.says({ ready: true })
  await clock.advance((STILL_PULSES - 1) * PULSE_MS)
  t.same([slow.terminated, hangs.terminated], [0, 1], 'its pulses begin when it is ready')
  await started
  await clock.advance(PULSE_MS)
  t.equal(slow.terminated, 1, 'from then on it has to go on')
})

t.test(
  'threads that end again and again are started ever more slowly, with the newest keys; the server starts',
  async t => {
    const { apiThreads, clock, threads, begun } = threadsOf(1)
    const started = apiThreads.start()
    threads[0]!.emit('exit', 1)
    await started
    apiThreads.show({ cert: 'second', key: '', ca: '' })
    const startsAfter: number[] = []
    for (let seconds = 1; seconds <= 64; seconds++) {
      await clock.advance(1000)
      if (threads.length > startsAfter.length + 1) {
        startsAfter.push(seconds)
        threads.at(-1)!.emit('exit', 1)
      }
    }
    t.same(startsAfter, [1, 3, 7, 15, 31, 61])
    t.equal(begun[0]!.keys.cert, 'first')
    t.equal(begun[1]!.keys.cert, 'second')
  },
)

t.test('a thread that cannot be started is tried again', async t => {
  let refusals = 2
  const { apiThreads, clock, threads, errors } = threadsOf(1, () => refusals-- > 0)
  await apiThreads.start()
  await clock.advance(4000)
  t.equal(threads.length, 1)
  t.equal(errors[0], 'an API thread could not be started')
})

t.test('who stops waits until threads have answered, and no longer than it must', async t => {
  const { apiThreads, clock, threads } = threadsOf(2)
  const started = apiThreads.start()
  for (const thread of threads) thread.says({ ready: true })
  await started
  apiThreads.drain()
  const stopped = apiThreads.stop()
  const [ends, hangs] = threads as [FakeThread, FakeThread]
  t.same(ends.told, [{ drain: true }, { stop: true }])
  ends.emit('exit', 0)
  await clock.advance(10_000)
  await stopped
  t.equal(hangs.terminated, 1)
  await clock.advance(60_000)
  t.equal(threads.length, 2, 'none is started any more')
})

t.test('watches of one thread count in all others, and no longer when it has ended', async t => {
  const { apiThreads, clock, threads, begun, watches } = threadsOf(2)
  const owner = { spaces: ['a'], user: 'u', isSyncer: false, isExempt: false, weight: 1 }
  const place = { space: 'a', resource: 'pods', namespace: '' }
  const main = [watches.admit(owner, place), watches.admit(owner, place)]
  t.same(main, [true, true])
  const started = apiThreads.start()
  for (const thread of threads) thread.says({ ready: true })
  await started
  const [one, other] = threads as [FakeThread, FakeThread]
  t.equal(begun[0]!.watches.open, 2, 'it begins with those that are there')
  const own = new WatchBudget(800)
  const tidings = new WatchTidings({ budget: own, send: changed => one.says({ watches: changed }), after() {} })
  for (let i = 0; i < 3; i++) own.admit(owner, place)
  own.release(owner, place)
  tidings.send()
  watches.admit(owner, place)
  await clock.advance(PULSE_MS)
  t.equal(watches.all.open, 5)
  const heardBy = (thread: FakeThread): number =>
    thread.told.reduce((sum, told) => sum + ('watches' in told ? told.sign * (told.watches as WatchTally).open : 0), 0)
  t.equal(heardBy(other), 3, 'two of the other, and the one of the main thread')
  t.equal(heardBy(one), 1)
  own.admit(owner, place)
  own.release(owner, place)
  const { length } = other.told
  tidings.send()
  t.equal(other.told.length, length, 'of what has gone again nobody hears')
  one.emit('exit', 1)
  t.equal(watches.all.open, 3)
  t.equal(heardBy(other), 1)
  await clock.advance(PULSE_MS)
  t.equal(begun[2]!.watches.open, 3)
})
