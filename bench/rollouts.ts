/**
 * Rollouts over stand-in clusters: where a bad edit stops, and how many clusters are unavailable at a time. The processor time of a staged
 * edit stands beside that of the same edit under All. The bytes of ten revisions stand beside those of one.
 *
 *     node bench/rollouts.ts --clusters 100 [--bad 5] [--away 3] [--joining 2] [--objects 20] [--core N] [--tree /path/to/another/clone]
 *
 * `--concurrency`, `--failures`: maxConcurrency, and maxFailures of the rollout that stops. `--thinking MS`: until a cluster is healthy.
 * `--kills N`: amid each staged edit the server is killed and starts again, and N stand-ins end and come back.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { at, num, objects, str } from '../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../src/apimachinery/object.ts'
import { contentName, revisionName } from '../src/placement/rollout/revisionNames.ts'
import { objectKey } from '../src/placement/words/names.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  PLACEMENT_CONTENTS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
} from '../src/placement/words/placement.ts'
import { CONFIG_MAPS, DEPLOYMENTS, edgeObject, eventually, INVENTORY, WORKLOAD } from './ground.ts'
import { clientOf, orreryOf, type RunningServer, TREE } from './servers.ts'
import { Fleet, type StandIn, say } from './standIns.ts'

const REVISED = 200
const REVISED_LABELS = { set: 'revised' }
const REVISIONS = 10
/** After an edit, until the server has nothing left to do for it. */
const SETTLES_MS = 3000
/** Between two looks. */
const LOOK_MS = 50
const RETRY_MS = 500
const IDLE_MS = 10_000
const EDITED = 'web-0'
const BAD_IMAGE = 'bad'

const { values: flags } = parseArgs({
  options: {
    clusters: { type: 'string', default: '100' },
    bad: { type: 'string', default: '5' },
    away: { type: 'string', default: '3' },
    joining: { type: 'string', default: '2' },
    objects: { type: 'string', default: '20' },
    concurrency: { type: 'string', default: '10' },
    failures: { type: 'string', default: '4' },
    thinking: { type: 'string', default: '100' },
    tree: { type: 'string', default: TREE },
    kills: { type: 'string', default: '0' },
    core: { type: 'string' },
  },
})
const [CLUSTERS, OBJECTS] = [Number(flags.clusters), Number(flags.objects)]
const NAMES = Array.from({ length: CLUSTERS }, (_, i) => `c${String(i).padStart(5, '0')}`)
const FIRST = NAMES.slice(0, CLUSTERS - Number(flags.joining))
/** They join while a rollout runs. */
const JOINING = NAMES.slice(FIRST.length)
const AWAY = new Set(FIRST.slice(FIRST.length - Number(flags.away)))
/** Spread over those that are there, the first one among them. */
const THERE = FIRST.slice(0, FIRST.length - AWAY.size)
const BAD = new Set(
  Array.from({ length: Number(flags.bad) }, (_, i) => THERE[Math.floor((i * THERE.length) / Number(flags.bad))]!),
)

/** Clusters that have the newest content, and are not healthy with it. */
const unavailable = new Set<string>()
let mostUnavailable = 0
/** Clusters that lost an object. */
const lost = new Set<string>()
/** Generations of Deployments that run, by cluster and name. */
const running = new Map<string, Map<string, number>>()

function imageOf(object: KubeObject | undefined): string {
  return str(at(object?.spec, 'template', 'spec', 'containers', 0), 'image')
}

