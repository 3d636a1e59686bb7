/**
 * Cost of a fleet of clusters for the server. Its loops behave as syncers do towards it (a stream of the mailbox, reports) and have no
 * cluster behind them.
 *
 *     node bench/fleet.ts --clusters 1000 --objects 20 [--tree /path/to/another/clone] [--edits 10] [--idle 60]
 *     node bench/fleet.ts --clusters 1000 --objects 200 --statuses 100 [--seconds 30]
 *
 * `--statuses N`: instead of edits, so many changes of reported statuses in a second, first without and then with a StatusCollector.
 * `--core N`: the only one that the server may run on. `--profile FILE`: what its processor did while one object was edited, for devtools.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { at, num, objects, str } from '../src/apimachinery/fields.ts'
import type { KubeObject } from '../src/apimachinery/object.ts'
import type { SpaceClient } from '../src/client/client.ts'
import { COMBINED_STATUSES, EDGE_PLACEMENTS, STATUS_COLLECTORS } from '../src/placement/words/placement.ts'
import type { Inspector } from '../test/attack/inspector.ts'
import { figuresOf } from '../test/support/figures.ts'
import { CONFIG_MAPS, DEPLOYMENTS, edgeObject, eventually, WORKLOAD } from './ground.ts'
import { mib } from './serverState.ts'
import { clientOf, orreryOf, type RunningServer, TREE } from './servers.ts'
import { Fleet, type StandIn, say } from './standIns.ts'

/** Between two looks at what a placement says. */
const LOOK_MS = 20

const { values: flags } = parseArgs({
  options: {
    clusters: { type: 'string', default: '1000' },
    objects: { type: 'string', default: '20' },
    edits: { type: 'string', default: '10' },
    idle: { type: 'string', default: '60' },
    statuses: { type: 'string' },
    seconds: { type: 'string', default: '30' },
    tree: { type: 'string', default: TREE },
    core: { type: 'string' },
    profile: { type: 'string' },
  },
})
const CLUSTERS = Number(flags.clusters)
const OBJECTS = Number(flags.objects)
/** Objects of the fleet: those with a status where statuses are what is measured. */
const CARRIED = flags.statuses === undefined ? CONFIG_MAPS : DEPLOYMENTS

