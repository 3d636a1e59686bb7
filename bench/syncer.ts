/**
 * Cost of a syncer for the edge, all processes real: `node bench/syncer.ts [--objects 100,1000,10000] [--idle SECONDS] [--tree DIR]
 * [--pods 5000]`. A
 * server whose mailbox is full, a stand-in cluster that is empty, and a syncer that starts between them. With `--cluster FILE` a cluster of
 * that kubeconfig, which must hold nothing of an earlier run, instead of the stand-in. Printed are the first fill in objects a second and
 * its processor time for each without that of the start. For an idle while it prints resident memory, connections, processor time and
 * traffic; for three edits the bytes to the disk and to the network. The cluster's own end of the measured links is a relay that counts
 * (bench/relay.ts). With `--pods N` the cluster makes as many Pods of a placed Deployment, which crash in a loop meanwhile. The figures are
 * printed without `spec.associated`, and with it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Observer } from '../demo/observer.ts'
import { Processes } from '../demo/processes.ts'
import type { GroupVersionResource, KubeObject } from '../src/apimachinery/object.ts'
import { atMost } from '../src/client/atMost.ts'
import type { SpaceClient } from '../src/client/client.ts'
import { systemClock } from '../src/client/clock.ts'
import { type ClosableClient, httpSpaceClient } from '../src/client/http/httpClient.ts'
import { Informer } from '../src/client/informer.ts'
import { loadKubeconfig } from '../src/client/kubeconfig.ts'
import { EDGE_PLACEMENTS } from '../src/placement/words/placement.ts'
import { AT_ONCE, CONFIG_MAPS, DEPLOYMENTS, edgeObject, WORKLOAD } from './ground.ts'
import { Relay } from './relay.ts'
import { mib } from './serverState.ts'
import { cpuSecondsOf, TREE } from './servers.ts'
import { type Site, withSite } from './site.ts'

const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '100,1000,10000' },
    idle: { type: 'string', default: '60' },
    tree: { type: 'string', default: TREE },
    /** Kubeconfig of a cluster of one's own: it speaks HTTP/2, as the stand-in does not. For one number of objects. */
    cluster: { type: 'string' },
    pods: { type: 'string', default: '0' },
    /** As the syncer's flags of that name; 0: no limit of its own. Default: the syncer's. */
    qps: { type: 'string' },
  },
})
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const SERVICES = { group: '', version: 'v1', resource: 'services' }
const PODS = { group: '', version: 'v1', resource: 'pods' }
const SETS = { group: 'apps', version: 'v1', resource: 'replicasets' }
const NAMESPACE = 'default'
const SECONDS_A_DAY = 86_400
/** Processor time of the syncer, in half a second: below it nothing is going on. */
const QUIET_SECONDS = 0.02

