import t from 'tap'
import { Wholeness } from '../../../../src/controllers/placement/mailboxes/wholeness.ts'

t.test('all is known when spaces, topology and every mailbox are, and stays known', async t => {
  const mailboxes = [{ synced: false }]
  let isTopologyWhole = false
  let times = 0
  const wholeness = new Wholeness({
    isTopologyWhole: () => isTopologyWhole,
    mailboxes: () => mailboxes,
    becameWhole: () => void times++,
  })
  t.equal(wholeness.completes(), false)
  isTopologyWhole = true
  t.equal(wholeness.isWhole, false, 'nobody has told which mailboxes there are')
  wholeness.workspacesAreSynced()
  t.equal(wholeness.isWhole, false, 'what one of them holds is not known')
  mailboxes[0]!.synced = true
  t.equal(wholeness.completes(), true)
  t.equal(wholeness.completes(), false, 'that is told once')
  mailboxes.push({ synced: false })
  t.equal(wholeness.isWhole, true, 'a mailbox that comes later makes nothing unknown')
  t.equal(times, 1)
})
