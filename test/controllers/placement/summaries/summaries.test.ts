/** Combined statuses of objects over clusters and of carried objects: single answers, and answers that are followed. */
import t, { type Test } from 'tap'
import { at } from '../../../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { AnswerName } from '../../../../src/placement/desks/answered.ts'
import {
  ASSOCIATED_WITH,
  EDGE_PLACEMENTS,
  OWNER_ANNOTATION,
  SLICES,
  STATUS_COLLECTORS,
  UPSYNCED,
  UPSYNCED_FOR,
} from '../../../../src/placement/words/placement.ts'
import { namespace } from '../fakeServer.ts'
import {
  configMap,
  consent,
  EVERYTHING,
  MAPS,
  placement,
  replicaSet,
  SETS,
  setGrant,
  slice,
  world,
} from '../translatorWorld.ts'

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
  /** Evaluations since the last look. */
  let evaluations = 0
  const evaluated = () => {
    const before = evaluations
    evaluations = all.figures().summaries().evaluations
    return evaluations - before
  }
  const told = () => touched.splice(0)
  return { ...all, hear, report, place, list, get, told, unfollow, evaluated, losses: () => losses }
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

const PODS = { group: '', version: 'v1', resource: 'pods' }

/** A Pod that the syncer of a mailbox carried up for its ReplicaSet `owner`. */
function pod(name: string, owner: string, restarts: number, more: object = {}): KubeObject {
  const root = `apps|replicasets|commonstuff|${owner}`
  const account = { root, rootUid: 'u', placement: 'one', uid: `uid-${name}`, owners: [], ...more }
  const annotations = { [UPSYNCED]: `Pod/commonstuff/${name}`, [ASSOCIATED_WITH]: JSON.stringify(account) }
  const status = { containerStatuses: [{ name: 'c', restartCount: restarts }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'commonstuff', annotations }, status }
}

const RESTARTS = {
  combinedFields: [
    { name: 'pods', type: 'COUNT' },
    { name: 'restarts', type: 'SUM', subject: 'returned.status.containerStatuses[0].restartCount' },
  ],
}
const BROKEN = {
  filter: 'propagation.health == "Degraded"',
  select: [
    { name: 'where', def: 'inventory.name' },
    { name: 'pod', def: 'obj.metadata.name' },
    { name: 'why', def: 'propagation.healthMessage' },
  ],
}

/** Two ReplicaSets; the placement `one` of the first, `two` of both, each with collectors of their Pods in both clusters. */
async function withPods(t: Test) {
  const all = await setUp(t)
  const { server, wds, place, florin, guilder } = all
  await setGrant(server, 'wds1', { associated: ['pods'] })
  await wds.create(STATUS_COLLECTORS, collector('restarts', RESTARTS))
  await wds.create(STATUS_COLLECTORS, collector('broken', BROKEN))
  await wds.create(SETS, replicaSet('other'))
  const test = { apiGroup: 'apps', resources: ['replicasets'] }
  const associated = { kinds: ['pods'], statusCollectors: ['restarts'] }
  await place('one', { downsync: [{ ...test, objectNames: ['rs'] }], associated }, 'florin', 'guilder')
  const both = { kinds: ['*'], statusCollectors: ['restarts', 'broken'] }
  await place('two', { downsync: [test], associated: both }, 'florin', 'guilder')
  const carry = async (box: string, object: KubeObject) => {
    const made = await server.in(box).create(PODS, object)
    await server.in(box).update(PODS, { ...made, status: object.status }, { subresource: 'status' })
    await server.quiet()
  }
  await carry(florin, pod('a', 'rs', 1))
  await carry(guilder, pod('b', 'rs', 2))
  await carry(guilder, pod('c', 'other', 4, { health: 'Degraded', message: 'CrashLoopBackOff' }))
  const summary = async (placement: string, collector: string) =>
    rows(await all.get({ namespace: 'kubestellar-report', name: `${placement}:${collector}` }), collector)
  const toldOfCarried = () => [...new Set(all.told())].filter(name => name.includes(':')).sort()
  return { ...all, summary, toldOfCarried }
}

