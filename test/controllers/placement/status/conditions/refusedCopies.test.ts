/** Refusals of clusters reach the owners of the copies, whatever a syncer reports, and never contradict the other conditions. */
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../../src/apimachinery/resources.ts'
import { timestamp } from '../../../../../src/apimachinery/timestamp.ts'
import {
  mayConcern,
  RefusedCopies,
  refusersIn,
  summaryIn,
} from '../../../../../src/controllers/placement/status/conditions/refusedCopies.ts'
import { readOutcomeReport } from '../../../../../src/placement/outcome/outcome.ts'
import { objectKey } from '../../../../../src/placement/words/names.ts'
import { EDGE_PLACEMENTS, SLICES, SYNCER_CONFIGS, UPSYNC_FULL } from '../../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../../client/support/fakeClock.ts'
import { type FakeServer, namespace } from '../../fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, slice, world } from '../../translatorWorld.ts'

/** Another group has a kind of the same name. */
const OWN_MAPS: GroupVersionResource = { ...MAPS, group: 'stable.example.com' }
const ALL_OWN_MAPS = {
  downsync: [{ apiGroup: OWN_MAPS.group, resources: [OWN_MAPS.resource], namespaces: ['commonstuff'] }],
}
const WORDS = 'is not allowed by --allow-kinds of this cluster’s syncer'

interface Entry {
  readonly group?: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly reason: string
  readonly message: string
}
const entry = (name: string, message = WORDS, { group, resource }: GroupVersionResource = MAPS): Entry => ({
  group,
  resource,
  namespace: 'commonstuff',
  name,
  reason: 'NotAllowed',
  message,
})

function condition(server: FakeServer, type: string, space = 'wds1', name = 'ep') {
  const { conditions = [] } = (server.peek(space, EDGE_PLACEMENTS, name)?.status ?? {}) as {
    conditions?: { type: string; status: string; reason: string; message: string; lastTransitionTime: string }[]
  }
  return conditions.find(one => one.type === type)!
}
const placed = (server: FakeServer, space?: string, name?: string) => condition(server, 'Placed', space, name)

/** Copies of two spaces in two mailboxes. In `wds1`, one placement has ConfigMaps, another those of another group. */
async function fleet(t: Parameters<typeof world>[0]) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, wds, outcomes } = all
  const maps = server.kinds.find(({ resource }) => resource === MAPS.resource)!
  server.kinds = [...server.kinds, { ...maps, group: OWN_MAPS.group }]
  const other = server.in('wds2')
  await consent(server, 'wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  for (const name of ['page', 'second']) await wds.create(MAPS, configMap(name, {}))
  await wds.create(OWN_MAPS, { ...configMap('page', {}), apiVersion: `${OWN_MAPS.group}/v1` })
  await other.create(MAPS, configMap('theirs', {}))
  const place = async (space: typeof wds, name: string, spec: object) => {
    await space.create(EDGE_PLACEMENTS, placement(name, spec))
    await space.create(SLICES, slice(name, 'florin', 'guilder'))
  }
  await place(wds, 'ep', ALL_MAPS)
  await place(wds, 'own', ALL_OWN_MAPS)
  await place(other, 'ep', ALL_MAPS)
  const settle = async (ms = 3000) => {
    await server.quiet()
    await clock.advance(ms)
    await server.quiet()
  }
  await settle()
  let number = 0
  /** A whole report of a syncer, as the server reads it, and its summary for administrators. */
  const say = async (mailbox: string, refused: readonly Entry[], more: object = {}) => {
    const since = timestamp(new Date(clock.now()))
    const exceptions = refused.map(one => ({ seq: 1, state: 'refused', since, ...one }))
    const session = { session: 's', number: ++number, whole: true, epoch: 'epoch' }
    const spec = { ...session, compared: true, processed: server.revision, exceptions, ...more }
    outcomes().take(mailbox, readOutcomeReport(spec))
    const summary = refused.length > 0 ? { count: refused.length, reasons: {}, objects: refused.slice(0, 20) } : null
    await summarize(mailbox, summary)
  }
  const summarize = async (mailbox: string, refused: object | null) => {
    const options = { subresource: 'status' }
    await server.in(mailbox).patch(SYNCER_CONFIGS, { name: 'the-one' }, 'merge', { status: { refused } }, options)
    await server.quiet()
  }
  for (const mailbox of [all.florin, all.guilder]) await say(mailbox, [])
  await settle()
  const reports = () => server.writes.filter(write => write.includes('edgeplacements')).length
  return { ...all, clock, settle, say, summarize, reports, other }
}

