/** Common parts of the translator's tests: two mailboxes, a workload space, a running translator, and objects for them. */
import type { Test } from 'tap'
import { at } from '../../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { NAMESPACES, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import type { Client } from '../../../src/client/client.ts'
import { type Clock, systemClock } from '../../../src/client/clock.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import type { KeyGuard } from '../../../src/client/setAside/keyGuard.ts'
import { EventRecorder } from '../../../src/controllers/eventRecorder.ts'
import { startPlacementTranslator } from '../../../src/controllers/placement/translator.ts'
import { WhereDesk } from '../../../src/controllers/whereDesk.ts'
import type { Answerer, AnswerFollower } from '../../../src/placement/desks/answered.ts'
import type { CarryFigures } from '../../../src/placement/desks/carryFigures.ts'
import type { LiveAsker } from '../../../src/placement/desks/liveObjects.ts'
import type { PreviewReceiver } from '../../../src/placement/desks/placementPreview.ts'
import type { ReportedPlaces } from '../../../src/placement/desks/reported.ts'
import type { OutcomeReceiver } from '../../../src/placement/outcome/outcome.ts'
import {
  CONFIRM_DELETION_ANNOTATION,
  EDGE_PLACEMENTS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  mailboxName,
  PLACEMENT_GRANTS,
  SYNC_TARGET_NAME_ANNOTATION,
  SYNC_TARGETS,
  SYNCER_CONFIGS,
} from '../../../src/placement/words/placement.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import type { FakeClock } from '../../client/support/fakeClock.ts'
import { FakeServer, namespace } from './fakeServer.ts'
import { fedByTopology } from './fedByTopology.ts'

export const MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
export const SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' }
export const CRONTABS: GroupVersionResource = { group: 'stable.example.com', version: 'v1', resource: 'crontabs' }
export const EDGE = 'edge.kubestellar.io/v2alpha1'
export const FLORIN_UID = '11111111-1111-4111-8111-111111111111'
export const GUILDER_UID = '22222222-2222-4222-8222-222222222222'

export function configMap(name: string, data: Record<string, string>, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'commonstuff', ...metadata }, data }
}
export function replicaSet(name: string): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'commonstuff' },
    spec: { replicas: 1 },
  }
}
export function placement(name: string, spec: object): KubeObject {
  return { apiVersion: EDGE, kind: 'EdgePlacement', metadata: { name }, spec }
}
export function slice(name: string, ...targets: ('florin' | 'guilder')[]): KubeObject {
  const destinations = targets.map(target => ({
    cluster: 'inv1',
    locationName: target,
    syncTargetName: target,
    syncTargetUID: target === 'florin' ? FLORIN_UID : GUILDER_UID,
  }))
  return { apiVersion: EDGE, kind: 'SinglePlacementSlice', metadata: { name }, destinations }
}

export function grant(name: string, space: string, spec: object = EVERYTHING): KubeObject {
  return {
    apiVersion: EDGE,
    kind: 'PlacementGrant',
    metadata: { name },
    spec: { spaces: [{ path: `root:${space}` }], ...spec },
  }
}

/** All but Secrets upward. */
export const EVERYTHING = {
  clusterScoped: true,
  grantingKinds: true,
  upsync: [{ apiGroup: '*', resources: ['*'] }],
}

/** A cluster of the inventory `inv1`. */
export async function inventory(server: FakeServer, name: string, uid: string): Promise<void> {
  const labels = { 'loc-name': name, env: 'prod' }
  const api = server.in('inv1')
  await api.create(LOCATIONS, { apiVersion: EDGE, kind: 'Location', metadata: { name, labels } })
  await api.create(SYNC_TARGETS, { apiVersion: EDGE, kind: 'SyncTarget', metadata: { name, uid, labels } })
}

/** A space may place on the inventory `inv1`: it names the inventory, and the inventory grants it everything, or `spec`. */
export async function consent(server: FakeServer, space: string, spec: object = EVERYTHING): Promise<void> {
  const binding = {
    apiVersion: EDGE,
    kind: 'InventoryBinding',
    metadata: { name: 'inv1' },
    spec: { path: 'root:inv1' },
  }
  await server.in(space).create(INVENTORY_BINDINGS, binding)
  await server.in('inv1').create(PLACEMENT_GRANTS, grant(space, space, spec))
}

