// Reports on a SyncTarget about its cluster's progress.
import t from 'tap'
import { at } from '../../../../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import type { RecordedEvent } from '../../../../../src/controllers/eventRecorder.ts'
import { Inventory } from '../../../../../src/controllers/placement/inventory/inventory.ts'
import { NamespacedMap } from '../../../../../src/controllers/placement/mailboxes/namespacedMap.ts'
import { PendingChanges } from '../../../../../src/controllers/placement/mailboxes/pendingChanges.ts'
import { ClusterReports } from '../../../../../src/controllers/placement/status/syncTargets/clusterReports.ts'
import type { ClusterOutcome } from '../../../../../src/placement/outcome/clusterOutcome.ts'
import { definitionKey, namespaceKey } from '../../../../../src/placement/words/names.ts'
import { EDGE_API_VERSION, mailboxName, SYNC_TARGETS } from '../../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../../client/support/fakeClock.ts'
import { FakeServer } from '../../fakeServer.ts'

async function world() {
  const server = new FakeServer()
  const target = { apiVersion: EDGE_API_VERSION, kind: 'SyncTarget', metadata: { name: 'florin' } }
  const { metadata } = await server.in('inv1').create(SYNC_TARGETS, target)
  const changes = new PendingChanges()
  const mailbox = {
    name: mailboxName('inv1', metadata.uid!),
    space: 'box',
    copies: new NamespacedMap<number>(),
    carried: new NamespacedMap<true>(),
    others: new NamespacedMap<true>(),
    namespaces: new Set<string>(),
    changes,
    definitionChanges: 0,
  }
  for (const key of ['a', 'b', 'c']) mailbox.copies.set(key, 1)
  const clock = new FakeClock()
  const said = { live: true, compared: true, processed: 0, exceptions: new Map(), unlisted: {} }
  const restore: { atTime: string | undefined } = { atTime: undefined }
  const told: string[] = []
  const events = {
    record: async (space: string, { kind, metadata }: KubeObject, { type = 'Warning', reason }: RecordedEvent) => {
      told.push(`${space} ${kind} ${metadata.name} ${type} ${reason}`)
      return true
    },
  }
  const inventory = new Inventory(server)
  inventory.setTarget({ space: 'inv1', name: 'florin' }, { ...target, metadata })
  /** `null`: no more. */
  const evict = async (evictAfter: string | null): Promise<void> => {
    const object = await server.in('inv1').patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { spec: { evictAfter } })
    inventory.setTarget({ space: 'inv1', name: 'florin' }, object)
  }
  const reports = new ClusterReports({
    client: server,
    inventory,
    outcome: () => said as ClusterOutcome,
    restoredAt: () => restore.atTime,
    events,
    clock,
  })
  const status = () => server.peek('inv1', SYNC_TARGETS, 'florin')!.status
  /** As the work queue does it, until no work is left or so much time is over. */
  const look = async (forMs = 0): Promise<void> => {
    const untilMs = clock.now() + forMs
    for (;;) {
      const { requeueAfterMs } = await reports.reconcile(mailbox)
      if (requeueAfterMs === undefined || clock.now() + requeueAfterMs > untilMs) break
      await clock.advance(requeueAfterMs)
    }
    await clock.advance(untilMs - clock.now())
  }
  return { server, clock, changes, mailbox, said, told, status, look, evict, restore }
}

t.test(
  'removals that a syncer holds stand on its SyncTarget, with the command that confirms them, until there are none',
  async t => {
    const { said, status, look } = await world()
    const held = (name: string, message: string) => {
      const key = { group: '', resource: 'configmaps', namespace: 'shop', name }
      return [`configmaps shop/${name}`, { ...key, state: 'held', reason: 'DeletionHeld', message }] as const
    }
    const exceptions = new Map([held('a', '1 objects stay … =old'), held('b', '2 objects stay … =new')])
    Object.assign(said, { exceptions })
    await look(10_000)
    const heldDeletions = {
      objects: 2,
      examples: ['configmaps shop/a', 'configmaps shop/b'],
      message: '2 objects stay … =new',
    }
    t.match(status(), { outcome: { heldDeletions, failures: { reasons: { DeletionHeld: 2 } } } })
    Object.assign(said, { exceptions: new Map([held('a', '1000 objects stay … =all')]) })
    await look(10_000)
    t.match(status(), { outcome: { heldDeletions: { objects: 1000, message: '1000 objects stay … =all' } } })
    Object.assign(said, { exceptions })
    await look(10_000)
    Object.assign(said, { live: false, exceptions: new Map() })
    await look(10_000)
    t.match(status(), { outcome: { heldDeletions } }, 'a silent syncer holds them still')
    Object.assign(said, { live: true })
    await look(10_000)
    t.notOk(at(status(), 'outcome', 'heldDeletions'))
  },
)

