import t from 'tap'
import { PendingCopies } from '../../../../src/controllers/placement/join/pendingCopies.ts'
import { taskId } from '../../../../src/controllers/placement/join/task.ts'
import { signalTo } from '../signalTo.ts'

function namedCopies() {
  const told: string[] = []
  const known = new Set<string>()
  const calls: (() => void)[] = []
  const named = new PendingCopies({
    workloads: { isSynced: space => known.has(space) },
    pendingMarks: {
      open(space) {
        told.push(`open ${space}`)
        return () => told.push(`done ${space}`)
      },
    },
    copiesNamed: signalTo((space, mailboxes, keys, isNews) =>
      told.push(`${space}: ${keys.join()} in ${mailboxes.join()}${isNews ? ', news' : ''}`),
    ),
    tasks: { addAll: ([task]) => told.push(taskId(task!)) },
    soon: call => calls.push(call),
  })
  const turn = () => {
    for (const call of calls.splice(0)) call()
  }
  return { named, told, known, turn }
}

const ALL = ['mb1', 'mb2']
const SOME = ['mb2']

t.test('what objects name before their space is known is named once, by lists of mailboxes, when it is', async t => {
  const { named, told, turn } = namedCopies()
  named.add('wds', ALL, ['a'], true)
  named.add('wds', SOME, ['b'], true)
  named.add('wds', ALL, ['b', 'a'], true)
  named.queueBehind({ type: 'judge', space: 'wds' })
  turn()
  t.strictSame(told.splice(0), ['open wds', 'judge wds'], 'not all of it is named until then')
  t.ok(named.isIdle)
  named.release('wds')
  t.strictSame(told.splice(0), ['wds: a,b in mb1,mb2', 'wds: b in mb2', 'done wds'])
  named.release('wds')
  t.strictSame(told, [])
})

t.test('spaces wait each for itself, and what goes nowhere for nothing', async t => {
  const { named, told } = namedCopies()
  named.add('one', ['mb1'], ['a'], true)
  named.add('other', ['mb1'], ['a'], true)
  named.add('third', [], ['a'], true)
  named.add('third', ['mb1'], [], true)
  named.release('other')
  named.release('third')
  t.strictSame(told, ['open one', 'open other', 'other: a in mb1', 'done other'])
})

t.test('what one turn names is put together, and is no longer when the next one names it', async t => {
  const { named, told, known, turn } = namedCopies()
  known.add('wds')
  for (const key of ['a', 'b', 'a']) named.add('wds', ALL, [key], true)
  t.notOk(named.isIdle)
  t.strictSame(told.splice(0), ['open wds'])
  turn()
  t.ok(named.isIdle)
  t.strictSame(told.splice(0), ['wds: a,b in mb1,mb2, news', 'done wds'])
  named.add('wds', ALL, ['a'], true)
  turn()
  t.strictSame(told, ['open wds', 'wds: a in mb1,mb2, news', 'done wds'])
})

t.test('what is queued behind it waits for what was named', async t => {
  const { named, told, known, turn } = namedCopies()
  known.add('wds')
  named.add('wds', ALL, ['a'], true)
  named.queueBehind({ type: 'close', space: 'wds' })
  t.strictSame(told.splice(0), ['open wds', 'wds: a in mb1,mb2, news', 'done wds', 'close wds'])
  turn()
  t.strictSame(told, [])
})

t.test('claims that change before the topology is known are no news: a start checks whole mailboxes', async t => {
  const { named, told, known, turn } = namedCopies()
  known.add('wds')
  known.add('other')
  named.add('wds', ALL, ['a'], false)
  named.add('other', ALL, ['a'], false)
  named.add('other', ALL, ['b'], true)
  turn()
  t.strictSame(told, [
    'open wds',
    'open other',
    'wds: a in mb1,mb2',
    'done wds',
    'other: a,b in mb1,mb2, news',
    'done other',
  ])
})