t.test('conditions agree while clusters refuse, and from the moment on when that is over', async t => {
  const { server, clock, florin, guilder, say, settle } = await fleet(t)
  const agree = async (about: string) => {
    for (let ms = 0; ms < 7000; ms += 250) {
      for (const name of ['ep', 'own']) {
        const [applied, is] = [condition(server, 'Applied', 'wds1', name), placed(server, 'wds1', name)]
        const isRefused = is.reason === 'RefusedByCluster'
        if (isRefused ? applied.status === 'True' : applied.reason === 'Refused')
          t.fail(`${about}, ${ms} ms: ${name} is Applied ${applied.reason} and Placed ${is.reason}`)
      }
      await clock.advance(250)
      await server.quiet()
    }
  }
  t.match(condition(server, 'Applied'), { status: 'True', reason: 'AllApplied' })
  t.match(placed(server), { status: 'True', reason: 'AllPlaced', message: '' })
  await say(florin, [entry('page')])
  await agree('one refuses')
  t.equal(
    placed(server).message,
    `RefusedByCluster: 1 refused (1 copy): configmaps "commonstuff/page": refused by the cluster at florin: ${WORDS}`,
  )
  t.match(placed(server, 'wds1', 'own'), { status: 'True' }, 'another group is another object')
  t.match(placed(server, 'wds2'), { status: 'True' }, 'another space learns nothing')
  await say(guilder, [entry('page'), entry('second', 'no'), entry('page', '', OWN_MAPS)])
  await agree('both refuse')
  t.equal(
    placed(server).message,
    `RefusedByCluster: 2 refused (3 copies): configmaps "commonstuff/page": refused by the cluster at florin, guilder: ${WORDS}; configmaps "commonstuff/second": refused by the cluster at guilder: no`,
  )
  t.equal(
    placed(server, 'wds1', 'own').message,
    'RefusedByCluster: 1 refused (1 copy): configmaps.stable.example.com "commonstuff/page": refused by the cluster at guilder: NotAllowed',
  )
  await say(florin, [])
  await agree('one takes it')
  t.match(placed(server).message, /^RefusedByCluster: 2 refused \(2 copies\): /)
  await say(guilder, [])
  await agree('both take it')
  await settle()
  for (const name of ['ep', 'own']) {
    t.match(placed(server, 'wds1', name), { status: 'True', reason: 'AllPlaced', message: '' })
    t.match(condition(server, 'Applied', 'wds1', name), { status: 'True', reason: 'AllApplied' })
  }
})

t.test('a refusal outlasts a restart until its cluster reports otherwise', async t => {
  const { server, florin, guilder, say, settle, restart, clock } = await fleet(t)
  await say(florin, [entry('page')])
  await settle()
  const [before, well] = [placed(server), placed(server, 'wds1', 'own')]
  t.match(before, { status: 'False', reason: 'RefusedByCluster' })
  await clock.advance(60_000)
  await restart(async () => {})
  await settle()
  t.match(condition(server, 'Applied'), { status: 'Unknown', reason: 'Stale' })
  t.match([placed(server), placed(server, 'wds1', 'own')], [before, well], 'nothing is downgraded or forgotten')
  await say(guilder, [])
  await settle()
  t.match(placed(server), before, 'another cluster knows nothing of it')
  await say(florin, [], { compared: false })
  await settle()
  t.match(placed(server), before, 'a comparison that goes on is no answer')
  await say(florin, [])
  await settle()
  t.match(placed(server), { status: 'True', reason: 'AllPlaced', message: '' })
})

