/**
 * Cost of placement, all processes real: `node bench/placement.ts [--clusters N] [--objects N]`. An EdgePlacement sends objects of 400
 * bytes to so many clusters, whose mailboxes are followed as syncers do it. Printed are the duration and the processor time and memory of
 * the server, for a copy. The same follows for an edit, a new object, another space's edit, a restart, and the deletion.
 *
 * `--core N`: the only one that the server may run on. `--streams N`: mailboxes that are followed (default: all). `--profile FILE`: profile
 * of the processor while the copies were made, `--allocations FILE`: profile of allocations, for devtools. `--profiled edits`, `statuses`
 * or `deletion`: the same of those. `--only copies`: no further than that. `--restart no`: the same server goes on. `--tree DIR`: another
 * clone's server. `--statuses`: the objects are Deployments, and each mailbox's syncer reports a status of its own for each copy.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { str } from '../src/apimachinery/fields.ts'
import type { KubeObject } from '../src/apimachinery/object.ts'
import { atMost } from '../src/client/atMost.ts'
import type { ClosableClient } from '../src/client/http/httpClient.ts'
import { EDGE_PLACEMENTS, INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../src/placement/words/placement.ts'
import type { Inspector } from '../test/attack/inspector.ts'
import { figuresOf } from '../test/support/figures.ts'
import {
  AT_ONCE,
  addCluster,
  addSpace,
  CONFIG_MAPS,
  DEPLOYMENTS,
  edgeObject,
  INVENTORY,
  mailboxesOf,
  WORKLOAD,
} from './ground.ts'
import { MailboxStreams } from './mailboxStreams.ts'
import { mib as mibOf } from './serverState.ts'
import { clientOf, cpuByThreadOf, orreryOf, type RunningServer, TREE } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    clusters: { type: 'string', default: '100' },
    objects: { type: 'string', default: '100' },
    edits: { type: 'string', default: '5' },
    streams: { type: 'string' },
    core: { type: 'string' },
    profile: { type: 'string' },
    allocations: { type: 'string' },
    profiled: { type: 'string', default: 'copies' },
    restart: { type: 'string', default: 'yes' },
    only: { type: 'string' },
    statuses: { type: 'boolean', default: false },
    tree: { type: 'string', default: TREE },
  },
})
const CLUSTERS = Number(flags.clusters)
const OBJECTS = Number(flags.objects)
const FOLLOWED = Math.min(CLUSTERS, Number(flags.streams ?? CLUSTERS))
const PLACED = flags.statuses ? DEPLOYMENTS : CONFIG_MAPS
/** Between two edits of the other space. */
const NEIGHBOUR_MS = 100
/** Processor time in a quarter of a second, in seconds, below which nothing is going on. */
const QUIET = 0.02

const rows: [what: string, value: string][] = []
const tell = (what: string, value: string): void => {
  rows.push([what, value])
  process.stderr.write(`${what}: ${value}\n`)
}
const mib = (bytes: number): string => mibOf(bytes, 0)
const ms = (value: number): string => `${value.toFixed(0)} ms`
const median = (values: readonly number[]): number => figuresOf(values).p50

/** A ConfigMap of about 400 bytes as its author sends it. */
const configMap = (name: string, value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels: { app: 'bench' } },
  data: { value, text: 'x'.repeat(300) },
})

/** A Deployment of about 400 bytes as its author sends it. */
const deployment = (name: string, value: string): KubeObject => {
  const labels = { app: 'bench' }
  const containers = [{ name: 'web', image: 'registry.example/web:1', env: [{ name: 'VALUE', value }] }]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', labels },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  }
}

const placed = flags.statuses ? deployment : configMap

