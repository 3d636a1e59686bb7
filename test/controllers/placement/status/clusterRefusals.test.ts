/** What clusters refuse is told to those whose objects it is, whatever a syncer says. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { EDGE_PLACEMENTS, SLICES, SYNCER_CONFIGS } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { type FakeServer, namespace } from '../fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, slice, world } from '../translatorWorld.ts'

interface Entry {
  group?: string
  resource?: string
  namespace?: string
  name: string
  reason?: string
  message?: string
}
const entry = (name: string, message = 'is not allowed by --allow-kinds of this cluster’s syncer'): Entry => ({
  group: '',
  resource: 'configmaps',
  namespace: 'commonstuff',
  name,
  reason: 'NotAllowed',
  message,
})
const placed = (server: FakeServer, space = 'wds1', name = 'ep') => {
  const { conditions = [] } = (server.peek(space, EDGE_PLACEMENTS, name)?.status ?? {}) as {
    conditions?: { type: string; status: string; reason: string; message: string }[]
  }
  return conditions.find(({ type }) => type === 'Placed')!
}

/** Two spaces with a ConfigMap each in both mailboxes, which say of some that their cluster refuses them. */
async function fleet(t: Parameters<typeof world>[0]) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, wds } = all
  const other = server.in('wds2')
  await consent(server, 'wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(MAPS, configMap('second', {}))
  await other.create(MAPS, configMap('theirs', {}))
  for (const space of [wds, other]) {
    await space.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
    await space.create(SLICES, slice('ep', 'florin', 'guilder'))
  }
  const settle = async (ms = 6000) => {
    await server.quiet()
    await clock.advance(ms)
    await server.quiet()
  }
  await settle()
  const say = async (mailbox: string, objects: Entry[] | null, more: object = {}) => {
    const refused = objects && { count: objects.length, reasons: {}, objects, ...more }
    const options = { subresource: 'status' }
    await server.in(mailbox).patch(SYNCER_CONFIGS, { name: 'the-one' }, 'merge', { status: { refused } }, options)
    await server.quiet()
  }
  const reports = () => server.writes.filter(write => write.includes('edgeplacements')).length
  return { ...all, clock, settle, say, reports, other }
}

t.test('an author is told which object which clusters refuse and why, and that it is over', async t => {
  const { server, florin, guilder, say, settle, restart, reports } = await fleet(t)
  t.match(placed(server), { status: 'True' })
  await say(florin, [entry('page')])
  const words = 'is not allowed by --allow-kinds of this cluster’s syncer'
  t.match(placed(server), { status: 'False', reason: 'RefusedByCluster' })
  t.equal(
    placed(server).message,
    `RefusedByCluster: 1 refused (1 copy): configmaps "commonstuff/page": refused by the cluster at florin: ${words}`,
  )
  t.match(placed(server, 'wds2'), { status: 'True' }, 'who does not place it is not told')
  await settle()
  await say(guilder, [entry('page'), entry('second', 'no')])
  await settle()
  t.equal(
    placed(server).message,
    `RefusedByCluster: 2 refused (3 copies): configmaps "commonstuff/page": refused by the cluster at florin, guilder: ${words}; configmaps "commonstuff/second": refused by the cluster at guilder: no`,
  )
  const before = reports()
  await restart(async () => {})
  await settle()
  t.equal(reports(), before, 'a restart writes nothing')
  await say(florin, null)
  await say(guilder, null)
  await settle()
  t.match(placed(server), { status: 'True', reason: 'AllPlaced', message: '' })
})

t.test('a syncer that names what is not in its mailbox, or is of others, moves nobody', async t => {
  const { server, florin, guilder, say, settle, reports } = await fleet(t)
  await server.in(florin).create(MAPS, configMap('born', {}))
  const before = reports()
  const odd = [{ name: 'page' }, { ...entry('page'), namespace: 'commonstuff|page' }, { ...entry('x'), resource: 5 }]
  await say(florin, [entry('born'), entry('nothing'), ...(odd as Entry[])])
  await settle()
  t.equal(reports(), before)
  await server
    .in('wds1')
    .update(SLICES, { ...(await server.in('wds1').get(SLICES, { name: 'ep' })), ...slice('ep', 'guilder') })
  await settle()
  await say(florin, [entry('page'), entry('theirs')])
  await settle()
  t.match(
    [placed(server), placed(server, 'wds2')],
    [{ status: 'True' }, { message: /^RefusedByCluster: 1 refused.*theirs/ }],
  )
  t.ok(guilder)
})

t.test(
  'a syncer that says much, on many lines, or always something else, fills no condition and hides nobody',
  async t => {
    const { server, wds, florin, guilder, say, settle, reports, clock } = await fleet(t)
    for (let i = 0; i < 200; i++) await wds.create(MAPS, configMap(`map-${i}`, {}))
    await settle()
    const flood = Array.from({ length: 150 }, (_, i) => entry(`map-${i}`, `${i} no\n\u202e\u0000no `.repeat(100)))
    await say(florin, flood, { count: 1e9 })
    await say(guilder, [entry('second', 'the honest reason')])
    await settle()
    const { message } = placed(server)
    t.match(message, 'the honest reason')
    t.ok(message.length <= 2000)
    t.notMatch(message, /[\p{C}]/u)
    t.match(message, /^RefusedByCluster: 101 refused \(101 copies\): /)
    const before = reports()
    for (let i = 0; i < 100; i++) {
      await say(florin, i % 2 === 0 ? [entry('page', `reason ${i}`)] : null)
      await clock.advance(100)
    }
    await settle()
    t.ok(reports() - before <= 4, `ten seconds of wavering: ${reports() - before} writes`)
  },
)

t.test('what the center says itself stands before what clusters say', async t => {
  const { server, wds, florin, say, settle } = await fleet(t)
  const upsync = [{ apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['*'] }]
  const ep = (await wds.get(EDGE_PLACEMENTS, { name: 'ep' })) as KubeObject & { spec: object }
  await wds.update(EDGE_PLACEMENTS, { ...ep, spec: { ...ep.spec, upsync } })
  await say(florin, [entry('page'), entry('second')])
  await settle()
  t.equal(placed(server).reason, 'UpsyncNotGranted')
  t.match(placed(server).message, /^UpsyncNotGranted: .*\. RefusedByCluster: 2 refused/)
})
