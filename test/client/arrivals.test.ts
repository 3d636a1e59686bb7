/** Later additions to a queue: no more than can be worked on soon, and urgent ones all the same. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Arrivals } from '../../src/client/arrivals.ts'
import { silentLogger } from '../../src/client/logger.ts'

const MANY = 20_000

function* numbers(owner: string, count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield `${owner} ${i}`
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await setImmediate()
}

/** `slice`: number of checks before others are due. */
function world(slice = Number.POSITIVE_INFINITY) {
  let looks = 0
  const waiting = new Map<string, string[]>()
  let over = 0
  const ofOwner = (owner: string) => waiting.get(owner) ?? []
  const arrivals: Arrivals<string> = new Arrivals<string>({
    work: {
      get due() {
        return ++looks > slice
      },
      rest: async () => {
        await setImmediate()
        looks = 0
      },
    },
    add: key => {
      const [owner = ''] = key.split(' ')
      waiting.set(owner, [...ofOwner(owner).slice(-1), key])
      counts.set(owner, (counts.get(owner) ?? 0) + 1)
      added.push(key)
    },
    waiting: owner => counts.get(owner) ?? 0,
    over: () => over++,
    logger: silentLogger,
  })
  const counts = new Map<string, number>()
  const added: string[] = []
  return {
    arrivals,
    added,
    counts,
    over: () => over,
    /** So many of an owner's are worked on. */
    done(owner: string, count: number): void {
      counts.set(owner, counts.get(owner)! - count)
      arrivals.goOn()
    },
  }
}

t.test('of an owner of whom much waits no more is drawn until less does; others go on', async t => {
  const w = world()
  w.arrivals.add(numbers('a', MANY), 'a')
  await settled()
  const most = w.added.length
  t.ok(most > 1000 && most < MANY / 2, `${most} wait`)
  t.notOk(w.arrivals.isEmpty)
  w.arrivals.add(numbers('b', 3), 'b')
  w.arrivals.add(['a last'], 'a')
  await settled()
  t.strictSame(w.added.slice(most), ['b 0', 'b 1', 'b 2'])
  w.done('a', 1)
  await settled()
  t.equal(w.added.length, most + 3, 'a little less is not enough')
  for (let i = 0; i < 20 && !w.arrivals.isEmpty; i++) {
    w.done('a', w.counts.get('a')!)
    await settled()
  }
  t.ok(w.arrivals.isEmpty)
  t.equal(w.over(), 1)
  const ofA = w.added.filter(key => key.startsWith('a '))
  t.strictSame(ofA, [...numbers('a', MANY), 'a last'], 'all of them, in order')
})

t.test('what comes first is drawn before whatever the owner has left, however much waits', async t => {
  const w = world()
  w.arrivals.add(numbers('a', MANY), 'a')
  await settled()
  const seen: string[] = []
  function* noted(name: string): Generator<undefined> {
    for (let i = 0; i < 3; i++) yield void seen.push(`${name} ${i}`)
  }
  w.arrivals.add(['a more'], 'a', noted('first'))
  w.arrivals.add(['a yet more'], 'a', noted('second'))
  await settled()
  t.strictSame(seen, ['first 0', 'first 1', 'first 2', 'second 0', 'second 1', 'second 2'])
  t.notOk(w.added.includes('a more'))
})

t.test('slices are kept, what throws is left, and nothing is drawn after the stop', async t => {
  const w = world(10)
  w.arrivals.add(numbers('a', 100), 'a')
  t.ok(w.added.length < 20, 'what finds room in a slice is there at once')
  function* broken(): Generator<string> {
    yield 'b 0'
    throw new Error('of the list')
  }
  w.arrivals.add(broken(), 'b')
  w.arrivals.add(['b 1'], 'b')
  for (let i = 0; i < 20; i++) await settled()
  t.equal(w.added.filter(key => key.startsWith('a')).length, 100)
  t.strictSame(
    w.added.filter(key => key.startsWith('b')),
    ['b 0', 'b 1'],
  )
  w.arrivals.add(numbers('c', 1000), 'c')
  w.arrivals.stop()
  const { length } = w.added
  await settled()
  t.equal(w.added.length, length)
})
