/** A cluster leaves: its SyncTarget goes when the syncer has left the cluster, and the workload stays or goes as it says. */
import t from 'tap'
import { temporaryDir } from '../support/server.ts'
import { at, Center, gone, mailboxOf, map } from '../syncer/support/installation.ts'
import { LOCATIONS, MAPS, NAMESPACES, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { FLORIN, Florin, marks, RECORD, target } from './support/florin.ts'

t.test('by default the workload stays, and nothing says any more where it came from', async t => {
  const { inventory, cluster, wds, syncer } = await Florin.begin(t)
  t.not(marks(await cluster.get(MAPS, at('page'))).length, 0)
  await cluster.create(MAPS, map('local', { mine: 'yes' }))
  const { uid } = (await inventory.get(TARGETS, FLORIN)).metadata
  await inventory.delete(TARGETS, FLORIN)
  await inventory.delete(LOCATIONS, FLORIN)
  await until(inventory, TARGETS, FLORIN, gone)
  t.ok(uid)
  await syncer.said('the cluster has left')
  const page = await cluster.get(MAPS, at('page'))
  t.same(page.data, { x: '1' })
  t.same(marks(page), [])
  t.same(marks(await cluster.get(NAMESPACES, { name: 'shop' })), [])
  await until(cluster, MAPS, RECORD, gone)
  await wds.delete(MAPS, at('page'))
  t.equal(await syncer.end(), 0)
  t.ok(await cluster.get(MAPS, at('page')))
})

t.test('with detachPolicy Delete what was placed goes, and nothing else', async t => {
  const { inventory, cluster, wds } = await Florin.begin(t)
  await cluster.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'home' } })
  await cluster.create(MAPS, { ...map('local', {}), metadata: { namespace: 'home', name: 'local' } })
  await inventory.patch(TARGETS, FLORIN, 'merge', { spec: { detachPolicy: 'Delete' } })
  await inventory.delete(TARGETS, FLORIN)
  await until(inventory, TARGETS, FLORIN, gone)
  await until(cluster, MAPS, RECORD, gone)
  await t.rejects(cluster.get(MAPS, at('page')), { message: /not found/ })
  t.ok(await cluster.get(NAMESPACES, { name: 'shop' }), 'a Namespace that only came with its objects stays')
  t.ok(await cluster.get(MAPS, { namespace: 'home', name: 'local' }))
  t.ok(await wds.get(MAPS, at('page')), 'the source stays')
})

t.test('a SyncTarget that never had a syncer goes at once, its mailbox with it', async t => {
  const center = new Center(t, temporaryDir(t))
  await center.start()
  const inventory = center.in('root:imw1')
  const made = await inventory.create(TARGETS, target)
  await mailboxOf(center, made)
  await inventory.delete(TARGETS, FLORIN)
  t.same((await inventory.list(TARGETS)).items, [])
})