t.test(
  "associated objects have one summary for each placement and collector, of the placement's own copies",
  async t => {
    const { list, get, summary, told, toldOfCarried, server, outcomes, hear, florin, guilder } = await withPods(t)
    t.same((await list()).map(({ metadata }) => metadata.name).sort(), ['one:restarts', 'two:broken', 'two:restarts'])
    t.same(await summary('one', 'restarts'), [['2', '3']], 'Pods of the ReplicaSet that it places')
    t.same(await summary('two', 'restarts'), [['3', '7']])
    t.same(await summary('two', 'broken'), [['inv1.guilder', 'c', 'CrashLoopBackOff']])
    const two = { namespace: 'kubestellar-report', name: 'two:restarts' }
    t.match(await get(two), { spec: { placement: 'two' }, clusters: { total: 2, stale: 0 } })

    told()
    outcomes().silent(guilder, 's')
    t.ok(told().includes('two:restarts'))
    t.match(await get(two), { clusters: { total: 2, stale: 1 }, staleClusters: ['inv1.guilder'] })
    t.same(await summary('two', 'restarts'), [['1', '1']], 'a silent cluster is in no row')
    hear(guilder)
    t.same(await summary('two', 'restarts'), [['3', '7']])

    told()
    const { status: _, ...rest } = server.peek(florin, PODS, 'a', 'commonstuff')!
    await server.in(florin).update(PODS, { ...rest, status: pod('a', 'rs', 10).status }, { subresource: 'status' })
    await server.quiet()
    t.same(toldOfCarried(), ['one:restarts', 'two:broken', 'two:restarts'])
    t.same(await summary('one', 'restarts'), [['2', '12']])
    await server.in(guilder).delete(PODS, { namespace: 'commonstuff', name: 'c' })
    await server.quiet()
    t.same(await summary('two', 'broken'), [])
    t.same(await summary('two', 'restarts'), [['2', '12']])
  },
)

t.test('a summary of associated objects follows placements, grants and the owner of a copy', async t => {
  const { summary, told, toldOfCarried, server, wds, guilder } = await withPods(t)
  t.same(await summary('one', 'restarts'), [['2', '3']])
  const edit = async (name: string, change: object) => {
    const { status: _, ...object } = server.peek('wds1', EDGE_PLACEMENTS, name)!
    await wds.update(EDGE_PLACEMENTS, { ...object, spec: { ...(object.spec as object), ...change } })
    await server.quiet()
  }
  told()
  await edit('one', { downsync: [{ apiGroup: 'apps', resources: ['replicasets'], objectNames: ['other'] }] })
  t.same(await summary('one', 'restarts'), [['1', '4']], 'it places the other one now')
  t.same(await summary('two', 'restarts'), [['3', '7']])

  told()
  await setGrant(server, 'wds1', { associated: ['replicasets.apps'] })
  await server.quiet()
  t.same(toldOfCarried(), ['one:restarts', 'two:broken', 'two:restarts'])
  t.same(await summary('two', 'restarts'), [['0', '0']], 'no grant allows Pods')
  await setGrant(server, 'wds1', { associated: ['*'] })
  await server.quiet()
  t.same(await summary('two', 'restarts'), [['3', '7']])

  told()
  const copy = server.peek(guilder, SETS, 'other', 'commonstuff')!
  t.match(copy.metadata.annotations, { [OWNER_ANNOTATION]: 'wds1' })
  const upsyncedFor = () => server.peek(guilder, PODS, 'c', 'commonstuff')!.metadata.annotations![UPSYNCED_FOR]
  t.equal(upsyncedFor(), 'wds1')
  await wds.delete(SETS, { namespace: 'commonstuff', name: 'other' })
  await server.quiet()
  t.equal(upsyncedFor(), undefined)
  t.same(await summary('two', 'restarts'), [['2', '3']], 'its copy is gone')
})

