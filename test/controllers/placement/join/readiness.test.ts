import t from 'tap'
import { Readiness } from '../../../../src/controllers/placement/join/readiness.ts'

t.test('a start is whole when spaces, topology and every mailbox are, and stays whole', async t => {
  const mailboxes = [{ synced: false }]
  let times = 0
  const readiness = new Readiness({
    join: {} as never,
    workloads: {} as never,
    topology: () => ({ holds: () => false, holdsAny: false }),
    mailboxes: () => mailboxes,
    addAll: () => {},
    released: () => {},
    startIsWhole: () => void times++,
  })
  t.equal(readiness.completesStart(), false)
  readiness.topologyIsWhole()
  t.equal(readiness.isStartWhole, false, 'the mailboxes are not named')
  readiness.workspacesAreWhole()
  t.equal(readiness.isStartWhole, false, 'the content of one mailbox is not known')
  mailboxes[0]!.synced = true
  t.equal(readiness.completesStart(), true)
  t.equal(readiness.completesStart(), false, 'it completes once')
  mailboxes.push({ synced: false })
  t.equal(readiness.isStartWhole, true, 'a mailbox that comes later makes nothing unknown')
  t.equal(times, 1)
})