t.test('what an archive says of a cluster is told apart from what its syncer said since the restore', async t => {
  const { said, status, look, restore } = await world()
  const sinceRestore = '2026-11-30T04:00:00.000Z'
  restore.atTime = sinceRestore
  said.compared = false
  await look(10_000)
  t.match(status(), { outcome: { reporting: true } })
  t.equal(at(status(), 'outcome', 'sinceRestore'), undefined, 'it may find more')
  said.compared = true
  await look(10_000)
  t.match(status(), { outcome: { reporting: true, sinceRestore } })
  restore.atTime = undefined
  await look(10_000)
  t.equal(at(status(), 'outcome', 'sinceRestore'), undefined, 'it is settled')
})

t.test('that the syncer does not reach its cluster is told where people look after clusters', async t => {
  const { said, told, status, look } = await world()
  await look(10_000)
  t.match(status(), { outcome: { reporting: true, reachable: true } })
  t.same(told, [])
  Object.assign(said, { unreachable: true, compared: false })
  await look(10_000)
  t.match(status(), { outcome: { reporting: true, reachable: false } })
  const since = at(status(), 'outcome', 'unreachableSince')
  t.match(since, /^2\d{3}-.*Z$/)
  await look(10_000)
  t.equal(at(status(), 'outcome', 'unreachableSince'), since)
  t.same(told, ['inv1 SyncTarget florin Warning ClusterUnreachable'])
  Object.assign(said, { unreachable: false, live: false })
  await look(10_000)
  t.equal(told.length, 1, 'nothing is known of a cluster whose syncer is silent')
  t.equal(at(status(), 'outcome', 'unreachableSince'), since)
  said.live = true
  await look(10_000)
  t.same(told.slice(1), ['inv1 SyncTarget florin Normal ClusterReachable'])
  t.equal(at(status(), 'outcome', 'unreachableSince'), undefined)
})

t.test('a change that the cluster takes at once is told nowhere', async t => {
  const { server, changes, said, status, look } = await world()
  await look(10_000)
  t.match(status(), { outcome: { reporting: true, lag: { objects: 0 } } })
  const writes = server.writes.length
  for (let i = 1; i <= 20; i++) {
    changes.changed('one', i)
    await look()
    said.processed = i
    await look(10_000)
  }
  t.equal(server.writes.length, writes)
})

t.test('a cluster that does not get to a change is behind, since it came, until it has', async t => {
  const { clock, changes, said, status, look } = await world()
  await look(10_000)
  const since = new Date(clock.now()).toISOString().replace('.000', '')
  for (const [i, key] of ['one', 'two'].entries()) changes.changed(key, i + 1)
  await look(5000)
  t.same(at(status(), 'outcome', 'lag'), { objects: 2, since })
  said.processed = 1
  await look(5000)
  t.same(at(status(), 'outcome', 'lag'), { objects: 1, since })
  said.processed = 2
  await look(5000)
  t.same(at(status(), 'outcome', 'lag'), { objects: 0 })
})

t.test('of what a cluster cannot name no more is counted than it holds', async t => {
  const { said, status, look } = await world()
  said.unlisted = { refused: 10_000_000, retrying: 10_000_000 }
  await look(5000)
  t.same(at(status(), 'outcome', 'failures'), { count: 3, reasons: { Unlisted: 3 } })
})

t.test('it says which versions cluster and syncer are, and keeps that while nobody speaks', async t => {
  const { said, status, look } = await world()
  await look(5000)
  t.equal(at(status(), 'versions'), undefined)
  Object.assign(said, { versions: { kubernetes: 'v1.34.1', syncer: '0.2.0' } })
  await look(5000)
  t.same(at(status(), 'versions'), { kubernetes: 'v1.34.1', syncer: '0.2.0' })
  Object.assign(said, { versions: undefined, live: false })
  await look(5000)
  t.match(status(), { outcome: { reporting: false }, versions: { kubernetes: 'v1.34.1' } })
})

const offered = (group: string, resource: string, ...versions: string[]) => ({ group, resource, versions })