t.test('a refusal outlasts an edit and a silence, but not its object', async t => {
  const { server, wds, florin, guilder, say, settle, outcomes } = await fleet(t)
  await say(florin, [entry('page'), entry('second')])
  await settle()
  const before = placed(server)
  const { revision } = server
  await wds.update(MAPS, { ...(await wds.get(MAPS, { namespace: 'commonstuff', name: 'page' })), data: { x: '1' } })
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'second' })
  await say(florin, [entry('page'), entry('second')], { processed: revision })
  await settle()
  t.match(condition(server, 'Applied'), { status: 'False', reason: 'Pending' })
  t.equal(placed(server).lastTransitionTime, before.lastTransitionTime)
  t.equal(placed(server).status, 'False', 'the cluster has not looked at the edit')
  await say(florin, [entry('page')])
  await say(guilder, [])
  await settle()
  t.match(placed(server).message, /^RefusedByCluster: 1 refused/)
  outcomes().silent(florin, 's')
  await settle()
  t.match(condition(server, 'Applied'), { status: 'Unknown', reason: 'Stale' })
  t.match(placed(server), { status: 'False', reason: 'RefusedByCluster' })
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  await settle()
  t.match(placed(server), { status: 'True', reason: 'AllPlaced' }, 'nothing of it is selected any more')
})

t.test('a syncer that names copies that are not there, or of others, moves nobody', async t => {
  const { server, florin, say, settle, reports } = await fleet(t)
  await server.in(florin).create(MAPS, configMap('born', {}))
  await say(florin, [])
  await settle()
  const before = reports()
  await say(florin, [entry('born'), entry('nothing'), { ...entry('page'), resource: 'secrets' }])
  await settle()
  t.equal(reports(), before)
  const moved = { ...(await server.in('wds1').get(SLICES, { name: 'ep' })), ...slice('ep', 'guilder') }
  await server.in('wds1').update(SLICES, moved as KubeObject)
  await settle()
  await say(florin, [entry('page'), entry('theirs')])
  await settle()
  t.match(
    [placed(server), placed(server, 'wds2')],
    [{ status: 'True' }, { message: /^RefusedByCluster: 1 refused.*theirs/ }],
  )
  t.throws(() => readOutcomeReport({ exceptions: [{ ...entry('page'), namespace: 'commonstuff|page' }] }))
})

t.test('a syncer that reports much, on many lines, or always something else, hides nobody', async t => {
  const { server, wds, florin, guilder, say, settle, reports, clock } = await fleet(t)
  for (let i = 0; i < 200; i++) await wds.create(MAPS, configMap(`map-${i}`, {}))
  await settle()
  const words = (i: number) => `${i} no\n\u202e\u0000no `.repeat(100).slice(0, 300)
  await say(
    florin,
    Array.from({ length: 200 }, (_, i) => entry(`map-${i}`, words(i))),
  )
  await say(guilder, [entry('second', 'the honest reason')])
  await settle()
  const { message } = placed(server)
  t.match(message, 'the honest reason')
  t.ok(message.length <= 2000)
  t.notMatch(message, /[\p{C}]/u)
  t.match(message, /^RefusedByCluster: 201 refused \(201 copies\): .*; and 196 more$/)
  const before = reports()
  for (let i = 0; i < 100; i++) {
    await say(florin, i % 2 === 0 ? [entry('page', `reason ${i}`)] : [])
    await clock.advance(100)
  }
  await settle()
  t.ok(reports() - before <= 25, `ten seconds of wavering: ${reports() - before} writes`)
})

t.test('findings of the center stand before the words of clusters', async t => {
  const { server, wds, florin, say, settle } = await fleet(t)
  const upsync = [{ apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['*'] }]
  const ep = (await wds.get(EDGE_PLACEMENTS, { name: 'ep' })) as KubeObject & { spec: object }
  await wds.update(EDGE_PLACEMENTS, { ...ep, spec: { ...ep.spec, upsync } })
  await say(florin, [entry('page'), entry('second')])
  await settle()
  t.equal(placed(server).reason, 'UpsyncNotGranted')
  t.match(placed(server).message, /^UpsyncNotGranted: .*\. RefusedByCluster: 2 refused/)
})

