/** The stage of a recorded scene: two clusters that report, two workload spaces, the where-resolver and the translator, on a fake clock. */
import { StatusError } from '../../../../src/apimachinery/errors.ts'
import { at } from '../../../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { SpaceClient } from '../../../../src/client/client.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import { startWhereResolver } from '../../../../src/controllers/where-resolver/whereResolver.ts'
import type { OutcomeState } from '../../../../src/placement/outcome/copyStates.ts'
import type { Exception } from '../../../../src/placement/outcome/outcome.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  SYNCER_CONFIG_NAME,
  SYNCER_CONFIGS,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { endlessTurns } from '../../../support/endlessTurns.ts'
import { namespace } from '../fakeServer.ts'
import { fedByTopology } from '../fedByTopology.ts'
import { CRONTABS, configMap, consent, MAPS, placement, replicaSet, SETS, world } from '../translatorWorld.ts'

export type ClusterName = 'florin' | 'guilder'
const CLUSTERS: readonly ClusterName[] = ['florin', 'guilder']
export const CLUSTER_ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }

export const ALL = [
  { apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'] },
  { apiGroup: 'apps', resources: ['replicasets'], namespaces: ['commonstuff'] },
  { apiGroup: CRONTABS.group, resources: ['crontabs'], namespaces: ['commonstuff'] },
  { apiGroup: CLUSTER_ROLES.group, resources: ['clusterroles'], objectNames: ['*'] },
]
export const toward = (...clusters: ClusterName[]) =>
  clusters.map(cluster => ({ matchLabels: { 'loc-name': cluster } }))

/** The reports of a cluster. It holds everything until a scene changes that. */
export interface ClusterSays {
  isSilent: boolean
  isUnreachable: boolean
  isCompared: boolean
  /** It has looked at nothing since. */
  stoppedAt: number | undefined
  readonly exceptions: Map<string, Exception>
  unlisted: Partial<Record<OutcomeState, number>>
}

export class SceneStage {
  readonly world: Awaited<ReturnType<typeof world>>
  readonly clock: FakeClock
  readonly wds: SpaceClient
  readonly other: SpaceClient
  readonly inventory: SpaceClient
  readonly clusters: Readonly<Record<ClusterName, ClusterSays>>
  /** States of the work statuses in pictures. */
  readonly states = new Set<string>()
  #reports = 0

  /** Each refusal of a mailbox is logged. */
  #refusesWrites = false
  readonly #ends: readonly (() => unknown)[]

  private constructor(on: Awaited<ReturnType<typeof world>>, clock: FakeClock, ends: readonly (() => unknown)[]) {
    this.#ends = ends
    this.world = on
    this.clock = clock
    this.wds = on.server.in('wds1')
    this.other = on.server.in('wds2')
    this.inventory = on.server.in('inv1')
    const says = (): ClusterSays => ({
      isSilent: false,
      isUnreachable: false,
      isCompared: true,
      stoppedAt: undefined,
      exceptions: new Map(),
      unlisted: {},
    })
    this.clusters = { florin: says(), guilder: says() }
  }

  /** ConfigMaps `a` and `b`, the ReplicaSet `s` and the ClusterRole `r` of `wds1` are placed on both clusters, by `ep`. */
  static async open(): Promise<SceneStage> {
    const ends: (() => unknown)[] = []
    const teardown = (end: () => unknown) => ends.push(end)
    const clock = new FakeClock()
    const on = await world({ teardown } as never, clock)
    const { server, where } = on
    const stage = new SceneStage(on, clock, ends)
    const resolver = fedByTopology(startWhereResolver, {
      client: server,
      places: server,
      logger: silentLogger,
      turns: endlessTurns(),
      clock,
      random: () => 0,
      keepMs: 0,
      desk: where,
    })
    teardown(() => resolver.stop())
    await consent(server, 'wds2')
    await stage.other.create(NAMESPACES, namespace('commonstuff'))
    for (const name of CLUSTERS) {
      const spec = { instanceSelector: { matchLabels: { 'loc-name': name } } }
      await stage.inventory.patch(LOCATIONS, { name }, 'merge', { spec })
    }
    for (const name of ['a', 'b']) await stage.wds.create(MAPS, configMap(name, { v: '1' }))
    await stage.wds.create(SETS, replicaSet('s'))
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' }, rules: [] }
    await stage.wds.create(CLUSTER_ROLES, role)
    await stage.place(stage.wds, 'ep')
    await stage.settle()
    return stage
  }

  async close(): Promise<void> {
    if (this.#refusesWrites) this.world.errors.length = 0
    for (const end of this.#ends) await end()
  }

  async place(space: SpaceClient, name: string, spec: object = {}): Promise<void> {
    const all = { locationSelectors: toward(...CLUSTERS), downsync: ALL, ...spec }
    await space.create(EDGE_PLACEMENTS, placement(name, all))
  }

  edit(spec: object, name = 'ep'): Promise<KubeObject> {
    return this.wds.patch(EDGE_PLACEMENTS, { name }, 'merge', { spec })
  }

  box(cluster: ClusterName): string {
    return this.world[cluster]
  }

  /** The cluster reports an exception about the copy of an object, as it is now. */
  except(cluster: ClusterName, resource: GroupVersionResource, name: string, said: Partial<Exception>): void {
    const namespaced = resource === CLUSTER_ROLES ? '' : 'commonstuff'
    const copy = this.world.server.peek(this.box(cluster), resource, name, namespaced)
    if (!copy) return
    const seq = Number(copy.metadata.resourceVersion)
    const key = { group: resource.group, resource: resource.resource, namespace: namespaced, name }
    const what = {
      state: 'refused',
      reason: 'Invalid',
      message: 'the cluster says so',
      since: '2026-01-01T00:00:00Z',
    } as const
    this.clusters[cluster].exceptions.set(`${resource.resource} ${name}`, { ...key, seq, ...what, ...said })
  }

  /** The copy's status, as the syncer writes it. */
  async report(cluster: ClusterName, status: object): Promise<void> {
    const copy = this.world.server.peek(this.box(cluster), SETS, 's', 'commonstuff')
    if (!copy) return
    await this.world.server.in(this.box(cluster)).update(SETS, { ...copy, status }, { subresource: 'status' })
  }

  /** The syncer's part of its SyncerConfig's status. */
  async syncerReports(cluster: ClusterName, status: object): Promise<void> {
    const api = this.world.server.in(this.box(cluster))
    await api.patch(SYNCER_CONFIGS, { name: SYNCER_CONFIG_NAME }, 'merge', { status }, { subresource: 'status' })
  }

  /** The mailbox refuses each write from now on. */
  refuseWrites(cluster: ClusterName): void {
    this.#refusesWrites = true
    this.world.server.refuse = space => {
      if (space === this.box(cluster)) throw new StatusError('Forbidden', 'the mailbox takes nothing')
    }
  }

  /** Resolves when nothing happens any more, and the clusters have reported. */
  async settle(): Promise<void> {
    const { server } = this.world
    await server.quiet()
    await this.clock.advance(3000)
    await server.quiet()
    for (const name of CLUSTERS) this.#say(name)
    await server.quiet()
    await this.clock.advance(6000)
    await server.quiet()
  }

  /**
   * A new run of the translator, in which streams of `late` spaces come one after the other, behind the others. Nothing else changes.
   * Answers with the conditions of placements that turned meanwhile. No syncer has reported to the new run at first, so that `Applied`
   * and `Healthy` may be unknown until then.
   */
  async restart(late: readonly string[]): Promise<string[]> {
    const { server } = this.world
    const turned: string[] = []
    const stop = new AbortController()
    const before = new Map<string, string>()
    for (const space of ['wds1', 'wds2'])
      for (const name of server.names(space, EDGE_PLACEMENTS))
        for (const { type, status } of conditionsIn(server.peek(space, EDGE_PLACEMENTS, name)))
          before.set(`${space} ${name} ${type}`, status)
    const watching = this.#watch(stop.signal, (id, { status, reason }) => {
      const isSilent = reason === 'Stale' && / (Applied|Healthy)$/.test(id)
      if (status !== before.get(id) && !isSilent) turned.push(`${id}: ${before.get(id)}, then ${status} ${reason}`)
    })
    await this.world.restart(async () => {
      for (const space of late) server.stalled.add(space)
    })
    for (const space of [undefined, ...late]) {
      if (space !== undefined) server.stalled.delete(space)
      server.notify()
      await server.quiet()
      await this.clock.advance(2000)
      await server.quiet()
    }
    await this.settle()
    stop.abort()
    await watching
    return turned
  }

  async #watch(signal: AbortSignal, see: (id: string, condition: PlacementCondition) => void): Promise<void> {
    const { server } = this.world
    for await (const { events } of server.stream({
      space: '*',
      resources: [EDGE_PLACEMENTS],
      after: server.revision,
      signal,
    }))
      for (const { type, space, name, object } of events)
        if (type !== 'DELETED') for (const one of conditionsIn(object)) see(`${space} ${name} ${one.type}`, one)
  }

  #say(name: ClusterName): void {
    const { server } = this.world
    const says = this.clusters[name]
    if (says.isSilent) {
      this.world.outcomes().silent(this.box(name), 's')
      return
    }
    this.world.outcomes().take(this.box(name), {
      session: 's',
      number: ++this.#reports,
      whole: true,
      epoch: 'epoch',
      compared: says.isCompared,
      processed: says.stoppedAt ?? server.revision,
      exceptions: [...says.exceptions.values()],
      settled: [],
      unlisted: says.unlisted,
      ...(says.isUnreachable && { unreachable: true }),
    })
  }

  /** Conditions, counts, work statuses and copies, without what differs from run to run. */
  async picture(): Promise<Picture> {
    const { server } = this.world
    const picture: Picture = {}
    for (const space of ['wds1', 'wds2']) {
      for (const name of server.names(space, EDGE_PLACEMENTS)) {
        const { status } = server.peek(space, EDGE_PLACEMENTS, name)!
        picture[`${space} ${name}`] = this.#plain(placementLines(status))
      }
      const statuses: string[] = []
      for (const which of [0, 1] as const)
        for (const { name, status } of await this.world.wholeStatuses(space, which)) {
          statuses.push(lineOf(name, status))
          this.states.add(String(at(status, 'state')))
        }
      if (statuses.length > 0) picture[`${space} work`] = this.#plain(statuses)
    }
    for (const cluster of CLUSTERS)
      picture[cluster] = this.#plain(
        [MAPS, SETS, CRONTABS, CLUSTER_ROLES].flatMap(resource =>
          server.names(this.box(cluster), resource).map(name => this.#copy(cluster, resource, name)),
        ),
      )
    return picture
  }

  #copy(cluster: ClusterName, resource: GroupVersionResource, named: string): string {
    const [name = '', space = ''] = named.split('/').reverse()
    const object = this.world.server.peek(this.box(cluster), resource, name, space)
    return `${resource.resource} ${named} ${JSON.stringify(object?.data ?? object?.spec ?? null)}`
  }

  #plain(lines: readonly string[]): string[] {
    return lines.map(line => {
      let text = line
      for (const cluster of CLUSTERS) text = text.replaceAll(this.box(cluster), `mailbox-of-${cluster}`)
      return text
        .replaceAll(/confirm-deletion=\w+/g, 'confirm-deletion=HASH')
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4000-8000-[0-9a-f]{12}/g, 'UID')
    })
  }
}

