/** Whoever was told that a copy is behind is told when it is so no more, whatever made it so. */
import t from 'tap'
import { Convergence } from '../../../src/controllers/placement-translator/convergence.ts'
import { Mailbox } from '../../../src/controllers/placement-translator/mailbox.ts'
import { objectKey } from '../../../src/controllers/placement-translator/names.ts'
import type { Task } from '../../../src/controllers/placement-translator/task.ts'

const KEY = objectKey({ group: '', resource: 'configmaps' }, 'shop', 'page')

/** `writes`: the look at the copy finds that it has to be written. */
function setUp(writes: (mailbox: Mailbox) => boolean) {
  const mailbox = new Mailbox('m', 's')
  const told: Task[] = []
  const convergence = new Convergence({
    copies: {
      async reconcile() {
        if (writes(mailbox)) {
          mailbox.desired.begin(KEY)
          await Promise.resolve()
          mailbox.desired.changed(KEY, 7)
          // its syncer was faster than the answer
          mailbox.desired.processed(7)
          mailbox.desired.end(KEY)
        }
        return {}
      },
    },
    join: { sourcesOf: () => [{ space: 'w', placements: ['p'] }] } as never,
    statuses: { touched: () => {} } as never,
    add: task => void told.push(task),
    addAll: tasks => void told.push(...tasks),
    isReportAwaited: () => false,
  })
  return { mailbox, told, look: () => convergence.copy(mailbox, KEY) }
}

t.test('a copy that was named, and one that was written although nothing had named it', async t => {
  for (const isNamed of [true, false]) {
    const { mailbox, told, look } = setUp(() => true)
    if (isNamed) mailbox.desired.name(KEY)
    await look()
    t.notOk(mailbox.desired.isPending(KEY))
    t.match(told, [{ space: 'w', name: 'p' }], isNamed ? 'named' : 'written by itself')
  }
})

t.test('of a look that finds nothing to do nobody is told, however often a copy was written before', async t => {
  let isWrong = true
  const { told, look } = setUp(() => isWrong)
  await look()
  isWrong = false
  told.length = 0
  await look()
  t.same(told, [])
})
