// The translator against a small server in memory: what users of workload spaces see happen in mailboxes and at home.

import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  LOCATIONS,
  mailboxName,
  PLACEMENT_GRANTS,
  SLICES,
  SYNCER_CONFIGS,
} from '../../../src/apimachinery/placement.ts'
import { CRDS, NAMESPACES, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { namespace } from './fakeServer.ts'
import {
  ALL_MAPS,
  CRONTABS,
  configMap,
  EDGE,
  FLORIN_UID,
  MAPS,
  placement,
  replicaSet,
  SETS,
  slice,
  world,
} from './translatorWorld.ts'

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

t.test('of an edit one copy goes ahead, the others are changed together, and alone where that is refused', async t => {
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
  t.equal(server.together, 1)
  server.updateShared = async updates => updates.map(() => undefined)
  await edit('3')
  t.equal(server.together, 1)
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

t.test('no Customizer makes something of an object that would not have travelled', async t => {
  const { server, wds, florin } = await world(t)
  const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
  const customizer = (name: string, path: string, value: string) => ({
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name, namespace: 'commonstuff' },
    replacements: [{ path, value: JSON.stringify(value) }],
  })
  await wds.create(CUSTOMIZERS, customizer('token', '$.type', 'kubernetes.io/service-account-token'))
  await wds.create(CUSTOMIZERS, customizer('stay', "$.metadata.labels['edge.kubestellar.io/natured']", 'true'))
  const by = (name: string) => ({ labels: { app: 'x' }, annotations: { 'edge.kubestellar.io/customizer': name } })
  await wds.create(MAPS, configMap('stays', {}, by('stay')))
  const metadata = { name: 'forged', namespace: 'commonstuff', ...by('token') }
  await wds.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata })
  await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync: [{ apiGroup: '', namespaces: ['commonstuff'] }] }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same([...server.names(florin, MAPS), ...server.names(florin, SECRETS)], [])
  for (const [gvr, name] of [
    [MAPS, 'stays'],
    [SECRETS, 'forged'],
  ] as const) {
    const { annotations = {} } = server.peek('wds1', gvr, name, 'commonstuff')!.metadata
    t.match(
      annotations['edge.kubestellar.io/customization-error'],
      /^it would be what never travels: .* \(for florin\)$/,
    )
  }
})