async function run(server: RunningServer, inspector: Inspector | undefined): Promise<void> {
  const workload = clientOf(server.endpoint).in(WORKLOAD)
  const fleet = new Fleet(server, CARRIED)
  const cpu = async () => (await server.cpuSeconds()) ?? Number.NaN
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const [begun, before] = [performance.now(), await cpu()]
    const result = await work()
    const ms = performance.now() - begun
    say(what, `${ms.toFixed(0)} ms, server CPU ${((await cpu()) - before).toFixed(2)} s`)
    return result
  }

  const names = Array.from({ length: CLUSTERS }, (_, i) => `c${String(i).padStart(5, '0')}`)
  await timed(`${CLUSTERS} SyncTargets and Locations`, () => fleet.create(names))
  const mailboxes = await timed('their mailboxes', () => fleet.mailboxes())
  const loops = await timed('their syncers', () => fleet.connect(mailboxes))
  const map = (name: string, v: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name },
    data: { v, fill: 'x'.repeat(300) },
  })
  const deployment = (name: string): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
    },
  })
  const first = (name: string): KubeObject => (CARRIED === DEPLOYMENTS ? deployment(name) : map(name, '0'))
  for (let i = 0; i < OBJECTS; i++) await workload.create(CARRIED, first(`map-${i}`))
  const spec = {
    locationSelectors: [{ matchLabels: { env: 'fleet' } }],
    downsync: [{ apiGroup: CARRIED.group, resources: [CARRIED.resource], namespaces: ['default'] }],
  }
  await workload.create(EDGE_PLACEMENTS, edgeObject('EdgePlacement', 'fleet', { spec }))
  const all = (holds: (loop: StandIn) => boolean) =>
    new Promise<number[]>(resolve => {
      const begun = performance.now()
      const times: number[] = []
      const waiting = new Set(loops)
      const look = (loop: StandIn) => {
        if (!waiting.has(loop) || !holds(loop)) return
        waiting.delete(loop)
        times.push(performance.now() - begun)
        if (waiting.size === 0) resolve(times)
      }
      for (const loop of loops) {
        loop.onChange = () => look(loop)
        look(loop)
      }
    })
  const outcome = async (copies: number): Promise<void> => {
    await eventually(async () => {
      const { status, metadata } = await workload.get(EDGE_PLACEMENTS, { name: 'fleet' })
      const applied = objects(status, 'conditions').find(({ type }) => type === 'Applied')
      return applied?.status === 'True' && num(status, 'counts', 'applied') === copies ? metadata : undefined
    }, LOOK_MS)
  }
  await timed(`${CLUSTERS} x ${OBJECTS} copies`, () => all(loop => loop.held.size >= OBJECTS))
  await timed('until the placement says so', () => outcome(CLUSTERS * OBJECTS))
  if (flags.statuses !== undefined) {
    await measureStatuses({ loops, workload, cpu, rate: Number(flags.statuses), seconds: Number(flags.seconds) })
    say('memory', mib(await server.residentBytes(), 0))
    return
  }
  await pause(15_000)
  say('memory', mib(await server.residentBytes(), 0))
  const [before, seconds] = [await cpu(), Number(flags.idle)]
  await pause(seconds * 1000)
  say(`idle for ${seconds} s`, `${((((await cpu()) - before) / seconds) * 100).toFixed(2)} % of a core`)

  const figures = { first: [] as number[], last: [] as number[], reported: [] as number[], cpu: [] as number[] }
  const change = async (
    what: string,
    write: (i: number) => Promise<unknown>,
    holds: (loop: StandIn, i: number) => boolean,
    copies: (i: number) => number,
  ) => {
    for (const list of Object.values(figures)) list.length = 0
    for (let i = 1; i <= Number(flags.edits); i++) {
      const [begun, spent] = [performance.now(), await cpu()]
      const arrived = all(loop => holds(loop, i))
      await write(i)
      const times = await arrived
      figures.first.push(Math.min(...times))
      figures.last.push(performance.now() - begun)
      // the placement has to say first that something is under way
      await outcome(copies(i))
      figures.reported.push(performance.now() - begun)
      await pause(3000)
      figures.cpu.push(((await cpu()) - spent) * 1000)
    }
    for (const [name, list] of Object.entries(figures)) {
      if (list.length === 0) continue
      const { p50, max } = figuresOf(list)
      say(`${what}: ${name}`, `median ${p50.toFixed(0)} ms, most ${max.toFixed(0)} ms`)
    }
  }
  const total = CLUSTERS * OBJECTS
  await inspector?.startProfile()
  await change(
    'edit',
    async i => {
      const old = await workload.get(CONFIG_MAPS, { namespace: 'default', name: 'map-0' })
      return await workload.update(CONFIG_MAPS, { ...old, data: { ...(old.data as object), v: String(i) } })
    },
    (loop, i) => str(loop.held.get('map-0'), 'data', 'v') === String(i),
    () => total,
  )
  if (inspector && flags.profile) await writeFile(flags.profile, JSON.stringify(await inspector.stopProfile()))
  await change(
    'new object',
    i => workload.create(CONFIG_MAPS, map(`new-${i}`, '0')),
    (loop, i) => loop.held.has(`new-${i}`),
    i => total + i * CLUSTERS,
  )
}

interface StatusBench {
  readonly loops: readonly StandIn[]
  readonly workload: SpaceClient
  readonly cpu: () => Promise<number>
  readonly rate: number
  readonly seconds: number
}

