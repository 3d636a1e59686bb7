// A syncer lives as long as its connection, and a connection as long as something comes over it.

import t from 'tap'
import { SyncerConnections } from '../../../src/controllers/mailbox/syncerConnections.ts'
import { OUTCOME_SILENCE_MS, QUIET_SECONDS } from '../../../src/placement/outcome/outcome.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

function world() {
  const clock = new FakeClock()
  const told: string[] = []
  const connections: SyncerConnections = new SyncerConnections(clock, space =>
    told.push(`${space} ${connections.of(space)?.alive ? 'lives' : 'is silent'}`),
  )
  return { clock, told, connections }
}

t.test('one that reads and says a word now and then lives, and that is told once', async t => {
  const { clock, told, connections } = world()
  t.equal(connections.of('box'), undefined)
  connections.opened('box', 2)
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(60_000)
    connections.seen('box')
  }
  t.same(told, ['box lives'])
  t.equal(connections.of('box')!.seenAtMs, clock.now())
})

t.test('one whose connection has ended is silent after a while, unless it comes back', async t => {
  const { clock, told, connections } = world()
  connections.opened('box', 2)
  await clock.advance(100_000)
  connections.closed('box')
  await clock.advance(30_000)
  connections.opened('box', 2)
  await clock.advance(100_000)
  t.same(told, ['box lives'])
  connections.closed('box')
  await clock.advance(44_999)
  t.same(told, ['box lives'])
  await clock.advance(1)
  t.same(told, ['box lives', 'box is silent'])
  connections.opened('box', 2)
  t.same(told, ['box lives', 'box is silent', 'box lives'])
})

t.test('a connection that nobody is behind any more is found out', async t => {
  const { clock, told, connections } = world()
  connections.opened('box', 2)
  await clock.advance(OUTCOME_SILENCE_MS - 1)
  t.same(told, ['box lives'])
  await clock.advance(1)
  t.same(told, ['box lives', 'box is silent'])
  t.equal(clock.pending, 0)
  connections.seen('box')
  t.same(told, ['box lives', 'box is silent', 'box lives'])
  connections.forget('box')
  t.equal(clock.pending, 0)
})

t.test('of two syncers behind good connections, the one that stands still is noticed within two minutes', async t => {
  const { clock, told, connections } = world()
  for (const box of ['slow', 'frozen']) connections.opened(box, 2)
  for (const box of ['slow', 'frozen']) connections.seen(box)
  // each word of the other is late by half a minute
  for (let word = 0; word < 3; word++) {
    await clock.advance(QUIET_SECONDS * 1000 + 30_000)
    connections.seen('slow')
  }
  t.same(told, ['slow lives', 'frozen lives', 'frozen is silent'])
  t.ok(OUTCOME_SILENCE_MS <= 120_000)
})

t.test('one that is heard without a connection', async t => {
  const { clock, told, connections } = world()
  await clock.advance(1_000_000)
  connections.seen('box')
  await clock.advance(45_000)
  t.same(told, ['box lives', 'box is silent'])
})
