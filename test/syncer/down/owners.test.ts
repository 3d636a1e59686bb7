/** References to owners in the cluster, against real API servers in this process, whose garbage collector acts on them. */
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { type Clock, systemClock } from '../../../src/client/clock.ts'
import type { CarriedOwner } from '../../../src/placement/content/carriedOwners.ts'
import {
  LEAVE_ANNOTATION,
  OWNER_REFERENCES_ANNOTATION,
  PRESERVE_ANNOTATION,
} from '../../../src/placement/words/placement.ts'
import type { SyncerOptions } from '../../../src/syncer/syncer.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, pairIn, sent } from '../support/pair.ts'

const center = await startCenter(t, { expectsTrouble: true })
const names = ['a', 'b', 'c']
const wants = {
  namespacedObjects: [
    {
      group: '',
      resource: 'configmaps',
      apiVersion: 'v1',
      objectsByNamespace: [{ namespace: 'app', names }],
    },
  ],
}
const pair = (test: Test): Promise<Pair> => pairIn(center, test, wants)
const at = (name: string) => ({ namespace: 'app', name })
const key = (name: string) => `configmaps app/${name}`

const owner = (name: string, more: Partial<CarriedOwner> = {}): CarriedOwner => ({
  group: '',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespace: 'app',
  name,
  ...more,
})
const owns = (...owners: CarriedOwner[]) => ({ [OWNER_REFERENCES_ANNOTATION]: JSON.stringify(owners) })
const ownedBy = (name: string, owners: CarriedOwner[], data = {}) => sent(name, data, { annotations: owns(...owners) })
const uidsOf = ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)
const says = (x: string) => (object: KubeObject) => isRecord(object.data) && object.data.x === x

async function isOwned(p: Pair, name: string, by: KubeObject): Promise<KubeObject> {
  return await center.world.present(p.clusterId, key(name), object => uidsOf(object).join() === by.metadata.uid)
}
async function disown(p: Pair, name: string): Promise<void> {
  const annotations = { [OWNER_REFERENCES_ANNOTATION]: null }
  await p.mailbox.patch(MAPS, at(name), 'merge', { metadata: { annotations } })
}

/** Starts a syncer; who still named what it deleted, at that moment. */
function start(p: Pair, more: Partial<SyncerOptions> = {}, clock?: Clock): string[] {
  const held: string[] = []
  const cluster: SpaceClient = {
    ...p.cluster,
    delete: async (resource, ref, options) => {
      const { items } = await p.cluster.list(MAPS, {})
      const uid = options?.preconditions?.uid ?? ''
      for (const item of items) if (uidsOf(item).includes(uid)) held.push(`${item.metadata.name} held ${ref.name}`)
      return await p.cluster.delete(resource, ref, options)
    },
  }
  p.start(undefined, clock, { cluster, ...more })
  return held
}

t.test('a dependent has a reference with the uid of the owner there, whoever comes first', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, ownedBy('b', [owner('a', { controller: true, blockOwnerDeletion: true })]))
  const alone = await center.world.present(p.clusterId, key('b'))
  t.equal(alone.metadata.ownerReferences, undefined, 'nobody to refer to yet')
  await p.mailbox.create(MAPS, sent('a'))
  const a = await center.world.present(p.clusterId, key('a'))
  const b = await isOwned(p, 'b', a)
  t.same(b.metadata.ownerReferences, [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'a',
      uid: a.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ])
  t.equal(b.metadata.annotations?.[OWNER_REFERENCES_ANNOTATION], undefined, 'the word of the center stays there')
  await p.mailbox.create(MAPS, ownedBy('c', [owner('a'), owner('b')]))
  const c = await center.world.present(p.clusterId, key('c'))
  t.same(uidsOf(c), [a.metadata.uid, b.metadata.uid], 'made with them where they are there')
  await disown(p, 'c')
  await center.world.present(p.clusterId, key('c'), object => uidsOf(object).length === 0)
})

t.test('an owner that goes takes nobody along who stays', async t => {
  const p = await pair(t)
  const held = start(p)
  await p.mailbox.create(MAPS, sent('a'))
  await p.mailbox.create(MAPS, ownedBy('b', [owner('a')], { x: '1' }))
  const a = await center.world.present(p.clusterId, key('a'))
  const before = await isOwned(p, 'b', a)
  await p.mailbox.delete(MAPS, at('a'))
  await disown(p, 'b')
  await center.world.absent(p.clusterId, key('a'))
  await p.settled()
  const b = await p.cluster.get(MAPS, at('b'))
  t.same([b.metadata.uid, uidsOf(b)], [before.metadata.uid, []])

  await p.mailbox.create(MAPS, sent('a'))
  await p.mailbox.patch(MAPS, at('b'), 'merge', { metadata: { annotations: owns(owner('a')) } })
  await isOwned(p, 'b', await center.world.present(p.clusterId, key('a')))
  await p.mailbox.delete(MAPS, at('a'))
  await center.world.absent(p.clusterId, key('a'))
  await p.settled()
  const kept = await p.cluster.get(MAPS, at('b'))
  t.same([kept.metadata.uid, uidsOf(kept)], [before.metadata.uid, []], 'also where the center is slow to say so')
  t.same(held, [])
})