interface Figures {
  fill: string
  firstSeconds: string
  cpuEach: string
  resident: string
  idleShare: string
  connections: string
  idleTraffic: string
  edits: string
  editTraffic: string
}
const TITLES: Readonly<Record<keyof Figures, string>> = {
  fill: 'first fill',
  firstSeconds: 'start to last object',
  cpuEach: 'processor time per object',
  resident: 'resident',
  idleShare: 'idle, of a core',
  connections: 'connections, center + cluster',
  idleTraffic: 'idle traffic a day, center + cluster',
  edits: 'three edits write',
  editTraffic: 'three edits send',
}

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(0)} KiB`

/** Mostly ConfigMaps of 400 bytes, with Secrets and Services among them. */
function objectAt(i: number): { resource: GroupVersionResource; object: KubeObject } {
  const metadata = { name: `o${i}`, namespace: NAMESPACE, labels: { app: 'bench' } }
  if (i % 10 === 7)
    return {
      resource: SECRETS,
      object: { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { key: `secret ${i}` } },
    }
  // Few: a cluster has one address for each.
  if (i % 100 === 9)
    return {
      resource: SERVICES,
      object: { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: 'None', ports: [{ port: 80 }] } },
    }
  const data = { value: String(i), text: 'x'.repeat(300) }
  return { resource: CONFIG_MAPS, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } }
}

const ours = { namespaces: [NAMESPACE], labelSelectors: [{ matchLabels: { app: 'bench' } }] }
const placement = (isAssociated: boolean): KubeObject => {
  const spec = {
    locationSelectors: [{ matchLabels: { env: 'bench' } }],
    downsync: [
      { apiGroup: '', resources: ['configmaps', 'secrets', 'services'], ...ours },
      { apiGroup: 'apps', resources: ['deployments'], ...ours },
    ],
    ...(isAssociated && { associated: { kinds: ['pods', 'replicasets.apps'] } }),
  }
  return edgeObject('EdgePlacement', 'bench', { spec })
}

const IMAGE = 'registry.example/shop/web:1.2.3'
const env = Array.from({ length: 20 }, (_, i) => ({ name: `KEY_${i}`, value: 'v'.repeat(20) }))
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: IMAGE, env, resources: { requests: { cpu: '100m' } } }] },
}
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: NAMESPACE, labels: { app: 'bench' } },
  spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
}

/** Pods of the placed Deployment, as a cluster's controllers make them. */
class CrashingPods {
  readonly #cluster: SpaceClient
  readonly #count: number
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #pending = new Set<Promise<unknown>>()
  #changes = 0

  constructor(cluster: SpaceClient, count: number) {
    this.#cluster = cluster
    this.#count = count
  }

  async make(): Promise<void> {
    const { metadata } = await this.#placed()
    const owned = (name: string, owner: { apiVersion: string; kind: string; name: string; uid: string }) => ({
      name,
      namespace: NAMESPACE,
      labels: { app: 'web' },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    })
    const root = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid! }
    const set = await this.#cluster.create(SETS, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: owned('web-5d4f8c7b9', root),
      spec: { replicas: this.#count, selector: { matchLabels: { app: 'web' } }, template },
    })
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d4f8c7b9', uid: set.metadata.uid! }
    await atMost(AT_ONCE, Array(this.#count).keys(), i =>
      this.#cluster.create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: owned(`web-5d4f8c7b9-${i}`, owner),
        spec: template.spec,
      }),
    )
  }

  /** Each restarts every five minutes, which changes its status three times. */
  crash(): void {
    const everyMs = (CRASH_MS / 3 / this.#count) * PATCHES_AT_ONCE
    this.#timers.add(
      setInterval(() => {
        for (let i = 0; i < PATCHES_AT_ONCE; i++) this.#change(this.#changes++)
      }, everyMs),
    )
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#pending)
  }

  async #placed(): Promise<KubeObject> {
    for (;;) {
      const { items } = await this.#cluster.list(DEPLOYMENTS, { namespace: NAMESPACE })
      const found = items.find(({ metadata }) => metadata.name === 'web')
      if (found) return found
      await pause(100)
    }
  }

  #change(i: number): void {
    const name = `web-5d4f8c7b9-${i % this.#count}`
    const restartCount = Math.floor(i / this.#count)
    const waiting = { reason: 'CrashLoopBackOff', message: `back-off 5m0s restarting failed container=c pod=${name}` }
    const terminated = { exitCode: 1, reason: 'Error', startedAt: '2026-01-01T00:00:00Z' }
    const containerID = `containerd://${'b'.repeat(64)}`
    const about = { name: 'c', image: IMAGE, imageID: `sha256:${'a'.repeat(64)}`, containerID, restartCount }
    const status = { containerStatuses: [{ ...about, ready: false, state: { waiting }, lastState: { terminated } }] }
    const options = { subresource: 'status' }
    const sent = this.#cluster
      .patch(PODS, { namespace: NAMESPACE, name }, 'merge', { status }, options)
      .finally(() => this.#pending.delete(sent))
    this.#pending.add(sent)
  }
}
const CRASH_MS = 300_000
const PATCHES_AT_ONCE = 5

/** Objects of ours that the center holds in a space, and when the first and the last came. */
class Arrivals {
  readonly observer: Observer

  constructor(client: ClosableClient, space: string) {
    this.observer = new Observer(client, space)
  }

  /** Resolves with the milliseconds of the first and the last. */
  async all(count: number): Promise<{ firstMs: number; lastMs: number }> {
    const missing = (): string | undefined => {
      const have = this.#ours().length
      return have < count ? `${have} of ${count} are there` : undefined
    }
    // A count over everything at each event would be quadratic: ask now and then.
    for (let lacking = missing(); lacking !== undefined; lacking = missing()) await pause(100)
    const times = this.#ours().map(key => this.observer.get(key)!.appearedMs)
    return { firstMs: Math.min(...times), lastMs: Math.max(...times) }
  }

  #ours(): string[] {
    return this.observer.keys().filter(key => OURS.test(key))
  }
}
const OURS = /^(configmaps|secrets|services) default\/o\d+$/

