/** Events about trouble: created when it begins, counted when it comes again, and never more than a space can read. */
import t from 'tap'
import { StatusError, statusError } from '../../../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../../src/apimachinery/resources.ts'
import { EventRecorder, MAX_OF_SPACE, REPEATED_AFTER_MS } from '../../../../../src/controllers/eventRecorder.ts'
import { SILENCE_MS } from '../../../../../src/controllers/mailbox/syncerConnections.ts'
import { OutageEvents } from '../../../../../src/controllers/placement/status/events/outageEvents.ts'
import { type Trouble, TroubleEvents } from '../../../../../src/controllers/placement/status/events/troubleEvents.ts'
import { EDGE_PLACEMENTS } from '../../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../../client/support/fakeClock.ts'
import { FakeServer, namespace } from '../../fakeServer.ts'
import { configMap, MAPS, placement } from '../../translatorWorld.ts'

const EVENTS = { group: '', version: 'v1', resource: 'events' }

function trouble(name: string, more: Partial<Trouble> = {}): Trouble {
  const key = { group: '', resource: 'configmaps', namespace: 'commonstuff', name }
  return { location: 'florin', ...key, state: 'refused', reason: 'Forbidden', message: 'no', ...more }
}

async function setUp() {
  const server = new FakeServer()
  const clock = new FakeClock()
  const wds = server.in('wds1')
  for (const name of ['default', 'commonstuff']) await wds.create(NAMESPACES, namespace(name))
  const object = await wds.create(MAPS, configMap('a', {}))
  const ep = await wds.create(EDGE_PLACEMENTS, placement('p', {}))
  const read = async () => object
  const told = () => new EventRecorder({ client: server, clock })
  const start = () => new TroubleEvents({ events: told(), read })
  const outages = () => new OutageEvents({ events: told(), clock })
  const events = (): KubeObject[] => {
    const written = server.writes.flatMap(write => / events (.+)\/(.+)$/.exec(write)?.slice(1, 3).join(' ') ?? [])
    return [...new Set(written)].flatMap(one => {
      const [namespace = '', name = ''] = one.split(' ')
      return server.peek('wds1', EVENTS, name, namespace) ?? []
    })
  }
  return { server, clock, ep, told, start, outages, events }
}

t.test('what a cluster made of an object is told by what it did, of what is applied, too', async t => {
  const { ep, start, events } = await setUp()
  const message = 'the cluster drops spec.suspend (true)'
  for (const state of ['altered', 'applied'])
    await start().report('wds1', ep, [trouble('a', { state, reason: 'FieldsDropped', message, location: state })])
  const reasons = events().map(({ reason, message: words }) => `${String(reason)} ${String(words)}`)
  for (const state of ['altered', 'applied']) t.ok(reasons.includes(`FieldsDropped at ${state}: ${message}`), state)
})

t.test('it is told on the placement and on the object, once for as long as it lasts', async t => {
  const { ep, start, events } = await setUp()
  const troubles = start()
  await troubles.report('wds1', ep, [trouble('a')])
  await troubles.report('wds1', ep, [trouble('a', { message: 'still no' })])
  const told = events().map(({ metadata: { namespace }, ...event }) => ({ namespace, ...event }))
  t.match(
    told.find(({ namespace }) => namespace === 'commonstuff'),
    {
      reason: 'RefusedByCluster',
      message: 'at florin: no',
      involvedObject: { kind: 'ConfigMap', name: 'a' },
      count: 1,
    },
  )
  t.match(
    told.find(({ namespace }) => namespace === 'default'),
    {
      type: 'Warning',
      message: 'at florin, configmaps "commonstuff/a": no',
      involvedObject: { kind: 'EdgePlacement', name: 'p' },
      count: 1,
    },
  )
  t.equal(told.length, 2)
})

t.test('the same at two Locations of one name is told of each', async t => {
  const { ep, start, events } = await setUp()
  const at = (cluster: string) => trouble('a', { cluster })
  await start().report('wds1', ep, [at('root:imw1'), at('root:imw2')], new Set(['florin']))
  t.same(
    events()
      .map(({ message }) => message)
      .sort(),
    [
      'at florin of root:imw1, configmaps "commonstuff/a": no',
      'at florin of root:imw1: no',
      'at florin of root:imw2, configmaps "commonstuff/a": no',
      'at florin of root:imw2: no',
    ],
  )
})

