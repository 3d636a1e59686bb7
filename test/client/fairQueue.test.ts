import t from 'tap'
import { FairQueue, type Lane } from '../../src/client/fairQueue.ts'
import { WorkQueue } from '../../src/client/workqueue.ts'
import * as fc from '../support/fastCheck.ts'
import { realTime } from '../support/time.ts'
import { settle } from './support/fakeClock.ts'

const waits = (): boolean => true
const owner = fc.constantFrom('a', 'b', 'c', 'd')
const lane = fc.record({ owner, part: fc.constantFrom('x', 'y', 'z') })

function drain(queue: FairQueue<{ name: string }>): string[] {
  const taken: string[] = []
  for (let next = queue.take(waits); next; next = queue.take(waits)) taken.push(next.item.name)
  return taken
}

t.test('owners take turns, then their parts, then whoever came first', async t => {
  const queue = new FairQueue<{ name: string }>()
  const add = (name: string, lane: Lane): void => queue.add({ name }, lane)
  for (const name of ['a1', 'a2', 'a3']) add(name, { owner: 'a', part: 'x' })
  add('a4', { owner: 'a', part: 'y' })
  add('b1', { owner: 'b' })
  add('z', { owner: 'b', last: true })
  add('b2', { owner: 'b' })
  t.strictSame(drain(queue), ['a1', 'b1', 'a4', 'b2', 'a2', 'z', 'a3'])
  t.equal(queue.owners, 0, 'nobody is remembered who has nothing to do')
})

t.test('a part keeps its turns for a run, its owner does not', async t => {
  const queue = new FairQueue<{ name: string }>({ run: 2 })
  const add = (name: string, lane: Lane): void => queue.add({ name }, lane)
  for (const name of ['x1', 'x2', 'x3']) add(name, { owner: 'a', part: 'x' })
  for (const name of ['y1', 'y2', 'y3']) add(name, { owner: 'a', part: 'y' })
  add('b1', { owner: 'b', part: 'x' })
  add('b2', { owner: 'b', part: 'x' })
  t.strictSame(drain(queue), ['x1', 'b1', 'x2', 'b2', 'y1', 'y2', 'x3', 'y3'])
  t.equal(queue.owners, 0)
})

t.test('a run that is over before its turns are leaves none behind', async t => {
  const queue = new FairQueue<{ name: string }>({ run: 3 })
  const add = (name: string, part: string): void => queue.add({ name }, { owner: 'a', part })
  add('x1', 'x')
  add('y1', 'y')
  t.equal(queue.take(waits)?.item.name, 'x1')
  add('x2', 'x')
  t.strictSame(drain(queue), ['y1', 'x2'])
})

t.test('whoever comes goes behind those who wait', async t => {
  const queue = new FairQueue<{ name: string }>()
  for (const name of ['a1', 'a2', 'a3', 'a4']) queue.add({ name }, { owner: 'a' })
  queue.add({ name: 'b1' }, { owner: 'b' })
  const taken: string[] = []
  for (let i = 0; i < 6; i++) {
    const { name } = queue.take(waits)!.item
    taken.push(name)
    // comes back at once whenever it is through
    if (name.startsWith('c') || i === 0) queue.add({ name: `c${i}` }, { owner: 'c' })
  }
  t.strictSame(taken, ['a1', 'b1', 'a2', 'c0', 'a3', 'c3'])
})

t.test('what was taken in one turn is passed over in the other', async t => {
  const queue = new FairQueue<{ name: string; waits: boolean }>()
  const [contested, other] = [
    { name: 'contested', waits: true },
    { name: 'other', waits: true },
  ]
  queue.add(other, { owner: 'a' })
  queue.add(contested, { owner: 'a' })
  queue.add(contested, { owner: 'b' })
  queue.add(contested, { owner: 'b' })
  const take = () => {
    const taken = queue.take(item => item.waits)
    if (taken) taken.item.waits = false
    return taken && `${taken.item.name} of ${taken.lane.owner}`
  }
  t.strictSame([take(), take(), take()], ['other of a', 'contested of b', undefined])
  t.equal(queue.owners, 0)
})

t.test('nothing is lost, each comes once, in the order of its lane', async t => {
  const steps = fc.array(fc.oneof(lane, fc.constant('take' as const)), { maxLength: 300 })
  const holds = fc.property(steps, all => {
    const queue = new FairQueue<{ name: string; lane: Lane }>()
    const lanes = new Map<string, string[]>()
    let added = 0
    const take = (): boolean => {
      const taken = queue.take(waits)
      if (!taken) return [...lanes.values()].every(names => names.length === 0)
      return lanes.get(JSON.stringify(taken.item.lane))!.shift() === taken.item.name
    }
    for (const step of all) {
      if (step === 'take') {
        if (!take()) return false
        continue
      }
      const name = String(added++)
      const text = JSON.stringify(step)
      lanes.set(text, [...(lanes.get(text) ?? []), name])
      queue.add({ name, lane: step }, step)
    }
    for (let i = 0; i < added; i++) if (!take()) return false
    return take() && queue.owners === 0
  })
  t.doesNotThrow(() => fc.assert(holds))
})

t.test('whoever has one key waits no longer than a turn of each of the others', async t => {
  const crowd = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 })
  const holds = fc.property(crowd, fc.nat(400), (amounts, before) => {
    const queue = new FairQueue<{ name: string }>()
    for (const [i, amount] of amounts.entries())
      for (let n = 0; n < amount; n++) queue.add({ name: `${i}` }, { owner: `${i}`, part: `${n % 7}` })
    for (let i = 0; i < before; i++) queue.take(waits)
    queue.add({ name: 'one' }, { owner: 'one' })
    for (let turn = 0; turn <= amounts.length; turn++) if (queue.take(waits)!.item.name === 'one') return true
    return false
  })
  t.doesNotThrow(() => fc.assert(holds))
})

t.test('a work queue: no key twice at a time, none lost, and few before whoever has one', async t => {
  const crowd = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
  const holds = fc.asyncProperty(
    crowd,
    fc.integer({ min: 1, max: 6 }),
    fc.nat(60),
    async (amounts, concurrency, at) => {
      const queue = new WorkQueue<string>({ ...realTime(), lane: key => ({ owner: key.split('/')[0]! }) })
      const stop = new AbortController()
      const running = new Map<string, () => void>()
      const begun: string[] = []
      let twice = false
      const run = queue.run(
        key => {
          twice ||= running.has(key)
          begun.push(key)
          return new Promise<void>(done => running.set(key, done))
        },
        { signal: stop.signal, concurrency },
      )
      const keys = amounts.flatMap((amount, i) => Array.from({ length: amount }, (_, n) => `${i}/${n}`))
      for (const key of keys) queue.add(key)
      let after: number | undefined
      for (let i = 0; queue.size > 0; i++) {
        await settle()
        if (i === at) {
          after = begun.length
          queue.add('one/0')
          for (const key of keys.slice(0, 3)) queue.add(key)
          await settle()
        }
        const [key, done] = running.entries().next().value ?? ['', () => {}]
        running.delete(key)
        done()
        await settle()
      }
      stop.abort()
      await run
      const waited = after === undefined ? 0 : begun.indexOf('one/0') - after
      return !twice && keys.every(key => begun.includes(key)) && waited >= 0 && waited <= amounts.length
    },
  )
  await t.resolves(fc.assert(holds, { numRuns: 40 }))
})
