/** How long syncers are asked to wait before they tell of a change. */
import t from 'tap'
import { SPOKEN } from '../../../src/apimachinery/syncProtocol.ts'
import { EXTRAS } from '../../../src/apiserver/auth/users.ts'
import { OutcomeInbox } from '../../../src/apiserver/authority/outcomeInbox.ts'
import { SYNCER_USER } from '../../../src/apiserver/authority/syncerReach.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

t.test('the more clusters are connected, the longer they let news wait, up to a second', async t => {
  const inbox = new OutcomeInbox({
    tree: { pathOf: id => `root:espw:${id}` },
    epoch: 'e',
    revision: () => 1,
    clock: new FakeClock(),
  })
  const connect = (mailbox: string): (() => void) => {
    const user = { name: SYNCER_USER, groups: [], extra: { [EXTRAS.clusterName]: [mailbox] } }
    return inbox.reading(mailbox, user, SPOKEN)
  }
  const names = Array.from({ length: 5000 }, (_, i) => `cluster${i}-mb-11111111-1111-4111-8111-111111111111`)
  const ends = names.slice(0, 3).map(connect)
  t.equal(inbox.gatherMs, 0, 'a few have nobody to wait for')
  ends.push(...names.slice(3, 1000).map(connect))
  t.equal(inbox.gatherMs, 250)
  ends.push(...names.slice(1000).map(connect))
  t.equal(inbox.gatherMs, 1000)
  for (const end of ends) end()
  t.equal(inbox.gatherMs, 0)
})
