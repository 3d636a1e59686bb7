/**
 * Cost of spaces for the server: `node bench/spaces.ts [--spaces 2000] [--cycles 3] [--rest SECONDS] [--start] [--data DIR] [--profile
 * FILE] [--server-cores 2]`.
 *
 * Spaces are made under `root` through the API, each complete (Ready, with its first content), and deleted again whole, `--cycles` times
 * over. Printed are spaces a second, the server's processor time for each, and that of the longest turn of its loop. So is its memory after
 * a collection for each present one. It also prints the rest of memory, open files and series of metrics when all are gone. It prints them
 * again after `--rest`, in which the server releases their history (ORRERY_HISTORY_MINUTES sets how long it keeps that). With `--start` the
 * last ones stay, and a second start is measured, until the server has nothing more to do. `--data` names where the data are, and leaves
 * them there: with `--cycles 0 --start` what an earlier run left is started. `--profile` writes the processor profile of the first cycle's
 * making, or, without cycles, of what follows the start.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { WORKSPACES } from '../src/apimachinery/resources.ts'
import { atMost } from '../src/client/atMost.ts'
import { systemClock } from '../src/client/clock.ts'
import type { ClosableClient } from '../src/client/http/httpClient.ts'
import { Informer } from '../src/client/informer.ts'
import type { Inspector } from '../test/attack/inspector.ts'
import { isReady, workspace } from './ground.ts'
import { stateOf } from './serverState.ts'
import { answerTo, clientOf, orreryOf, type RunningServer, TREE } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    spaces: { type: 'string', default: '2000' },
    cycles: { type: 'string', default: '3' },
    rest: { type: 'string', default: '0' },
    start: { type: 'boolean', default: false },
    data: { type: 'string' },
    tree: { type: 'string', default: TREE },
    profile: { type: 'string' },
    'server-cores': { type: 'string' },
  },
})
const SPACES = Number(flags.spaces)
const CYCLES = Number(flags.cycles)
const AT_ONCE = 64
/** That a space begins with. */
const NAMESPACES = 3

interface Bench {
  readonly server: RunningServer
  readonly client: ClosableClient
  readonly inspector: Inspector
  readonly counted: Counted
}

/** The benched Workspaces that are there, and those that are Ready: counted as they change, not looked through each time. */
class Counted {
  readonly #there = new Set<string>()
  readonly #ready = new Set<string>()
  readonly #waiting = new Set<() => void>()