t.test('what comes again counts on in the same Event, but not at every moment', async t => {
  const { ep, start, events, clock } = await setUp()
  const troubles = start()
  const again = async (by: TroubleEvents) => {
    await by.report('wds1', ep, [])
    await by.report('wds1', ep, [trouble('a')])
  }
  await again(troubles)
  await again(troubles)
  await again(start())
  t.same(
    events().map(({ count }) => count),
    [1, 1],
    'a restart tells nothing twice',
  )
  await clock.advance(REPEATED_AFTER_MS)
  await again(troubles)
  t.same(
    events().map(({ count }) => count),
    [2, 2],
  )
})

t.test('what waits or is held needs nobody, and a conflict is told on the object by who finds it', async t => {
  const { ep, start, events } = await setUp()
  await start().report('wds1', ep, [trouble('a', { state: 'waiting' }), trouble('a', { state: 'conflict' })])
  t.match(events(), [{ reason: 'ObjectConflict', involvedObject: { kind: 'EdgePlacement' } }])
})

t.test('a space gets no more than it can read', async t => {
  const { ep, start, events, clock } = await setUp()
  const troubles = start()
  const all = (from: number) =>
    Array.from({ length: MAX_OF_SPACE }, (_, i) => trouble('a', { location: `l${from + i}`, state: 'conflict' }))
  await troubles.report('wds1', ep, all(0))
  await troubles.report('wds1', ep, all(1000))
  t.equal(events().length, MAX_OF_SPACE)
  await clock.advance(REPEATED_AFTER_MS)
  await troubles.report('wds1', ep, all(2000).slice(0, 3))
  t.equal(events().length, MAX_OF_SPACE + 3)
})

t.test('a space learns of a hold, however much trouble its clusters report', async t => {
  const { ep, told, events } = await setUp()
  const recorder = told()
  for (let i = 0; i <= MAX_OF_SPACE; i++)
    await recorder.record('wds1', ep, { reason: 'RefusedByCluster', place: `${i}`, message: 'no' })
  t.equal(events().length, MAX_OF_SPACE)
  const hold = (place: number) => ({
    reason: 'DeletionHeld',
    place: `${place}`,
    message: 'held',
    room: 'holds' as const,
  })
  for (let i = 0; i < MAX_OF_SPACE; i++) t.ok(await recorder.record('wds1', ep, hold(i)))
  t.notOk(await recorder.record('wds1', ep, hold(MAX_OF_SPACE)), 'these have a bound, too')
  t.equal(events().length, 2 * MAX_OF_SPACE)
  const claim = { reason: 'ClaimRefused', message: 'no', room: 'claims' as const }
  for (let i = 0; i <= MAX_OF_SPACE; i++)
    t.equal(await recorder.record('wds1', ep, { ...claim, place: `${i}` }), i < MAX_OF_SPACE)
  t.equal(events().length, 3 * MAX_OF_SPACE, 'nor does a thief take their room')
})

t.test('what flips takes nothing from what is told of others, nor does what a restart finds told', async t => {
  const { server, ep, told, events, clock } = await setUp()
  let tries = 0
  server.refuse = () => void tries++
  const before = told()
  const flip = (reason: string, place: string) => before.record('wds1', ep, { reason, place, message: reason })
  for (let i = 0; i < MAX_OF_SPACE; i++) {
    for (const reason of ['Unreachable', 'Reachable']) t.ok(await flip(reason, 'one'))
    await clock.advance(5000)
  }
  t.equal(tries, 2)
  for (let i = 2; i < MAX_OF_SPACE; i++) t.ok(await flip('Unreachable', `${i}`))
  t.notOk(await flip('Unreachable', 'one too many'))
  const after = told()
  for (let i = 2; i < MAX_OF_SPACE; i++)
    t.ok(await after.record('wds1', ep, { reason: 'Unreachable', place: `${i}`, message: '' }))
  for (let i = 0; i < MAX_OF_SPACE; i++)
    await after.record('wds1', ep, { reason: 'Unreachable', place: 'one', message: 'Unreachable', isNewest: true })
  t.ok(await after.record('wds1', ep, { reason: 'Unreachable', place: 'another', message: '' }))
  t.equal(events().length, MAX_OF_SPACE + 1)
})

t.test('what was not written is not said to be', async t => {
  const { server, ep, told, clock } = await setUp()
  const events = told()
  const tell = () => events.record('wds1', ep, { reason: 'Unreachable', message: '' })
  const refuseBy = (refusal: () => Error) => {
    server.refuse = (_space, _verb, { resource }) => {
      if (resource === 'events') throw refusal()
    }
  }
  refuseBy(() => statusError.forbidden(EVENTS, 'a', 'exceeded quota'))
  t.notOk(await tell())
  refuseBy(() => new StatusError('InternalError', 'failed calling webhook "events.test"'))
  t.notOk(await tell())
  refuseBy(() => new StatusError('ServiceUnavailable', 'not now'))
  for (let i = 0; i < MAX_OF_SPACE; i++) t.notOk(await tell())
  server.refuse = () => {}
  await clock.advance(REPEATED_AFTER_MS)
  t.ok(await tell())
})

