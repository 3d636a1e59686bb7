import t from 'tap'
import { atMost } from '../../src/client/atMost.ts'
import { settle } from './support/fakeClock.ts'

t.test('so many at a time, each once, and it ends with the last', async t => {
  const begun: number[] = []
  const ends = new Map<number, () => void>()
  const all = atMost(2, [1, 2, 3], async thing => {
    begun.push(thing)
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(thing, resolve)
    await promise
  })
  await settle()
  t.same(begun, [1, 2])
  ends.get(2)!()
  await settle()
  t.same(begun, [1, 2, 3])
  for (const end of ends.values()) end()
  await all
  await atMost(3, [], async () => {
    t.fail('there is nothing')
  })
  await t.rejects(
    atMost(1, [1], async () => {
      throw new Error('this one')
    }),
    /this one/,
  )
})
