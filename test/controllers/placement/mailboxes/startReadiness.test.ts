import t from 'tap'
import { StartReadiness } from '../../../../src/controllers/placement/mailboxes/startReadiness.ts'

t.test('all is known when spaces, topology and every mailbox are, and stays known', async t => {
  const mailboxes = [{ synced: false }]
  let isTopologyWhole = false
  let times = 0
  const startReadiness = new StartReadiness({
    isTopologyWhole: () => isTopologyWhole,
    mailboxes: () => mailboxes,
    becameWhole: () => void times++,
  })
  t.equal(startReadiness.completes(), false)
  isTopologyWhole = true
  t.equal(startReadiness.isWhole, false, 'nobody has told which mailboxes there are')
  startReadiness.workspacesAreSynced()
  t.equal(startReadiness.isWhole, false, 'what one of them holds is not known')
  mailboxes[0]!.synced = true
  t.equal(startReadiness.completes(), true)
  t.equal(startReadiness.completes(), false, 'that is told once')
  mailboxes.push({ synced: false })
  t.equal(startReadiness.isWhole, true, 'a mailbox that comes later makes nothing unknown')
  t.equal(times, 1)
})