async function watchOutages() {
  const world = await setUp()
  const told = world.outages()
  /** The placement is looked at while these are silent. */
  const silent = (...names: string[]) =>
    told.report('wds1', world.ep, { fallen: new Map(names.map(name => [`mailbox-of-${name}`, name])), clusters: 9 })
  const messages = () =>
    world.events().map(({ type, reason, message, count }) => `${type} ${reason} ${count}: ${message}`)
  return { ...world, silent, messages }
}

const silentAt = (where: string) => `Warning ClustersSilent 1: ${where}`
const HEARD = 'Normal ClustersHeard 1: all of its clusters report again'

t.test('an outage is told once it has lasted, with how many clusters are silent, and that it is over', async t => {
  const { silent, messages, clock } = await watchOutages()
  t.equal(await silent('florin'), SILENCE_MS)
  await clock.advance(SILENCE_MS - 1)
  t.equal(await silent(), undefined, 'a connection that broke for a moment')
  t.equal(await silent('florin'), SILENCE_MS)
  t.same(messages(), [])
  await clock.advance(SILENCE_MS)
  t.equal(await silent('florin'), undefined)
  await silent('florin')
  t.same(messages(), [silentAt('1 of 9 clusters are silent: florin')])
  const seven = ['guilder', 'florin', 'krone', 'rial', 'rand', 'real', 'riel']
  t.equal(await silent(...seven), SILENCE_MS)
  await clock.advance(SILENCE_MS)
  await silent(...seven)
  t.same(
    messages(),
    [silentAt('7 of 9 clusters are silent: guilder, krone, rial, rand, real and 2 more')],
    'it is the same Event, and names first who is new',
  )
  await silent('guilder')
  await silent()
  await silent()
  t.same(messages().slice(1), [HEARD])
})

t.test('each cluster has its own time, however long another is silent', async t => {
  const { silent, messages, clock } = await watchOutages()
  await silent('a')
  await clock.advance(SILENCE_MS)
  await silent('a')
  await clock.advance(3_600_000)
  t.equal(await silent('a', 'b'), SILENCE_MS)
  await clock.advance(1000)
  t.equal(await silent('a'), undefined, 'it was away for a second')
  t.same(messages(), [silentAt('1 of 9 clusters are silent: a')])
  await silent('a', 'c')
  await clock.advance(SILENCE_MS / 3)
  t.equal(await silent('a', 'c', 'd'), (SILENCE_MS * 2) / 3)
})

t.test('who falls while others come back is told, and that all are back of whom that was told', async t => {
  const { silent, messages, clock } = await watchOutages()
  await silent('a', 'b', 'c')
  await clock.advance(SILENCE_MS)
  await silent('a', 'b', 'c')
  t.same(messages(), [silentAt('3 of 9 clusters are silent: a, b, c')])
  await silent('a', 'd', 'e')
  await clock.advance(SILENCE_MS)
  await silent('a', 'd', 'e')
  t.same(messages(), [silentAt('3 of 9 clusters are silent: d, e, a')])
  await silent('g')
  t.same(messages().slice(1), [HEARD], 'another breaks off for a moment, as one always does')
})

t.test('an outage that could not be told is told when that can be', async t => {
  const { server, silent, messages, clock } = await watchOutages()
  await silent('a')
  await clock.advance(SILENCE_MS)
  server.refuse = () => {
    throw new StatusError('ServiceUnavailable', 'not now')
  }
  t.equal(await silent('a'), SILENCE_MS, 'it is to be called again')
  server.refuse = () => {
    throw statusError.forbidden(EVENTS, 'a', 'exceeded quota')
  }
  t.equal(await silent('a'), SILENCE_MS, 'it is to be called again')
  await silent()
  t.same(messages(), [], 'the end of what nobody was told of')
  await silent('a')
  await clock.advance(SILENCE_MS)
  await silent('a')
  server.refuse = () => {}
  t.equal(await silent('a'), undefined)
  t.same(messages(), [silentAt('1 of 9 clusters are silent: a')])
  server.refuse = () => {
    throw statusError.forbidden(EVENTS, 'a', 'exceeded quota')
  }
  t.equal(await silent(), SILENCE_MS)
  server.refuse = () => {}
  t.equal(await silent(), undefined)
  t.same(messages().slice(1), [HEARD])
})
