import t from 'tap'
import type { Mailbox } from '../../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { laggingClusters } from '../../../../../src/controllers/placement/status/syncTargets/clusterReports.ts'

const mailbox = (name: string, unprocessed: number, behindSinceMs?: number) => ({
  name,
  changes: { unprocessed, behindSinceMs } as Mailbox['changes'],
})

t.test('clusters that are behind, those with most to look at first, and no more than asked for', async t => {
  const all = [mailbox('a', 1, 9_000), mailbox('in step', 0), mailbox('b', 7, 4_000), mailbox('c', 3, 10_000)]
  t.same(laggingClusters(all, 10_000, 2), [
    { mailbox: 'b', objects: 7, seconds: 6 },
    { mailbox: 'c', objects: 3, seconds: 0 },
  ])
  t.same(laggingClusters([], 10_000, 2), [])
})

t.test('one object that is stuck for hours has a place beside all that are merely busy', async t => {
  const busy = Array.from({ length: 5 }, (_, i) => mailbox(`busy ${i}`, 100 - i, 9_999_000))
  const stuck = [mailbox('stuck', 1, 0), mailbox('slow', 2, 5_000_000)]
  const names = (most: number) => laggingClusters([...busy, ...stuck], 10_000_000, most).map(({ mailbox }) => mailbox)
  t.same(names(4), ['busy 0', 'stuck', 'busy 1', 'slow'])
  t.same(names(3), ['busy 0', 'stuck', 'busy 1'])
  t.same(names(20).sort(), ['busy 0', 'busy 1', 'busy 2', 'busy 3', 'busy 4', 'slow', 'stuck'])
})
