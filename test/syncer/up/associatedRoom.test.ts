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
  t.equal(room.turnMs(p, pod('late')), 0, 'its turn')
  t.equal(room.turnMs(p, pod('later')), 2000, 'it keeps its turn')
})

type Charged = Parameters<AssociatedRoom['turnMs']>[0]
