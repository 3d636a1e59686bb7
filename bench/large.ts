/**
 * A start with very many objects: `node bench/large.ts [--objects 1000000] [--starts 2] [--rest SECONDS] [--server-cores LIST] [--data DIR]`.
 *
 * One ConfigMap of a kilobyte is made through the API. All others are written into the store of the ended server, each as the server wrote
 * that one, but for name and uid. Printed are, for each start, when it is ready, the processor time until then and the resident memory
 * then. For one more start it prints the memory after a collection, and after `--rest`. In that time the server releases recent writes
 * (ORRERY_HISTORY_MINUTES sets how long it keeps them). `--data` names where the data are, and leaves them there; what an earlier run left
 * is started as it is.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openLevelStore } from '../src/storage/level/openLevelStore.ts'
import type { Store, Stored, Write } from '../src/storage/store.ts'
import { Generator } from './generator.ts'
import { mib } from './serverState.ts'
import { orreryOf, TREE } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '1000000' },
    starts: { type: 'string', default: '2' },
    rest: { type: 'string', default: '0' },
    'server-cores': { type: 'string' },
    data: { type: 'string' },
  },
})
const OBJECTS = Number(flags.objects)
/** In one write. */
const BATCH = 1000
const TICKS_A_SECOND = 100
const MAPS = { space: 'root', group: '', resource: 'configmaps', namespace: 'default' }

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`

async function makeOne(dir: string): Promise<void> {
  const server = await orreryOf(TREE).start(dir)
  const generator = new Generator()
  try {
    await generator.run({
      kind: 'create',
      namespace: 'default',
      connections: 1,
      count: 1,
      endpoint: server.endpoint,
    })
  } finally {
    generator.close()
    await server.stop()
  }
}

async function theOne(store: Store): Promise<Stored> {
  const { items } = await store.list(MAPS)
  const made = items.find(({ key }) => key.name.startsWith('object-'))
  if (made === undefined) throw new Error('the ConfigMap that was made is not in the store')
  return made
}

/** The others, each with a name of as many characters. */
async function multiply(dir: string): Promise<void> {
  const store = await openLevelStore({ path: join(dir, 'store') })
  try {
    const { key, revision, bytes, headBytes } = await theOne(store)
    const [head, tail] = [
      bytes.toString('utf8', 0, headBytes),
      bytes.toString('utf8', headBytes + `${revision}`.length),
    ]
    const uid = /"uid":"([^"]+)"/.exec(head + tail)![1]!
    const copy = (i: number): Write => {
      const name = `large-${String(i).padStart(key.name.length - 6, '0')}`
      const own = (part: string): string => part.replaceAll(`"${key.name}"`, `"${name}"`).replace(uid, randomUUID())
      const text = { head: own(head), tail: own(tail) }
      return { key: { ...key, name }, expect: 0, mutation: { type: 'put', text } }
    }
    for (let from = 1; from < OBJECTS; from += BATCH) {
      const writes = Array.from({ length: Math.min(BATCH, OBJECTS - from) }, (_, i) => copy(from + i))
      const results = await store.writeMany(writes)
      if (!results.every(({ ok }) => ok)) throw new Error('the store did not take all')
    }
  } finally {
    await store.close()
  }
}

async function start(dir: string): Promise<void> {
  const server = await orreryOf(TREE, { cores: flags['server-cores'] }).start(dir)
  const [cpu, resident] = [await processSeconds(server.pids[0]!), await server.residentBytes()]
  console.log(`ready in ${seconds(server.readyMs)}, ${cpu.toFixed(2)} s of the processor, ${mib(resident)} resident`)
  await server.stop()
}

/** Processor time, that of threads included that have ended: those that read. */
async function processSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

/** With the inspector, which slows the threads down that read. */
async function measureMemory(dir: string): Promise<void> {
  const server = await orreryOf(TREE, { cores: flags['server-cores'], inspected: true }).start(dir)
  const inspector = await server.inspector()
  const { used, rss } = await inspector.memory()
  console.log(`after a collection: ${mib(rss)} resident, ${mib(used)} used`)
  if (Number(flags.rest) > 0) {
    await pause(Number(flags.rest) * 1000)
    const later = await inspector.memory()
    console.log(`  ${flags.rest} s later: ${mib(later.rss)} resident, ${mib(later.used)} used`)
  }
  inspector.close()
  await server.stop()
}

// one loop does everything: it is what is measured
process.env.ORRERY_API_THREADS ??= '0'
const root = flags.data ?? (await mkdtemp(join(tmpdir(), 'orrery-bench-')))
const dir = join(root, 'data')
try {
  if (!existsSync(dir)) {
    await makeOne(dir)
    await multiply(dir)
  }
  for (let i = 0; i < Number(flags.starts); i++) await start(dir)
  await measureMemory(dir)
} finally {
  if (flags.data === undefined) await rm(root, { recursive: true, force: true })
}
