/** Checks of mailboxes go on, whatever follows from one of them. */
import t from 'tap'
import { silentLogger } from '../../../../src/client/logger.ts'
import { MailboxChecks } from '../../../../src/controllers/placement/copies/mailboxChecks.ts'
import { PendingMarks } from '../../../../src/controllers/placement/join/pendingMarks.ts'
import { Mailbox } from '../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'
import { mailboxName } from '../../../../src/placement/words/placement.ts'

t.test('a reader that fails at the end of a check keeps no other mailbox from its check', async t => {
  const names = ['1', '2'].map(digit => mailboxName('inv1', `${digit.repeat(8)}-1111-4111-8111-111111111111`))
  const signals = new Signals()
  signals.mailboxChanged.on(name => {
    if (name === names[0]) throw new Error('a reader fails')
  })
  const errors: unknown[] = []
  const there = new Map(names.map(name => [name, new Mailbox(name, `space of ${name}`)]))
  const pendingMarks = new PendingMarks(signals)
  const checks = new MailboxChecks({
    work: { due: false, rest: async () => {} } as never,
    mailboxes: { get: (name: string) => there.get(name), looked() {} } as never,
    readiness: { knowsMailbox: () => true } as never,
    join: {} as never,
    copyChecks: {} as never,
    tasks: {} as never,
    pendingMarks,
    guard: undefined,
    logger: { ...silentLogger, error: fields => errors.push(fields) },
  })
  for (const name of names) checks.ask(name)
  // they are gone when their turn comes: nothing is to be checked but the marks close
  there.clear()
  await checks.idle()
  t.same(
    names.filter(name => pendingMarks.isOpen(name)),
    [],
  )
  t.match(errors, [{ mailbox: names[0], err: { message: 'a reader fails' } }])
  t.ok(checks.isIdle)
})
