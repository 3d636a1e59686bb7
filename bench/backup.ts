/**
 * The cost of a backup for the server that it is taken of: `node bench/backup.ts [objects] [writes per second]`. The server runs in this process
 * and writes steadily; `orrery backup` runs as its own. Prints processor time and the longest turn of the loop,
 * without and with a backup. Two last lines compare the processor time of a write.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startApiServer } from '../src/apiserver/apiServer.ts'
import type { Key, Mutation, Store } from '../src/storage/store.ts'

const [objects = 100_000, perSecond = 1000] = process.argv.slice(2).map(Number)
const TICK_MS = 10
const BATCH = 1000
const SECONDS = 5

const filler = 'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(26)
const put = (i: number): Mutation => ({
  type: 'put',
  text: {
    head: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o${i}","uid":"${crypto.randomUUID()}","resourceVersion":"`,
    tail: `"},"data":{"text":"${i}${filler}"}}`,
  },
})
const key = (i: number): Key => ({
  space: `s${i % 100}`,
  group: '',
  resource: 'configmaps',
  namespace: 'default',
  name: `o${i}`,
})

/** Steady updates until the signal aborts. */
async function write(store: Store, signal: AbortSignal): Promise<number> {
  const begunMs = performance.now()
  let sent = 0
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - begunMs) * perSecond) / 1000) - sent
    const updates = Array.from({ length: due }, (_, i) => {
      const at = ((sent + i) * 7919) % objects
      return store.update(key(at), () => put(at))
    })
    sent += due
    await Promise.all(updates)
    await pause(1)
  }
  return sent
}

interface Cost {
  readonly seconds: number
  /** Processor time of all threads, and of the main one. */
  readonly cpuSeconds: number
  readonly mainSeconds: number
  /** Processor time of the main thread between two ticks: no turn was longer. */
  readonly longestMs: number
}

async function measured(run: () => Promise<unknown>): Promise<Cost> {
  const begunMs = performance.now()
  const before = process.cpuUsage()
  const mainBefore = process.threadCpuUsage()
  let last = mainBefore
  let longestMs = 0
  const ticking = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    longestMs = Math.max(longestMs, (user + system) / 1000)
    last = process.threadCpuUsage()
  }, TICK_MS)
  await run()
  clearInterval(ticking)
  const all = process.cpuUsage(before)
  const main = process.threadCpuUsage(mainBefore)
  return {
    seconds: (performance.now() - begunMs) / 1000,
    cpuSeconds: (all.user + all.system) / 1e6,
    mainSeconds: (main.user + main.system) / 1e6,
    longestMs,
  }
}

const dir = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
const log = { info() {}, warn: console.error, error: console.error, debug() {} }
const dataDir = join(dir, 'data')
await mkdir(dataDir)
const server = await startApiServer({
  dataDir,
  bindAddress: '127.0.0.1',
  securePort: 0,
  externalHostnames: [],
  spaces: true,
  log: log as never,
})
const { store } = server
for (let from = 0; from < objects; from += BATCH)
  await store.writeMany(
    Array.from({ length: Math.min(BATCH, objects - from) }, (_, i) => ({
      key: key(from + i),
      mutation: put(from + i),
      expect: 0,
    })),
  )

async function beside(run: () => Promise<unknown>): Promise<Cost & { writes: number }> {
  const stop = new AbortController()
  const writing = write(store, stop.signal)
  const cost = await measured(run)
  stop.abort()
  return { ...cost, writes: await writing }
}

const archive = join(dir, 'bench.orrery')
const backup = async (): Promise<void> => {
  const bin = join(import.meta.dirname, '../bin/orrery')
  const args = ['backup', archive, '--kubeconfig', server.kubeconfigPath]
  const [code] = await once(spawn(bin, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  if (code !== 0) throw new Error(`orrery backup ended with ${code}`)
}
type Measured = Cost & { readonly writes: number }
async function shown(what: string, run: () => Promise<unknown>): Promise<Measured> {
  const found = await beside(run)
  const { seconds, cpuSeconds, mainSeconds, longestMs, writes } = found
  console.log(
    `${what}: ${seconds.toFixed(1)} s, ${Math.round(writes / seconds)} writes/s, processor ${cpuSeconds.toFixed(2)} s ` +
      `(main thread ${mainSeconds.toFixed(2)} s, ${((100 * mainSeconds) / seconds).toFixed(0)} % of it), longest turn ${longestMs.toFixed(0)} ms`,
  )
  return found
}
const quiet = (): Promise<void> => pause(1000 * SECONDS)
/** Processor time of a write, in microseconds, with all that the server does meanwhile. */
const perWrite = (of: readonly Measured[], time: 'cpuSeconds' | 'mainSeconds'): number =>
  (1e6 * of.reduce((sum, one) => sum + one[time], 0)) / of.reduce((sum, one) => sum + one.writes, 0)
await beside(quiet)
const before = await shown('writes alone', quiet)
const backedUp = await shown(`with a backup of ${objects} objects`, backup)
const alone = [before, await shown('writes alone', quiet)]
for (const [what, time] of [
  ['processor time', 'cpuSeconds'],
  ['main thread', 'mainSeconds'],
] as const) {
  const [without, beside] = [perWrite(alone, time), perWrite([backedUp], time)]
  const ofObject = (1e6 * backedUp[time] - without * backedUp.writes) / objects
  console.log(
    `${what} of a write: ${without.toFixed(0)} µs alone, ${beside.toFixed(0)} µs beside a backup, ` +
      `${((100 * beside) / without - 100).toFixed(0)} % more; ${ofObject.toFixed(1)} µs for each object of the archive`,
  )
}
console.log(`archive: ${((await stat(archive)).size / 1024 / 1024).toFixed(1)} MiB`)
await server.close()
await rm(dir, { recursive: true })
