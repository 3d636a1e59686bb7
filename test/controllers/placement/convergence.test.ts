/** The end of a copy's lag is reported after each such report, whatever its cause. */
import t from 'tap'
import { Convergence } from '../../../src/controllers/placement/convergence.ts'
import { Mailbox } from '../../../src/controllers/placement/mailboxes/mailbox.ts'
import { Signals } from '../../../src/controllers/placement/signals/signals.ts'
import { objectKey } from '../../../src/placement/words/names.ts'

const KEY = objectKey({ group: '', resource: 'configmaps' }, 'shop', 'page')

/** `meanwhile`: what happens while the copy is looked at. */
function setUp(meanwhile: (mailbox: Mailbox) => Promise<void>) {
  const mailbox = new Mailbox('m', 's')
  const told: string[] = []
  const { copyChanged } = new Signals()
  copyChanged.on((_mailbox, _key, what) => {
    if (what === 'converged') told.push(what)
  })
  const convergence = new Convergence({
    copies: {
      async reconcile() {
        await meanwhile(mailbox)
        return {}
      },
    },
    copyChanged,
    tasks: { add: () => {} },
    clusterReports: { isAwaited: () => false },
  })
  return { mailbox, told, look: () => convergence.copy(mailbox, KEY, { verb: 'none' }) }
}

async function written({ changes }: Mailbox): Promise<void> {
  changes.begin(KEY)
  // somebody looks
  if (changes.isBehind(KEY)) changes.reportedBehind(KEY)
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
    t.same(told, ['converged'], isNamed ? 'named' : 'written by itself')
  }
})

t.test('a copy that was gone for a moment, while somebody looked', async t => {
  const { mailbox, told, look } = setUp(async () => {})
  mailbox.changes.reportedBehind(KEY)
  mailbox.changes.gone(KEY, 1)
  await look()
  t.same(told, ['converged'])
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