t.test('copies differ by Location, and a fault is shown on the object and cured with its cause', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  const annotations = { 'edge.kubestellar.io/expand-parameters': 'true', 'edge.kubestellar.io/customizer': 'cust' }
  await wds.create(MAPS, configMap('page', { text: 'Running in %(loc-name)', env: 'x' }, { annotations }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const fault = () =>
    server.peek('wds1', MAPS, 'page', 'commonstuff')!.metadata.annotations!['edge.kubestellar.io/customization-error']
  t.equal(fault(), 'Customizer "commonstuff/cust" not found (for florin, guilder)')
  t.same(server.names(florin, MAPS), [], 'what cannot be customized is held back')
  await wds.create(CUSTOMIZERS, {
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: {
      name: 'cust',
      namespace: 'commonstuff',
      annotations: { 'edge.kubestellar.io/expand-parameters': 'true' },
    },
    replacements: [{ path: '$.data.env', value: '"env is %(env)"' }],
  })
  await server.quiet()
  t.equal(fault(), undefined)
  t.same(server.peek(florin, MAPS, 'page', 'commonstuff')!.data, { text: 'Running in florin', env: 'env is prod' })
  t.same(server.peek(guilder, MAPS, 'page', 'commonstuff')!.data, { text: 'Running in guilder', env: 'env is prod' })
  const location = server.peek('inv1', LOCATIONS, 'guilder')!
  await server.in('inv1').update(LOCATIONS, {
    ...location,
    metadata: { ...location.metadata, labels: { ...location.metadata.labels, env: 'test' } },
  })
  await server.quiet()
  const last = { text: 'Running in guilder', env: 'env is test' }
  t.same(server.peek(guilder, MAPS, 'page', 'commonstuff')!.data, last)
  const { resourceVersion } = server.peek(guilder, MAPS, 'page', 'commonstuff')!.metadata
  const customizer = server.peek('wds1', CUSTOMIZERS, 'cust', 'commonstuff')!
  await wds.delete(CUSTOMIZERS, { namespace: 'commonstuff', name: 'cust' })
  const source = server.peek('wds1', MAPS, 'page', 'commonstuff')!
  await wds.update(MAPS, { ...source, data: { text: 'new', env: 'x' } })
  await server.quiet()
  const copy = () => server.peek(guilder, MAPS, 'page', 'commonstuff')!
  t.match(fault(), /not found/)
  t.equal(copy().metadata.resourceVersion, resourceVersion, 'the last good copy stays while the Customizer is missing')
  await wds.create(CUSTOMIZERS, { ...customizer, replacements: [{ path: '$.data[', value: '1' }] })
  await server.quiet()
  t.match(fault(), /replacements\[0\]/)
  t.equal(copy().metadata.resourceVersion, resourceVersion, 'and while it fails')
  await restart(async () => {})
  await server.quiet()
  t.equal(copy().metadata.resourceVersion, resourceVersion, 'also after a restart')
  const broken = server.peek('wds1', CUSTOMIZERS, 'cust', 'commonstuff')!
  await wds.update(CUSTOMIZERS, { ...broken, replacements: customizer.replacements })
  await server.quiet()
  t.equal(fault(), undefined)
  t.same(copy().data, { text: 'new', env: 'env is test' })
})

t.test('state returns while there is exactly one destination; the count is kept while it is wanted', async t => {
  const { server, wds, florin } = await world(t)
  const spec = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
  await wds.create(SETS, replicaSet('rs'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', spec))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const home = () => server.peek('wds1', SETS, 'rs', 'commonstuff')!
  const report = (status: object) =>
    server
      .in(florin)
      .update(SETS, { ...server.peek(florin, SETS, 'rs', 'commonstuff')!, status }, { subresource: 'status' })
  t.equal(home().metadata.annotations!['kubestellar.io/executing-count'], '2')
  const travelled = () => server.peek(florin, SETS, 'rs', 'commonstuff')!.metadata.annotations!
  t.notOk('kubestellar.io/executing-count' in travelled(), 'it is told at home')
  await report({ readyReplicas: 1 })
  await server.quiet()
  t.equal(home().status, undefined, 'not while two clusters run it')
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: slice('ep', 'florin').destinations })
  await server.quiet()
  t.equal(home().metadata.annotations!['kubestellar.io/executing-count'], '1')
  t.same(home().status, { readyReplicas: 1 })
  await report({ readyReplicas: 0 })
  await server.quiet()
  t.same(home().status, { readyReplicas: 0 })
  await wds.update(EDGE_PLACEMENTS, {
    ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!,
    spec: { ...spec, wantSingletonReportedState: false },
  })
  await server.quiet()
  t.notOk('kubestellar.io/executing-count' in home().metadata.annotations!)
  await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec })
  await server.quiet()
  t.equal(home().metadata.annotations!['kubestellar.io/executing-count'], '1')
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.notOk('kubestellar.io/executing-count' in home().metadata.annotations!, 'also when the last placement goes')
})

