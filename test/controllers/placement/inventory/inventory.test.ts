/** SyncTargets and Locations by name and by mailbox: a deletion names no uid, and a name may come back with another one. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { Inventory } from '../../../../src/controllers/placement/inventory/inventory.ts'
import { CLUSTER_FINALIZER, RELEASE_OWNER_ANNOTATION } from '../../../../src/placement/words/placement.ts'
import { mailboxOf } from '../../../../src/placement/words/topology.ts'
import { FakeServer } from '../fakeServer.ts'

const AT = { space: 'inv1', name: 'florin' }

function target(uid: string, metadata: object = {}, more: object = {}): KubeObject {
  return {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'SyncTarget',
    metadata: { name: 'florin', uid, ...metadata },
    ...more,
  }
}

const releasing = (uid: string, text: string): KubeObject =>
  target(uid, { annotations: { [RELEASE_OWNER_ANNOTATION]: text } })
const mailboxFor = (uid: string, space = AT.space): string => mailboxOf({ space, object: target(uid) })

function world(): { places: FakeServer; inventory: Inventory } {
  const places = new FakeServer()
  return { places, inventory: new Inventory(places) }
}

t.test('a SyncTarget ends with its deletion, or when another takes its name', t => {
  for (const [end, after] of [
    ['deleted', undefined],
    ['made again', target('u2')],
  ] as const) {
    const { inventory } = world()
    inventory.setTarget(AT, releasing('u1', 'wds1'))
    t.strictSame(inventory.target(mailboxFor('u1'))?.releases, ['wds1'], end)
    const changes = inventory.setTarget(AT, after)
    t.match(changes[0], { mailbox: mailboxFor('u1'), before: { uid: 'u1' }, after: undefined }, end)
    t.equal(inventory.target(mailboxFor('u1')), undefined, end)
    t.equal(changes.length, after ? 2 : 1, end)
    if (after) t.match(changes[1], { mailbox: mailboxFor('u2'), before: undefined, after: { uid: 'u2' } })
    t.equal([...inventory.targetsOf('inv1')].length, after ? 1 : 0, end)
  }
  t.end()
})

t.test('a change of one mailbox has the fact before and after, and a deletion of nothing is no change', t => {
  const { inventory } = world()
  t.match(inventory.setTarget(AT, target('u1')), [{ before: undefined, after: { releases: [], available: false } }])
  t.match(inventory.setTarget(AT, releasing('u1', 'wds1, root:wds2,')), [
    { mailbox: mailboxFor('u1'), before: { releases: [] }, after: { releases: ['wds1', 'root:wds2'] } },
  ])
  t.strictSame(inventory.setTarget({ ...AT, name: 'guilder' }, undefined), [])
  t.strictSame(inventory.target(mailboxFor('u1'))?.releases, ['wds1', 'root:wds2'])
  t.end()
})

t.test('two inventories with the same names are apart', t => {
  const { inventory } = world()
  const location = (env: string): KubeObject => target('l', { labels: { env } })
  for (const space of ['inv1', 'inv2']) {
    inventory.setTarget({ space, name: 'florin' }, target('u1'))
    inventory.setLocation({ space, name: 'florin' }, location(space))
  }
  inventory.setTarget(AT, undefined)
  t.match(inventory.setLocation(AT, undefined), { ...AT, before: { metadata: { labels: { env: 'inv1' } } } })
  t.equal(inventory.target(mailboxFor('u1')), undefined)
  t.equal(inventory.location('inv1', 'florin'), undefined)
  t.equal(inventory.target(mailboxFor('u1', 'inv2'))?.space, 'inv2')
  t.strictSame(inventory.location('inv2', 'florin')?.metadata.labels, { env: 'inv2' })
  t.end()
})

t.test('a mailbox leaves with its SyncTarget or its inventory', t => {
  const { places, inventory } = world()
  const mailbox = mailboxFor('u1')
  t.equal(inventory.isLeaving(mailbox), true, 'readers ask once the first snapshot is whole')
  t.equal(inventory.clusterName(mailbox), mailbox)
  inventory.setTarget(AT, target('u1'))
  t.equal(inventory.isLeaving(mailbox), false)
  t.equal(inventory.clusterName(mailbox), 'florin')
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const held = { ...going, finalizers: [CLUSTER_FINALIZER] }
  const left = { status: { conditions: [{ type: 'Leaving', status: 'False', reason: 'Left' }] } }
  for (const [object, state] of [
    [target('u1', going), 'goes'],
    [target('u1', held), 'waits'],
    [target('u1', held, left), 'left'],
  ] as const) {
    inventory.setTarget(AT, object)
    t.equal(inventory.target(mailbox)?.state, state)
    t.equal(inventory.isLeaving(mailbox), true, state)
  }
  inventory.setTarget(AT, target('u1'))
  t.equal(inventory.isLeaving(mailbox), false)
  places.leave('inv1')
  t.equal(inventory.isLeaving(mailbox), true, 'its inventory is gone')
  t.end()
})

t.test('an eviction begins at its time and ends with it', t => {
  const { inventory } = world()
  const mailbox = mailboxFor('u1')
  const atMs = Date.parse('2026-01-01T00:00:00Z')
  const evict = (evictAfter?: unknown) => inventory.setTarget(AT, target('u1', {}, { spec: { evictAfter } }))
  evict('2026-01-01T00:00:00Z')
  t.equal(inventory.isEvicted(mailbox, atMs - 1), false)
  t.equal(inventory.isEvicted(mailbox, atMs), true)
  for (const never of [undefined, 'soon', 7]) {
    evict(never)
    t.equal(inventory.isEvicted(mailbox, atMs), false, String(never))
  }
  t.equal(inventory.isEvicted('none', atMs), false)
  t.end()
})