/** Two mailboxes, one workload space `wds1` with a Namespace, a running translator. */
export async function world(t: Pick<Test, 'teardown'>, clock?: Clock) {
  const server = new FakeServer()
  const errors: string[] = []
  const warnings: string[] = []
  const logger = {
    ...silentLogger,
    warn: (_: object, message: string) => void warnings.push(message),
    error: (fields: object, message: string) => errors.push(`${message} ${String(Reflect.get(fields, 'err'))}`),
  }
  for (const [name, uid] of [
    ['florin', FLORIN_UID],
    ['guilder', GUILDER_UID],
  ] as const) {
    const workspace = {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: mailboxName('inv1', uid), annotations: { [SYNC_TARGET_NAME_ANNOTATION]: name } },
    }
    await server.in('root:espw').create(WORKSPACES, workspace)
    await inventory(server, name, uid)
  }
  const box = (uid: string) => {
    const workspace = server.peek('root:espw', WORKSPACES, mailboxName('inv1', uid))
    return (workspace!.spec as { cluster: string }).cluster
  }
  await consent(server, 'wds1')
  const wds = server.in('wds1')
  await wds.create(NAMESPACES, namespace('commonstuff', { common: 'si' }))
  const stop = new AbortController()
  let previewer: PreviewReceiver | undefined
  const previews = {
    deliverTo: (receiver: PreviewReceiver | undefined) => {
      previewer = receiver
    },
  }
  let outcomes: OutcomeReceiver | undefined
  const reports = {
    epoch: 'epoch',
    restoredAt: undefined as string | undefined,
    deliverTo: (receiver: OutcomeReceiver | undefined) => {
      outcomes = receiver
    },
    follow: () => () => {},
  }
  // slices of the loop's time that never end: how long anything takes on this machine decides nothing
  const turns = new WorkTurns({ clock: () => 0 })
  const where = new WhereDesk()
  const answerers = new Map<string, Answerer>()
  const KINDS = ['workstatuses', 'clusterworkstatuses'] as const
  const answers = {
    answerFor: ({ resource }: { resource: string }, answerer: Answerer | undefined) => {
      if (answerer) answerers.set(resource, answerer)
      else answerers.delete(resource)
    },
  }
  /** Work statuses of namespaced objects, or of those without. */
  const wholeStatuses = async (space: string, which: 0 | 1): Promise<{ name: string; status: unknown }[]> => {
    const rows: { name: string; status: unknown }[] = []
    const pace = { due: false, rest: async () => {} }
    for await (const row of answerers.get(KINDS[which])!.rows({ space, fixed: new Map() }, pace)) {
      const found = await answerers.get(KINDS[which])!.row(space, row)
      rows.push({ name: row.name, status: at(await found?.whole(), 'status') })
    }
    return rows
  }
  /** The same as lines: name, state and reason. */
  const workStatuses = async (space = 'wds1', which: 0 | 1 = 0): Promise<string[]> =>
    (await wholeStatuses(space, which)).map(
      ({ name, status }) => `${name} ${at(status, 'state')} ${at(status, 'reason')}`,
    )
  const followStatuses = (follower: AnswerFollower) => answerers.get(KINDS[0])!.follow('wds1', follower)
  /** Answers for clusters; nobody is there until a test says so. */
  const live: { ask: LiveAsker['ask'] } = { ask: async () => 'NoSyncer' }
  let shown: CarryFigures | undefined
  const figures = {
    show: (carried: CarryFigures | undefined) => {
      shown = carried
    },
    showNotices: () => {},
    showQueues: () => {},
    writtenAtMs: () => clock && clock.now() - 2000,
  }
  let reportedPlaces: ReportedPlaces | undefined
  const reported = {
    answerBy: (places: ReportedPlaces | undefined) => {
      reportedPlaces = places
    },
  }
  const parts = { places: server, logger, turns, outcomes: reports, previews, answers, where, live, figures, reported }
  const deps = { ...parts, signal: stop.signal, clock: clock ?? systemClock, random: () => 0.5 }
  const start = (client: Client = server, guard?: KeyGuard) => {
    const events = new EventRecorder({ client, clock: deps.clock })
    return fedByTopology(startPlacementTranslator, { client, ...deps, events, guard })
  }
  let translator = start()
  t.teardown(async () => {
    stop.abort()
    await translator.stop()
    if (errors.length > 0) throw new Error(`logged as errors: ${errors.join('; ')}`)
  })
  const restart = async (between: () => Promise<unknown>, client?: Client, guard?: KeyGuard) => {
    await translator.stop()
    await between()
    translator = start(client, guard)
  }
  return {
    server,
    wds,
    florin: box(FLORIN_UID),
    guilder: box(GUILDER_UID),
    restart,
    errors,
    warnings,
    previewer: () => previewer!,
    /** Where syncers report; a restore of the store is noted there. */
    reports,
    /** Reports of syncers; of the epoch `epoch`. */
    outcomes: () => outcomes!,
    workStatuses,
    wholeStatuses,
    followStatuses,
    combinedStatuses: () => answerers.get('combinedstatuses')!,
    where,
    live,
    figures: () => shown!,
    reported: () => reportedPlaces!,
  }
}

export const ALL_MAPS = { downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'] }] }

export async function setGrant(server: FakeServer, name: string, spec: object): Promise<void> {
  const api = server.in('inv1')
  const old = await api.get(PLACEMENT_GRANTS, { name })
  await api.update(PLACEMENT_GRANTS, { ...old, spec: { ...(old.spec as object), ...spec } })
}

/** The condition `Placed` of an EdgePlacement. */
export function placed(server: FakeServer, space = 'wds1', name = 'ep') {
  const { conditions = [] } = (server.peek(space, EDGE_PLACEMENTS, name)?.status ?? {}) as {
    conditions?: { type: string; status: string; reason: string; message: string; lastTransitionTime: string }[]
  }
  return conditions.find(({ type }) => type === 'Placed')
}

/** Confirms what is held, as an EdgePlacement asks for it. */
export async function confirmHeld(server: FakeServer, space = 'wds1', name = 'ep'): Promise<void> {
  await server.quiet()
  const { status, ...object } = server.peek(space, EDGE_PLACEMENTS, name)!
  const hash = / edge.kubestellar.io\/confirm-deletion=(\w+)/.exec(JSON.stringify(status))?.[1]
  if (hash === undefined) throw new Error(`EdgePlacement ${name} of ${space} holds nothing: ${JSON.stringify(status)}`)
  const annotations = { ...object.metadata.annotations, [CONFIRM_DELETION_ANNOTATION]: hash }
  await server.in(space).update(EDGE_PLACEMENTS, { ...object, metadata: { ...object.metadata, annotations } })
  await server.quiet()
}

/** Reports are delivered, and the second without further reports on a placement is over. */
export async function tick(server: FakeServer, clock: FakeClock): Promise<void> {
  await server.quiet()
  await clock.advance(1000)
  await server.quiet()
}

/** The upsync sets of a cluster. */
export function upsyncIn(server: FakeServer, mailbox: string): object[] {
  return (server.peek(mailbox, SYNCER_CONFIGS, 'the-one')!.spec as { upsync: object[] }).upsync
}