/** The status of a Deployment that is rolled out, as a cluster reports it `second` seconds after the first one. */
function statusOf(name: string, second: number): object {
  const time = (after: number): string =>
    new Date(Date.UTC(2026, 0) + (second + after) * 1000).toISOString().replace('.000', '')
  const condition = (type: string, reason: string, message: string, since: number, until: number): object => ({
    type,
    status: 'True',
    reason,
    message,
    lastUpdateTime: time(until),
    lastTransitionTime: time(since),
  })
  return {
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    conditions: [
      condition('Available', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', 3, 3),
      condition(
        'Progressing',
        'NewReplicaSetAvailable',
        `ReplicaSet "${name}-6d4cf56db6" has successfully progressed.`,
        0,
        3,
      ),
    ],
  }
}

class Bench {
  readonly #server: RunningServer
  readonly #client: ClosableClient

  constructor(server: RunningServer) {
    this.#server = server
    this.#client = clientOf(server.endpoint)
  }

  in(space: string) {
    return this.#client.in(space)
  }

  async addCluster(name: string, env: string): Promise<void> {
    await addCluster(this.#client, name, env)
  }

  /** Ids of the spaces of all mailboxes, by the names of their SyncTargets, once there are so many. */
  async mailboxes(count: number): Promise<Map<string, string>> {
    const ready = await mailboxesOf(this.#client, count)
    return new Map(
      ready.map(({ metadata, spec }) => [
        metadata.annotations?.['edge.kubestellar.io/sync-target-name'] ?? '',
        str(spec, 'cluster'),
      ]),
    )
  }

  /** Another team's space, which places one object on a cluster of its own. */
  async addNeighbour(): Promise<string> {
    const { spec } = await addSpace(this.#client, 'neighbour')
    const space = str(spec, 'cluster')
    await this.addCluster('neighbour', 'neighbour')
    const grant = { spec: { spaces: [{ path: 'root:neighbour' }] } }
    await this.in(INVENTORY).create(PLACEMENT_GRANTS, edgeObject('PlacementGrant', 'neighbour', grant))
    const binding = edgeObject('InventoryBinding', 'own', { spec: { path: INVENTORY } })
    await this.in(space).create(INVENTORY_BINDINGS, binding)
    await this.in(space).create(PLACED, placed('their-map', '0'))
    await this.place(space, 'neighbour')
    return space
  }

  async place(space: string, env: string): Promise<void> {
    const spec = {
      locationSelectors: [{ matchLabels: { env } }],
      downsync: [
        {
          apiGroup: PLACED.group,
          resources: [PLACED.resource],
          namespaces: ['default'],
          labelSelectors: [{ matchLabels: { app: 'bench' } }],
        },
      ],
    }
    await this.in(space).create(EDGE_PLACEMENTS, edgeObject('EdgePlacement', env, { spec }))
  }

  async edit(space: string, name: string, value: string): Promise<void> {
    const { data, spec } = placed(name, value)
    await this.in(space).patch(PLACED, { name, namespace: 'default' }, 'merge', flags.statuses ? { spec } : { data })
  }

  /** All syncers report of all copies. */
  async report(mailboxes: readonly string[]): Promise<void> {
    await atMost(AT_ONCE, Array(mailboxes.length * OBJECTS).keys(), async i => {
      const name = `bench-${i % OBJECTS}`
      const status = statusOf(name, i)
      const copy = { name, namespace: 'default' }
      await this.in(mailboxes[Math.floor(i / OBJECTS)]!).patch(
        PLACED,
        copy,
        'merge',
        { status },
        { subresource: 'status' },
      )
    })
  }

  async cpu(): Promise<number> {
    return (await this.#server.cpuSeconds()) ?? Number.NaN
  }

  /** The same by what its threads are called: the loop, V8's, those that write to disk and LevelDB's. */
  async cpuByThread(): Promise<Map<string, number>> {
    return await cpuByThreadOf(this.#server.pids[0]!)
  }

  /** Processor time that the server has used when nothing goes on any more. */
  async settled(): Promise<number> {
    for (let before = await this.cpu(); ; ) {
      await pause(250)
      const now = await this.cpu()
      if (!(now - before > QUIET)) return now
      before = now
    }
  }

  streams(prefix: string): MailboxStreams {
    return new MailboxStreams(this.#server.endpoint, prefix, PLACED)
  }

  close(): void {
    this.#client.close()
  }
}

/** How long edits of the neighbour take to reach their mailbox, until it is stopped. */
class Neighbour {
  readonly latencies: number[] = []
  readonly #running: Promise<void>
  #stopped = false

  constructor(bench: Bench, streams: MailboxStreams, space: string) {
    this.#running = this.#run(bench, streams, space)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(bench: Bench, streams: MailboxStreams, space: string): Promise<void> {
    while (!this.#stopped) {
      const { events } = streams
      const begun = performance.now()
      await bench.edit(space, 'their-map', `${begun}`)
      await streams.until(() => streams.events > events)
      this.latencies.push(performance.now() - begun)
      await pause(NEIGHBOUR_MS)
    }
  }

  get summary(): string {
    const { p50, p99, max, count } = figuresOf(this.latencies)
    return `median ${ms(p50)}, p99 ${ms(p99)}, worst ${ms(max)} (${count} edits)`
  }
}

/** Runs `work`; wall time, and processor time of the server until all is quiet. */
async function measured(bench: Bench, work: () => Promise<void>): Promise<{ wallMs: number; cpuSeconds: number }> {
  const before = await bench.settled()
  const begun = performance.now()
  await work()
  const wallMs = performance.now() - begun
  return { wallMs, cpuSeconds: (await bench.settled()) - before }
}

async function beginProfile(inspector: Inspector, what: string): Promise<void> {
  if (flags.profiled !== what) return
  if (flags.profile) await inspector.startProfile()
  if (flags.allocations) await inspector.startAllocations()
}

async function endProfile(inspector: Inspector, what: string): Promise<void> {
  if (flags.profiled !== what) return
  if (flags.profile) await writeFile(flags.profile, JSON.stringify(await inspector.stopProfile()))
  if (flags.allocations) await writeFile(flags.allocations, JSON.stringify(await inspector.stopAllocations()))
}

async function beforeRestart(bench: Bench, inspector: Inspector, mailboxes: Map<string, string>, neighbour: string) {
  const copies = CLUSTERS * OBJECTS
  const followed = spacesOf(mailboxes)
  const streams = bench.streams('bench-')
  const theirs = bench.streams('their-')
  await streams.open(followed)
  await theirs.open([mailboxes.get('neighbour')!])
  await theirs.until(() => theirs.copies === 1)
  await bench.settled()
  const memory = await inspector.memory()
  let other: Neighbour | undefined
  const threads = await bench.cpuByThread()
  const made = await measured(bench, async () => {
    await beginProfile(inspector, 'copies')
    // not before: what waits for quiet would wait for it
    other = new Neighbour(bench, theirs, neighbour)
    await bench.place(WORKLOAD, 'bench')
    await streams.until(() => streams.copies === followed.length * OBJECTS)
    await other.stop()
  })
  await endProfile(inspector, 'copies')
  const after = await inspector.memory()
  tell(`${CLUSTERS} x ${OBJECTS} copies, the last`, ms(made.wallMs))
  tell(
    'processor time, a copy',
    `${((made.cpuSeconds / copies) * 1e6).toFixed(0)} µs (${made.cpuSeconds.toFixed(1)} s)`,
  )
  const byThread = [...(await bench.cpuByThread())].flatMap(([name, seconds]) => {
    const us = ((seconds - (threads.get(name) ?? 0)) / copies) * 1e6
    return us < 1 ? [] : [`${name} ${us.toFixed(0)}`]
  })
  tell('of that, by threads', byThread.join(', '))
  tell(
    'memory, a copy',
    `${((after.used - memory.used) / copies).toFixed(0)} bytes used; ${mib(after.used)} used; ${mib(after.rss)} resident`,
  )
  if (other) tell('another space meanwhile', (other as Neighbour).summary)
  if (flags.statuses) {
    await beginProfile(inspector, 'statuses')
    const reported = await measured(bench, () => bench.report(spacesOf(mailboxes)))
    await endProfile(inspector, 'statuses')
    tell('a status', `${((reported.cpuSeconds / copies) * 1e6).toFixed(0)} µs`)
    const { used } = await inspector.memory()
    tell('memory, a copy with its status', `${((used - memory.used) / copies).toFixed(0)} bytes used`)
  }
  if (flags.only === 'copies') {
    streams.close()
    theirs.close()
    return 0
  }
  await beginProfile(inspector, 'edits')
  const walls: number[] = []
  const cpus: number[] = []
  for (let i = 0; i < Number(flags.edits); i++) {
    const { events } = streams
    const edited = await measured(bench, async () => {
      await bench.edit(WORKLOAD, 'bench-0', `edit ${i}`)
      await streams.until(() => streams.events === events + followed.length)
    })
    walls.push(edited.wallMs)
    cpus.push(edited.cpuSeconds)
  }
  await endProfile(inspector, 'edits')
  const eachUs = (seconds: number): string => `${((seconds / CLUSTERS) * 1e6).toFixed(0)} µs a copy`
  if (walls.length > 0) tell('an edit, the last mailbox', `${ms(median(walls))}, ${eachUs(median(cpus))}`)
  const more = await measured(bench, async () => {
    await bench.in(WORKLOAD).create(PLACED, placed('bench-new', '0'))
    await streams.until(() => streams.copies === followed.length * (OBJECTS + 1))
  })
  tell('a new object, the last mailbox', `${ms(more.wallMs)}, ${eachUs(more.cpuSeconds)}`)
  const news = bench.streams('bench-new')
  await news.open(followed)
  const revisions = streams.revisions - news.revisions
  news.close()
  streams.close()
  theirs.close()
  return revisions
}

async function afterRestart(
  bench: Bench,
  inspector: Inspector,
  mailboxes: Map<string, string>,
  revisions: number,
): Promise<void> {
  const followed = spacesOf(mailboxes)
  const first = bench.streams('bench-')
  await first.open(followed.slice(0, 1))
  const { events } = first
  const begun = performance.now()
  await bench.edit(WORKLOAD, 'bench-new', 'after')
  await first.until(() => first.events > events)
  tell('the first edit after it', ms(performance.now() - begun))
  tell('processor time of the start', `${(await bench.settled()).toFixed(1)} s`)
  const streams = bench.streams('bench-')
  await streams.open(followed)
  const others = bench.streams('bench-new')
  await others.open(followed)
  // the one that was edited may still be on its way
  tell('copies written anew', revisions === streams.revisions - others.revisions ? 'none' : 'SOME')
  others.close()
  first.close()
  await beginProfile(inspector, 'deletion')
  const gone = await measured(bench, async () => {
    await bench.in(WORKLOAD).delete(EDGE_PLACEMENTS, { name: 'bench' })
    await streams.until(() => streams.copies === 0)
  })
  await endProfile(inspector, 'deletion')
  const copies = CLUSTERS * (OBJECTS + 1)
  const each = ((gone.cpuSeconds / copies) * 1e6).toFixed(0)
  tell('deleted, the last copy', `${ms(gone.wallMs)}, ${each} µs a copy`)
  streams.close()
}

const spacesOf = (mailboxes: Map<string, string>): string[] =>
  [...mailboxes].flatMap(([name, space]) => (name === 'neighbour' ? [] : [space])).slice(0, FOLLOWED)

const dir = await mkdtemp(join(tmpdir(), 'orrery-placement-'))
const kind = orreryOf(flags.tree, { cores: flags.core, inspected: true })
let server: RunningServer | undefined
try {
  server = await kind.start(dir)
  const bench = new Bench(server)
  const inspector = await server.inspector()
  const neighbour = await bench.addNeighbour()
  const { wallMs, cpuSeconds } = await measured(bench, async () => {
    await atMost(AT_ONCE, Array(CLUSTERS).keys(), i => bench.addCluster(`cluster-${i}`, 'bench'))
    await bench.mailboxes(CLUSTERS + 1)
  })
  tell(`${CLUSTERS} clusters, the last mailbox`, `${ms(wallMs)}, ${((cpuSeconds / CLUSTERS) * 1e3).toFixed(1)} ms each`)
  const mailboxes = await bench.mailboxes(CLUSTERS + 1)
  await atMost(AT_ONCE, Array(OBJECTS).keys(), i => bench.in(WORKLOAD).create(PLACED, placed(`bench-${i}`, '0')))
  const { used: empty } = await inspector.memory()
  const revisions = await beforeRestart(bench, inspector, mailboxes, neighbour)
  if (flags.only !== 'copies' && flags.restart === 'no') await afterRestart(bench, inspector, mailboxes, revisions)
  bench.close()
  inspector.close()
  if (flags.only !== 'copies' && flags.restart !== 'no') {
    await server.stop()
    server = await kind.start(dir)
    tell('restart, ready', ms(server.readyMs))
    const again = new Bench(server)
    const looks = await server.inspector()
    await again.settled()
    const { used, rss } = await looks.memory()
    const each = ((used - empty) / CLUSTERS / OBJECTS).toFixed(0)
    tell('memory after it', `${mib(used)} used; ${mib(rss)} resident; ${each} bytes a copy`)
    await afterRestart(again, looks, mailboxes, revisions)
    looks.close()
    again.close()
  }
} finally {
  await server?.stop()
  await rm(dir, { recursive: true })
}
console.log('| placement | |\n|---|---|')
for (const [what, value] of rows) console.log(`| ${what} | ${value} |`)
