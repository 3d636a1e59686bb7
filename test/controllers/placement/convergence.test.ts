/** Whoever was told that a copy is behind is told when it is so no more, whatever made it so. */
import t from 'tap'
import { Convergence } from '../../../src/controllers/placement/convergence.ts'
import type { Task } from '../../../src/controllers/placement/join/task.ts'
import { Mailbox } from '../../../src/controllers/placement/mailboxes/mailbox.ts'
import { objectKey } from '../../../src/placement/words/names.ts'

const KEY = objectKey({ group: '', resource: 'configmaps' }, 'shop', 'page')

/** `meanwhile`: what happens while the copy is looked at. */
function setUp(meanwhile: (mailbox: Mailbox) => Promise<void>) {
  const mailbox = new Mailbox('m', 's')
  const told: Task[] = []
  const convergence = new Convergence({
    copies: {
      async reconcile() {
        await meanwhile(mailbox)
        return {}
      },
    },
    join: { sourcesOf: () => [{ space: 'w', placements: ['p'] }] } as never,
    statuses: { touched: () => {} } as never,
    add: task => void told.push(task),
    addAll: tasks => void told.push(...tasks),
    isReportAwaited: () => false,
  })
  return { mailbox, told, look: () => convergence.copy(mailbox, KEY, { verb: 'none' }) }
}

async function written({ changes }: Mailbox): Promise<void> {
  changes.begin(KEY)
  // somebody looks
  if (changes.isBehind(KEY)) changes.toldBehind(KEY)
  await Promise.resolve()
  changes.changed(KEY, 7)
  // its syncer was faster than the answer
  changes.processed(7)
  changes.end(KEY)
}

t.test('a copy that was named, and one that was written although nothing had named it', async t => {
  for (const isNamed of [true, false]) {
    const { mailbox, told, look } = setUp(written)
    if (isNamed) mailbox.changes.name(KEY)
    await look()
    t.notOk(mailbox.changes.isPending(KEY))
    t.match(told, [{ space: 'w', name: 'p' }], isNamed ? 'named' : 'written by itself')
  }
})

t.test('a copy that was gone for a moment, while somebody looked', async t => {
  const { mailbox, told, look } = setUp(async () => {})
  mailbox.changes.toldBehind(KEY)
  mailbox.changes.gone(KEY, 1)
  await look()
  t.match(told, [{ space: 'w', name: 'p' }])
})

t.test('of a look that finds nothing to do nobody is told, however often a copy was written before', async t => {
  let happens = written
  const { told, look } = setUp(mailbox => happens(mailbox))
  await look()
  happens = async () => {}
  told.length = 0
  await look()
  t.same(told, [])
})