t.test('it says of each kind that the cluster offers whether copies can go there, and writes that once', async t => {
  const { server, said, status, look } = await world()
  await look(5000)
  t.equal(at(status(), 'syncedResources'), undefined, 'the syncer has not said yet')
  const maps = offered('', 'configmaps', 'v1')
  const gears = offered('x.test', 'gears', 'v1')
  const sets = offered('apps', 'replicasets', 'v2', 'v2beta1')
  Object.assign(said, { offer: { resources: [maps, sets, gears], unlisted: 3 } })
  await look(5000)
  t.same(at(status(), 'syncedResources'), [
    { ...maps, state: 'Accepted' },
    { ...sets, state: 'Incompatible' },
    { ...gears, state: 'Pending' },
  ])
  t.equal(at(status(), 'outcome', 'unlistedKinds'), 3)
  const writes = server.writes.length
  await look(100_000)
  t.equal(server.writes.length, writes, 'what is the same is not written')
  // one shape under another name
  Object.assign(said, { offer: { resources: [offered('apps', 'replicasets', 'v1beta1')], unlisted: 0 } })
  await look(5000)
  t.match(at(status(), 'syncedResources'), [{ resource: 'replicasets', state: 'Accepted' }])
  t.equal(at(status(), 'outcome', 'unlistedKinds'), undefined)
  // the center was restarted, and the syncer has not reported it anew
  Object.assign(said, { offer: undefined })
  await look(5000)
  t.match(at(status(), 'syncedResources'), [{ resource: 'replicasets', state: 'Accepted' }])
})

t.test(
  'a kind that spaces define is taken at its very versions, and as far as the cluster was found to take it',
  async t => {
    const { mailbox, said, status, look } = await world()
    const state = () => at(status(), 'syncedResources', 0, 'state')
    Object.assign(said, { offer: { resources: [offered('apps', 'replicasets', 'v1beta1')], unlisted: 0 } })
    mailbox.copies.set(definitionKey({ group: 'apps', resource: 'replicasets' }), 1)
    await look(5000)
    t.equal(state(), 'Incompatible')
    Object.assign(said, { offer: { resources: [offered('apps', 'replicasets', 'v1beta1', 'v1')], unlisted: 0 } })
    await look(5000)
    t.equal(state(), 'Accepted')
    const exception = { group: 'apps', resource: 'replicasets', namespace: 'a', name: 'b', reason: 'VersionNotServed' }
    said.exceptions.set('it', exception)
    await look(5000)
    t.equal(state(), 'Incompatible')
    said.exceptions.clear()
    await look(5000)
    t.equal(state(), 'Accepted')
  },
)

t.test('a kind is Pending until the mailbox serves it, and again when its definition is gone', async t => {
  const { server, mailbox, said, status, look } = await world()
  const state = () => at(status(), 'syncedResources', 0, 'state')
  Object.assign(said, { offer: { resources: [offered('x.test', 'gears', 'v1')], unlisted: 0 } })
  await look(5000)
  t.equal(state(), 'Pending')
  const gears = { group: 'x.test', version: 'v1', resource: 'gears', kind: 'Gear' }
  server.kinds.push({ ...gears, namespaced: true, verbs: [], subresources: [] })
  mailbox.definitionChanges++
  await look(5000)
  t.equal(state(), 'Accepted')
  server.kinds.pop()
  mailbox.definitionChanges++
  await look(5000)
  t.equal(state(), 'Pending')
})

t.test('a cluster that is evicted counts what is left there, until all of it is gone', async t => {
  const { clock, mailbox, changes, said, status, look, evict } = await world()
  const eviction = () => at(status(), 'outcome', 'eviction')
  const remaining = () => at(eviction(), 'remaining')
  const after = new Date(clock.now() + 60_000).toISOString()
  await evict(after)
  await look(30_000)
  t.equal(eviction(), undefined, 'the time has not come')
  await look(40_000)
  t.same(eviction(), { after, remaining: 3 })
  for (const [i, key] of ['a', 'b', 'c'].entries()) {
    mailbox.copies.delete(key)
    changes.gone(key, 7 + i)
  }
  said.processed = 8
  await look(5000)
  t.equal(remaining(), 3, 'its syncer has not looked at all of it')
  said.exceptions.set('c', { state: 'terminating', reason: 'Terminating' })
  said.processed = 9
  await look(5000)
  t.equal(remaining(), 1, 'a deletion waits in the cluster')
  said.live = false
  said.exceptions.clear()
  await look(5000)
  t.equal(remaining(), 1, 'a silent syncer says nothing new')
  said.live = true
  await look(5000)
  t.equal(remaining(), 0)
  said.live = false
  await look(5000)
  t.same(eviction(), { after, remaining: 0 })
  await evict(null)
  await look(5000)
  t.equal(eviction(), undefined)
})

t.test('a Namespace stays where others put something into it, and does not count', async t => {
  const { mailbox, status, look, evict } = await world()
  const remaining = () => at(status(), 'outcome', 'eviction', 'remaining')
  mailbox.copies.clear()
  for (const name of ['own', 'theirs']) {
    mailbox.namespaces.add(name)
    mailbox.copies.set(namespaceKey(name), 1)
  }
  mailbox.others.set('v1|configmaps|theirs|x', true)
  await evict('2020-01-01T00:00:00Z')
  await look(5000)
  t.equal(remaining(), 1)
})
