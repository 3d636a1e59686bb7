/** A refusal by a cluster's owner is reported to the author of the placement, as long as it lasts. */
import t from 'tap'
import { gone, map } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { condition, FLORIN, Florin } from './support/florin.ts'

t.test('an author hears which object which cluster refuses and why, and that it is over', async t => {
  const florin = await Florin.begin(t)
  const { inventory, wds, cluster, syncer } = florin
  const mailbox = await florin.mailboxOf(await inventory.get(TARGETS, FLORIN))
  await until(wds, PLACEMENTS, { name: 'p' }, object => condition(object, 'Placed')?.status === 'True')
  await syncer.end()
  const limited = await florin.serve(mailbox, '--allow-kinds', 'secrets', '--allow-namespaces', 'shop')
  await wds.create(MAPS, map('second', { x: '1' }))
  const says = (text: string) => (object: Parameters<typeof condition>[0]) =>
    String(condition(object, 'Placed')?.message).includes(text)
  const told = condition(await until(wds, PLACEMENTS, { name: 'p' }, says('shop/second')), 'Placed')
  t.match(told, { status: 'False', reason: 'RefusedByCluster' })
  // with the one that was refused before or after it, or alone
  const words =
    /configmaps "shop\/second"[^:]*: refused by the cluster at florin: is not allowed by --allow-kinds of this cluster/
  t.match(told.message, words)
  await limited.end()
  await florin.serve(mailbox)
  await until(cluster, MAPS, { namespace: 'shop', name: 'second' }, object => !gone(object))
  await until(wds, PLACEMENTS, { name: 'p' }, object => condition(object, 'Placed')?.status === 'True')
})