t.test('both go when both are to go, in either order', async t => {
  const p = await pair(t)
  p.start()
  for (const order of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    await p.mailbox.create(MAPS, sent('a'))
    await p.mailbox.create(MAPS, ownedBy('b', [owner('a')]))
    await isOwned(p, 'b', await center.world.present(p.clusterId, key('a')))
    for (const name of order) await p.mailbox.delete(MAPS, at(name))
    for (const name of order) await center.world.absent(p.clusterId, key(name))
  }
  t.pass('nothing is left')
})

t.test('after a restart the owner still takes nobody along', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await p.mailbox.create(MAPS, ownedBy('b', [owner('a')]))
  const before = await isOwned(p, 'b', await center.world.present(p.clusterId, key('a')))
  await first.stop()
  await disown(p, 'b')
  await p.mailbox.delete(MAPS, at('a'))
  // the patience with the first sight of the cluster is to last as long as it says
  const held = start(p, {}, systemClock)
  await center.world.absent(p.clusterId, key('a'))
  await p.settled()
  const b = await p.cluster.get(MAPS, at('b'))
  t.same([b.metadata.uid, uidsOf(b)], [before.metadata.uid, []])
  t.same(held, [])
})

t.test('an owner that is made anew gets its dependents back', async t => {
  const p = await pair(t)
  const held = start(p)
  await p.mailbox.create(MAPS, { ...sent('a'), immutable: true })
  await p.mailbox.create(MAPS, ownedBy('b', [owner('a')]))
  const before = await isOwned(p, 'b', await center.world.present(p.clusterId, key('a')))
  await p.mailbox.delete(MAPS, at('a'))
  await p.mailbox.create(MAPS, { ...sent('a', { x: '2' }), immutable: true })
  const a = await center.world.present(p.clusterId, key('a'), says('2'))
  const b = await isOwned(p, 'b', a)
  t.equal(b.metadata.uid, before.metadata.uid, 'it never went')
  t.same(held, [])
})

t.test('what nobody of us put there is no owner', async t => {
  const p = await pair(t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.cluster.create(MAPS, configMap('a', { x: 'theirs' }))
  p.start()
  await p.mailbox.create(MAPS, sent('a', { x: 'ours' }))
  await p.mailbox.create(MAPS, ownedBy('b', [owner('a'), owner('c'), owner('d')]))
  await center.world.present(p.clusterId, key('b'))
  await p.settled()
  t.same(uidsOf(await p.cluster.get(MAPS, at('b'))), [])
})

t.test('a cluster that leaves with its workload leaves what was taken over', async t => {
  const p = await pair(t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.cluster.create(MAPS, configMap('b', { x: 'theirs' }))
  const held = start(p, { adoptExisting: true })
  await p.mailbox.create(MAPS, sent('a'))
  await p.mailbox.create(MAPS, ownedBy('b', [owner('a')]))
  const before = await isOwned(p, 'b', await center.world.present(p.clusterId, key('a')))
  const annotations = { [LEAVE_ANNOTATION]: 'Delete' }
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { metadata: { annotations } })
  await center.world.absent(p.clusterId, key('a'))
  await p.settled()
  const b = await p.cluster.get(MAPS, at('b'))
  t.same([b.metadata.uid, uidsOf(b)], [before.metadata.uid, []])
  t.same(held, [])
})

t.test('what is preserved keeps no owner that goes', async t => {
  const p = await pair(t)
  const held = start(p)
  await p.mailbox.create(MAPS, sent('a'))
  const keeps = { annotations: { ...owns(owner('a')), [PRESERVE_ANNOTATION]: 'true' } }
  await p.mailbox.create(MAPS, sent('b', {}, keeps))
  const before = await isOwned(p, 'b', await center.world.present(p.clusterId, key('a')))
  await p.mailbox.delete(MAPS, at('b'))
  await p.mailbox.delete(MAPS, at('a'))
  await center.world.absent(p.clusterId, key('a'))
  await p.settled()
  t.equal((await p.cluster.get(MAPS, at('b'))).metadata.uid, before.metadata.uid)
  t.same(held, [])
})
