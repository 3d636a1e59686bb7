/** Pace of writes for associated objects: each placement has turns of its own, and whoever waits keeps its turn. */
import t from 'tap'
import { AssociatedRoom } from '../../../src/syncer/up/associatedRoom.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

t.test('behind a thousand writes a placement has one in two seconds, and another one is not kept waiting', async t => {
  const clock = new FakeClock()
  const room = new AssociatedRoom(
    clock,
    () => {},
    () => {},
  )
  const [p, q] = ['p', 'q'].map(placement => ({ space: 's', placement })) as [Charged, Charged]
  const pod = (name: string) => ({ group: '', resource: 'pods', namespace: 'app', name })
  for (let i = 0; i < 1000; i++) if (room.turnMs(p, pod(`${i}`)) !== 0) t.fail(`${i} waits`)
  t.equal(room.turnMs(p, pod('late')), 2000)
  t.equal(room.turnMs(p, pod('later')), 4000)
  t.equal(room.turnMs(q, pod('other')), 0)
  await clock.advance(2000)
  t.equal(room.waitMs(pod('late')), 0)
  t.equal(room.turnMs(p, pod('late')), 0, 'its turn')
  t.equal(room.waitMs(pod('later')), 2000)
  t.equal(room.turnMs(p, pod('later')), 2000, 'it keeps its turn')
})

const MIB = 1024 * 1024
const P: Charged = { space: 's', placement: 'p' }
const named = (name: string) => ({ group: '', resource: 'pods', namespace: 'app', name })

t.test('objects that are left out for good do not take the turns of those that wait for room', t => {
  const tried: string[] = []
  const room = new AssociatedRoom(
    new FakeClock(),
    () => {},
    ({ name }) => tried.push(name),
  )
  for (let i = 0; i < 20; i++) room.leaveOut(P, named(`old-${i}`), 'olderEvents')
  t.equal(room.take(P, named('a'), MIB), true)
  for (let i = 0; i < 10; i++) t.equal(room.take(P, named(`b-${i}`), 1000), false)
  t.match(room.report(), [{ leftOut: 10, olderEvents: 20 }])
  room.forget(named('a'))
  t.strictSame(tried, ['b-0', 'b-1', 'b-2', 'b-3', 'b-4', 'b-5', 'b-6', 'b-7'])
  t.equal(room.take(P, named('b-0'), MIB), true)
  for (let i = 1; i < 8; i++) room.take(P, named(`b-${i}`), 1000)
  tried.length = 0
  room.forget(named('b-0'))
  t.strictSame(tried.slice(0, 3), ['b-8', 'b-9', 'b-1'], 'others have a turn')
  t.end()
})

t.test('a full placement is known to be full before an object is read, and one that is too large fills none', t => {
  const room = new AssociatedRoom(
    new FakeClock(),
    () => {},
    () => {},
  )
  t.equal(room.take(P, named('huge'), 2 * MIB), false)
  t.equal(room.hasRoom(P, named('a')), true)
  t.equal(room.take(P, named('a'), MIB - 100), true)
  t.equal(room.hasRoom(P, named('b')), false)
  t.equal(room.hasRoom(P, named('a')), true, 'what is there may change')
  t.match(room.report(), [{ leftOut: 2 }])
  room.forget(named('a'))
  t.equal(room.hasRoom(P, named('b')), true)
  for (let i = 0; i < 1000; i++) room.take(P, named(`${i}`), 1)
  t.equal(room.hasRoom(P, named('b')), false)
  t.end()
})

type Charged = Parameters<AssociatedRoom['turnMs']>[0]
