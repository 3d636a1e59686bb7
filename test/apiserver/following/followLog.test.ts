// After any fate of a watch or of one event, work is requested wherever it is wanted, and nothing spins.
import t, { type Test } from 'tap'
import { followLog } from '../../../src/apiserver/following/followLog.ts'
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

/** A follower that records its events; `rules.refuses` gives the events for which it throws. */
async function world(t: Test, wrap: (store: Store) => Pick<Store, 'slices' | 'watch'> = store => store) {
  const store = await openMemoryStore()
  const clock = new FakeClock()
  const heard: string[] = []
  const asked: string[] = []
  const notes: string[] = []
  const log: Line[] = []
  const rules = { refuses: (_event: string): boolean => false }
  const note = (level: string) => (fields: object, text: string) => void log.push({ level, fields, text })
  const stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  t.teardown(async () => {
    stop.abort()
    await running
    await store.close()
  })
  const start = async (): Promise<void> => {
    running = followLog(
      {
        store: wrap(store),
        range: RANGE,
        what: 'things',
        wants({ type, key, stored, previous }) {
          const event = `${previous || type === 'delete' ? type : 'new'} ${key.name}=${textOf(stored)}`
          if (rules.refuses(event)) throw new Error(`cannot ${event}`)
          heard.push(event)
          return textOf(stored) !== 'dull'
        },
        add: ({ name }) => asked.push(name),
        note: ({ name }, error) => notes.push(`${name}: ${(error as Error).message}`),
        log: { info: note('info'), warn: note('warn'), error: note('error') },
        clock,
        random: () => 0.5,
      },
      stop.signal,
    )
    await settle()
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
  return { store, clock, heard, asked, notes, log, rules, start, put, remove }
}

t.test('it begins with what there is, and asks for work where an event wants it', async t => {
  const { heard, asked, start, put, remove } = await world(t)
  await put('a', '1')
  await put('b', 'dull')
  await start()
  t.same(asked, ['a'])
  await put('a', '2')
  await put('a', 'dull')
  await remove('b')
  t.same(heard, ['new a=1', 'new b=dull', 'put a=2', 'put a=dull', 'delete b=gone'])
  t.same(asked, ['a', 'a', 'b'])
})

t.test('an object whose event cannot be understood is told, and worked on all the same', async t => {
  const { heard, asked, notes, log, rules, start, put } = await world(t)
  rules.refuses = event => event.includes('bad')
  await put('bad', '0')
  await start()
  await put('a', '1')
  await put('bad', '1')
  await put('b', '1')
  t.same(heard, ['new a=1', 'new b=1'])
  t.same(notes, ['bad: cannot new bad=0', 'bad: cannot put bad=1'])
  t.same(asked, ['bad', 'a', 'bad', 'b'])
  t.same(log, [], 'whoever is told tells of it')
})

t.test('a watch that ends again and again is taken up with backoff, from where it was', async t => {
  let watches = 0
  let broken = true
  const { clock, heard, log, start, put } = await world(t, store => ({
    slices: (range, options) => store.slices(range, options),
    watch(range, options) {
      watches++
      if (broken) throw new StorageError('SlowWatcher', 'too slow')
      return store.watch(range, options)
    },
  }))
  await start()
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
  t.same(heard, ['new a=1'])
})

t.test('when its history is gone it begins with what there is', async t => {
  let broken = true
  const { store, clock, heard, start, put, remove } = await world(t, real => ({
    slices: (range, options) => real.slices(range, options),
    watch(range, options) {
      if (broken) throw new StorageError('SlowWatcher', 'away')
      return real.watch(range, options)
    },
  }))
  await put('a', '1')
  await put('b', '1')
  await start()
  await remove('a')
  await put('c', '1')
  await store.compact(store.revision)
  broken = false
  await clock.advance(60_000)
  await until(() => heard.length > 2, 'the list')
  await put('d', '1')
  t.same(heard, ['new a=1', 'new b=1', 'new b=1', 'new c=1', 'new d=1'])
})

t.test('of many things there are some hundred in a turn, and none is missed', async t => {
  const { store, heard, start, put } = await world(t)
  const text = { head: '{"v":"x","r":"', tail: '"}' }
  const names = Array.from({ length: 1500 }, (_, i) => `t${String(i).padStart(4, '0')}`)
  await store.writeMany(names.map(name => ({ key: keyOf(name), mutation: { type: 'put', text }, expect: 0 })))
  let before = 0
  let most = 0
  const looking = (): void => {
    most = Math.max(most, heard.length - before)
    before = heard.length
    if (heard.length < names.length) setImmediate(looking)
  }
  setImmediate(looking)
  await start()
  await until(() => heard.length >= names.length, 'all of them')
  t.ok(most < 1000, `${most} in a turn`)
  await put('later', 'y')
  await until(() => heard.length === names.length + 1, 'what comes behind them')
  t.strictSame(heard.slice(0, 2), ['new t0000=x', 'new t0001=x'])
  t.equal(new Set(heard).size, names.length + 1)
})
