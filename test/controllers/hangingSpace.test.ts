/** A space whose webhooks leave writes unanswered holds nobody up but itself, whichever controller writes there; what waits is counted. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { NAMESPACES, WORKSPACES } from '../../src/apimachinery/resources.ts'
import type { Client } from '../../src/client/client.ts'
import { type Logger, silentLogger } from '../../src/client/logger.ts'
import type { ControllerHandle } from '../../src/controllers/controllerHandle.ts'
import { startEventTtl } from '../../src/controllers/event-ttl/eventTtlController.ts'
import { EventRecorder } from '../../src/controllers/eventRecorder.ts'
import { startMailboxController } from '../../src/controllers/mailbox/mailboxController.ts'
import { startSyncerLiveness } from '../../src/controllers/mailbox/syncerLiveness.ts'
import type { SpacePlaces } from '../../src/controllers/placedSource.ts'
import type { Topology } from '../../src/controllers/placement/inventory/topology.ts'
import { startPlacementTranslator } from '../../src/controllers/placement/translator.ts'
import { startWhereResolver } from '../../src/controllers/where-resolver/whereResolver.ts'
import type { SyncerListener } from '../../src/placement/outcome/outcome.ts'
import { EDGE_PLACEMENTS, mailboxName, SLICES, SYNC_TARGETS } from '../../src/placement/words/placement.ts'
import type { WorkTurns } from '../../src/program/workTurns.ts'
import { FakeClock } from '../client/support/fakeClock.ts'
import { timeBy } from '../support/time.ts'
import { FakeServer, namespace } from './placement/fakeServer.ts'
import { fedByTopology } from './placement/fedByTopology.ts'
import { consent, inventory } from './placement/translatorWorld.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const EVENTS = { group: '', version: 'v1', resource: 'events' }
const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }

const edge = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: EDGE,
  kind,
  metadata: { name },
  ...more,
})

interface Deps {
  client: Client
  places: SpacePlaces
  clock: FakeClock
  turns: WorkTurns
  random: () => number
  logger: Logger
  events: EventRecorder
  signal: AbortSignal
}

/** A controller and its server; `hung` says which spaces answer no write. */
function world(t: Test, start: (deps: Deps & { topology: Topology }) => ControllerHandle) {
  const server = new FakeServer()
  const clock = new FakeClock()
  const hung: { matches: (space: string) => boolean } = { matches: () => false }
  const never = (): Promise<never> => new Promise(() => {})
  const client: Client = {
    in: space =>
      hung.matches(space)
        ? { ...server.in(space), create: never, update: never, patch: never, delete: never }
        : server.in(space),
    stream: options => server.stream(options),
  }
  const stop = new AbortController()
  const controller = fedByTopology(start, {
    client,
    places: server,
    ...timeBy(clock),
    clock,
    logger: silentLogger,
    events: new EventRecorder({ client, clock }),
    signal: stop.signal,
  })
  t.teardown(() => {
    stop.abort()
    // its hung writes never end, so nobody waits for it
    void controller.stop()
  })
  /** Everything that can end has ended; what still runs counts as slow. */
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 4; round++) {
      await server.quiet()
      await clock.advance(500)
    }
    await server.quiet()
  }
  return { server, hung, settled, clock, depth: () => controller.depth() }
}

t.test('the translator fills one mailbox while another takes no writes', async t => {
  const { server, hung, settled, depth } = world(t, startPlacementTranslator)
  const slow = '11111111-1111-4111-8111-111111111111'
  const quick = '22222222-2222-4222-8222-222222222222'
  for (const uid of [slow, quick]) {
    const metadata = { name: mailboxName('inv1', uid) }
    await server
      .in('root:espw')
      .create(WORKSPACES, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata })
    await inventory(server, uid, uid)
  }
  for (const space of ['wds1', 'wds2']) await consent(server, space)
  const box = (uid: string): string =>
    (server.peek('root:espw', WORKSPACES, mailboxName('inv1', uid))!.spec as { cluster: string }).cluster
  hung.matches = space => space === box(slow)
  const fill = async (wds: string, uid: string, count: number): Promise<void> => {
    const space = server.in(wds)
    await space.create(NAMESPACES, namespace('common'))
    for (let i = 0; i < count; i++) {
      const metadata = { name: `map-${i}`, namespace: 'common' }
      await space.create(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    }
    const downsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['common'] }]
    await space.create(EDGE_PLACEMENTS, edge('EdgePlacement', 'ep', { spec: { downsync } }))
    const destination = { cluster: 'inv1', locationName: uid, syncTargetName: uid, syncTargetUID: uid }
    await space.create(SLICES, edge('SinglePlacementSlice', 'ep', { destinations: [destination] }))
  }
  await fill('wds1', slow, 80)
  await settled()
  await fill('wds2', quick, 1)
  await settled()
  t.ok(server.peek(box(quick), MAPS, 'map-0', 'common'))
  t.notOk(server.peek(box(slow), MAPS, 'map-0', 'common'))
  t.ok(depth() >= 80)
})

