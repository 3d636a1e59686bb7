// The translator against a small server in memory: what users of workload spaces see happen in mailboxes and at home.
import t from 'tap'
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import { CRDS, NAMESPACES, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import {
  EDGE_PLACEMENTS,
  mailboxName,
  PLACEMENT_GRANTS,
  SLICES,
  SYNCER_CONFIGS,
} from '../../../src/placement/words/placement.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { namespace } from './fakeServer.ts'
import { ALL_MAPS, CRONTABS, configMap, FLORIN_UID, MAPS, placement, slice, world } from './translatorWorld.ts'

t.test('an object reaches the mailbox of every destination, and edits and removals follow it', async t => {
  const { server, wds, florin, guilder } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1', b: '2' }, { labels: { app: 'x', old: 'y' }, finalizers: ['f/f'] }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const copy = server.peek(florin, MAPS, 'page', 'commonstuff')!
  t.same(copy.data, { a: '1', b: '2' })
  t.same(copy.metadata.labels, { app: 'x', old: 'y', 'edge.kubestellar.io/projected': 'yes' })
  t.equal(copy.metadata.finalizers, undefined, 'finalizers stay at home')
  t.equal(copy.metadata.annotations!['kcp.io/cluster'], florin, 'the copy lives in its own space')
  t.ok(server.peek(guilder, MAPS, 'page', 'commonstuff'))
  const implicit = server.peek(florin, NAMESPACES, 'commonstuff')!
  t.same(implicit.metadata.labels, { 'edge.kubestellar.io/projected': 'yes' }, 'a bare Namespace comes along')

  const source = server.peek('wds1', MAPS, 'page', 'commonstuff')!
  const { old: _, ...labels } = source.metadata.labels!
  await wds.update(MAPS, { ...source, metadata: { ...source.metadata, labels }, data: { a: '3' } })
  await server.quiet()
  const edited = server.peek(florin, MAPS, 'page', 'commonstuff')!
  t.same(edited.data, { a: '3' })
  t.notOk('old' in edited.metadata.labels!, 'a label that is removed at home is removed there')

  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: slice('ep', 'guilder').destinations })
  await server.quiet()
  t.notOk(server.peek(florin, MAPS, 'page', 'commonstuff'), 'gone where it is no longer wanted')
  const [{ propagationPolicy } = {}] = server.deletions
  t.equal(propagationPolicy, 'Background', 'also where deletions of the kind leave something behind by default')
  t.ok(server.peek(guilder, MAPS, 'page', 'commonstuff'))
  t.notOk(server.peek(florin, NAMESPACES, 'commonstuff'), 'the Namespace that came along is not needed any more')

  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  await server.quiet()
  t.notOk(server.peek(guilder, MAPS, 'page', 'commonstuff'))
})

t.test('the copies of an edit are changed together, and alone where that is refused', async t => {
  const { server, wds, florin, guilder } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const dataIn = (space: string) => server.peek(space, MAPS, 'page', 'commonstuff')!.data
  const edit = async (a: string): Promise<void> => {
    await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', { data: { a } })
    await server.quiet()
    t.same([dataIn(florin), dataIn(guilder)], [{ a }, { a }])
  }
  await edit('2')
  t.equal(server.together, 2)
  server.updateCopies = async updates => updates.map(() => undefined)
  await edit('3')
  t.equal(server.together, 2)
})

t.test('hands that edit or delete a copy are undone, and then there is peace', async t => {
  const { server, wds, florin } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const copy = server.peek(florin, MAPS, 'page', 'commonstuff')!
  const annotations = { ...copy.metadata.annotations, mine: 'stays' }
  await server
    .in(florin)
    .update(MAPS, { ...copy, metadata: { ...copy.metadata, annotations, labels: {} }, data: { a: 'edited' } })
  await server.quiet()
  const repaired = server.peek(florin, MAPS, 'page', 'commonstuff')!
  t.same(repaired.data, { a: '1' })
  t.equal(repaired.metadata.annotations!.mine, 'stays', 'what the source does not speak of is left alone')
  t.equal(repaired.metadata.labels!['edge.kubestellar.io/projected'], 'yes')
  await server.in(florin).delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  await server.quiet()
  t.ok(server.peek(florin, MAPS, 'page', 'commonstuff'))
  await server.in(florin).delete(SYNCER_CONFIGS, { name: 'the-one' })
  await server.quiet()
  t.ok(server.peek(florin, SYNCER_CONFIGS, 'the-one'))
  const count = server.writes.length
  await server.quiet()
  t.equal(server.writes.length, count, 'nothing is written when nothing changes')
})

