// Remarks on objects that are not in a mailbox as they should be: one for each space and object, until its reason ends.
import t from 'tap'
import { Remarks } from '../../../../src/controllers/placement/mailboxes/remarks.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'

function setUp() {
  const changes: string[] = []
  const { copyChanged } = new Signals()
  copyChanged.on((...change) => changes.push(change.join(' ')))
  const remarks = new Remarks(copyChanged)
  const reason = (of: string) => ({ reason: of, message: `because of ${of}` })
  return { remarks, reason, changes: () => changes.splice(0) }
}

t.test('the newest remark on an object stands, and only a change is reported', async t => {
  const { remarks, reason, changes } = setUp()
  remarks.set('florin', 'a', 'page', reason('X'))
  remarks.set('florin', 'a', 'page', reason('X'))
  t.same(changes(), ['florin page remark'])
  remarks.set('florin', 'a', 'page', reason('Y'))
  remarks.set('florin', 'a', 'page', { ...reason('Y'), message: 'another message' })
  t.same(changes(), ['florin page remark', 'florin page remark'])
  t.same(remarks.of('florin', 'a', 'page'), { reason: 'Y', message: 'another message' })
  t.same([...remarks.in('florin', 'a').keys()], ['page'])
})

t.test('spaces, mailboxes and objects have remarks of their own', async t => {
  const { remarks, reason } = setUp()
  for (const space of ['a', 'b'])
    for (const mailbox of ['florin', 'guilder']) remarks.set(mailbox, space, 'page', reason('X'))
  remarks.end('florin', 'a', 'page', 'X')
  t.equal(remarks.of('florin', 'a', 'page'), undefined)
  t.match(remarks.of('florin', 'b', 'page'), { reason: 'X' })
  t.match(remarks.of('guilder', 'a', 'page'), { reason: 'X' })
  t.ok(remarks.has('florin', 'page'), 'that of b')
  t.notOk(remarks.has('florin', 'other'))
  remarks.end('florin', 'b', 'page', 'X')
  t.notOk(remarks.has('florin', 'page'))
})

t.test('an end names the reason: a remark that was made since for another reason stays', async t => {
  const { remarks, reason, changes } = setUp()
  remarks.set('florin', 'a', 'page', reason('X'))
  remarks.set('florin', 'b', 'page', reason('Y'))
  changes()
  remarks.endAll('florin', 'page', 'Y', 'Z')
  t.same(changes(), ['florin page remark'])
  t.match(remarks.of('florin', 'a', 'page'), { reason: 'X' })
  remarks.set('florin', 'a', 'other', reason('Y'))
  remarks.endIn('florin', 'X')
  t.same([...remarks.in('florin', 'a').keys()], ['other'])
})

t.test('remarks end with the claims on an object, and with the mailbox', async t => {
  const { remarks, reason, changes } = setUp()
  for (const space of ['a', 'b', 'c']) remarks.set('florin', space, 'page', reason('X'))
  remarks.set('florin', 'a', 'other', reason('X'))
  changes()
  remarks.endUnclaimed('florin', 'page', [{ space: 'b' }])
  t.same(changes(), ['florin page remark', 'florin page remark'])
  t.match(remarks.of('florin', 'b', 'page'), { reason: 'X' })
  t.match(remarks.of('florin', 'a', 'other'), { reason: 'X' }, 'claims on another object do not matter')
  remarks.forget('florin')
  t.same(changes().sort(), ['florin other remark', 'florin page remark'])
  t.notOk(remarks.has('florin', 'other'))
})
