// Faults in annotations: all of a few, the first of many, and none that is as long as what a user wrote.
import t from 'tap'
import { listedFaults } from '../../src/controllers/listedFaults.ts'

t.test('a few faults are told as they are', async t => {
  t.same(listedFaults(['b', 'a']), ['b', 'a'])
  t.same(listedFaults([]), [])
})

t.test('of thousands the first ones are told, and how many more there are', async t => {
  const told = listedFaults(Array.from({ length: 3000 }, (_, i) => `fault ${i}`))
  t.equal(told.length, 51)
  t.equal(told[49], 'fault 49')
  t.equal(told[50], 'and 2950 more faults')
})

t.test('a long fault is cut', async t => {
  t.same(listedFaults(['x'.repeat(300_000)]), [`${'x'.repeat(1000)}…`])
})
