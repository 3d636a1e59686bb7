/** A mailbox is known by its place in the tree, and so is whatever lies below it. */

import t from 'tap'
import { isInMailbox, MAILBOX_NAME, mailboxName } from '../../../src/placement/words/placement.ts'

const NAME = mailboxName('2nvzzlxi3sgnw4sd', '01234567-89ab-cdef-0123-456789abcdef')

const CASES: [path: string, inMailbox: boolean][] = [
  [`root:espw:${NAME}`, true],
  [`root:espw:${NAME}:child`, true],
  [`root:espw:${NAME}:wmw1:deeper`, true],
  [`root:espw:${mailboxName('root', '01234567-89ab-cdef-0123-456789abcdef')}`, true],
  ['root', false],
  ['root:espw', false],
  ['root:espw:compute', false],
  [`root:${NAME}`, false],
  [`root:alice:${NAME}`, false],
  [`root:alice:espw:${NAME}`, false],
  [`root:espw:people:${NAME}`, false],
  [`root:espw2:${NAME}`, false],
  [`root:espw:x-${NAME}`, false],
  [`root:espw:${NAME}0`, false],
  [`root:espw:${NAME}-more`, false],
]

for (const [path, inMailbox] of CASES) {
  t.test(`${path} ${inMailbox ? 'is a mailbox or in one' : 'is neither a mailbox nor in one'}`, async t => {
    t.equal(isInMailbox(path), inMailbox)
  })
}

t.test('the name tells the space of the SyncTarget and its uid', async t => {
  t.same(MAILBOX_NAME.exec(NAME)?.slice(1), ['2nvzzlxi3sgnw4sd', '01234567-89ab-cdef-0123-456789abcdef'])
})