t.test('answers that nobody follows evaluate what has changed since the last one, and no more', async t => {
  const { report, place, list, unfollow, evaluated, outcomes, server, wds, florin, guilder } = await setUp(t)
  unfollow()
  await place('one', sets(['sum']), 'florin', 'guilder')
  await place('two', sets(['sum', 'behind']), 'florin', 'guilder')
  await report(florin, { readyReplicas: 1 })
  await report(guilder, { readyReplicas: 1 })
  const sums = async () => (await list()).map(one => rows(one, 'sum')[0])
  evaluated()
  t.same(await sums(), [
    ['2', '2'],
    ['2', '2'],
  ])
  t.equal(evaluated(), 4, 'two clusters for each of two placements')
  t.same(await sums(), [
    ['2', '2'],
    ['2', '2'],
  ])
  t.equal(evaluated(), 0)
  await report(guilder, { readyReplicas: 5 })
  t.same(await sums(), [
    ['2', '6'],
    ['2', '6'],
  ])
  t.equal(evaluated(), 2)
  outcomes().silent(guilder, 's')
  t.same(await sums(), [
    ['1', '1'],
    ['1', '1'],
  ])
  await wds.update(SLICES, {
    ...server.peek('wds1', SLICES, 'two')!,
    destinations: slice('two', 'guilder').destinations,
  })
  await server.quiet()
  t.same(await sums(), [
    ['1', '1'],
    ['0', '0'],
  ])
  evaluated()
  const collector = server.peek('wds1', STATUS_COLLECTORS, 'sum')!
  await wds.update(STATUS_COLLECTORS, { ...collector, spec: { combinedFields: [{ name: 'n', type: 'COUNT' }] } })
  await server.quiet()
  t.same(await sums(), [['1'], ['0']], 'another collector')
  t.equal(evaluated(), 1)
})

t.test('a space counts Pods of its own copies alone, and those of a copy that passes to it', async t => {
  const { summary, told, server, wds, combinedStatuses, florin } = await withPods(t)
  const inTwo = server.in('wds2')
  await consent(server, 'wds2', { ...EVERYTHING, associated: ['pods'] })
  await inTwo.create(NAMESPACES, namespace('commonstuff'))
  await inTwo.create(STATUS_COLLECTORS, collector('restarts', RESTARTS))
  await inTwo.create(SETS, replicaSet('rs'))
  const associated = { kinds: ['pods'], statusCollectors: ['restarts'] }
  await inTwo.create(EDGE_PLACEMENTS, placement('mine', { downsync: [{ apiGroup: 'apps' }], associated }))
  await inTwo.create(SLICES, slice('mine', 'florin', 'guilder'))
  await server.quiet()
  const ofTwo = async () => {
    const row = await combinedStatuses().row('wds2', { namespace: 'kubestellar-report', name: 'mine:restarts' })
    return rows(await row?.whole(), 'restarts')
  }
  t.same(await ofTwo(), [['0', '0']], 'the copy of that name belongs to the other space')
  t.same(await summary('two', 'restarts'), [['3', '7']])
  told()
  await wds.delete(SETS, { namespace: 'commonstuff', name: 'rs' })
  await server.quiet()
  t.match(server.peek(florin, SETS, 'rs', 'commonstuff')!.metadata.annotations, { [OWNER_ANNOTATION]: 'wds2' })
  t.match(server.peek(florin, PODS, 'a', 'commonstuff')!.metadata.annotations, { [UPSYNCED_FOR]: 'wds2' })
  t.ok(told().includes('two:restarts'))
  t.same(await summary('two', 'restarts'), [['1', '4']], 'its own other copy')
  t.same(await ofTwo(), [['2', '3']])
})

t.test('an expression that fails for some kinds names these objects, and the others are in the row', async t => {
  const { get, place, server, wds, florin } = await withPods(t)
  await setGrant(server, 'wds1', { associated: ['*'] })
  const subject = 'obj.kind == "Pod" ? 1 : int(obj.metadata.name)'
  await wds.create(STATUS_COLLECTORS, collector('odd', { combinedFields: [{ name: 'n', type: 'SUM', subject }] }))
  const associated = { kinds: ['*'], statusCollectors: ['odd'] }
  await place('all', { downsync: [{ apiGroup: 'apps' }], associated }, 'florin', 'guilder')
  const account = { root: 'apps|replicasets|commonstuff|rs', rootUid: 'u', placement: 'all', uid: 'm', owners: [] }
  const annotations = { [UPSYNCED]: 'ConfigMap/commonstuff/made', [ASSOCIATED_WITH]: JSON.stringify(account) }
  await server.in(florin).create(MAPS, configMap('made', {}, { annotations }))
  await server.quiet()
  const object = await get({ namespace: 'kubestellar-report', name: 'all:odd' })
  t.same(rows(object, 'odd'), [['3']])
  const failed = { wec: { clusterId: 'inv1.florin' }, object: 'configmaps "commonstuff/made"', columnName: 'n' }
  t.match(object, { results: [{ aggregationErrors: [failed] }] })
})
