// Owners of an object, as far as they go to the same place: their form on the copy, and their changes.

import t, { type Test } from 'tap'
import type { OwnerReference } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { MAX_CARRIED_OWNERS } from '../../../../src/placement/content/carriedOwners.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { namespace } from '../fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, replicaSet, SETS, slice, world } from '../translatorWorld.ts'

const OWNERS = 'edge.kubestellar.io/owner-references'
const SET = { namespace: 'commonstuff', name: 'rs' }
const toSet = (uid = 'any', more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'apps/v1beta9',
  kind: 'ReplicaSet',
  name: 'rs',
  uid,
  ...more,
})
const CARRIED = { group: 'apps', resource: 'replicasets', kind: 'ReplicaSet', namespace: 'commonstuff', name: 'rs' }

/** ConfigMaps go to both clusters, ReplicaSets to one of them. */
async function owned(t: Test) {
  const all = await world(t)
  const { server, wds } = all
  await wds.create(EDGE_PLACEMENTS, placement('maps', ALL_MAPS))
  await wds.create(EDGE_PLACEMENTS, placement('sets', { downsync: [{ apiGroup: 'apps', labelSelectors: [{}] }] }))
  await wds.create(SLICES, slice('maps', 'florin', 'guilder'))
  await wds.create(SLICES, slice('sets', 'florin'))
  const said = (at: string) => {
    const text = server.peek(at, MAPS, 'page', 'commonstuff')?.metadata.annotations?.[OWNERS]
    return text === undefined ? undefined : (JSON.parse(text) as unknown)
  }
  return { ...all, said }
}

t.test('a copy names those owners that go to the same place, and no others', async t => {
  const { server, wds, florin, guilder, said } = await owned(t)
  await wds.create(SETS, replicaSet('rs'))
  const ownerReferences = [
    toSet('any', { controller: true, blockOwnerDeletion: true }),
    { apiVersion: 'v1', kind: 'Secret', name: 'not-placed', uid: 'x' },
    { apiVersion: 'v1', kind: 'Node', name: 'nobody', uid: 'y' },
  ]
  await wds.create(MAPS, configMap('page', {}, { ownerReferences, annotations: { [OWNERS]: '[{"name":"forged"}]' } }))
  await server.quiet()
  t.same(said(florin), [{ ...CARRIED, controller: true, blockOwnerDeletion: true }])
  t.equal(said(guilder), undefined)
  const copy = server.peek(florin, MAPS, 'page', 'commonstuff')!
  t.equal(copy.metadata.ownerReferences, undefined, 'nothing acts in a mailbox')

  await wds.update(SLICES, {
    ...server.peek('wds1', SLICES, 'sets')!,
    destinations: slice('sets', 'guilder').destinations,
  })
  await server.quiet()
  t.equal(said(florin), undefined, 'the owner has left')
  t.same(said(guilder), [{ ...CARRIED, controller: true, blockOwnerDeletion: true }], 'and come elsewhere')
  t.ok(server.peek(florin, MAPS, 'page', 'commonstuff'), 'who leaves takes nobody along')

  await wds.delete(SETS, SET)
  await server.quiet()
  t.equal(said(guilder), undefined)
  t.ok(server.peek(guilder, MAPS, 'page', 'commonstuff'))
})

t.test('an owner that comes later is named later, and one that is disowned no more', async t => {
  const { server, wds, florin, said } = await owned(t)
  await wds.create(MAPS, configMap('page', {}, { ownerReferences: [toSet()] }))
  await server.quiet()
  t.equal(said(florin), undefined)
  await wds.create(SETS, replicaSet('rs'))
  await server.quiet()
  t.same(said(florin), [CARRIED])
  const page = server.peek('wds1', MAPS, 'page', 'commonstuff')!
  const { ownerReferences: _gone, ...metadata } = page.metadata
  await wds.update(MAPS, { ...page, metadata })
  await server.quiet()
  t.equal(said(florin), undefined)
})

t.test("another space's object of the owner's name is no owner", async t => {
  const { server, wds, florin, said } = await owned(t)
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  await other.create(SETS, replicaSet('rs'))
  await other.create(EDGE_PLACEMENTS, placement('ep', { downsync: [{ apiGroup: 'apps' }] }))
  await other.create(SLICES, slice('ep', 'florin'))
  await wds.create(MAPS, configMap('page', {}, { ownerReferences: [toSet()] }))
  await server.quiet()
  t.ok(server.peek(florin, SETS, 'rs', 'commonstuff'))
  t.equal(said(florin), undefined)
})

t.test('of very many owners the first are named', async t => {
  const { server, wds, florin, said } = await owned(t)
  const names = Array.from({ length: MAX_CARRIED_OWNERS + 1 }, (_, i) => `rs-${i}`)
  for (const name of names) await wds.create(SETS, replicaSet(name))
  await wds.create(MAPS, configMap('page', {}, { ownerReferences: names.map(name => toSet('any', { name })) }))
  await server.quiet()
  t.same(
    said(florin),
    names.slice(0, -1).map(name => ({ ...CARRIED, name })),
  )
})
