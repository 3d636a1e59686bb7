/** Intakes that wait for an object amid which an earlier process ended, and the EdgePlacements that report it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import { SetAside } from '../../../../src/client/setAside/setAside.ts'
import { UnderwayFile } from '../../../../src/client/setAside/underwayFile.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { type FakeServer, namespace } from '../fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, slice, tick, world } from '../translatorWorld.ts'

const QUEUE = 'placement-translator'

/** Two spaces with an EdgePlacement each: of `wds1` to florin, of `wds2` to guilder. */
async function scene(t: Test) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, restart } = all
  await consent(server, 'wds2')
  await server.in('wds2').create(NAMESPACES, namespace('commonstuff'))
  for (const [space, target] of [
    ['wds1', 'florin'],
    ['wds2', 'guilder'],
  ] as const) {
    const api = server.in(space)
    await api.create(NAMESPACES, namespace('default'))
    await api.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
    await api.create(MAPS, configMap(`poison-${space}`, { v: 'old' }))
    await api.create(SLICES, slice('ep', target))
  }
  await tick(server, clock)
  const dataDir = t.testdir()
  /** A process that ended while it took in an object, which ends many more times if it is tried. */
  const end = async (ids: readonly string[], { tried = false, between = () => Promise.resolve() } = {}) => {
    const path = join(dataDir, 'underway')
    rmSync(path, { force: true })
    const file = new UnderwayFile(path, error => {
      throw error
    })
    file.forget()
    for (const id of ['', ...ids]) file.begin({ queue: QUEUE, id, tried: tried && id !== '' })
    const setAside = new SetAside({ dataDir, logger: silentLogger, clock })
    t.teardown(() => setAside.close())
    await restart(between, undefined, setAside.guardFor(QUEUE))
    await server.quiet()
    return setAside
  }
  return { ...all, clock, end }
}

function setAsideOf(server: FakeServer, space: string): Record<string, unknown> | undefined {
  const { conditions = [] } = (server.peek(space, EDGE_PLACEMENTS, 'ep')?.status ?? {}) as {
    conditions?: Record<string, unknown>[]
  }
  return conditions.find(({ type }) => type === 'IntakeWaits')
}
function eventsOf(server: FakeServer, space: string): string[] {
  return server.writes.filter(write => write.startsWith(`${space} create events default/setaside.`))
}

t.test('a space that waits says so on its EdgePlacements until it goes on, and the other one goes on', async t => {
  const { server, clock, end, florin, guilder } = await scene(t)
  const id = 'intake of wds1: wds1 configmaps. commonstuff/poison-wds1'
  await end([id], {
    between: async () => {
      for (const space of ['wds1', 'wds2']) await server.in(space).create(MAPS, configMap('late', { v: 'new' }))
    },
  })
  const at = (deaths: string) => new RegExp(`^nothing of this space is placed anew: the server ended ${deaths}`)
  t.match(setAsideOf(server, 'wds1'), {
    status: 'True',
    reason: 'SetAside',
    message: at(
      'while it took in configmaps "commonstuff/poison-wds1", among others; it tries again at .*; mend or delete',
    ),
  })
  t.equal(setAsideOf(server, 'wds2'), undefined)
  t.ok(server.peek(guilder, MAPS, 'late', 'commonstuff'))
  t.notOk(server.peek(florin, MAPS, 'late', 'commonstuff'))
  t.equal(eventsOf(server, 'wds1').length, 1)
  t.equal(eventsOf(server, 'wds2').length, 0)

  // two kills within the trial, as by an operator
  for (const deaths of ['once', '2 times']) {
    await end([id], { tried: true })
    await tick(server, clock)
    t.match(setAsideOf(server, 'wds1'), { status: 'True', message: at(`${deaths} while it took in configmaps`) })
  }
  await clock.advance(60_000)
  await tick(server, clock)
  t.ok(server.peek(florin, MAPS, 'late', 'commonstuff'), 'it does not wait for ten minutes')
  t.match(setAsideOf(server, 'wds1'), { status: 'False', reason: 'NothingWaits', message: '' })
  t.equal(eventsOf(server, 'wds1').length, 1)
})

t.test('when the object is deleted, or a later start finds nothing set aside, the report ends', async t => {
  const { server, wds, clock, end, restart } = await scene(t)
  const id = 'intake of wds1: wds1 configmaps. commonstuff/poison-wds1'
  await end([id])
  t.match(setAsideOf(server, 'wds1'), { status: 'True' })
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'poison-wds1' })
  await tick(server, clock)
  t.match(setAsideOf(server, 'wds1'), { status: 'False' })

  await wds.create(MAPS, configMap('poison-wds1', {}))
  await end([id])
  await tick(server, clock)
  t.match(setAsideOf(server, 'wds1'), { status: 'True' })
  await restart(async () => {})
  await tick(server, clock)
  t.match(setAsideOf(server, 'wds1'), { status: 'False' })
})

t.test('when all wait for an object that says where to place, each space reads the names of its own alone', async t => {
  const { server, clock, end } = await scene(t)
  await end(['intake of *: wds1 singleplacementslices.edge.kubestellar.io /ep'])
  await tick(server, clock)
  t.match(setAsideOf(server, 'wds1'), { message: /took in singleplacementslices.edge.kubestellar.io "ep", among/ })
  const message = /^nothing of any space is placed anew: the server ended while it took in an object of another space, /
  t.match(setAsideOf(server, 'wds2'), { status: 'True', message })
  await clock.advance(5000)
  await tick(server, clock)
  for (const space of ['wds1', 'wds2']) t.match(setAsideOf(server, space), { status: 'False' })
})

t.test('an EdgePlacement that is not taken in itself is reported by the others', async t => {
  const { server, clock, end } = await scene(t)
  await end(['intake of *: wds1 edgeplacements.edge.kubestellar.io /ep'])
  t.equal(setAsideOf(server, 'wds1'), undefined)
  t.match(setAsideOf(server, 'wds2'), { status: 'True' })
  await clock.advance(5000)
  await tick(server, clock)
  t.match(setAsideOf(server, 'wds2'), { status: 'False' })
})

t.test('a mailbox that waits is reported by those that place there, by its SyncTarget', async t => {
  const { server, clock, end, guilder } = await scene(t)
  await end([`intake of ${guilder}: ${guilder} configmaps. commonstuff/poison-wds2`])
  await tick(server, clock)
  t.equal(setAsideOf(server, 'wds1'), undefined)
  t.match(setAsideOf(server, 'wds2'), {
    message: /^nothing is placed anew at SyncTarget guilder: the server ended while it took in an object there/,
  })
  await clock.advance(5000)
  await tick(server, clock)
  t.match(setAsideOf(server, 'wds2'), { status: 'False' })
})
