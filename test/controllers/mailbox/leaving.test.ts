/** Status of a SyncTarget that leaves, whatever the syncer reports. */
import t from 'tap'
import { leavingCondition } from '../../../src/controllers/mailbox/leaving.ts'

const target = {
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'SyncTarget',
  metadata: {
    name: 'florin',
    uid: 'u',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['edge.kubestellar.io/cluster'],
  },
}
const told = (leaving: object): string =>
  leavingCondition(target, { leaving: { policy: 'Orphan', done: false, ...leaving } }, true).message

t.test('how many are left is a count, or not said', async t => {
  t.match(told({ remaining: 3 }), /\(3 objects left\)/)
  t.match(told({ remaining: 1 }), /\(1 object left\)/)
  for (const remaining of [0, -5, 1e308, 2.5, '7', ['7'], null, {}])
    t.match(told({ remaining }), /\(it has yet to count what is left\)/, JSON.stringify(remaining))
})

t.test('its words are on one line, bounded, and steer no terminal', async t => {
  t.match(told({ message: 'a\u001b[2J\r\n\u202eb' }), /; a \[2J b \(/)
  t.ok(told({ message: 'x'.repeat(100_000) }).length < 1000)
  t.match(told({ message: ['x'] }), /; it has begun \(/)
  t.equal(leavingCondition(target, { leaving: ['x'] }, true).reason, 'WaitingForSyncer')
})
