/**
 * What a fleet of clusters costs the server: loops that behave as syncers do towards it (a stream of the mailbox, reports) and have no cluster behind them.
 *
 *     node bench/fleet.ts --clusters 1000 --objects 20 [--tree /path/to/another/clone] [--edits 10] [--idle 60]
 *
 * `--core N`: the only one that the server may run on. `--profile FILE`: what its processor did while one object was edited, for devtools.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { at, num, objects, str } from '../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../src/apimachinery/object.ts'
import { WORKSPACES } from '../src/apimachinery/resources.ts'
import { type Clock, systemClock } from '../src/client/clock.ts'
import { httpClient } from '../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../src/client/kubeconfig.ts'
import { silentLogger } from '../src/client/logger.ts'
import { EDGE_API_VERSION, EDGE_PLACEMENTS, LOCATIONS, SYNC_TARGETS } from '../src/placement/words/placement.ts'
import { WorkTurns } from '../src/program/workTurns.ts'
import { MailboxFeed } from '../src/syncer/mailbox/mailboxFeed.ts'
import { SyncerState } from '../src/syncer/mailbox/syncerState.ts'
import { ConfigReport } from '../src/syncer/tells/configReport.ts'
import { OutcomeReporter } from '../src/syncer/tells/outcomeReporter.ts'
import { Outcomes } from '../src/syncer/tells/outcomes.ts'
import { Refusals } from '../src/syncer/tells/refusals.ts'
import type { Inspector } from '../test/attack/inspector.ts'
import { freePort, inspectorAt, orreryOf, type RunningServer } from './servers.ts'

const CONFIG_MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
const ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
const AT_ONCE = 16
/** Between two looks at what a placement says. */
const LOOK_MS = 20

const { values: flags } = parseArgs({
  options: {
    clusters: { type: 'string', default: '1000' },
    objects: { type: 'string', default: '20' },
    edits: { type: 'string', default: '10' },
    idle: { type: 'string', default: '60' },
    tree: { type: 'string', default: join(import.meta.dirname, '..') },
    core: { type: 'string' },
    profile: { type: 'string' },
  },
})
const CLUSTERS = Number(flags.clusters)
const OBJECTS = Number(flags.objects)

/** One cluster: it takes what its mailbox says for done, and says so. */
class Loop {
  readonly mailbox: string
  /** Versions of the ConfigMaps that it holds, by name. */
  readonly held = new Map<string, string>()
  onChange: () => void = () => {}
  readonly #end = new AbortController()