/** CPU of the server for statuses that clusters report, without and with a collector that somebody watches, and how old its sums are. */
async function measureStatuses({ loops, workload, cpu, rate, seconds }: StatusBench): Promise<void> {
  const sums = new Map<string, number>()
  /** Reported by now, by object and cluster. */
  const reported = new Map<string, number>()
  const waiting = new Map<string, { readonly sum: number; readonly atMs: number }[]>()
  const ages: number[] = []
  /** Reports on an object follow each other, so that each has a sum. */
  const turns = new Map<string, Promise<void>>()
  let count = 0
  const report = async (loop: StandIn, name: string, ready: number): Promise<void> => {
    const id = `${name} ${loop.mailbox}`
    const sum = (sums.get(name) ?? 0) + ready - (reported.get(id) ?? 0)
    sums.set(name, sum)
    reported.set(id, ready)
    waiting.set(name, [...(waiting.get(name) ?? []), { sum, atMs: performance.now() }])
    const status = { readyReplicas: ready, replicas: ready }
    const ref = { namespace: 'default', name }
    await loop.space.patch(DEPLOYMENTS, ref, 'merge', { status }, { subresource: 'status', fieldManager: 'bench' })
  }
  const spend = async (what: string): Promise<void> => {
    const [before, begun] = [await cpu(), performance.now()]
    const writes: Promise<void>[] = []
    for (let i = 0; i < rate * seconds; i++) {
      const [loop, name] = [loops[(i * 7919) % loops.length]!, `map-${i % OBJECTS}`]
      const lateMs = begun + (i * 1000) / rate - performance.now()
      if (lateMs > 0) await pause(lateMs)
      const turn = (turns.get(name) ?? Promise.resolve()).then(() => report(loop, name, ++count))
      turns.set(name, turn)
      writes.push(turn)
    }
    await Promise.all(writes)
    const took = (performance.now() - begun) / 1000
    say(
      what,
      `${(((await cpu()) - before) / took).toFixed(3)} of a core, ${(writes.length / took).toFixed(0)} changes/s`,
    )
  }
  await spend('statuses without a collector')
  await spend('the same again')
  const spec = { combinedFields: [{ name: 'ready', type: 'SUM', subject: 'returned.status.readyReplicas' }], limit: 20 }
  const collector = {
    apiVersion: `${STATUS_COLLECTORS.group}/v1alpha1`,
    kind: 'StatusCollector',
    metadata: { name: 'ready' },
  }
  await workload.create(STATUS_COLLECTORS, { ...collector, spec })
  const placement = await workload.get(EDGE_PLACEMENTS, { name: 'fleet' })
  const downsync = objects(placement.spec, 'downsync').map(test => ({ ...test, statusCollectors: ['ready'] }))
  await workload.update(EDGE_PLACEMENTS, { ...placement, spec: { ...(placement.spec as object), downsync } })
  const sumOf = (object: KubeObject): number => Number(at(object, 'results', 0, 'rows', 0, 'columns', 0, 'float'))
  const begun = performance.now()
  const [spent, list] = [
    await cpu(),
    await eventually(async () => {
      const found = await workload.list(COMBINED_STATUSES, {}).catch(() => undefined)
      return found?.items.length === OBJECTS && found.items.every(item => sumOf(item) >= 0) ? found : undefined
    }),
  ]
  say(
    'first list of all summaries',
    `${(performance.now() - begun).toFixed(0)} ms, CPU ${((await cpu()) - spent).toFixed(2)} s`,
  )
  for (const item of list.items) {
    const name = str(item, 'spec', 'sourceRef', 'name')
    if (sumOf(item) !== sums.get(name)) throw new Error(`${name} sums up to ${sumOf(item)}, and is ${sums.get(name)}`)
  }
  const end = new AbortController()
  const watching = (async () => {
    const { resourceVersion } = list
    for await (const events of workload.watch(COMBINED_STATUSES, { resourceVersion, signal: end.signal })) {
      for (const event of events) {
        if (event.type === 'BOOKMARK') continue
        const name = str(event.object, 'spec', 'sourceRef', 'name')
        const due = waiting.get(name) ?? []
        const found = due.findLastIndex(({ sum }) => sum === sumOf(event.object))
        for (const { atMs } of due.splice(0, found + 1)) ages.push(performance.now() - atMs)
      }
    }
  })()
  waiting.clear()
  await spend('statuses with a collector that is watched')
  await eventually(async () => ([...waiting.values()].every(due => due.length === 0) ? true : undefined))
  await spend('the same again')
  await eventually(async () => ([...waiting.values()].every(due => due.length === 0) ? true : undefined))
  end.abort()
  await watching
  const { p50, p99, max } = figuresOf(ages)
  say('age of a sum', `median ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, most ${max.toFixed(0)} ms`)
}

const dir = await mkdtemp(join(tmpdir(), 'orrery-fleet-'))
const inspected = flags.profile !== undefined
const server = await orreryOf(flags.tree, { cores: flags.core, inspected }).start(join(dir, 'data'))
try {
  const inspector = inspected ? await server.inspector() : undefined
  await run(server, inspector)
  inspector?.close()
} finally {
  await server.stop()
  await rm(dir, { recursive: true, force: true })
}
process.exit()
