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
      const subscribe = (range: Range) => hub.subscribe(range, [], signal)
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
  const watcher = hub.subscribe({}, missed, signal)
  hub.publish([event(51)])
  hub.publish([event(52)])
  t.equal((await watcher.next()).value.length, 50)
  t.equal((await watcher.next()).value[0].revision, 51)
  t.equal((await watcher.next()).value[0].revision, 52)
})

t.test('the backlog is bounded in bytes too', async t => {
  const hub = open()
  const watcher = hub.subscribe({}, [], signal)
  for (let i = 1; i <= 6; i++) hub.publish([event(i)])
  t.equal(watcher.ended, true)
  t.equal(hub.watcherCount, 0)
  await t.rejects(watcher.next(), { code: 'SlowWatcher' })
})

t.test('a closed hub takes no watchers', async t => {
  const hub = open()
  const watcher = hub.subscribe({ space: 's1' }, [], signal)
  hub.close()
  await t.rejects(watcher.next(), { code: 'Closed' })
  t.throws(() => hub.subscribe({}, [], signal), { code: 'Closed' })
})
