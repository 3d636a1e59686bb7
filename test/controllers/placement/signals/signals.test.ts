/** Signals reach all of their readers. */
import t from 'tap'
import { Signal } from '../../../../src/controllers/placement/signals/signals.ts'

t.test('a reader that fails keeps a fact from no other reader', t => {
  const signal = new Signal<[fact: string]>()
  const read: string[] = []
  signal.on(fact => read.push(`first ${fact}`))
  for (const name of ['second', 'third'])
    signal.on(() => {
      throw new Error(`${name} fails`)
    })
  signal.on(fact => read.push(`last ${fact}`))
  t.throws(() => signal.send('a'), { message: 'second fails' })
  t.same(read, ['first a', 'last a'])
  t.end()
})