  constructor(mailbox: string, options: { server: string; caPem?: string; token: string }) {
    this.mailbox = mailbox
    const client = httpClient({ ...options, watchIdleMs: 600_000 })
    const space = client.in(mailbox)
    const clock: Clock = systemClock
    const outcomes = new Outcomes(clock, () => reporter.news())
    const session = randomUUID()
    const feed: MailboxFeed = new MailboxFeed({
      client,
      space: mailbox,
      session,
      state: new SyncerState(undefined, silentLogger),
      clock,
      random: Math.random,
      turns: new WorkTurns({ clock: () => performance.now() }),
      logger: silentLogger,
      onChange: ({ key, object }) => {
        if (key.resource !== 'configmaps') return
        if (object) this.held.set(key.name, str(object, 'data', 'v'))
        else this.held.delete(key.name)
        this.onChange()
      },
      onProgress: () => reporter.news(),
      onComplete: () => {
        outcomes.whole([])
        if (!reporting) reporting = config.run(this.#end.signal)
      },
    })
    let reporting: Promise<void> | undefined
    const everyMs = 60_000
    const common = { mailbox: space, session, logger: silentLogger, clock }
    const reporter: OutcomeReporter = new OutcomeReporter({
      ...common,
      outcomes,
      position: () => feed.position,
      everyMs,
    })
    const config: ConfigReport = new ConfigReport({
      ...common,
      mirror: feed.mirror,
      refusals: new Refusals(silentLogger, () => config.soon()),
      orders: () => ({}),
    })
    void feed.run(mailbox, this.#end.signal)
    void reporter.run(this.#end.signal)
  }
}

async function run(server: RunningServer, dir: string, inspector: Inspector | undefined): Promise<void> {
  const { options, base } = await loadKubeconfig(join(dir, 'data/admin.kubeconfig'))
  const admin = httpClient({ ...options, server: base })
  const [inventory, workload] = [admin.in('root:imw1'), admin.in('root:wmw1')]
  const edge = (kind: string, name: string, more: object): KubeObject => ({
    apiVersion: EDGE_API_VERSION,
    kind,
    metadata: { name, labels: { env: 'fleet', id: name } },
    ...more,
  })
  const cpu = async () => (await server.cpuSeconds()) ?? Number.NaN
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const [begun, before] = [performance.now(), await cpu()]
    const result = await work()
    const ms = performance.now() - begun
    say(what, `${ms.toFixed(0)} ms, server CPU ${((await cpu()) - before).toFixed(2)} s`)
    return result
  }

  const names = Array.from({ length: CLUSTERS }, (_, i) => `c${String(i).padStart(5, '0')}`)
  const uids = new Map<string, string>()
  await timed(`${CLUSTERS} SyncTargets and Locations`, () =>
    each(names, async name => {
      const target = await inventory.create(SYNC_TARGETS, edge('SyncTarget', name, {}))
      uids.set(target.metadata.uid!, name)
      const spec = {
        resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
        instanceSelector: { matchLabels: { id: name } },
      }
      await inventory.create(LOCATIONS, edge('Location', name, { spec }))
    }),
  )
  const mailboxes = await timed('their mailboxes', () =>
    eventually(async () => {
      const { items } = await admin.in('root:espw').list(WORKSPACES, {})
      const ready = items.filter(({ status }) => at(status, 'phase') === 'Ready')
      return ready.length === CLUSTERS ? ready.map(({ metadata }) => metadata.name!) : undefined
    }),
  )
  const loops = await timed('their syncers', async () => {
    const loops: Loop[] = []
    await each(mailboxes, async name => {
      const space = `root:espw:${name}`
      const request: KubeObject = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { name: 'kubestellar-syncer', namespace: 'default' },
        spec: {},
      }
      const asked = await eventually(() =>
        admin
          .in(space)
          .create(ACCOUNTS, request, { subresource: 'token' })
          .catch(() => undefined),
      )
      const { caPem } = options
      loops.push(new Loop(space, { server: base, ...(caPem && { caPem }), token: str(asked, 'status', 'token') }))
    })
    return loops
  })
  const map = (name: string, v: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name },
    data: { v, fill: 'x'.repeat(300) },
  })
  for (let i = 0; i < OBJECTS; i++) await workload.create(CONFIG_MAPS, map(`map-${i}`, '0'))
  await workload.create(EDGE_PLACEMENTS, {
    apiVersion: EDGE_API_VERSION,
    kind: 'EdgePlacement',
    metadata: { name: 'fleet' },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'fleet' } }],
      downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['default'] }],
    },
  })
  const all = (holds: (loop: Loop) => boolean) =>
    new Promise<number[]>(resolve => {
      const begun = performance.now()
      const times: number[] = []
      const waiting = new Set(loops)
      const look = (loop: Loop) => {
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
  await new Promise(resolve => setTimeout(resolve, 15_000))
  say('memory', `${((await server.residentBytes()) / 2 ** 20).toFixed(0)} MiB`)
  const [before, seconds] = [await cpu(), Number(flags.idle)]
  await new Promise(resolve => setTimeout(resolve, seconds * 1000))
  say(`idle for ${seconds} s`, `${((((await cpu()) - before) / seconds) * 100).toFixed(2)} % of a core`)

  const figures = { first: [] as number[], last: [] as number[], told: [] as number[], cpu: [] as number[] }
  const change = async (
    what: string,
    write: (i: number) => Promise<unknown>,
    holds: (loop: Loop, i: number) => boolean,
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
      figures.told.push(performance.now() - begun)
      await new Promise(resolve => setTimeout(resolve, 3000))
      figures.cpu.push(((await cpu()) - spent) * 1000)
    }
    for (const [name, list] of Object.entries(figures)) {
      if (list.length === 0) continue
      const sorted = list.toSorted((a, b) => a - b)
      say(
        `${what}: ${name}`,
        `median ${sorted[sorted.length >> 1]!.toFixed(0)} ms, most ${sorted.at(-1)!.toFixed(0)} ms`,
      )
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
    (loop, i) => loop.held.get('map-0') === String(i),
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

function say(what: string, figure: string): void {
  console.log(`${what.padEnd(40)} ${figure}`)
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item)
    }),
  )
}

async function eventually<T>(look: () => Promise<T | undefined>, everyMs = 100): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, everyMs))
  }
}

const dir = await mkdtemp(join(tmpdir(), 'orrery-fleet-'))
const inspectPort = flags.profile === undefined ? undefined : await freePort()
const server = await orreryOf(flags.tree, flags.core, inspectPort).start(join(dir, 'data'))
try {
  const inspector = inspectPort === undefined ? undefined : await inspectorAt(inspectPort)
  await run(server, dir, inspector)
  inspector?.close()
} finally {
  await server.stop()
  await rm(dir, { recursive: true, force: true })
}
process.exit()
