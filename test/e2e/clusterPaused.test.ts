/** Maintenance of a cluster: while it is paused nothing there is written by its syncer. */
import t from 'tap'
import { at, gone, is, map, there } from '../syncer/support/installation.ts'
import { MAPS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { FLORIN, Florin, has } from './support/florin.ts'

t.test('a paused cluster keeps what it has, and catches up', async t => {
  const { inventory, cluster, wds, syncer } = await Florin.begin(t)
  await wds.create(MAPS, map('going', {}))
  await until(cluster, MAPS, at('going'), there)
  const paused = (value: string | null) => ({ metadata: { annotations: { 'edge.kubestellar.io/paused': value } } })
  await inventory.patch(TARGETS, FLORIN, 'merge', paused('true'))
  await until(inventory, TARGETS, FLORIN, has('Paused', 'True', 'SyncerPaused'))
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '2' } })
  await wds.delete(MAPS, at('going'))
  await wds.create(MAPS, map('new', {}))
  await cluster.patch(MAPS, at('page'), 'merge', { data: { x: 'by hand' } })
  await syncer.said('the cluster is paused')
  await inventory.patch(TARGETS, FLORIN, 'merge', paused(null))
  await until(cluster, MAPS, at('page'), is('data', { x: '2' }))
  await until(cluster, MAPS, at('going'), gone)
  await until(cluster, MAPS, at('new'), there)
  await until(inventory, TARGETS, FLORIN, has('Paused', 'False', 'NotPaused'))
})