t.test('what is not ours in a mailbox is never deleted', async t => {
  const { server, wds, florin } = await world(t)
  await server.in(florin).create(NAMESPACES, namespace('commonstuff'))
  await server.in(florin).create(MAPS, configMap('upsynced', { from: 'cluster' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.ok(server.peek(florin, MAPS, 'upsynced', 'commonstuff'))
})

t.test('objects that come and go are no change of the SyncerConfig', async t => {
  const { server, wds, florin } = await world(t)
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.match(server.peek(florin, SYNCER_CONFIGS, 'the-one'), {
    metadata: { annotations: { 'edge.kubestellar.io/carries': 'projected' } },
    spec: { namespaceScope: {}, namespacedObjects: [], clusterScope: [], upsync: [] },
  })
  const before = server.writes.length
  for (let i = 0; i < 5; i++) await wds.create(MAPS, configMap(`map-${i}`, { a: '1' }))
  await server.quiet()
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'map-0' })
  await server.quiet()
  const writes = server.writes.slice(before)
  t.equal(writes.filter(write => write.startsWith(`${florin} create configmaps`)).length, 5)
  t.same(
    writes.filter(write => write.includes('syncerconfigs')),
    [],
  )
})

t.test('garbage left by a stop is removed after the restart, and nothing else', async t => {
  const { server, wds, florin, restart } = await world(t)
  await wds.create(MAPS, configMap('keep', { a: '1' }))
  await wds.create(MAPS, configMap('drop', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const uid = server.peek(florin, MAPS, 'keep', 'commonstuff')!.metadata.uid
  await restart(() => wds.delete(MAPS, { namespace: 'commonstuff', name: 'drop' }))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/keep'])
  t.equal(server.peek(florin, MAPS, 'keep', 'commonstuff')!.metadata.uid, uid, 'never deleted in between')
})

t.test('as long as a view is incomplete, nothing is deleted and the SyncerConfig stays', async t => {
  const { server, wds, florin, restart } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const before = server.peek(florin, SYNCER_CONFIGS, 'the-one')!.spec
  for (const silent of ['wds1', '*', 'espw0id', florin]) {
    await restart(async () => server.stalled.add(silent))
    await server.quiet()
    t.same(server.names(florin, MAPS), ['commonstuff/page'], `without the stream of ${silent}`)
    t.same(server.peek(florin, SYNCER_CONFIGS, 'the-one')!.spec, before)
    server.stalled.clear()
    server.notify()
    await server.quiet()
  }
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  await server.quiet()
  t.same(server.names(florin, MAPS), [], 'once all is known again, work goes on')
})

const crontabDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: { group: 'stable.example.com', names: { plural: 'crontabs' } },
}

const cronTab = (name: string) => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name, namespace: 'commonstuff' },
  spec: {},
})

t.test('a custom object brings its definition along, which leaves with it', async t => {
  const { server, wds, florin } = await world(t)
  await wds.create(CRDS, crontabDefinition)
  await wds.create(CRONTABS, cronTab('tab'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync: [{ apiGroup: 'stable.example.com' }] }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.until(() => server.peek(florin, CRONTABS, 'tab', 'commonstuff') !== undefined)
  await server.quiet()
  t.same(server.names(florin, CRDS), [crontabDefinition.metadata.name])
  await wds.delete(CRONTABS, { namespace: 'commonstuff', name: 'tab' })
  await server.quiet()
  t.same(server.names(florin, CRDS), [])
})

t.test('a relabelled Namespace changes what is selected by its labels', async t => {
  const { server, wds, florin } = await world(t)
  await wds.create(MAPS, configMap('page', {}))
  const test = { apiGroup: '', resources: ['configmaps'], namespaceSelectors: [{ matchLabels: { common: 'si' } }] }
  await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync: [test] }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'])
  const ns = server.peek('wds1', NAMESPACES, 'commonstuff')!
  await wds.update(NAMESPACES, { ...ns, metadata: { ...ns.metadata, labels: {} } })
  await server.quiet()
  t.same(server.names(florin, MAPS), [])
})

t.test('an explicit Namespace carries its labels and goes with its source or its EdgePlacement', async t => {
  const { server, wds, florin } = await world(t)
  await wds.create(NAMESPACES, namespace('other', { x: 'y' }))
  await wds.create(
    EDGE_PLACEMENTS,
    placement('ep', { downsync: [{ apiGroup: '', resources: ['namespaces'], objectNames: ['other', 'commonstuff'] }] }),
  )
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.equal(server.peek(florin, NAMESPACES, 'other')!.metadata.labels!.x, 'y')
  await wds.delete(NAMESPACES, { name: 'other' })
  await server.quiet()
  t.same(server.names(florin, NAMESPACES), ['commonstuff', 'default'])
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same(server.names(florin, NAMESPACES), ['default'])
})

