/** Combined statuses of objects over clusters and of carried objects: single answers, and answers that are followed. */
import t, { type Test } from 'tap'
import { at } from '../../../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { AnswerName } from '../../../../src/placement/desks/answered.ts'
import { EDGE_PLACEMENTS, SLICES, STATUS_COLLECTORS, UPSYNCED } from '../../../../src/placement/words/placement.ts'
import { namespace } from '../fakeServer.ts'
import { configMap, MAPS, placement, replicaSet, SETS, slice, world } from '../translatorWorld.ts'

const NOTHING = new Map<string, string>()
const PACE = { due: false, rest: async () => {} }
const V1 = 'edge.kubestellar.io/v1alpha1'

function collector(name: string, spec: object): KubeObject {
  return { apiVersion: V1, kind: 'StatusCollector', metadata: { name }, spec }
}

const SUM = {
  combinedFields: [
    { name: 'clusters', type: 'COUNT' },
    { name: 'ready', type: 'SUM', subject: 'returned.status.readyReplicas' },
  ],
}
const BEHIND = {
  filter: 'returned.status.readyReplicas < obj.spec.replicas',
  select: [{ name: 'where', def: 'inventory.name' }],
}
const sets = (statusCollectors: string[]) => ({ downsync: [{ apiGroup: 'apps', statusCollectors }] })

/** Two clusters that speak, a ReplicaSet, and placements of it with collectors. */
async function setUp(t: Test) {
  const all = await world(t)
  const { server, wds, florin, guilder } = all
  const hear = (...boxes: string[]) => {
    for (const box of boxes) {
      all.outcomes().take(box, {
        session: 's',
        number: 1,
        whole: true,
        epoch: 'epoch',
        compared: true,
        processed: Number.MAX_SAFE_INTEGER,
        exceptions: [],
        settled: [],
        unlisted: {},
      })
    }
  }
  await wds.create(STATUS_COLLECTORS, collector('sum', SUM))
  await wds.create(STATUS_COLLECTORS, collector('behind', BEHIND))
  await wds.create(SETS, replicaSet('rs'))
  await server.quiet()
  hear(florin, guilder)
  const report = async (box: string, status: object) => {
    const copy = server.peek(box, SETS, 'rs', 'commonstuff')!
    await server.in(box).update(SETS, { ...copy, status }, { subresource: 'status' })
    await server.quiet()
  }
  const place = async (name: string, spec: object, ...where: ('florin' | 'guilder')[]) => {
    await wds.create(EDGE_PLACEMENTS, placement(name, spec))
    await wds.create(SLICES, slice(name, ...where))
    await server.quiet()
  }
  const list = async (): Promise<KubeObject[]> => {
    const objects: KubeObject[] = []
    for await (const row of all.combinedStatuses().rows({ space: 'wds1', fixed: NOTHING }, PACE))
      objects.push((await row.whole())!)
    return objects
  }
  const get = async (name: AnswerName) => await (await all.combinedStatuses().row('wds1', name))?.whole()
  /** Followed like a watch does. */
  const touched: string[] = []
  let losses = 0
  const unfollow = all.combinedStatuses().follow('wds1', {
    touched: ({ name }) => touched.push(name),
    lost: () => losses++,
  })
  t.teardown(unfollow)
  const told = () => touched.splice(0)
  return { ...all, hear, report, place, list, get, told, losses: () => losses }
}

/** Rows of a collector, as a person reads them. */
function rows(object: KubeObject | undefined, name: string): unknown[] {
  const results = (object as unknown as { results: { name: string; rows: { columns: object[] }[] }[] }).results
  return results
    .find(one => one.name === name)!
    .rows.map(row => row.columns.map(cell => at(cell, 'float') ?? at(cell, 'string') ?? at(cell, 'type')))
}

function collected(placement: KubeObject | undefined) {
  const { conditions = [] } = (placement?.status ?? {}) as { conditions?: { type: string }[] }
  return conditions.find(({ type }) => type === 'StatusCollected')
}