/** Reports the status of Deployments that run: after a while healthy, or degraded where the image is bad for the cluster. */
function runDeployments(loop: StandIn): void {
  const generations = running.get(loop.name) ?? new Map<string, number>()
  running.set(loop.name, generations)
  loop.onChange = async name => {
    const object = loop.held.get(name)
    if (!object) lost.add(loop.name)
    const { generation = 0 } = object?.metadata ?? {}
    if (!object || generations.get(name) === generation) return
    generations.set(name, generation)
    unavailable.add(loop.name)
    mostUnavailable = Math.max(mostUnavailable, unavailable.size)
    await pause(Number(flags.thinking))
    const isBad = imageOf(object).startsWith(BAD_IMAGE) && BAD.has(loop.name)
    const available = isBad ? 0 : 1
    const reason = isBad ? 'ProgressDeadlineExceeded' : 'NewReplicaSetAvailable'
    const message = isBad ? 'the image cannot be pulled' : ''
    const status = {
      observedGeneration: generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: available,
      availableReplicas: available,
      conditions: [{ type: 'Progressing', status: isBad ? 'False' : 'True', reason, message }],
    }
    if (!isBad) unavailable.delete(loop.name)
    const ref = { namespace: 'default', name }
    const options = { subresource: 'status', fieldManager: 'bench' }
    const report = () => loop.space.patch(DEPLOYMENTS, ref, 'merge', { status }, options)
    // while the server is away a syncer tries again
    await eventually(() => report().catch(() => undefined), RETRY_MS)
  }
}

