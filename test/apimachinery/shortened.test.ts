/** A shortened text keeps both of its ends. */
import t from 'tap'
import { shortened, shortLine } from '../../src/apimachinery/shortened.ts'

t.test('a refusal keeps its object and its cause, whatever stands between them', async t => {
  const path = Array.from({ length: 60 }, () => 'properties[imagePullSecrets].items').join('.')
  for (const name of ['a', 'b'.repeat(60)]) {
    const text = `Issuer "${name}" is invalid: ${path}: Required value: it is a list map key`
    const short = shortened(text, 300)
    t.equal(short.length, 300)
    t.ok(short.startsWith(`Issuer "${name}"`))
    t.ok(short.endsWith(': Required value: it is a list map key'))
  }
})

t.test('what is short stays, and what is cut has no half of a character', async t => {
  t.equal(shortened('abc', 3), 'abc')
  for (let characters = 0; characters < 12; characters++) {
    const short = shortened('😀'.repeat(20), characters)
    t.ok(short.length <= characters)
    t.ok(short.isWellFormed())
  }
  t.equal(shortLine(`a\n\u202eb${' '.repeat(5000)}c`, 10), 'a b … c')
})