t.test('an object has a summary for each placement that collects it, over its clusters alone', async t => {
  const { report, place, list, server, florin, guilder } = await setUp(t)
  await place('one', sets(['sum']), 'florin')
  await place('two', sets(['sum', 'behind']), 'florin', 'guilder')
  await report(florin, { readyReplicas: 1 })
  await report(guilder, {})
  const objects = await list()
  const uid = server.peek('wds1', SETS, 'rs', 'commonstuff')!.metadata.uid!
  const [one, two] = ['one', 'two'].map(name => objects.find(object => at(object, 'spec', 'placement') === name))
  t.equal(objects.length, 2)
  t.match(one, {
    apiVersion: V1,
    kind: 'CombinedStatus',
    metadata: {
      name: `${uid}.${server.peek('wds1', EDGE_PLACEMENTS, 'one')!.metadata.uid}`,
      namespace: 'commonstuff',
      labels: {
        'status.kubestellar.io/api-group': 'apps',
        'status.kubestellar.io/resource': 'replicasets',
        'status.kubestellar.io/namespace': 'commonstuff',
        'status.kubestellar.io/name': 'rs',
        'status.kubestellar.io/binding-policy': 'one',
      },
    },
    spec: { sourceRef: { group: 'apps', resource: 'replicasets', name: 'rs', uid } },
    clusters: { total: 1, stale: 0 },
  })
  t.same(rows(one, 'sum'), [['1', '1']])
  t.same(rows(two, 'sum'), [['2', '1']])
  t.same(rows(two, 'behind'), [], 'what is not there is null, and null is no true')
  t.match(two, { results: [{ name: 'behind' }, { name: 'sum', nulls: [{ columnName: 'ready', count: 1 }] }] })
  t.ok(Number(at(two, 'observedResourceVersion')) > 0)
})

t.test('whoever follows is told of what changes, and gets it from one evaluation', async t => {
  const { report, place, list, get, told, florin, guilder, server, wds } = await setUp(t)
  await place('two', sets(['sum', 'behind']), 'florin', 'guilder')
  const [first] = await list()
  const name = { namespace: first!.metadata.namespace!, name: first!.metadata.name! }
  told()
  await report(guilder, { readyReplicas: 0 })
  t.ok(told().includes(name.name))
  t.same(rows(await get(name), 'behind'), [['inv1.guilder']])
  t.same(rows(await get(name), 'sum'), [['2', '0']])
  await report(florin, { readyReplicas: 5 })
  t.same(rows(await get(name), 'sum'), [['2', '5']])
  // it leads to one cluster less
  told()
  const sps = server.peek('wds1', SLICES, 'two')!
  await wds.update(SLICES, { ...sps, destinations: slice('two', 'florin').destinations })
  await server.quiet()
  t.ok(told().includes(name.name))
  t.match(await get(name), { clusters: { total: 1 } })
  t.same(rows(await get(name), 'sum'), [['1', '5']])
  // nowhere
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'two')!, destinations: [] })
  await server.quiet()
  t.match(await get(name), { clusters: { total: 0, stale: 0 } })
  t.same(rows(await get(name), 'sum'), [['0', '0']])
  told()
  await wds.delete(SETS, { namespace: 'commonstuff', name: 'rs' })
  await server.quiet()
  t.ok(told().includes(name.name))
  t.equal(await get(name), undefined)
  t.same(await list(), [])
})

t.test('a silent cluster is in no row, and is counted', async t => {
  const { report, place, list, get, told, hear, outcomes, florin, guilder } = await setUp(t)
  await place('two', sets(['sum']), 'florin', 'guilder')
  await report(florin, { readyReplicas: 1 })
  await report(guilder, { readyReplicas: 1 })
  const [first] = await list()
  const name = { namespace: first!.metadata.namespace!, name: first!.metadata.name! }
  t.same(rows(first, 'sum'), [['2', '2']])
  told()
  outcomes().silent(guilder, 's')
  t.ok(told().includes(name.name))
  t.match(await get(name), { clusters: { total: 2, stale: 1 }, staleClusters: ['inv1.guilder'] })
  t.same(rows(await get(name), 'sum'), [['1', '1']])
  hear(guilder)
  t.match(await get(name), { clusters: { total: 2, stale: 0 } })
  t.same(rows(await get(name), 'sum'), [['2', '2']])
})

t.test('a collector that is missing, or another now, is told on the placement and by its answers', async t => {
  const { report, place, list, losses, florin, server, wds } = await setUp(t)
  await place('two', sets(['sum', 'gone']), 'florin')
  const condition = () => collected(server.peek('wds1', EDGE_PLACEMENTS, 'two'))
  t.match(condition(), { status: 'False', reason: 'CollectorMissing', message: /there is no StatusCollector "gone"/ })
  await report(florin, { readyReplicas: 1 })
  t.same(rows((await list())[0], 'sum'), [['1', '1']], 'the others work')
  const before = losses()
  await wds.create(STATUS_COLLECTORS, collector('gone', { select: [{ name: 'x', def: 'inventory.name' }] }))
  await server.quiet()
  t.ok(losses() > before)
  t.same(rows((await list())[0], 'gone'), [['inv1.florin']])
  const edited = { ...server.peek('wds1', STATUS_COLLECTORS, 'gone')! }
  await wds.update(STATUS_COLLECTORS, { ...edited, spec: { combinedFields: [{ name: 'n', type: 'COUNT' }] } })
  await server.quiet()
  t.same(rows((await list())[0], 'gone'), [['1']])
  t.same(rows((await list())[0], 'sum'), [['1', '1']], 'an edit of one loses no other')
})

