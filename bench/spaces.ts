/**
 * What spaces cost the server: `node bench/spaces.ts [--spaces 2000] [--cycles 3] [--rest SECONDS] [--start] [--profile FILE]`.
 *
 * Spaces are made under `root` through the API, each complete (Ready, with its first content), and deleted again whole, `--cycles`
 * times over. Printed are spaces a second, the server's processor time for each, that of the longest turn of its loop, its memory after a collection for each that
 * is there, and what is left of memory, open files and series of metrics when all are gone, and after `--rest`, in which the server
 * lets go of their history (ORRERY_HISTORY_MINUTES says how long it keeps that). With `--start` the last ones stay, and a
 * second start is measured. `--profile` writes the processor profile of the first cycle's making.
 */
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { KubeObject } from '../src/apimachinery/object.ts'
import { WORKSPACES } from '../src/apimachinery/resources.ts'
import { type ClosableClient, httpClient } from '../src/client/http/httpClient.ts'
import { Informer } from '../src/client/informer.ts'
import { loadKubeconfig } from '../src/client/kubeconfig.ts'
import { Inspector } from '../test/attack/inspector.ts'
import { freePort, orreryOf, type RunningServer } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    spaces: { type: 'string', default: '2000' },
    cycles: { type: 'string', default: '3' },
    rest: { type: 'string', default: '0' },
    start: { type: 'boolean', default: false },
    tree: { type: 'string', default: join(import.meta.dirname, '..') },
    profile: { type: 'string' },
  },
})
const SPACES = Number(flags.spaces)
const CYCLES = Number(flags.cycles)
const AT_ONCE = 64

interface Bench {
  readonly server: RunningServer
  readonly client: ClosableClient
  readonly inspector: Inspector
  readonly seen: Informer
}

async function crowd(count: number, each: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await each(next++)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, worker))
}

async function inspectorAt(port: number): Promise<Inspector> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[]
  return await Inspector.connect(target!.webSocketDebuggerUrl)
}

const isReady = ({ status }: KubeObject): boolean => (status as { phase?: string } | undefined)?.phase === 'Ready'

/** Resolves when the Workspaces under `root` are as wanted. */
async function until(seen: Informer, wanted: () => boolean): Promise<void> {
  if (wanted()) return
  await new Promise<void>(resolve => {
    const unsubscribe = seen.subscribe(() => {
      if (!wanted()) return
      unsubscribe()
      resolve()
    })
  })
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

/** How many series of metrics the server tells. */
async function seriesOf({ server: { endpoint } }: Bench): Promise<number> {
  const { host, port, cert, key } = endpoint
  const asked = request({ host, port, path: '/metrics', cert, key, rejectUnauthorized: false }).end()
  const [answer] = await once(asked, 'response')
  return (await text(answer)).split('\n').filter(line => line !== '' && !line.startsWith('#')).length
}

async function state(bench: Bench): Promise<{ used: number; text: string }> {
  const { used, rss } = await bench.inspector.memory()
  const files = (await readdir(`/proc/${bench.server.pids[0]}/fd`)).length
  const told = `${mib(used)} used, ${mib(rss)} resident, ${files} files, ${await seriesOf(bench)} series`
  return { used, text: told }
}

const mib = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`
const workspace = (i: number): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: `bench-${i}` },
  spec: {},
})

async function make(bench: Bench, profile: string | undefined): Promise<void> {
  const { client, seen, inspector } = bench
  const root = client.in('root')
  if (profile !== undefined) await inspector.startProfile()
  const { wall, cpu, longest } = await timed(bench, async () => {
    await crowd(SPACES, i => root.create(WORKSPACES, workspace(i)))
    await until(seen, () => benched(seen).filter(isReady).length === SPACES)
  })
  if (profile !== undefined) await writeFile(profile, JSON.stringify(await inspector.stopProfile()))
  console.log(`  made: ${(SPACES / wall).toFixed(0)}/s, ${costs(cpu, longest)}`)
}

async function unmake(bench: Bench): Promise<void> {
  const { client, seen } = bench
  const root = client.in('root')
  const { wall, cpu, longest } = await timed(bench, async () => {
    await crowd(SPACES, i => root.delete(WORKSPACES, { name: `bench-${i}` }))
    await until(seen, () => benched(seen).length === 0)
  })
  console.log(`  deleted: all in ${wall.toFixed(1)} s, ${costs(cpu, longest)}`)
}

const costs = (cpu: number, longest: number): string =>
  `${((cpu / SPACES) * 1e6).toFixed(0)} µs of the processor each, longest turn ${longest.toFixed(0)} ms`

const benched = (seen: Informer): KubeObject[] =>
  [...seen.list()].filter(({ metadata }) => metadata.name?.startsWith('bench-'))

/** A server on `dir`, and who watches its Workspaces. */
async function begin(dir: string): Promise<Bench & { end(): Promise<void> }> {
  const inspectPort = await freePort()
  const server = await orreryOf(flags.tree, undefined, inspectPort).start(dir)
  const { options, base } = await loadKubeconfig(join(dir, 'admin.kubeconfig'), 'base')
  const client = httpClient({ ...options, server: base })
  const inspector = await inspectorAt(inspectPort)
  const seen = new Informer({ client: client.in('root'), resource: WORKSPACES })
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
  return { server, client, inspector, seen, end }
}

const dir = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
try {
  const bench = await begin(join(dir, 'data'))
  const before = await state(bench)
  console.log(`before: ${before.text}`)
  for (let cycle = 1; cycle <= CYCLES; cycle++) {
    console.log(`cycle ${cycle}, ${SPACES} spaces`)
    await make(bench, cycle === 1 ? flags.profile : undefined)
    const full = await state(bench)
    console.log(`  with them: ${full.text}, ${((full.used - before.used) / SPACES / 1024).toFixed(1)} KiB each`)
    if (flags.start && cycle === CYCLES) break
    await unmake(bench)
    console.log(`  afterwards: ${(await state(bench)).text}`)
  }
  if (Number(flags.rest) > 0) {
    await new Promise(resolve => setTimeout(resolve, Number(flags.rest) * 1000))
    console.log(`${flags.rest} s later: ${(await state(bench)).text}`)
  }
  await bench.end()
  if (flags.start) {
    const again = await begin(join(dir, 'data'))
    console.log(`second start: ready in ${again.server.readyMs.toFixed(0)} ms; ${(await state(again)).text}`)
    await again.end()
  }
} finally {
  await rm(dir, { recursive: true, force: true })
}
