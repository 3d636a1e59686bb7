/** Objects in a mailbox, or in a space of unknown place, command no cluster. */
import t from 'tap'
import { NAMESPACES, WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  mailboxName,
  SLICES,
  SYNC_TARGETS,
  SYNCER_CONFIGS,
} from '../../../../src/placement/words/placement.ts'
import { type FakeServer, namespace } from '../fakeServer.ts'
import {
  ALL_MAPS,
  configMap,
  consent,
  EDGE,
  FLORIN_UID,
  inventory,
  MAPS,
  placement,
  slice,
  world,
} from '../translatorWorld.ts'

const EVIL = `root:espw:${mailboxName('inv1', '33333333-3333-4333-8333-333333333333')}`

/** Objects that a syncer may put into its mailbox: a placement onto every cluster, its slice, a Namespace and an object. */
async function command(server: FakeServer, space: string): Promise<void> {
  const api = server.in(space)
  await api.create(NAMESPACES, namespace('commonstuff'))
  await api.create(NAMESPACES, namespace('theirs', { 'pod-security.kubernetes.io/enforce': 'privileged' }))
  await api.create(MAPS, configMap('evil', { of: space }))
  const downsync = [
    { apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'] },
    { apiGroup: '', resources: ['namespaces'], objectNames: ['theirs'] },
  ]
  const upsync = [{ apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['*'] }]
  await api.create(EDGE_PLACEMENTS, placement('ep', { downsync, upsync }))
  await api.create(SLICES, slice('ep', 'florin', 'guilder'))
}

t.test('placements and slices in a mailbox, or in a space below one, command no cluster', async t => {
  const { server, florin, guilder } = await world(t)
  server.place('box', EVIL)
  server.place('below', `${EVIL}:wmw1`)
  for (const space of ['box', 'below']) await command(server, space)
  await server.quiet()
  for (const mailbox of [florin, guilder]) {
    t.same(server.names(mailbox, MAPS), [])
    t.notOk(server.peek(mailbox, SYNCER_CONFIGS, 'the-one'))
  }
  t.ok(server.peek('box', EDGE_PLACEMENTS, 'ep'), 'they are stored all the same')
})

t.test('what was copied for a placement in a space that is a mailbox goes away', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await consent(server, 'box')
  await command(server, 'box')
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/evil', 'commonstuff/page'])
  await restart(async () => server.place('box', EVIL))
  await server.quiet()
  for (const mailbox of [florin, guilder]) {
    t.same(server.names(mailbox, MAPS), ['commonstuff/page'])
    t.notOk(server.peek(mailbox, NAMESPACES, 'theirs'))
    t.same((server.peek(mailbox, SYNCER_CONFIGS, 'the-one')!.spec as { upsync: unknown[] }).upsync, [])
  }
})

t.test('feedback that is found in a mailbox makes nobody follow the mailbox', async t => {
  const { server, restart } = await world(t)
  server.place('box', EVIL)
  await server.in('box').create(NAMESPACES, namespace('commonstuff'))
  const annotations = { 'kubestellar.io/executing-count': '7' }
  await server.in('box').create(MAPS, configMap('page', {}, { annotations }))
  await restart(async () => {})
  const writes = server.writes.length
  await server.quiet()
  t.equal(server.writes.length, writes)
})

t.test('a Location in a mailbox says nothing about what goes to a cluster', async t => {
  const { server, wds } = await world(t)
  server.place('box', EVIL)
  const name = mailboxName('box', FLORIN_UID)
  await server
    .in('root:espw')
    .create(WORKSPACES, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } })
  const { cluster } = server.peek('root:espw', WORKSPACES, name)!.spec as { cluster: string }
  const labels = { 'loc-name': 'trapped' }
  await server.in('box').create(LOCATIONS, { apiVersion: EDGE, kind: 'Location', metadata: { name: 'florin', labels } })
  const annotations = { 'edge.kubestellar.io/expand-parameters': 'true' }
  await wds.create(MAPS, configMap('page', { at: '%(loc-name)' }, { annotations }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  const { destinations } = slice('ep', 'florin') as unknown as { destinations: object[] }
  await wds.create(SLICES, { ...slice('ep'), destinations: destinations.map(d => ({ ...d, cluster: 'box' })) })
  await server.quiet()
  t.same(server.names(cluster, MAPS), [], 'a slice may say what it likes of it')
})

t.test('a placement in a space whose place is not known waits until it is', async t => {
  const { server, florin } = await world(t)
  await consent(server, 'wds2')
  server.unplaced.add('wds2')
  await command(server, 'wds2')
  await server.quiet()
  t.same(server.names(florin, MAPS), [])
  server.place('wds2')
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/evil'])
})

t.test('an inventory that is deleted whole takes nothing out of its mailboxes, whatever vanishes first', async t => {
  const { server, wds, florin, restart } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'])
  server.deleting.add('inv1')
  await server.in('inv1').delete(LOCATIONS, { name: 'florin' })
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'])
  await server.in('inv1').delete(SYNC_TARGETS, { name: 'florin' })
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'])
  await restart(async () => server.leave('inv1'))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'], 'nor while its mailboxes have yet to follow')
})

t.test('a SyncTarget that goes at once takes nothing out of its mailbox; one that comes later fills it', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  await server.in('inv1').delete(SYNC_TARGETS, { name: 'florin' })
  await server.in('inv1').delete(LOCATIONS, { name: 'florin' })
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'])
  await restart(async () => wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' }))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'], 'nor after a restart')
  t.same(server.names(guilder, MAPS), [])
  await inventory(server, 'florin', FLORIN_UID)
  await server.quiet()
  t.same(server.names(florin, MAPS), [])
})