t.test('what clusters carry up has one summary for each placement and collector', async t => {
  const { place, list, get, told, server, wds, florin, guilder } = await setUp(t)
  await wds.create(
    STATUS_COLLECTORS,
    collector('pages', { combinedFields: [{ name: 'n', type: 'SUM', subject: 'obj.data.n' }] }),
  )
  const set = { apiGroup: '', resources: ['configmaps'], namespaces: ['up'], names: ['*'], statusCollectors: ['pages'] }
  await place('up', { downsync: [{ apiGroup: 'apps' }], upsync: [set] }, 'florin', 'guilder')
  for (const box of [florin, guilder]) await server.in(box).create(NAMESPACES, namespace('up'))
  const carry = async (box: string, name: string, n: string) => {
    const metadata = { namespace: 'up', annotations: { [UPSYNCED]: `ConfigMap/up/${name}` } }
    await server.in(box).create(MAPS, configMap(name, { n }, metadata))
    await server.quiet()
  }
  await carry(florin, 'a', '1')
  await carry(guilder, 'a', '2')
  await carry(guilder, 'b', 'x')
  const [first] = await list()
  t.match(first, {
    metadata: { namespace: 'kubestellar-report', name: 'up:pages' },
    spec: { placement: 'up' },
    clusters: { total: 2 },
    results: [
      { aggregationErrors: [{ wec: { clusterId: 'inv1.guilder' }, object: 'configmaps "up/b"', columnName: 'n' }] },
    ],
  })
  t.same(rows(first, 'pages'), [['3']])
  told()
  const map = server.peek(florin, MAPS, 'a', 'up')!
  await server.in(florin).update(MAPS, { ...map, data: { n: '10' } })
  await server.quiet()
  t.ok(told().includes('up:pages'))
  t.same(rows(await get({ namespace: 'kubestellar-report', name: 'up:pages' }), 'pages'), [['12']])
  await server.in(guilder).delete(MAPS, { namespace: 'up', name: 'a' })
  await server.quiet()
  t.same(rows(await get({ namespace: 'kubestellar-report', name: 'up:pages' }), 'pages'), [['10']])
})

t.test('an object that is made anew has another summary, and followers get the names of both', async t => {
  const { place, list, get, told, server, wds } = await setUp(t)
  await place('two', sets(['sum']), 'florin', 'guilder')
  const [first] = await list()
  const old = { namespace: 'commonstuff', name: first!.metadata.name! }
  told()
  await wds.delete(SETS, { namespace: 'commonstuff', name: 'rs' })
  await server.quiet()
  t.ok(told().includes(old.name))
  t.equal(await get(old), undefined)
  await wds.create(SETS, replicaSet('rs'))
  await server.quiet()
  const names = told()
  const [next] = await list()
  t.not(next!.metadata.name, old.name)
  t.ok(names.includes(next!.metadata.name!))
  t.match(await get({ ...old, name: next!.metadata.name! }), { clusters: { total: 2 } })
})

t.test('a summary of carried objects follows its placement', async t => {
  const { place, list, get, told, server, wds, florin, guilder } = await setUp(t)
  await wds.create(STATUS_COLLECTORS, collector('pages', { combinedFields: [{ name: 'n', type: 'COUNT' }] }))
  const set = { apiGroup: '', resources: ['configmaps'], namespaces: ['up'], names: ['*'], statusCollectors: ['pages'] }
  await place('up', { upsync: [set] }, 'florin', 'guilder')
  for (const box of [florin, guilder]) {
    await server.in(box).create(NAMESPACES, namespace('up'))
    const metadata = { namespace: 'up', annotations: { [UPSYNCED]: 'ConfigMap/up/a' } }
    await server.in(box).create(MAPS, configMap('a', {}, metadata))
  }
  await server.quiet()
  const name = { namespace: 'kubestellar-report', name: 'up:pages' }
  t.same(
    (await list()).map(one => rows(one, 'pages')),
    [[['2']]],
  )
  told()
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'up')!, destinations: slice('up', 'florin').destinations })
  await server.quiet()
  t.ok(told().includes(name.name))
  t.match(await get(name), { clusters: { total: 1 } })
  t.same(rows(await get(name), 'pages'), [['1']], 'the placement leads to one cluster less')
  told()
  await wds.delete(EDGE_PLACEMENTS, { name: 'up' })
  await server.quiet()
  t.ok(told().includes(name.name))
  t.equal(await get(name), undefined)
})