t.test('upsync sets reach the mailbox even when nothing is downsynced, and their edits do', async t => {
  const { server, wds, florin } = await world(t)
  const set = (...names: string[]) => [
    { apiGroup: 'group1.test', resources: ['sprockets'], namespaces: ['orbital'], names },
  ]
  await wds.create(EDGE_PLACEMENTS, placement('ep', { upsync: set('george') }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const upsync = () => (server.peek(florin, SYNCER_CONFIGS, 'the-one')!.spec as { upsync: unknown }).upsync
  t.same(upsync(), set('george'))
  await wds.update(EDGE_PLACEMENTS, {
    ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!,
    spec: { upsync: set('george', 'cosmo') },
  })
  await server.quiet()
  t.same(upsync(), set('george', 'cosmo'))
})

t.test('a mailbox that is made again is filled again', async t => {
  const { server, wds, florin } = await world(t)
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const name = mailboxName('inv1', FLORIN_UID)
  await server.in('root:espw').delete(WORKSPACES, { name })
  await server
    .in('root:espw')
    .create(WORKSPACES, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } })
  await server.quiet()
  const { cluster } = server.peek('root:espw', WORKSPACES, name)!.spec as { cluster: string }
  t.not(cluster, florin)
  t.same(server.names(cluster, MAPS), ['commonstuff/page'])
  t.ok(server.peek(cluster, SYNCER_CONFIGS, 'the-one'))
})

t.test('a refused write is tried again and holds nothing else up', async t => {
  const { server, wds, florin } = await world(t)
  let refusals = 0
  server.refuse = (space, verb, _resource, name) => {
    if (space === florin && verb === 'create' && name === 'bad' && refusals++ < 2) throw statusError.internal('no')
  }
  await wds.create(MAPS, configMap('bad', {}))
  await wds.create(MAPS, configMap('good', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.until(() => server.names(florin, MAPS).length === 2)
  t.equal(refusals, 3)
})

t.test(
  'objects wait for their definition, which is on its way: they are Projecting, and no grant is missing',
  async t => {
    const clock = new FakeClock()
    const { server, wds, florin, guilder } = await world(t, clock)
    let isSlow = true
    server.refuse = (space, verb, resource) => {
      if (isSlow && verb === 'create' && resource.resource === 'customresourcedefinitions' && space !== 'wds1')
        throw new StatusError('ServiceUnavailable', 'not now')
    }
    await wds.create(CRDS, crontabDefinition)
    for (const name of ['tick', 'tock']) await wds.create(CRONTABS, cronTab(name))
    await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync: [{ apiGroup: 'stable.example.com' }] }))
    await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
    for (let second = 0; second < 5; second++) {
      await server.quiet()
      await clock.advance(1000)
      t.notMatch(JSON.stringify(server.peek('wds1', EDGE_PLACEMENTS, 'ep')), 'KindNotServed')
    }
    isSlow = false
    for (let second = 0; second < 60; second++) await clock.advance(1000)
    await server.quiet()
    for (const at of [florin, guilder]) t.same(server.names(at, CRONTABS), ['commonstuff/tick', 'commonstuff/tock'])
  },
)

t.test(
  'an object whose kind the mailbox does not serve is told of, tried no more until that changes, and then placed',
  async t => {
    const clock = new FakeClock()
    const { server, wds, florin } = await world(t, clock)
    const grant = await server.in('inv1').get(PLACEMENT_GRANTS, { name: 'wds1' })
    const granted = async (clusterScoped: boolean) => {
      const old = await server.in('inv1').get(PLACEMENT_GRANTS, { name: 'wds1' })
      await server.in('inv1').update(PLACEMENT_GRANTS, { ...old, spec: { ...(grant.spec as object), clusterScoped } })
    }
    await granted(false)
    await wds.create(CRDS, crontabDefinition)
    await wds.create(CRONTABS, cronTab('tick'))
    await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync: [{ apiGroup: 'stable.example.com' }] }))
    await wds.create(SLICES, slice('ep', 'florin'))
    let tries = 0
    server.refuse = (space, verb, resource) => {
      if (space === florin && verb === 'create' && resource.resource === 'crontabs') tries++
    }
    const placed = () =>
      (
        server.peek('wds1', EDGE_PLACEMENTS, 'ep')!.status as { conditions: { type: string; message: string }[] }
      ).conditions.find(({ type }) => type === 'Placed')!.message
    await server.quiet()
    await clock.advance(60_000)
    await server.quiet()
    t.ok(tries <= 2, `tried ${tries} times in a minute`)
    t.match(
      placed(),
      /KindNotServed: 1 refused \(1 copy\): crontabs\.stable\.example\.com "commonstuff\/tick": .* is not placed there/,
    )
    t.match(placed(), /ClusterScopedNotGranted: 1 refused/)
    await granted(true)
    await server.quiet()
    t.ok(server.peek(florin, CRONTABS, 'tick', 'commonstuff'))
    await clock.advance(1000)
    await server.quiet()
    t.equal(placed(), '')
  },
)
