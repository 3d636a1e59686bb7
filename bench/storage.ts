/** Cost of the store: `node bench/storage.ts [memory|level]`. Objects are 1 KB of JSON. Prints a table. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openLevelStore } from '../src/storage/level/openLevelStore.ts'
import { openMemoryStore } from '../src/storage/memory/openMemoryStore.ts'
import type { Key, Mutation, Store } from '../src/storage/store.ts'

/** For the measure of memory. */
const OBJECTS = 50_000

const engine = process.argv[2] === 'memory' ? 'memory' : 'level'
const root = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
let dirs = 0
const rows: { what: string; value: string }[] = []

const row = (what: string, value: number, unit: string): void => {
  rows.push({ what, value: `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)} ${unit}` })
}

async function open(path = join(root, String(dirs++))): Promise<{ store: Store; path: string }> {
  return { store: engine === 'level' ? await openLevelStore({ path }) : await openMemoryStore(), path }
}

const filler = 'x'.repeat(960)
const put = (): Mutation => ({
  type: 'put',
  text: { head: '{"metadata":{"resourceVersion":"', tail: `"},"data":"${filler}"}` },
})
const key = (i: number, space = 's1'): Key => ({
  space,
  group: '',
  resource: 'configmaps',
  namespace: `ns${i % 10}`,
  name: `object-${String(i).padStart(7, '0')}`,
})

async function fill(store: Store, count: number, spaces = 1): Promise<void> {
  for (let from = 0; from < count; from += 1000)
    await store.writeMany(
      Array.from({ length: Math.min(1000, count - from) }, (_, i) => ({
        key: key(from + i, `s${(from + i) % spaces}`),
        mutation: put(),
        expect: 0,
      })),
    )
}

/** Runs for about a second; answers nanoseconds per run. */
async function timed(run: (i: number) => unknown): Promise<number> {
  let runs = 0
  const start = performance.now()
  while (performance.now() - start < 700) for (let i = 0; i < 16; i++) await run(runs++)
  return ((performance.now() - start) * 1e6) / runs
}

async function writes(writers: number, update: boolean): Promise<void> {
  const { store } = await open()
  if (update) await fill(store, 1000)
  let done = 0
  const start = performance.now()
  const writer = async (id: number): Promise<void> => {
    for (let i = id; performance.now() - start < 1500; i += writers) {
      if (update) await store.update({ ...key(i % 1000), space: 's0' }, put)
      else await store.write({ key: key(i), mutation: put(), expect: 0 })
      done++
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, id) => writer(id)))
  row(`${update ? 'updates' : 'creates'}, ${writers} writers`, (done * 1000) / (performance.now() - start), '/s')
  await store.close()
}

async function reads(): Promise<void> {
  const { store } = await open()
  await fill(store, 10_000)
  const space = 's0'
  row('get', await timed(i => store.get(key((i * 7919) % 10_000, space))), 'ns')
  const range = { group: '', resource: 'configmaps' }
  row('list of 500 of 10 000', (await timed(() => store.list({ space, ...range }, { limit: 500 }))) / 1000, 'µs')
  const after = key(5000, space)
  row(
    'list of 500, from the middle',
    (await timed(() => store.list({ space, ...range }, { limit: 500, after }))) / 1000,
    'µs',
  )
  const at = store.revision
  for (let i = 0; i < 1000; i++) await store.update(key(i, space), put)
  row('list of 500, 1000 changes ago', (await timed(() => store.list(range, { limit: 500, at }))) / 1000, 'µs')
  row('count of a namespace', await timed(() => store.count({ space, ...range, namespace: 'ns5' })), 'ns')
  await store.close()
}

/** On the engine without a disk: the hub is the same, and the disk's moods would drown it. */
async function fanOut(watchers: number): Promise<void> {
  const store = await openMemoryStoreWith(1)
  const end = new AbortController()
  let received = 0
  const read = async (): Promise<void> => {
    for await (const batch of store.watch({ space: 's0' }, { after: 1, signal: end.signal })) received += batch.length
  }
  const reading = Array.from({ length: watchers }, read)
  const others = Array.from({ length: 1000 }, async (_, i) => {
    for await (const batch of store.watch({ space: `other${i}` }, { after: 1, signal: end.signal }))
      received += batch.length
  })
  const round = async (): Promise<number> => {
    const start = performance.now()
    for (let i = 0; i < 1000; i++) await store.update(key(0, 's0'), put)
    return (performance.now() - start) * 1000
  }
  await round()
  const withWatchers = await round()
  end.abort()
  await Promise.all([...reading, ...others])
  const without = await round()
  if (received !== 2000 * watchers) throw new Error(`${received} events received`)
  row(`watch: each event and watcher (${watchers} watchers, single events)`, (withWatchers - without) / watchers, 'ns')
  await store.close()
}

async function opening(): Promise<void> {
  for (const [count, updates] of [
    [10_000, 0],
    [10_000, 30_000],
    [100_000, 0],
  ] as const) {
    const { store, path } = await open()
    await fill(store, count)
    for (let i = 0; i < updates; i += 500)
      await Promise.all(Array.from({ length: 500 }, (_, j) => store.update(key((i + j) % count, 's0'), put)))
    await store.close()
    const start = performance.now()
    const again = await openLevelStore({ path })
    row(`open with ${count} objects, ${updates} updates in history`, performance.now() - start, 'ms')
    await again.close()
  }
}

/** Fills a store, and opens it in a process of its own, which holds nothing else. */
async function memory(): Promise<void> {
  const { store, path } = await open()
  await fill(store, OBJECTS, 50)
  await store.close()
  const run = await promisify(execFile)(process.execPath, ['--expose-gc', import.meta.filename, 'measure', path])
  const { heap, resident } = JSON.parse(run.stdout) as { heap: number; resident: number }
  const { bytes } = (await (await openMemoryStoreWith(1)).get(key(0, 's0')))!
  row(`memory of an object beside its ${bytes.length} bytes`, heap / OBJECTS - bytes.length, 'bytes')
  row(`resident memory of an object`, resident / OBJECTS, 'bytes')
}

async function openMemoryStoreWith(objects: number): Promise<Store> {
  const store = await openMemoryStore()
  await fill(store, objects)
  return store
}

async function measure(path: string): Promise<void> {
  const now = async () => {
    for (let i = 0; i < 5; i++) {
      globalThis.gc?.()
      await new Promise(resolve => setImmediate(resolve))
    }
    return process.memoryUsage()
  }
  const before = await now()
  const store = await openLevelStore({ path })
  const after = await now()
  const heap = after.heapUsed + after.external - before.heapUsed - before.external
  console.log(JSON.stringify({ heap, resident: after.rss - before.rss }))
  await store.close()
}

async function all(): Promise<void> {
  for (const writers of [1, 32, 256]) await writes(writers, false)
  for (const writers of [1, 32, 256]) await writes(writers, true)
  await reads()
  for (const watchers of [100, 1000]) await fanOut(watchers)
  if (engine === 'level') {
    await opening()
    await memory()
  }
  const width = Math.max(...rows.map(r => r.what.length))
  console.log(`${engine} engine, Node ${process.version}`)
  for (const { what, value } of rows) console.log(`${what.padEnd(width)}  ${value.padStart(14)}`)
}

try {
  await (process.argv[2] === 'measure' ? measure(process.argv[3]!) : all())
} finally {
  await rm(root, { recursive: true })
}
