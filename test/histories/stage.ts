/**
 * An installation that a history acts on: a center, a workload space with one placement, and clusters. Each has two syncers, one of which
 * stands by. It reports at any moment the center's false claims, and whether all is at rest.
 */
import { join } from 'node:path'
import { isStatusError } from '../../src/apimachinery/errors.ts'
import { at, num, objects, str } from '../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { systemClock } from '../../src/client/clock.ts'
import { Informer } from '../../src/client/informer.ts'
import { CONFIRM_DELETION_ANNOTATION } from '../../src/placement/words/placement.ts'
import { ACCOUNTS, LOCATIONS, NAMESPACES, PLACEMENTS, TARGETS, WORKSPACES } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { type Faults, Server, SyncerProgram } from './programs.ts'
import { contentOf, KINDS, keyOf, Moments, runs, SHOP, Truth } from './truth.ts'

const STATUSES = { group: 'edge.kubestellar.io', version: 'v1alpha1', resource: 'workstatuses' }
const EDGE = 'edge.kubestellar.io/v2alpha1'
export const PLACEMENT = { name: 'p' }

export class Cluster {
  readonly name: string
  readonly server: Server
  readonly truth: Truth
  readonly syncers: readonly SyncerProgram[]
  readonly client: SpaceClient
  /** A claim about it has to have been true at a moment from then on. */
  since = 0
  /** The same, as soon as a syncer of a later run reports. */
  sinceNext: number | undefined
  /** A syncer ran since the center was started, or since it was silent. */
  mayBeTold = false
  /** Contents that it does not take, by their last digit. */
  refuses: string | undefined

  constructor(o: {
    name: string
    server: Server
    truth: Truth
    syncers: readonly SyncerProgram[]
    client: SpaceClient
  }) {
    this.name = o.name
    this.server = o.server
    this.truth = o.truth
    this.syncers = o.syncers
    this.client = o.client
  }

  get isServed(): boolean {
    return this.syncers.some(({ isRunning }) => isRunning)
  }
}

export class Stage {
  readonly center: Server
  readonly wds: SpaceClient
  readonly clusters: readonly Cluster[]
  readonly moments: Moments
  readonly faults: Faults
  /** How long something may be missing. */
  readonly patienceMs: number
  readonly #claims: Informer
  readonly #sums: Informer
  readonly #stop = new AbortController()
  readonly #watching: Promise<unknown>
  #wake: (() => void) | undefined
  #contents = 0

