import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { WatchHub } from '../../src/storage/hub.ts'
import type { Range, StoreEvent } from '../../src/storage/store.ts'
import { key, rangesAround } from './support.ts'

const event = (revision: number, k = key('a')): StoreEvent => ({
  type: 'put',
  key: k,
  revision,
  stored: { key: k, revision, bytes: Buffer.from('{}'), headBytes: 0 },
  previous: undefined,
})
const open = (): WatchHub => new WatchHub({ backlogEvents: 10, backlogBytes: 10 })
const { signal } = new AbortController()

t.test('a watcher goes on when watchers of wider and narrower ranges leave, in any order', async t => {
  const ranges = rangesAround(key('a'))
  for (const stays of ranges)
    for (const order of [ranges, ranges.toReversed()]) {
      const hub = open()
      const subscribe = (range: Range) => hub.subscribe(range, [], { signal })
      const others = order.filter(range => range !== stays).map(subscribe)
      const watcher = subscribe(stays)
      for (const other of others) other.end()
      t.equal(hub.watcherCount, 1)
      hub.publish([event(1), event(2, key('b', { space: 's2', resource: 'pods' }))])
      t.equal((await watcher.next()).value[0].revision, 1, JSON.stringify(stays))
      watcher.end()
      watcher.end()
      t.equal(hub.watcherCount, 0)
    }
})

t.test('what was missed comes first and does not count as backlog', async t => {
  const hub = open()
  const missed = Array.from({ length: 50 }, (_, i) => event(i + 1))
  const watcher = hub.subscribe({}, missed, { signal })
  hub.publish([event(51)])
  hub.publish([event(52)])
  t.equal((await watcher.next()).value.length, 50)
  t.equal((await watcher.next()).value[0].revision, 51)
  t.equal((await watcher.next()).value[0].revision, 52)
})

t.test('the backlog is bounded in bytes too', async t => {
  const hub = open()
  const watcher = hub.subscribe({}, [], { signal })
  for (let i = 1; i <= 6; i++) hub.publish([event(i)])
  t.equal(watcher.ended, true)
  t.equal(hub.watcherCount, 0)
  await t.rejects(watcher.next(), { code: 'SlowWatcher' })
})

t.test('a closed hub takes no watchers', async t => {
  const hub = open()
  const watcher = hub.subscribe({ space: 's1' }, [], { signal })
  hub.close()
  await t.rejects(watcher.next(), { code: 'Closed' })
  t.throws(() => hub.subscribe({}, [], { signal }), { code: 'Closed' })
})

t.test(
  'a watcher that is closing reads on to what was published before, and a later one only what it missed',
  async t => {
    const hub = open()
    const closing = new AbortController()
    const ends = { signal, closing: closing.signal }
    const [waits, behind] = [hub.subscribe({}, [], ends), hub.subscribe({}, [event(1)], ends)]
    const next = waits.next()
    hub.publish([event(2)])
    hub.publish([event(3), event(4)])
    closing.abort()
    hub.publish([event(5)])
    t.equal(hub.watcherCount, 0)
    const late = hub.subscribe({}, [event(4)], ends)
    const told: number[][] = []
    for (const watcher of [{ next: () => next }, waits, behind, late]) {
      const revisions: number[] = []
      for (let i = 0; i < 5; i++) for (const one of (await watcher.next()).value ?? []) revisions.push(one.revision)
      told.push([...new Set(revisions)])
    }
    t.same(told, [[2], [3, 4], [1, 2, 3, 4], [4]])
    t.same(await waits.next(), { value: undefined, done: true })
  },
)

t.test('what waits for many slow watchers costs each of them a reference', async t => {
  const hub = new WatchHub({ backlogEvents: 10_000, backlogBytes: 1024 * 1024 })
  const watchers = Array.from({ length: 500 }, () => hub.subscribe({}, [], { signal }))
  const publish = (count: number): number => {
    const before = getHeapStatistics().total_allocated_bytes
    for (let n = 0; n < count; n++) hub.publish([event(n)])
    return (getHeapStatistics().total_allocated_bytes - before) / count / watchers.length
  }
  publish(100)
  const bytes = publish(1000)
  t.ok(bytes > 0 && bytes < 95, `${bytes} bytes for a commit and watcher`)
  for (const watcher of watchers) watcher.end()
})
