// Failures are news once for each cause.
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import { FailureNotes } from '../../../src/apiserver/following/failureNotes.ts'

t.test('the same cause is news once, another one again', async t => {
  const notes = new FailureNotes()
  const told = ['disk', 'disk', 'net', 'net', 'disk'].map(cause => notes.isNews('a', new Error(cause)))
  t.same(told, [true, false, true, false, true])
  t.ok(notes.isNews('b', new Error('disk')), 'each key has causes of its own')
  t.ok(notes.settle('a'))
  t.notOk(notes.settle('a'))
  t.ok(notes.isNews('a', new Error('disk')), 'after a success it is news again')
})

t.test('a lost race is news when it persists', async t => {
  const notes = new FailureNotes()
  const race = statusError.conflict({ group: '', resource: 'things' }, 'x', 'the object has been modified')
  t.same(
    Array.from({ length: 7 }, () => notes.isNews('a', race)),
    [false, false, false, false, true, false, false],
  )
  t.notOk(notes.isNews('b', race))
  t.notOk(notes.settle('b'), 'nobody had heard of it')
})

t.test('one race lost after other failures is no news', async t => {
  const notes = new FailureNotes()
  const race = statusError.conflict({ group: '', resource: 'things' }, 'x', 'the object has been modified')
  for (let i = 0; i < 5; i++) notes.isNews('a', new Error('disk'))
  t.notOk(notes.isNews('a', race))
})