async function run(dir: string): Promise<void> {
  const admin = clientOf(server.endpoint)
  const workload = admin.in(WORKLOAD)
  const fleet = new Fleet(server, DEPLOYMENTS)
  const connected = async (names: readonly string[], env?: string): Promise<StandIn[]> => {
    await fleet.create(names, env)
    const loops = await fleet.connect(await fleet.mailboxes())
    for (const loop of loops) runDeployments(loop)
    return loops
  }
  const [first, joining] = [await connected(FIRST), await connected(JOINING, 'later')]
  for (let i = 0; i < OBJECTS; i++) await workload.create(DEPLOYMENTS, deployment(`web-${i}`, 'good:0'))
  const fleetTest = { apiGroup: 'apps', resources: ['deployments'], namespaces: ['default'] }
  await workload.create(EDGE_PLACEMENTS, placement('fleet', { env: 'fleet' }, fleetTest))

  const placed = async (holds: (object: KubeObject) => boolean): Promise<void> => {
    await eventually(async () => {
      const object = await workload.get(EDGE_PLACEMENTS, { name: 'fleet' })
      return holds(object) || undefined
    }, LOOK_MS)
  }
  const isHealthy = ({ status }: KubeObject): boolean => {
    const isTrue = (type: string) =>
      objects(status, 'conditions').some(one => one.type === type && one.status === 'True')
    return isTrue('Applied') && isTrue('Healthy') && num(status, 'counts', 'applied') === FIRST.length * OBJECTS
  }
  const edit = async (image: string): Promise<void> => {
    const spec = { template: { spec: { containers: [{ name: 'web', image }] } } }
    await workload.patch(DEPLOYMENTS, { namespace: 'default', name: EDITED }, 'strategic', { spec })
  }
  const having = (image: string, among: readonly StandIn[]): number =>
    among.filter(({ held }) => imageOf(held.get(EDITED)) === image).length
  const newest = async (name: string): Promise<number> => {
    const { items } = await workload.list(PLACEMENT_REVISIONS, {})
    const own = items.filter(({ spec }) => str(spec, 'placement') === name)
    return Math.max(0, ...own.map(({ spec }) => num(spec, 'revision')))
  }
  const revisionAfter = (name: string, before: number): Promise<number> =>
    eventually(async () => {
      const found = await newest(name)
      return found > before ? found : undefined
    }, LOOK_MS)
  const ended = (name: string, revision: number): Promise<KubeObject> =>
    eventually(async () => {
      const found = await workload
        .get(PLACEMENT_ROLLOUTS, { name: revisionName(name, revision) })
        .catch(() => undefined)
      return ['Done', 'Failed'].includes(str(found?.status, 'state')) ? found : undefined
    }, LOOK_MS)
  const restrategize = async (maxFailures: number | string): Promise<void> => {
    const progressive = { maxConcurrency: Number(flags.concurrency), maxFailures }
    const spec = { rolloutStrategy: { type: 'Progressive', progressive } }
    await workload.patch(EDGE_PLACEMENTS, { name: 'fleet' }, 'merge', { spec })
  }
  /** The rollout of an edit, once it has ended. */
  const rolledOut = async (image: string, midway: () => Promise<unknown> = async () => {}): Promise<KubeObject> => {
    const before = await newest('fleet')
    await edit(image)
    const revision = await revisionAfter('fleet', before)
    await midway()
    await kill()
    return await ended('fleet', revision)
  }
  /** Processor time of servers that were killed. */
  let spentMs = 0
  const cpuMs = async (): Promise<number> => spentMs + ((await server.cpuSeconds()) ?? Number.NaN) * 1000
  /** The server is killed and starts again, and so do syncers. */
  const kill = async (): Promise<void> => {
    const killed = first.filter(({ name }) => THERE.includes(name)).slice(0, Number(flags.kills))
    if (killed.length === 0) return
    for (const loop of killed) loop.end()
    spentMs = await cpuMs()
    await server.stop('SIGKILL')
    server = await kind.start(join(dir, 'data'), server.endpoint.port)
    const back = await fleet.connect(killed.map(({ mailbox }) => mailbox.slice('root:espw:'.length)))
    for (const loop of back) runDeployments(loop)
    first.splice(0, first.length, ...first.filter(loop => !killed.includes(loop)), ...back)
    say('  killed', `the server, and ${killed.length} syncers`)
  }

  await placed(isHealthy)
  await pause(SETTLES_MS)
  const [before, begun] = [await cpuMs(), performance.now()]
  await pause(IDLE_MS)
  const idle = ((await cpuMs()) - before) / (performance.now() - begun)
  say(`idle, ${CLUSTERS} clusters`, `${(idle * 100).toFixed(2)} % of a core`)
  /** CPU beyond that of an idle server, in milliseconds. */
  const measured = async (what: string, work: () => Promise<unknown>): Promise<number> => {
    mostUnavailable = unavailable.size
    const [spent, begun] = [await cpuMs(), performance.now()]
    await work()
    const tookMs = performance.now() - begun
    await pause(SETTLES_MS)
    const used = (await cpuMs()) - spent - idle * (performance.now() - begun)
    say(what, `${tookMs.toFixed(0)} ms, CPU ${used.toFixed(0)} ms, most unavailable at a time ${mostUnavailable}`)
    return used
  }
  const tell = ({ status }: KubeObject, image: string): void => {
    const clusters = objects(status, 'clusters')
    const states = ['Done', 'Failed', 'Planned', 'Waiting'].map(
      state => `${clusters.filter(one => one.state === state).length} ${state}`,
    )
    say('  ended', `${str(status, 'state')}: ${str(status, 'message')}`)
    say('  clusters', `${states.join(', ')}, ${clusters.filter(one => one.away === true).length} of them away`)
    say(
      '  have the edit',
      `${having(image, first)} of ${first.length}, and ${having(image, joining)} of ${joining.length} that joined`,
    )
    say('  have lost an object', `${lost.size} clusters`)
  }

  const all = await measured('edit under All', async () => {
    await edit('good:1')
    await eventually(async () => having('good:1', first) === first.length || undefined, LOOK_MS)
    await placed(isHealthy)
  })
  await restrategize(0)
  await ended('fleet', await revisionAfter('fleet', 0))
  await pause(SETTLES_MS)
  const staged = await measured(`edit under Progressive, ${flags.concurrency} at once`, () => rolledOut('good:2'))
  say('CPU beside All', `${(staged / all).toFixed(2)} x`)

  for (const loop of first) if (AWAY.has(loop.name)) loop.end()
  await placed(({ status }) => num(status, 'counts', 'stale') === AWAY.size * OBJECTS)
  const joins = async (): Promise<void> => {
    await eventually(async () => having('bad:1', first) > 0 || undefined, LOOK_MS)
    const metadata = { labels: { env: 'fleet' } }
    for (const name of JOINING) await admin.in(INVENTORY).patch(LOCATIONS, { name }, 'merge', { metadata })
    await eventually(async () => joining.every(({ held }) => held.has(EDITED)) || undefined, LOOK_MS)
  }
  const edits = [
    { image: 'bad:1', maxFailures: Number(flags.failures), midway: joins },
    { image: 'good:3', maxFailures: 0 },
    { image: 'bad:2', maxFailures: '5%' },
  ]
  for (const { image, maxFailures, midway } of edits) {
    await restrategize(maxFailures)
    const rollouts: KubeObject[] = []
    await measured(`${image}, maxFailures ${maxFailures}`, async () => rollouts.push(await rolledOut(image, midway)))
    for (const rollout of rollouts) tell(rollout, image)
  }

  await measureRevisions()

  /** Bytes of revisions of which one object differs, beside those of the first. */
  async function measureRevisions(): Promise<void> {
    const map = (i: number, v: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: `map-${i}`, labels: REVISED_LABELS },
      data: { v, fill: 'x'.repeat(300) },
    })
    for (let i = 0; i < REVISED; i++) await workload.create(CONFIG_MAPS, map(i, '0'))
    const maps = {
      apiGroup: '',
      resources: ['configmaps'],
      namespaces: ['default'],
      labelSelectors: [{ matchLabels: REVISED_LABELS }],
    }
    const { spec, ...rest } = placement('revised', { id: THERE[0]! }, maps)
    const progressive = { maxConcurrency: 1 }
    const rolloutStrategy = { type: 'Progressive', progressive }
    await workload.create(EDGE_PLACEMENTS, { ...rest, spec: { ...(spec as object), rolloutStrategy } })
    const { uid = '' } = (await workload.get(EDGE_PLACEMENTS, { name: 'revised' })).metadata
    const sizeOf = (items: readonly object[]): number =>
      items.reduce((sum: number, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0)
    const listed = async (kind: GroupVersionResource): Promise<number> => {
      const { items } = await workload.list(kind, {})
      return sizeOf(items.filter(one => str(one.spec, 'placement') === 'revised'))
    }
    /** Rows by object and by the revision from which on it is so. */
    const rowOf = (i: number, from: number): Promise<KubeObject> =>
      workload.get(PLACEMENT_CONTENTS, {
        name: contentName(uid, objectKey(CONFIG_MAPS, 'default', `map-${i}`), from),
      })
    const bytes = async (revisions: number): Promise<number> => {
      const rows = Array.from({ length: REVISED }, (_, i) => rowOf(i, 1))
      for (let from = 2; from <= revisions; from++) rows.push(rowOf(0, from))
      return sizeOf(await Promise.all(rows)) + (await listed(PLACEMENT_REVISIONS))
    }
    await ended('revised', await revisionAfter('revised', 0))
    const one = await bytes(1)
    for (let revision = 2; revision <= REVISIONS; revision++) {
      const data = { v: String(revision) }
      await workload.patch(CONFIG_MAPS, { namespace: 'default', name: 'map-0' }, 'merge', { data })
      await ended('revised', await revisionAfter('revised', revision - 1))
    }
    const several = await bytes(REVISIONS)
    say(
      `${REVISIONS} revisions of ${REVISED} objects`,
      `${several} bytes beside ${one} of one: ${(several / one).toFixed(3)} x`,
    )
    say('  and their PlacementRollouts', `${await listed(PLACEMENT_ROLLOUTS)} bytes`)
  }
}

function deployment(name: string, image: string): KubeObject {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } }
  const spec = { selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'default', name }, spec }
}

function placement(name: string, matchLabels: Record<string, string>, test: object): KubeObject {
  const spec = { locationSelectors: [{ matchLabels }], downsync: [test] }
  return edgeObject('EdgePlacement', name, { spec })
}

const dir = await mkdtemp(join(tmpdir(), 'orrery-rollouts-'))
const kind = orreryOf(flags.tree, { cores: flags.core })
let server: RunningServer = await kind.start(join(dir, 'data'))
try {
  await run(dir)
} finally {
  await server.stop()
  await rm(dir, { recursive: true, force: true })
}
process.exit()