  constructor(seen: Informer) {
    seen.subscribe(({ type, object }) => {
      const { name = '' } = object.metadata
      if (!name.startsWith('bench-')) return
      const isThere = type === 'apply'
      if (isThere) this.#there.add(name)
      else this.#there.delete(name)
      if (isThere && isReady(object)) this.#ready.add(name)
      else this.#ready.delete(name)
      for (const look of this.#waiting) look()
    })
  }

  /** Resolves when so many are there, each Ready. */
  async until(count: number): Promise<void> {
    const isSo = (): boolean => this.#there.size === count && this.#ready.size === count
    if (isSo()) return
    await new Promise<void>(resolve => {
      const look = (): void => {
        if (!isSo()) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
    })
  }
}

interface Timed {
  /** Wall and processor time, in seconds. */
  wall: number
  cpu: number
  /** Processor time of the longest turn of the loop, in milliseconds. */
  longest: number
}

async function timed({ server, inspector }: Bench, work: () => Promise<void>): Promise<Timed> {
  await inspector.startTurns()
  const [begun, cpu] = [performance.now(), (await server.cpuSeconds()) ?? 0]
  await work()
  const used = { wall: (performance.now() - begun) / 1000, cpu: ((await server.cpuSeconds()) ?? 0) - cpu }
  return { ...used, longest: (await inspector.stopTurns()).longest }
}

const state = ({ server, inspector }: Bench) => stateOf(server, inspector)

async function make(bench: Bench, profile: string | undefined): Promise<void> {
  const { client, counted, inspector } = bench
  const root = client.in('root')
  if (profile !== undefined) await inspector.startProfile()
  const { wall, cpu, longest } = await timed(bench, async () => {
    await atMost(AT_ONCE, Array(SPACES).keys(), i => root.create(WORKSPACES, workspace(`bench-${i}`)))
    await counted.until(SPACES)
    await untilComplete(bench)
  })
  if (profile !== undefined) await writeFile(profile, JSON.stringify(await inspector.stopProfile()))
  console.log(`  made: ${(SPACES / wall).toFixed(0)}/s, ${costs(cpu, longest)}`)
}

/** Resolves when each space has what its namespaces begin with: controllers make that. */
async function untilComplete(bench: Bench): Promise<void> {
  for (;;) {
    const list = JSON.parse(
      String(await answerTo(bench.server.endpoint, { path: '/clusters/*/api/v1/configmaps?limit=1' })),
    )
    if ((list.metadata.remainingItemCount ?? 0) + list.items.length >= NAMESPACES * SPACES) return
    await pause(20)
  }
}

async function unmake(bench: Bench): Promise<void> {
  const { client, counted } = bench
  const root = client.in('root')
  const { wall, cpu, longest } = await timed(bench, async () => {
    await atMost(AT_ONCE, Array(SPACES).keys(), i => root.delete(WORKSPACES, { name: `bench-${i}` }))
    await counted.until(0)
  })
  console.log(`  deleted: all in ${wall.toFixed(1)} s, ${costs(cpu, longest)}`)
}

const costs = (cpu: number, longest: number): string =>
  `${((cpu / SPACES) * 1e6).toFixed(0)} µs of the processor each, longest turn ${longest.toFixed(0)} ms`

/** A server on `dir`, and who watches its Workspaces. */
async function begin(dir: string): Promise<Bench & { end(): Promise<void> }> {
  const server = await orreryOf(flags.tree, { cores: flags['server-cores'], inspected: true }).start(dir)
  const client = clientOf(server.endpoint)
  const inspector = await server.inspector()
  const seen = new Informer({
    client: client.in('root'),
    resource: WORKSPACES,
    clock: systemClock,
    random: Math.random,
  })
  const counted = new Counted(seen)
  const stop = new AbortController()
  const watching = seen.run(stop.signal)
  await seen.synced
  const end = async (): Promise<void> => {
    stop.abort()
    await watching
    inspector.close()
    client.close()
    await server.stop()
  }
  return { server, client, inspector, counted, end }
}

/** How long the server's processor has to be idle until it is taken for settled, in milliseconds, and of how much of one. */
const QUIET_MS = 1000
const QUIET = 0.1

/** Starts a server on data that are there. */
async function measureStart(data: string): Promise<void> {
  const bench = await begin(data)
  const { server, inspector } = bench
  const readyCpu = (await server.cpuSeconds()) ?? 0
  if (flags.profile !== undefined) await inspector.startProfile()
  await inspector.startTurns()
  const begun = performance.now()
  let used = readyCpu
  let settledMs = begun
  for (let looked = begun; looked - settledMs < QUIET_MS; ) {
    await pause(100)
    const [cpu, now] = [(await server.cpuSeconds()) ?? 0, performance.now()]
    if (cpu - used > (QUIET * (now - looked)) / 1000) settledMs = now
    used = cpu
    looked = now
  }
  const { longest } = await inspector.stopTurns()
  if (flags.profile !== undefined) await writeFile(`${flags.profile}`, JSON.stringify(await inspector.stopProfile()))
  const ready = `ready in ${server.readyMs.toFixed(0)} ms, ${readyCpu.toFixed(1)} s of the processor`
  const settled = `settled ${(settledMs - begun).toFixed(0)} ms later, ${used.toFixed(1)} s in all`
  console.log(
    `start: ${ready}; ${settled}, longest turn of that ${longest.toFixed(0)} ms; ${(await state(bench)).summary}`,
  )
  await bench.end()
}

async function measureCycles(data: string): Promise<void> {
  const bench = await begin(data)
  const before = await state(bench)
  console.log(`before: ${before.summary}`)
  for (let cycle = 1; cycle <= CYCLES; cycle++) {
    console.log(`cycle ${cycle}, ${SPACES} spaces`)
    await make(bench, cycle === 1 ? flags.profile : undefined)
    const full = await state(bench)
    console.log(`  with them: ${full.summary}, ${((full.used - before.used) / SPACES / 1024).toFixed(1)} KiB each`)
    if (flags.start && cycle === CYCLES) break
    await unmake(bench)
    console.log(`  afterwards: ${(await state(bench)).summary}`)
  }
  if (Number(flags.rest) > 0) {
    await pause(Number(flags.rest) * 1000)
    console.log(`${flags.rest} s later: ${(await state(bench)).summary}`)
  }
  await bench.end()
}

// one loop does everything: it is what is measured
process.env.ORRERY_API_THREADS ??= '0'
const dir = flags.data ?? (await mkdtemp(join(tmpdir(), 'orrery-bench-')))
try {
  if (CYCLES > 0) await measureCycles(join(dir, 'data'))
  if (flags.start) await measureStart(join(dir, 'data'))
} finally {
  if (flags.data === undefined) await rm(dir, { recursive: true, force: true })
}
