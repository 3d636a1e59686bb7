/** Effect of syncers' streams on their reports: their delay, and the valid session. */
import t from 'tap'
import { EXTRAS } from '../../../src/apiserver/auth/users.ts'
import { OutcomeInbox } from '../../../src/apiserver/authority/outcomeInbox.ts'
import { SYNCER_USER } from '../../../src/apiserver/authority/syncerReach.ts'
import { SPOKEN } from '../../../src/placement/desks/syncProtocol.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

function begin() {
  const clock = new FakeClock()
  const inbox = new OutcomeInbox({
    tree: { pathOf: id => `root:espw:${id}` },
    epoch: 'e',
    revision: () => 1,
    clock,
  })
  const connect = (mailbox: string, session?: string): (() => void) => {
    const user = { name: SYNCER_USER, groups: [], extra: { [EXTRAS.clusterName]: [mailbox] } }
    return inbox.reading(mailbox, user, { protocols: SPOKEN, session })
  }
  return { clock, inbox, connect }
}

t.test('the more clusters are connected, the longer they let news wait, up to a second', async t => {
  const { inbox, connect } = begin()
  const names = Array.from({ length: 5000 }, (_, i) => `cluster${i}-mb-11111111-1111-4111-8111-111111111111`)
  const ends = names.slice(0, 3).map(name => connect(name))
  t.equal(inbox.gatherMs, 0, 'a few have nobody to wait for')
  ends.push(...names.slice(3, 1000).map(name => connect(name)))
  t.equal(inbox.gatherMs, 250)
  ends.push(...names.slice(1000).map(name => connect(name)))
  t.equal(inbox.gatherMs, 1000)
  for (const end of ends) end()
  t.equal(inbox.gatherMs, 0)
})

t.test('the stream of another syncer does not keep the word of a session whose own has ended', async t => {
  const { clock, inbox, connect } = begin()
  const mailbox = 'cluster-mb-11111111-1111-4111-8111-111111111111'
  const silenced: string[] = []
  inbox.deliverTo({
    take: () => ({ epoch: 'e', again: false }),
    silent: (_, session) => silenced.push(session),
    settled: () => {},
  })
  const [first, second] = [connect(mailbox, 'a'), connect(mailbox, 'a')]
  first()
  await clock.advance(5000)
  t.same(silenced, [], 'it has another one')
  second()
  await clock.advance(4000)
  const resumed = connect(mailbox, 'a')
  await clock.advance(5000)
  t.same(silenced, [], 'it has come back')
  resumed()
  const [earlier, other] = [connect(mailbox), connect(mailbox, 'b')]
  await clock.advance(5000)
  t.same(silenced, ['a'])
  other()
  await clock.advance(5000)
  t.same(silenced, ['a', 'b'])
  earlier()
  await clock.advance(5000)
  t.same(silenced, ['a', 'b'], 'a stream that names none keeps no word')
})
