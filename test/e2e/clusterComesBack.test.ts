/** A cluster whose syncer is silent leaves when an administrator says so, and comes back under its old name. */
import t from 'tap'
import { at, gone, is, map } from '../syncer/support/installation.ts'
import { LEASES, MAPS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { condition, FLORIN, Florin, has, marks, RECORD, target } from './support/florin.ts'

t.test('a silent syncer is waited for until somebody forces; a SyncTarget of the old name begins anew', async t => {
  const whole = await Florin.beginWithProcess(t)
  const { inventory, cluster, wds, syncer } = whole
  await syncer.end('SIGKILL')
  // else the next syncer waits until nobody can be writing any more
  await cluster.delete(LEASES, RECORD)
  const { uid = '' } = (await inventory.get(TARGETS, FLORIN)).metadata
  await inventory.delete(TARGETS, FLORIN)
  const waiting = await until(inventory, TARGETS, FLORIN, has('Leaving', 'True', 'WaitingForSyncer'))
  t.match(condition(waiting, 'Leaving').message, `edge.kubestellar.io/force-detach=${uid}`)
  const force = (value: string) => ({ metadata: { annotations: { 'edge.kubestellar.io/force-detach': value } } })
  await inventory.patch(TARGETS, FLORIN, 'merge', force('true'))
  const refused = await until(
    inventory,
    TARGETS,
    FLORIN,
    object => condition(object, 'Leaving')?.message.includes('is not the uid') === true,
  )
  t.ok(refused)
  await inventory.patch(TARGETS, FLORIN, 'merge', force(uid))
  await until(inventory, TARGETS, FLORIN, gone)
  t.not(marks(await cluster.get(MAPS, at('page'))).length, 0, 'nobody touched the cluster')

  await wds.create(MAPS, map('more', { x: '2' }))
  const again = await inventory.create(TARGETS, target)
  const mailbox = await whole.mailboxOf(again)
  const refusedSyncer = await whole.serve(mailbox)
  await refusedSyncer.said('If the cluster shall be served from this mailbox from now on, say so with "orrery syncer')
  t.equal(await refusedSyncer.exited(), 1)
  const adopted = await whole.adopt(mailbox)
  await adopted.said('from now on (before: ')
  t.equal(await adopted.exited(), 0)
  await whole.serve(mailbox)
  await until(cluster, MAPS, at('more'), is('data', { x: '2' }))
  const page = await cluster.get(MAPS, at('page'))
  t.same(page.data, { x: '1' })
  await wds.delete(MAPS, at('page'))
  await until(cluster, MAPS, at('page'), gone)
})