t.test('returned state is taken back when there is not one destination any more, or nobody asks for it', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  const spec = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
  await wds.create(SETS, replicaSet('rs'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', spec))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const status = () => server.peek('wds1', SETS, 'rs', 'commonstuff')!.status
  const report = async (mailbox: string, reported: object) => {
    const copy = server.peek(mailbox, SETS, 'rs', 'commonstuff')!
    await server.in(mailbox).update(SETS, { ...copy, status: reported }, { subresource: 'status' })
    await server.quiet()
  }
  const goTo = (...at: ('florin' | 'guilder')[]) =>
    wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: slice('ep', ...at).destinations })
  const ask = (wantSingletonReportedState: boolean) =>
    wds.update(EDGE_PLACEMENTS, {
      ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!,
      spec: { ...spec, wantSingletonReportedState },
    })
  await report(florin, { readyReplicas: 1, observedBy: 'florin' })
  t.same(status(), { readyReplicas: 1, observedBy: 'florin' })
  await goTo('florin', 'guilder')
  await server.quiet()
  t.equal(status(), undefined, 'two')
  await report(guilder, { readyReplicas: 2 })
  await goTo('guilder')
  await server.quiet()
  t.same(status(), { readyReplicas: 2 }, 'another one, whole')
  await goTo('florin')
  await server.quiet()
  t.equal(status(), undefined, 'what nobody has reported yet is not known')
  await report(florin, { readyReplicas: 3 })
  t.same(status(), { readyReplicas: 3 })
  await goTo()
  await server.quiet()
  t.equal(status(), undefined, 'none')
  await goTo('florin')
  await server.quiet()
  await report(florin, { readyReplicas: 4 })
  await ask(false)
  await server.quiet()
  t.equal(status(), undefined, 'nobody asks')
  await ask(true)
  await server.quiet()
  t.same(status(), { readyReplicas: 4 })
  await restart(() => goTo('florin', 'guilder'))
  await server.quiet()
  t.equal(status(), undefined, 'two, since nobody was there')
  await goTo('florin')
  await server.quiet()
  t.same(status(), { readyReplicas: 4 })
  await restart(() => wds.delete(EDGE_PLACEMENTS, { name: 'ep' }))
  await server.quiet()
  t.equal(status(), undefined, 'the placement went while nobody was there')
  const own = { ...server.peek('wds1', SETS, 'rs', 'commonstuff')!, status: { readyReplicas: 9 } }
  await wds.update(SETS, own, { subresource: 'status' })
  await wds.create(EDGE_PLACEMENTS, placement('ep', { ...spec, wantSingletonReportedState: false }))
  await server.quiet()
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same(status(), { readyReplicas: 9 }, 'what others wrote is theirs')
})

t.test('what the only cluster has observed is told in generations of the source, and not before', async t => {
  const clock = new FakeClock()
  const { server, wds, florin, restart } = await world(t, clock)
  await wds.create(SETS, replicaSet('rs'))
  const spec = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
  await wds.create(EDGE_PLACEMENTS, placement('ep', spec))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const home = () => server.peek('wds1', SETS, 'rs', 'commonstuff')!
  const copy = () => server.peek(florin, SETS, 'rs', 'commonstuff')!
  const edit = (replicas: number) => wds.update(SETS, { ...home(), spec: { replicas } })
  /** What the source says then: its generation, and the observed one. */
  const observed = async (observedGeneration: number, readyReplicas: number) => {
    const conditions = [{ type: 'Ready', observedGeneration }]
    const status = { readyReplicas, observedGeneration, conditions }
    await server.in(florin).update(SETS, { ...copy(), status }, { subresource: 'status' })
    await server.quiet()
    const told = home().status as typeof status
    t.equal(told.readyReplicas, readyReplicas)
    t.equal(told.conditions[0]!.observedGeneration, told.observedGeneration)
    return [home().metadata.generation, told.observedGeneration]
  }
  t.same(await observed(1, 1), [1, 1])
  // the copy is edited in the mailbox, and put right: from then on it counts otherwise
  await server.in(florin).update(SETS, { ...copy(), spec: { replicas: 9 } })
  await server.quiet()
  t.equal(copy().metadata.generation, 3)
  t.same(await observed(1, 2), [1, undefined], 'what the cluster has seen may be what the hand in the mailbox wrote')
  t.same(await observed(3, 3), [1, 1])
  await edit(2)
  await server.quiet()
  t.same(await observed(3, 4), [2, 1])
  t.same(await observed(4, 5), [2, 2])
  // the second in which a placement is told nothing more is over
  await clock.advance(1000)
  await server.quiet()
  const writes = server.writes.length
  await restart(async () => {})
  await server.quiet()
  t.same(server.writes.slice(writes), [], 'a start rewrites nothing')
  await restart(() => edit(3))
  await server.quiet()
  t.same(await observed(4, 6), [3, 2])
  t.same(await observed(5, 7), [3, 3])
})

t.test('a status that an earlier release left is taken back, also where no placement is any more', async t => {
  const { server, wds, restart } = await world(t)
  await restart(async () => {
    const set = await wds.create(SETS, replicaSet('rs'))
    const written = { subresource: 'status', fieldManager: 'placement-translator' }
    await wds.update(SETS, { ...set, status: { readyReplicas: 1 } }, written)
  })
  await server.quiet()
  t.equal(server.peek('wds1', SETS, 'rs', 'commonstuff')!.status, undefined)
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

t.test('an explicit Namespace carries its labels and goes only when its source does', async t => {
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
  t.same(server.names(florin, NAMESPACES), ['commonstuff', 'default'], 'unselecting leaves it')
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
