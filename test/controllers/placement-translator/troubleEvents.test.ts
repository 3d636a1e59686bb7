/** Events about trouble: told when it begins, counted when it comes again, and never more than a space can read. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { EDGE_PLACEMENTS } from '../../../src/apimachinery/placement.ts'
import { NAMESPACES } from '../../../src/apimachinery/resources.ts'
import {
  MAX_OF_SPACE,
  REPEATED_AFTER_MS,
  type Trouble,
  TroubleEvents,
} from '../../../src/controllers/placement-translator/troubleEvents.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { FakeServer, namespace } from './fakeServer.ts'
import { configMap, MAPS, placement } from './translatorWorld.ts'

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
  const start = () => new TroubleEvents({ client: server, read, clock })
  const events = (): KubeObject[] => {
    const written = server.writes.flatMap(write => / events (.+)\/(.+)$/.exec(write)?.slice(1, 3).join(' ') ?? [])
    return [...new Set(written)].flatMap(one => {
      const [namespace = '', name = ''] = one.split(' ')
      return server.peek('wds1', EVENTS, name, namespace) ?? []
    })
  }
  return { clock, ep, start, events }
}

t.test('it is told on the placement and on the object, once for as long as it lasts', async t => {
  const { ep, start, events } = await setUp()
  const troubles = start()
  await troubles.tell('wds1', ep, [trouble('a')])
  await troubles.tell('wds1', ep, [trouble('a', { message: 'still no' })])
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
  await start().tell('wds1', ep, [at('root:imw1'), at('root:imw2')], new Set(['florin']))
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
    await by.tell('wds1', ep, [])
    await by.tell('wds1', ep, [trouble('a')])
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
  await start().tell('wds1', ep, [trouble('a', { state: 'waiting' }), trouble('a', { state: 'conflict' })])
  t.match(events(), [{ reason: 'ObjectConflict', involvedObject: { kind: 'EdgePlacement' } }])
})

t.test('a space gets no more than it can read', async t => {
  const { ep, start, events, clock } = await setUp()
  const troubles = start()
  const all = (from: number) =>
    Array.from({ length: MAX_OF_SPACE }, (_, i) => trouble('a', { location: `l${from + i}`, state: 'conflict' }))
  await troubles.tell('wds1', ep, all(0))
  await troubles.tell('wds1', ep, all(1000))
  t.equal(events().length, MAX_OF_SPACE)
  await clock.advance(REPEATED_AFTER_MS)
  await troubles.tell('wds1', ep, all(2000).slice(0, 3))
  t.equal(events().length, MAX_OF_SPACE + 3)
})