t.test('the where-resolver resolves the placements of one space while another takes no writes', async t => {
  const { server, hung, settled, depth } = world(t, startWhereResolver)
  hung.matches = space => space === 'wds1'
  const place = (wds: string, name: string): Promise<KubeObject> =>
    server.in(wds).create(EDGE_PLACEMENTS, edge('EdgePlacement', name, { spec: { locationSelectors: [] } }))
  for (let i = 0; i < 10; i++) await place('wds1', `ep-${i}`)
  await settled()
  await place('wds2', 'ep')
  await settled()
  t.same(server.names('wds2', SLICES), ['ep'])
  t.same(server.names('wds1', SLICES), [])
  t.ok(depth() >= 10)
})

t.test('a mailbox gets its rights while others take no writes', async t => {
  const { server, hung, settled, depth } = world(t, startMailboxController)
  hung.matches = space => space.startsWith('space')
  const add = async (name: string): Promise<string> =>
    mailboxName('inv1', (await server.in('inv1').create(SYNC_TARGETS, edge('SyncTarget', name))).metadata.uid!)
  for (let i = 0; i < 10; i++) await add(`slow-${i}`)
  await settled()
  hung.matches = () => false
  const quick = await add('quick')
  await settled()
  const { cluster } = server.peek('root:espw', WORKSPACES, quick)!.spec as { cluster: string }
  t.ok(server.peek(cluster, ACCOUNTS, 'kubestellar-syncer', 'default'))
  t.equal(depth(), 10)
})

t.test('a live syncer shows in one inventory while another takes no writes', async t => {
  let listener: SyncerListener | undefined
  const follow = (one: SyncerListener) => {
    listener = one
    return () => {}
  }
  const { server, hung, settled, depth } = world(t, deps => startSyncerLiveness({ ...deps, connections: { follow } }))
  hung.matches = space => space === 'inv1'
  const connect = async (inventory: string, name: string): Promise<void> => {
    const { uid = '' } = (await server.in(inventory).create(SYNC_TARGETS, edge('SyncTarget', name))).metadata
    const mailbox = mailboxName(inventory, uid)
    await server.in('root:espw').create(WORKSPACES, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: mailbox, annotations: { 'edge.kubestellar.io/sync-target-name': name } },
    })
    const { cluster } = server.peek('root:espw', WORKSPACES, mailbox)!.spec as { cluster: string }
    await settled()
    listener!.opened(cluster, 2)
  }
  for (let i = 0; i < 10; i++) await connect('inv1', `slow-${i}`)
  await settled()
  await connect('inv2', 'quick')
  await settled()
  t.match(server.peek('inv2', SYNC_TARGETS, 'quick')!.status, { lastSyncerHeartbeatTime: /^\d{4}-/ })
  t.equal(depth(), 10)
})

t.test('Events end in one space while another lets none go', async t => {
  const hour = 3_600_000
  const start = (deps: Deps): ControllerHandle => startEventTtl({ ...deps, ttlMs: hour })
  const { server, hung, settled, clock, depth } = world(t, start)
  const add = async (space: string, count: number): Promise<void> => {
    await server.in(space).create(NAMESPACES, namespace('n'))
    for (let i = 0; i < count; i++) {
      const metadata = { name: `e-${i}`, namespace: 'n' }
      await server.in(space).create(EVENTS, { apiVersion: 'v1', kind: 'Event', metadata })
    }
  }
  hung.matches = space => space === 'a'
  await add('a', 40)
  await settled()
  await clock.advance(hour / 2)
  await add('b', 2)
  await settled()
  await clock.advance(2 * hour)
  await settled()
  t.equal(server.names('a', EVENTS).length, 40)
  t.same(server.names('b', EVENTS), [])
  t.equal(depth(), 40)
})
