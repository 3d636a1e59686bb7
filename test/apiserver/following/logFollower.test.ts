// Whatever happens to a watch or to one event, a follower hears of everything else, and nothing spins.
import t, { type Test } from 'tap'
import { LogFollower, type LogHandler } from '../../../src/apiserver/following/logFollower.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { type Key, StorageError, type Store, type Stored } from '../../../src/storage/store.ts'
import { FakeClock, settle, until } from '../../client/support/fakeClock.ts'

const RANGE = { group: 'g.test', resource: 'things' }
const keyOf = (name: string): Key => ({ space: 'root', ...RANGE, namespace: '', name })
const textOf = ({ bytes }: Stored): string => (JSON.parse(bytes.toString()) as { v: string }).v

interface Line {
  level: string
  fields: { err?: unknown }
  text: string
}

/** A follower that notes what it hears; `refuses` says for which events it throws. */
async function world(t: Test, wrap: (store: Store) => Store = store => store) {
  const store = await openMemoryStore()
  const clock = new FakeClock()
  const heard: string[] = []
  const missed: string[] = []
  const log: Line[] = []
  const rules = { refuses: (_event: string): boolean => false }
  const handler: LogHandler = {
    reset: items => heard.push(`reset ${items.map(item => `${item.key.name}=${textOf(item)}`).join(' ')}`),
    change({ type, key, stored }) {
      const event = `${type} ${key.name}=${textOf(stored)}`
      if (rules.refuses(event)) throw new Error(`cannot ${event}`)
      heard.push(event)
    },
    missed: (event, error) => missed.push(`${event.key.name}: ${(error as Error).message}`),
  }
  const note = (level: string) => (fields: object, text: string) => void log.push({ level, fields, text })
  const follower = new LogFollower({
    store: wrap(store),
    range: RANGE,
    what: 'things',
    handler,
    log: { info: note('info'), warn: note('warn'), error: note('error') },
    clock,
    random: () => 0.5,
  })
  const stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  t.teardown(async () => {
    stop.abort()
    await running
    await store.close()
  })
  const start = (): void => {
    running = follower.run(store.revision, stop.signal)
  }
  const put = async (name: string, v: string): Promise<void> => {
    const text = { head: `{"v":"${v}","r":"`, tail: '"}' }
    await store.update(keyOf(name), () => ({ type: 'put', text }))
    await settle()
  }
  const remove = async (name: string): Promise<void> => {
    await store.update(keyOf(name), () => ({ type: 'delete', text: { head: '{"v":"gone","r":"', tail: '"}' } }))
    await settle()
  }
  return { store, clock, follower, heard, missed, log, rules, start, put, remove }
}

t.test('an event that cannot be handled is told once and passed over', async t => {
  const { heard, missed, log, rules, start, put } = await world(t)
  rules.refuses = event => event === 'put bad=1'
  start()
  await put('a', '1')
  await put('bad', '1')
  await put('b', '1')
  await settle()
  t.same(heard, ['put a=1', 'put b=1'])
  t.same(missed, ['bad: cannot put bad=1'])
  t.same(log, [], 'the handler tells of it')
})

t.test('a missed object is looked at again as it is now', async t => {
  const { follower, missed, rules, start, put, remove } = await world(t)
  rules.refuses = event => event.includes('bad')
  start()
  await put('bad', '1')
  await put('bad', '2')
  t.equal(missed.length, 2)
  const seen: string[] = []
  const act = (present: Stored | undefined): void => void seen.push(present ? textOf(present) : 'nothing')
  await t.rejects(
    follower.retake(keyOf('bad'), () => {
      throw new Error('still not')
    }),
    { message: 'still not' },
  )
  await follower.retake(keyOf('bad'), act)
  await follower.retake(keyOf('bad'), act)
  await follower.retake(keyOf('other'), act)
  t.same(seen, ['2'], 'until it has worked once, and no more; objects that were not missed are left alone')
  await remove('bad')
  await follower.retake(keyOf('bad'), act)
  t.same(seen, ['2', 'nothing'])
})

t.test('a second look that a newer event overtakes is taken again', async t => {
  const { store, follower, rules, start, put } = await world(t)
  rules.refuses = event => event === 'put x=1'
  start()
  await put('x', '1')
  const get = store.get.bind(store)
  let reads = 0
  store.get = async key => {
    const found = await get(key)
    if (reads++ === 0) await put('x', '2')
    return found
  }
  const seen: string[] = []
  await follower.retake(keyOf('x'), present => void seen.push(textOf(present!)))
  t.same(seen, ['2'])
})

t.test('a watch that ends again and again is taken up with backoff, from where it was', async t => {
  let watches = 0
  let broken = true
  const { clock, heard, log, start, put } = await world(t, store => ({
    ...store,
    revision: 0,
    compactedRevision: 0,
    list: (range, options) => store.list(range, options),
    watch(range, options) {
      watches++
      if (broken) throw new StorageError('SlowWatcher', 'too slow')
      return store.watch(range, options)
    },
  }))
  start()
  await put('a', '1')
  await settle()
  t.equal(watches, 1, 'no spinning')
  await clock.advance(3_600_000)
  t.ok(watches > 200 && watches < 400, `every 15 s at most: ${watches} in an hour`)
  t.same(log.length, watches)
  t.match(log[0], { level: 'error', fields: { err: { message: 'too slow' } }, text: /^the watch of things ended/ })
  broken = false
  await clock.advance(15_000)
  await until(() => heard.length > 0, 'the event')
  t.same(heard, ['put a=1'])
})

t.test('when its history is gone it begins with what there is', async t => {
  let broken = true
  const { store, clock, heard, start, put, remove } = await world(t, real => ({
    ...real,
    revision: 0,
    compactedRevision: 0,
    list: (range, options) => real.list(range, options),
    watch(range, options) {
      if (broken) throw new StorageError('SlowWatcher', 'away')
      return real.watch(range, options)
    },
  }))
  await put('a', '1')
  await put('b', '1')
  start()
  await remove('a')
  await put('c', '1')
  await store.compact(store.revision)
  broken = false
  await clock.advance(60_000)
  await until(() => heard.length > 0, 'the list')
  await put('d', '1')
  t.same(heard, ['reset b=1 c=1', 'put d=1'])
})