  private constructor(o: {
    center: Server
    clusters: readonly Cluster[]
    moments: Moments
    faults: Faults
    patienceMs: number
  }) {
    this.patienceMs = o.patienceMs
    this.center = o.center
    this.clusters = o.clusters
    this.moments = o.moments
    this.faults = o.faults
    const client = o.center.client.in('root:wmw1')
    this.wds = client
    this.#claims = new Informer({ client, resource: STATUSES, clock: systemClock, random: () => 0.5 })
    this.#sums = new Informer({ client, resource: PLACEMENTS, clock: systemClock, random: () => 0.5 })
    const news = (): void => this.#wake?.()
    for (const informer of [this.#claims, this.#sums]) informer.subscribe(news)
    for (const { truth } of o.clusters) truth.onChange(news)
    this.#watching = Promise.all([this.#claims.run(this.#stop.signal), this.#sums.run(this.#stop.signal)])
  }

  static async begin(dir: string, names: readonly string[], patienceMs: number): Promise<Stage> {
    const faults: Faults = []
    const moments = new Moments()
    const center = new Server(join(dir, 'center'), { spaces: true, faults })
    await center.start()
    const clusters = await Promise.all(names.map(name => newCluster({ dir, name, center, moments, faults })))
    const stage = new Stage({ center, clusters, moments, faults, patienceMs })
    const metadata = { name: SHOP }
    await stage.wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata })
    const resources = KINDS.map(({ group, resource }) => ({
      apiGroup: group,
      resources: [resource],
      namespaces: [SHOP],
      objectNames: ['*'],
    }))
    await stage.wds.create(PLACEMENTS, {
      apiVersion: EDGE,
      kind: 'EdgePlacement',
      metadata: PLACEMENT,
      spec: { locationSelectors: selectorsOf(names), downsync: resources },
    })
    for (const each of clusters) await stage.startSyncer(each, 0)
    return stage
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.clusters.flatMap(({ syncers }) => syncers.map(one => one.end('kill'))))
    await this.#watching
    for (const { truth, server } of this.clusters) {
      await truth.lost()
      await server.end()
      server.close()
    }
    await this.center.end()
    this.center.close()
  }

  /** A text without an earlier use. */
  newContent(): string {
    return String(++this.#contents)
  }

  async startSyncer(cluster: Cluster, which: number): Promise<void> {
    cluster.mayBeTold = true
    await cluster.syncers[which]!.start()
  }

  async endSyncer(cluster: Cluster, which: number, how: 'stop' | 'kill'): Promise<void> {
    const syncer = cluster.syncers[which]!
    const served = syncer.isHeard
    await syncer.end(how)
    if (served) cluster.sinceNext = this.moments.next()
  }

  async endCenter(): Promise<void> {
    await this.center.end()
    for (const each of this.clusters) each.mayBeTold = false
  }

  async startCenter(): Promise<void> {
    for (const each of this.clusters) each.mayBeTold = each.isServed
    await this.center.start()
  }

  async endCluster({ server, truth }: Cluster): Promise<void> {
    await server.end()
    await truth.lost()
  }

  async startCluster({ server, truth, client }: Cluster): Promise<void> {
    await server.start()
    await truth.follow(client)
  }

  /** False claim of the center now; `undefined`: none. */
  async lie(): Promise<string | undefined> {
    for (const each of this.clusters) {
      if (each.sinceNext === undefined || !each.syncers.some(({ isHeard }) => isHeard)) continue
      each.since = each.sinceNext
      each.sinceNext = undefined
    }
    const told = await this.#told()
    for (const one of told ?? []) {
      const lie = this.#lieIn(one)
      if (lie === undefined) continue
      const { truth, client, server } = one.cluster
      if (server.isRunning) await truth.caughtUp(client)
      if (this.#lieIn(one) !== undefined) return lie
    }
    return undefined
  }

  #lieIn({ cluster, key, source, row }: Told): string | undefined {
    const { state, health, reported, sourceResourceVersion } = row.status as Claim
    // while a newer version is on its way, the row names none
    if (state !== 'Applied' || sourceResourceVersion === undefined) return undefined
    const content = contentOf(source)
    const { truth, name, since } = cluster
    const claim = `${key} in ${name} is said to be ${health ?? state} with content ${content}`
    if (!cluster.mayBeTold) return `${claim}, and nobody can have told that`
    const is = (object: KubeObject): boolean => contentOf(object) === content
    const held = `it holds ${contentOf(truth.now(key) ?? NOTHING) || 'nothing'}`
    if (!truth.heldSince(key, since, is)) return `${claim}, and it did not hold that (since ${since}); ${held}`
    if (
      health === 'Healthy' &&
      source.kind === 'Deployment' &&
      !truth.heldSince(key, since, one => is(one) && runs(one))
    )
      return `${claim}, and that never ran there`
    const observes = (one: KubeObject): boolean =>
      num(one, 'status', 'observedGeneration') >= (one.metadata.generation ?? 0)
    const says = num(reported, 'observedGeneration') === source.metadata.generation
    if (source.kind === 'Deployment' && says && !truth.heldSince(key, since, one => is(one) && observes(one)))
      return `${claim}, observed as generation ${source.metadata.generation}, which it never was`
    return undefined
  }

  /** Claims of the center about a cluster for another reason than this one; `undefined`: none. */
  async claims(cluster: Cluster, but: 'Stale' | 'ClusterUnreachable'): Promise<string | undefined> {
    const reasons = (await this.#reasonsIn(cluster))?.filter(each => each !== but)
    if (reasons?.length === 0) return undefined
    return `${cluster.name} is claimed: ${reasons === undefined ? 'no answer' : reasons.join()}`
  }

  /** Whether the center says anything of a cluster. */
  async speaksOf(cluster: Cluster): Promise<boolean> {
    return ((await this.#reasonsIn(cluster))?.length ?? 0) > 0
  }

  /** Reasons of the work statuses of a cluster. Copies that await a confirmation report that alone, also of a silent cluster. */
  async #reasonsIn(cluster: Cluster): Promise<unknown[] | undefined> {
    const told = await this.#told()
    return told
      ?.filter(one => one.cluster === cluster)
      .map(({ row }) => at(row, 'status', 'reason'))
      .filter(reason => reason !== 'DeletionHeld')
  }

  /** Reason why not all is as the sources have it, or reported as it is; `undefined`: none. */
  async unrest(): Promise<string | undefined> {
    const [told, chosen, sources] = [await this.#told(), await this.#chosen(), await this.sources()]
    if (!told || !chosen || !sources) return 'the center does not answer'
    for (const cluster of this.clusters) {
      for (const [key, object] of cluster.truth.held()) {
        const isOurs = object.metadata.labels?.['edge.kubestellar.io/projected'] !== undefined
        if (isOurs && !(sources.has(key) && chosen.has(cluster.name))) return `${cluster.name} still holds ${key}`
      }
      if (!chosen.has(cluster.name)) continue
      for (const [key, source] of sources) {
        const row = told.find(one => one.cluster === cluster && one.key === key)?.row
        const { state = 'nothing', health, sourceResourceVersion: version } = (row?.status ?? {}) as Partial<Claim>
        const live = cluster.truth.now(key)
        const isThere = live !== undefined && contentOf(live) === contentOf(source)
        const says = `${key} in ${cluster.name}: ${isThere ? 'there' : `not there (${live && contentOf(live)})`}, told ${state} ${health} ${str(row, 'status', 'message')} of version ${version}`
        if (isThere ? state !== 'Applied' || health !== 'Healthy' || version === undefined : state !== 'Refused')
          return says
        if (!isThere && cluster.refuses === undefined) return `${says} (${str(row, 'status', 'message')})`
      }
    }
    return await this.#sumIsWrong(told)
  }

  async atRest(): Promise<void> {
    await this.until(async () => {
      const what = await this.unrest()
      if (what !== undefined) await this.#confirmHold()
      return what
    })
  }

  /** A placement on nothing is intended. */
  async #confirmHold(): Promise<void> {
    const placement = await this.asked(this.wds.get(PLACEMENTS, PLACEMENT))
    const held = objects(placement?.status, 'conditions').find(({ type }) => type === 'DeletionHeld')
    const hash = /confirm-deletion=(\w+)$/.exec(str(held, 'message'))?.[1]
    if (held?.status !== 'True' || hash === undefined) return
    const metadata = { annotations: { [CONFIRM_DELETION_ANNOTATION]: hash } }
    await this.asked(this.wds.patch(PLACEMENTS, PLACEMENT, 'merge', { metadata }))
  }

  /** Waits until nothing is missing any more. @throws Error with what is */
  async until(missing: () => Promise<string | undefined>): Promise<void> {
    const endMs = performance.now() + this.patienceMs
    for (;;) {
      const news = new Promise<void>(resolve => {
        this.#wake = resolve
      })
      const what = await missing()
      if (what === undefined) return
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`never: ${what}`)), endMs - performance.now())
      })
      try {
        await Promise.race([news, late])
      } finally {
        clearTimeout(timer)
      }
    }
  }

  async sources(): Promise<Map<string, KubeObject> | undefined> {
    const found = new Map<string, KubeObject>()
    for (const resource of KINDS) {
      const list = await this.asked(this.wds.list(resource, { namespace: SHOP }))
      if (!list) return undefined
      for (const object of list.items)
        if (contentOf(object)) found.set(keyOf(resource.resource, object.metadata.name ?? ''), object)
    }
    return found
  }

  /** Nothing while the center does not run, or is not ready. */
  async asked<T>(asking: Promise<T>): Promise<T | undefined> {
    try {
      return await asking
    } catch (error) {
      if (!isStatusError(error, 'ServiceUnavailable', 'TooManyRequests')) throw error
      return undefined
    }
  }

  /** Reports of objects without a change meanwhile. */
  async #told(): Promise<Told[] | undefined> {
    const before = await this.sources()
    const list = await this.asked(this.wds.list(STATUSES, { namespace: SHOP }))
    const after = await this.sources()
    if (!before || !list || !after) return undefined
    return list.items.flatMap(row => {
      const key = keyOf(str(row, 'spec', 'sourceRef', 'resource'), str(row, 'spec', 'sourceRef', 'name'))
      const source = after.get(key)
      const cluster = this.clusters.find(({ name }) => name === str(row, 'spec', 'location', 'name'))
      const known = before.get(key)
      if (!source || !cluster || !known || contentOf(known) !== contentOf(source)) return []
      return [{ cluster, key, source, row }]
    })
  }

  async #chosen(): Promise<ReadonlySet<string> | undefined> {
    const placement = await this.asked(this.wds.get(PLACEMENTS, PLACEMENT))
    if (!placement) return undefined
    const selectors = objects(placement.spec, 'locationSelectors')
    return new Set(selectors.map(selector => str(selector, 'matchLabels', 'cluster')))
  }

  async #sumIsWrong(told: readonly Told[]): Promise<string | undefined> {
    const placement = await this.asked(this.wds.get(PLACEMENTS, PLACEMENT))
    const counts = at(placement?.status, 'counts')
    const applied = told.filter(({ row }) => at(row, 'status', 'state') === 'Applied').length
    const condition = objects(placement?.status, 'conditions').find(({ type }) => type === 'Applied')
    const sum = `counts ${JSON.stringify(counts)} with ${condition?.status} ${condition?.reason}`
    if (num(counts, 'copies') !== told.length || num(counts, 'applied') !== applied)
      return `${sum} for ${applied} of ${told.length} applied`
    const isWhole = applied === told.length
    return told.length > 0 && isWhole !== (condition?.status === 'True') ? sum : undefined
  }
}

