// An unschedulable SyncTarget: arrivals, present copies, and reports.

import t from 'tap'
import { WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import { readOutcomeReport } from '../../../../src/placement/outcome/outcome.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'
import { EDGE_PLACEMENTS, mailboxName, SLICES, SYNC_TARGETS } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import type { FakeServer } from '../fakeServer.ts'
import { ALL_MAPS, configMap, FLORIN_UID, GUILDER_UID, MAPS, placement, slice, world } from '../translatorWorld.ts'

const KEY = objectKey(MAPS, 'commonstuff', 'old')

t.test('an unschedulable SyncTarget gets no new objects; what is there stays up to date', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  const OLD = { namespace: 'commonstuff', name: 'old' }
  const unschedulable = (value: boolean) =>
    server.in('inv1').patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { spec: { unschedulable: value } })
  const placed = () => {
    const { conditions } = (server.peek('wds1', EDGE_PLACEMENTS, 'ep')?.status ?? {}) as {
      conditions?: { type: string; reason: string; message: string }[]
    }
    return conditions?.find(({ type }) => type === 'Placed')
  }
  await wds.create(MAPS, configMap('old', { v: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  await unschedulable(true)
  await wds.create(MAPS, configMap('new', {}))
  await wds.patch(MAPS, OLD, 'merge', { data: { v: '2' } })
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/old'])
  t.same(server.names(guilder, MAPS).sort(), ['commonstuff/new', 'commonstuff/old'])
  t.same(server.peek(florin, MAPS, 'old', 'commonstuff')?.data, { v: '2' })
  await server.until(() => placed()?.reason === 'Unschedulable')
  t.match(placed()?.message, /1 refused \(1 copy\): configmaps "commonstuff\/new": .*unschedulable/)

  await server.in(florin).delete(MAPS, OLD)
  await server.quiet()
  t.ok(server.peek(florin, MAPS, 'old', 'commonstuff'), 'what hands took away is put back')
  await restart(() => wds.create(MAPS, configMap('newer', {})))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/old'])

  await unschedulable(false)
  await server.quiet()
  t.same(server.names(florin, MAPS).sort(), ['commonstuff/new', 'commonstuff/newer', 'commonstuff/old'])
  await server.until(() => placed()?.reason === 'AllPlaced')
})

t.test('a mailbox that is made again is filled again, also behind an unschedulable SyncTarget', async t => {
  const { server, wds } = await world(t)
  await wds.create(MAPS, configMap('old', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  await server.in('inv1').patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { spec: { unschedulable: true } })
  await server.quiet()
  const name = mailboxName('inv1', FLORIN_UID)
  const cluster = await remade(server, name)
  t.same(server.names(cluster, MAPS), ['commonstuff/old'])
})

t.test('followers of marks learn that a mailbox is gone, whether it is made again or not', async t => {
  const { server, wds, florin, guilder, outcomes, reported } = await world(t, new FakeClock())
  await wds.create(MAPS, configMap('old', { v: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const marks: string[] = []
  reported().follow((space, keys) => marks.push(`${space} ${keys}`))
  const exception = {
    group: '',
    resource: 'configmaps',
    namespace: 'commonstuff',
    name: 'old',
    seq: 1,
    state: 'altered',
    reason: 'FieldsChanged',
    message: 'data.v is 2',
    since: '2026-01-31T12:00:00Z',
    differences: [{ path: 'data.v', change: 'Changed', wanted: '"1"', live: '"2"', decisive: true }],
  }
  for (const space of [florin, guilder])
    outcomes().take(
      space,
      readOutcomeReport({
        session: 's',
        number: 1,
        whole: true,
        epoch: 'epoch',
        compared: true,
        processed: 1e9,
        exceptions: [exception],
      }),
    )
  t.same([...new Set(marks)], [`${florin} ${KEY}`, `${guilder} ${KEY}`])
  marks.length = 0
  const again = await remade(server, mailboxName('inv1', FLORIN_UID))
  t.not(again, florin)
  t.same(marks, [`${florin} gone`])
  await server.in('root:espw').delete(WORKSPACES, { name: mailboxName('inv1', GUILDER_UID) })
  await server.quiet()
  t.same(marks, [`${florin} gone`, `${guilder} gone`])
})

/** Deletes a mailbox and makes it again. Answers with its new space. */
async function remade(server: FakeServer, name: string): Promise<string> {
  const espw = server.in('root:espw')
  await espw.delete(WORKSPACES, { name })
  await espw.create(WORKSPACES, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } })
  await server.quiet()
  return (server.peek('root:espw', WORKSPACES, name)!.spec as { cluster: string }).cluster
}