/** Lines by what they are about. */
export type Picture = Record<string, readonly string[]>

interface PlacementCondition {
  type: string
  status: string
  reason: string
  message: string
  observedGeneration?: number
}

interface PlacementStatus {
  conditions?: PlacementCondition[]
  counts?: Record<string, number>
  [field: string]: unknown
}

function conditionsIn(placement: KubeObject | undefined): readonly PlacementCondition[] {
  return ((placement?.status ?? {}) as PlacementStatus).conditions ?? []
}

/** A line for each condition, one for the counts that are not 0, one for each other field. */
function placementLines(status: unknown): string[] {
  const { conditions = [], counts = {}, ...rest } = (status ?? {}) as PlacementStatus
  const lines = conditions.map(
    ({ type, status, reason, message, observedGeneration: of }) => `${type} ${status} ${reason} of ${of}: ${message}`,
  )
  lines.push(
    Object.entries(counts)
      .flatMap(([name, count]) => (count === 0 ? [] : `${name} ${count}`))
      .join(', '),
  )
  for (const [field, value] of Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)))
    if (field !== 'observedResourceVersion') lines.push(`${field} ${JSON.stringify(value)}`)
  return lines
}

function lineOf(name: string, status: unknown): string {
  const { state, reason, health, message, ...rest } = (status ?? {}) as Record<string, unknown>
  const others = Object.entries(rest).filter(([field]) => !MOMENTS.has(field))
  return `${name} ${state} ${reason} ${health} ${message} ${JSON.stringify(Object.fromEntries(others))}`
}

/** Fields with a time or a revision. */
const MOMENTS = new Set(['sourceResourceVersion', 'since', 'lastTransitionTime', 'observedAt', 'reportedAt'])
