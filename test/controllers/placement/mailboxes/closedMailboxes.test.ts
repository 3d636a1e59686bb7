// A SyncTarget that says that it is unschedulable: what comes, what stays, and who is told.

import t from 'tap'
import { WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import { EDGE_PLACEMENTS, mailboxName, SLICES, SYNC_TARGETS } from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, configMap, FLORIN_UID, MAPS, placement, slice, world } from '../translatorWorld.ts'

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
  await server.in('root:espw').delete(WORKSPACES, { name })
  await server
    .in('root:espw')
    .create(WORKSPACES, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } })
  await server.quiet()
  const { cluster } = server.peek('root:espw', WORKSPACES, name)!.spec as { cluster: string }
  t.same(server.names(cluster, MAPS), ['commonstuff/old'])
})