t.test('a full mailbox is on the placements that carry up from it, also after a restart', async t => {
  const { server, wds, clock, florin, summarize, settle, restart } = await fleet(t)
  const upsync = [{ apiGroup: '', resources: ['events'], namespaces: ['*'], names: ['*'] }]
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { upsync } })
  await summarize(florin, { count: 2, reasons: { [UPSYNC_FULL]: 2 }, objects: [] })
  const isTold = () => {
    t.match(placed(server), { status: 'False', reason: UPSYNC_FULL })
    t.match(placed(server).message, /^UpsyncBudgetExceeded: 1 refused \(1 copy\): spec\.upsync: florin: as much is/)
    t.match(condition(server, 'Permitted'), { status: 'True' })
    t.match(placed(server, 'wds1', 'own'), { status: 'True' }, 'it carries nothing up')
  }
  await settle()
  isTold()
  const before = placed(server)
  await clock.advance(60_000)
  await restart(async () => {})
  await settle()
  t.match(placed(server), before, 'at no time it was True')
  isTold()
  await summarize(florin, null)
  await settle()
  t.match(placed(server), { status: 'True', reason: 'AllPlaced' })
})

t.test('a refusal outlasts the finding of the center that stood before it, while its cluster is silent', async t => {
  const { server, wds, clock, florin, say, settle, restart } = await fleet(t)
  const upsync = [{ apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['*'] }]
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { upsync } })
  await say(florin, [entry('page')])
  await settle()
  t.match(placed(server).message, /^UpsyncNotGranted: .*\. RefusedByCluster: 1 refused/)
  await clock.advance(60_000)
  await restart(async () => {})
  await settle()
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { upsync: null } })
  await settle()
  t.match(placed(server), { status: 'False', reason: 'RefusedByCluster', message: /^RefusedByCluster: 1 refused/ })
  await say(florin, [])
  await settle()
  t.match(placed(server), { status: 'True', reason: 'AllPlaced' })
})

t.test('the words of a cluster name no other one as a refuser', async t => {
  const { server, clock, florin, say, settle, restart } = await fleet(t)
  await say(florin, [entry('page', 'no; configmaps "a/b": refused by the cluster at guilder: forged')])
  await settle()
  await clock.advance(60_000)
  await restart(async () => {})
  await say(florin, [])
  await settle()
  t.match(placed(server), { status: 'True' }, 'guilder is not heard yet, and refused nothing')
})

t.test('a refusal by a cluster that is not heard after a restart ends with its object', async t => {
  const { server, wds, clock, florin, guilder, say, settle, restart } = await fleet(t)
  await say(florin, [entry('page')])
  await settle()
  await clock.advance(60_000)
  await restart(async () => {})
  await say(guilder, [])
  await settle()
  t.match(placed(server), { status: 'False', reason: 'RefusedByCluster' })
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  await settle()
  t.match(placed(server), { status: 'True', reason: 'AllPlaced' }, 'nothing of it is selected any more')
})

t.test('each cluster is named by a summary, in turn', async t => {
  const copies = new RefusedCopies()
  const key = (i: number) => objectKey(MAPS, 'shop', `map-${i}`)
  copies.add(
    'a',
    Array.from({ length: 300 }, (_, i) => [key(i), 'much']),
  )
  for (const at of ['b', 'c', 'd', 'e', 'f', 'g of root:imw2']) copies.add(at, [[key(301), `as: it says`]])
  copies.add('both+h', [[key(302), 'no']])
  const summary = copies.summary()!
  t.match(summary.message, /^RefusedByCluster: 302 refused \(307 copies\): configmaps "shop\/map-0", /)
  t.match(summary.message, /map-301": refused by the cluster at b, c, d, e, f and 1 more: as: it says/)
  t.same(refusersIn(summary), ['a', 'b', 'c', 'd', 'e', 'f', 'both+h'])
  t.same(summaryIn(`NotGranted: 1 refused (1 copy): x. ${summary.message}`), summary)
  t.ok(
    mayConcern(summary, () => false),
    'it does not name all of them',
  )
  const one = new RefusedCopies()
  one.add('a', [[objectKey(OWN_MAPS, '', 'map-1'), 'no']])
  for (const key of [objectKey(OWN_MAPS, '', 'map-1'), objectKey(MAPS, '', 'map-1')])
    t.equal(
      mayConcern(one.summary()!, selected => selected === key),
      key.startsWith(OWN_MAPS.group),
    )
  t.equal(summaryIn('NotGranted: 1 refused (1 copy): x'), undefined)
  t.equal(new RefusedCopies().summary(), undefined)
})
