import t from 'tap'
import { Readiness } from '../../../../src/controllers/placement/join/readiness.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'

function readinessOf(mailboxes: readonly { synced: boolean }[], startIsWhole: () => void): Readiness {
  const { known } = new Signals()
  known.on(what => what === 'start' && startIsWhole())
  return new Readiness({
    join: {} as never,
    workloads: {} as never,
    topology: { holds: () => false, holdsAny: false },
    mailboxes: { all: () => mailboxes, known: () => undefined },
    tasks: { addAll: () => {} },
    known,
  })
}

t.test('a start is whole when spaces, topology and every mailbox are, and stays whole', async t => {
  const mailboxes = [{ synced: false }]
  let times = 0
  const readiness = readinessOf(mailboxes, () => void times++)
  readiness.topologyIsWhole()
  t.equal(readiness.isStartWhole, false, 'the mailboxes are not named')
  readiness.workspacesAreWhole()
  t.equal(readiness.isStartWhole, false, 'the content of one mailbox is not known')
  mailboxes[0]!.synced = true
  readiness.moreIsKnown()
  t.equal(readiness.isStartWhole, true)
  mailboxes.push({ synced: false })
  readiness.moreIsKnown()
  t.equal(readiness.isStartWhole, true, 'a mailbox that comes later makes nothing unknown')
  t.equal(times, 1)
})

t.test('a mailbox that goes before it was read keeps no start waiting', async t => {
  const mailboxes = [{ synced: false }]
  let times = 0
  const readiness = readinessOf(mailboxes, () => void times++)
  readiness.topologyIsWhole()
  readiness.workspacesAreWhole()
  mailboxes.pop()
  readiness.moreIsKnown()
  t.equal(readiness.isStartWhole, true)
  t.equal(times, 1)
})
