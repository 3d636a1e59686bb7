import t from 'tap'
import { laggingClusters } from '../../../src/controllers/placement-translator/laggingClusters.ts'
import type { Mailbox } from '../../../src/controllers/placement-translator/mailbox.ts'

const mailbox = (name: string, unprocessed: number, behindSinceMs?: number) => ({
  name,
  desired: { unprocessed, behindSinceMs } as Mailbox['desired'],
})

t.test('clusters that are behind, those with most to look at first, and no more than asked for', async t => {
  const all = [mailbox('a', 1, 9_000), mailbox('in step', 0), mailbox('b', 7, 4_000), mailbox('c', 3, 10_000)]
  t.same(laggingClusters(all, 10_000, 2), [
    { mailbox: 'b', objects: 7, seconds: 6 },
    { mailbox: 'c', objects: 3, seconds: 0 },
  ])
  t.same(laggingClusters([], 10_000, 2), [])
})