/** The status of a work status. */
interface Claim {
  state: string
  health?: string
  reported?: unknown
  /** The version of the source that the cluster holds. */
  sourceResourceVersion?: string
}

interface Told {
  readonly cluster: Cluster
  readonly key: string
  readonly source: KubeObject
  readonly row: KubeObject
}

const NOTHING: KubeObject = { apiVersion: '', kind: '', metadata: {} }

export function selectorsOf(clusters: readonly string[]): object[] {
  return clusters.map(cluster => ({ matchLabels: { cluster } }))
}

interface NewCluster {
  dir: string
  name: string
  center: Server
  moments: Moments
  faults: Faults
}

async function newCluster({ dir, name, center, moments, faults }: NewCluster): Promise<Cluster> {
  const server = new Server(join(dir, name), { spaces: false, faults })
  await server.start()
  const client = await server.clusterClient(new AbortController().signal)
  const truth = new Truth(moments)
  await truth.follow(client)
  const inventory = center.client.in('root:imw1')
  const target = await inventory.create(TARGETS, {
    apiVersion: EDGE,
    kind: 'SyncTarget',
    metadata: { name, labels: { id: name } },
    spec: {},
  })
  await inventory.create(LOCATIONS, {
    apiVersion: EDGE,
    kind: 'Location',
    metadata: { name, labels: { cluster: name } },
    spec: {
      resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
      instanceSelector: { matchLabels: { id: name } },
    },
  })
  const { uid, annotations } = target.metadata
  const workspace = await until(
    center.client.in('root:espw'),
    WORKSPACES,
    { name: `${annotations?.['kcp.io/cluster']}-mb-${uid}` },
    object => at(object, 'status', 'phase') === 'Ready',
  )
  const mailbox = str(workspace, 'spec', 'cluster')
  const space = center.client.in(mailbox)
  const account = { namespace: 'default', name: 'kubestellar-syncer' }
  await until(space, ACCOUNTS, account, object => object !== undefined)
  const { status } = await space.create(
    { ...ACCOUNTS, resource: 'serviceaccounts/kubestellar-syncer/token' },
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace: 'default' },
      spec: {},
    },
  )
  const token = isRecord(status) ? String(status.token) : ''
  const of = { center, cluster: server, mailbox, token }
  const syncers = [0, 1].map(which => new SyncerProgram(join(dir, `${name}-syncer-${which}`), of, faults))
  return new Cluster({ name, server, truth, syncers, client })
}
