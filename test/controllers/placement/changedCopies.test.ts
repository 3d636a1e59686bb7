/** Tasks that follow from changes of a copy with many associated objects. */
import t from 'tap'
import { ChangedCopies } from '../../../src/controllers/placement/changedCopies.ts'
import type { Task } from '../../../src/controllers/placement/join/task.ts'
import { type CarriedFact, type CopyFact, Mailbox } from '../../../src/controllers/placement/mailboxes/mailbox.ts'

const ROOT = 'apps|deployments|shop|web'

t.test('a status of a copy has no look at associated objects that name its owner; its end and a write have', t => {
  const mailbox = new Mailbox('m', 'm-id', { left() {}, now: () => 0 })
  mailbox.copies.set(ROOT, { owner: 'wmw1' } as CopyFact)
  for (const [key, requestedBy] of [
    ['|pods|shop|a', 'other,wmw1'],
    ['|pods|shop|b', ''],
  ] as const)
    mailbox.carry(key, { requestedBy, root: ROOT } as CarriedFact)
  const tasks: Task[] = []
  const copies = new ChangedCopies(
    { add: (task: Task) => void tasks.push(task) } as never,
    { sourcesOf: () => [] } as never,
    { get: () => mailbox } as never,
  )
  const asked = (): string[] => tasks.splice(0).flatMap(task => (task.type === 'requesters' ? task.key : []))
  copies.copyChanged('m', ROOT, 'content')
  t.strictSame(asked(), ['|pods|shop|b'])
  copies.copyChanged('m', ROOT, 'converged')
  t.strictSame(asked(), ['|pods|shop|a', '|pods|shop|b'])
  mailbox.copies.delete(ROOT)
  copies.copyChanged('m', ROOT, 'content')
  t.strictSame(asked(), ['|pods|shop|a', '|pods|shop|b'])
  t.end()
})