/** The same of any cluster, by watches of the three kinds. */
class ClusterArrivals {
  readonly synced: Promise<unknown>
  readonly #informers: readonly Informer[]
  readonly #stop = new AbortController()
  readonly #cameMs = new Map<string, number>()

  constructor(client: SpaceClient) {
    this.#informers = [CONFIG_MAPS, SECRETS, SERVICES].map(resource => {
      const informer = new Informer({
        client,
        resource,
        namespace: NAMESPACE,
        labelSelector: 'app=bench',
        clock: systemClock,
        random: Math.random,
      })
      informer.subscribe(({ object }) => {
        const key = `${resource.resource} ${object.metadata.name}`
        if (!this.#cameMs.has(key)) this.#cameMs.set(key, performance.now())
      })
      void informer.run(this.#stop.signal)
      return informer
    })
    this.synced = Promise.all(this.#informers.map(({ synced }) => synced))
  }

  async all(count: number): Promise<{ firstMs: number; lastMs: number }> {
    while (this.#cameMs.size < count) await pause(20)
    const times = [...this.#cameMs.values()]
    return { firstMs: Math.min(...times), lastMs: Math.max(...times) }
  }

  /** Resolves when one object is there. */
  async first(): Promise<void> {
    while (this.#cameMs.size === 0) await pause(5)
  }

  /** Resolves when the first object says it. */
  async says(value: string): Promise<void> {
    const data = (): unknown => this.#informers[0]!.get({ namespace: NAMESPACE, name: 'o0' })?.data
    while ((data() as { value?: string } | undefined)?.value !== value) await pause(20)
  }

  stop(): void {
    this.#stop.abort()
  }
}

/** The kubeconfig with its server behind a relay. */
async function through(relay: Relay, from: string, to: string): Promise<void> {
  const text = await readFile(from, 'utf8')
  await writeFile(to, text.replace(/https:\/\/[^/\s:]+:\d+/, `https://127.0.0.1:${relay.port}`), { mode: 0o600 })
}

async function portOf(kubeconfig: string): Promise<number> {
  return Number(new URL((await loadKubeconfig(kubeconfig)).base).port)
}

async function statusOf(pid: number, field: string): Promise<number> {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}

/** Bytes that it gave the disk, in whole pages. */
async function writtenBy(pid: number): Promise<number> {
  return Number(/^write_bytes: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, 'utf8'))![1])
}

const cpuOf = async (pid: number): Promise<number> => (await cpuSecondsOf([pid])) ?? Number.NaN

async function quiet(pid: number): Promise<void> {
  for (let calm = 0; calm < 4; ) {
    const before = await cpuOf(pid)
    await pause(500)
    calm = (await cpuOf(pid)) - before < QUIET_SECONDS ? calm + 1 : 0
  }
}

interface Load {
  count: number
  podCount: number
  isAssociated: boolean
}

async function measure(site: Site, { count, podCount, isAssociated }: Load): Promise<Figures> {
  const { dir, center: ofCenter, cluster: ofCluster, mailbox: ofMailbox, closers, connect } = site
  const measured = new Processes(dir, join(flags.tree, 'bin'))
  const center = await connect(ofCenter)
  const workload = center.in(WORKLOAD)
  await atMost(AT_ONCE, Array(count).keys(), async i => {
    const { resource, object } = objectAt(i)
    await workload.create(resource, object)
  })
  if (podCount > 0) await workload.create(DEPLOYMENTS, deployment)
  const { space = '' } = await loadKubeconfig(ofMailbox)
  const inMailbox = new Arrivals(center, space)
  await workload.create(EDGE_PLACEMENTS, placement(isAssociated))
  await inMailbox.all(count)
  await inMailbox.observer.stop()

  const relays = { center: await Relay.to(await portOf(ofCenter)), cluster: await Relay.to(await portOf(ofCluster)) }
  closers.push(
    () => relays.center.close(),
    () => relays.cluster.close(),
  )
  const [from, to] = [join(dir, 'from.kubeconfig'), join(dir, 'to.kubeconfig')]
  await through(relays.center, ofMailbox, from)
  await through(relays.cluster, ofCluster, to)
  const { options, base } = await loadKubeconfig(ofCluster)
  const client = httpSpaceClient({ ...options, server: base })
  const arrivals = new ClusterArrivals(client)
  closers.push(
    () => client.close(),
    () => arrivals.stop(),
  )
  await arrivals.synced

  const begunMs = performance.now()
  const more = flags.qps === undefined ? [] : ['--qps', flags.qps]
  const state = join(dir, 'state')
  const args = ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to, '--state-dir', state, ...more]
  const pid = measured.launch('syncer', args)
  closers.push(() => measured.stop())
  await arrivals.first()
  const startCpu = await cpuOf(pid)
  const { firstMs, lastMs } = await arrivals.all(count)
  const fillCpu = await cpuOf(pid)
  const pods = new CrashingPods(client, podCount)
  if (podCount > 0) await pods.make()
  await quiet(pid)
  const eachMs = (cpu: number): string => `${(((cpu - startCpu) / count) * 1000).toFixed(2)} ms`
  const cpuEach = `${eachMs(fillCpu)}, ${eachMs(await cpuOf(pid))} until it is quiet; start ${startCpu.toFixed(2)} s`

  const [cpu, toCenter, toCluster] = [await cpuOf(pid), relays.center.bytes, relays.cluster.bytes]
  const idleBegunMs = performance.now()
  if (podCount > 0) pods.crash()
  closers.push(() => pods.stop())
  await pause(Number(flags.idle) * 1000)
  const idleSeconds = (performance.now() - idleBegunMs) / 1000
  const share = ((await cpuOf(pid)) - cpu) / idleSeconds
  const day = (bytes: number): number => (bytes / idleSeconds) * SECONDS_A_DAY
  const idle = [day(relays.center.bytes - toCenter), day(relays.cluster.bytes - toCluster)]
  const resident = await statusOf(pid, 'VmRSS')
  const peak = await statusOf(pid, 'VmHWM')
  const own = await statusOf(pid, 'RssAnon')
  const connections = `${relays.center.open} + ${relays.cluster.open}`

  const [written, editFrom] = [await writtenBy(pid), relays.center.bytes + relays.cluster.bytes]
  for (let edit = 1; edit <= 3; edit++) {
    const value = `edit ${edit}`
    await workload.patch(CONFIG_MAPS, { namespace: NAMESPACE, name: 'o0' }, 'merge', { data: { value } })
    await arrivals.says(value)
    // Each for itself: one that comes while another is written would share its page.
    await pause(Math.min(15_000, 3000 + count))
  }
  return {
    fill: `${((count / (lastMs - firstMs)) * 1000).toFixed(0)}/s`,
    firstSeconds: `${((lastMs - begunMs) / 1000).toFixed(1)} s, ${fillCpu.toFixed(1)} s of processor`,
    cpuEach,
    resident: `${mib(resident)} (at most ${mib(peak)}), ${mib(own)} beside the program's files`,
    idleShare: `${(share * 100).toFixed(2)} %`,
    connections,
    idleTraffic: idle.map(mib).join(' + '),
    edits: kib((await writtenBy(pid)) - written),
    editTraffic: kib(relays.center.bytes + relays.cluster.bytes - editFrom),
  }
}

const pods = Number(flags.pods)
for (const count of flags.objects.split(',').map(Number))
  for (const isAssociated of pods > 0 ? [false, true] : [false]) {
    const figures = await withSite(site => measure(site, { count, podCount: pods, isAssociated }), flags.cluster)
    const beside = pods > 0 ? `, ${pods} Pods that crash, ${isAssociated ? 'with' : 'without'} associated` : ''
    process.stdout.write(`${count} objects${beside}\n`)
    for (const [name, title] of Object.entries(TITLES))
      process.stdout.write(`  ${title.padEnd(38)}${figures[name as keyof Figures]}\n`)
  }
