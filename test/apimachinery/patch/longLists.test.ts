import t from 'tap'
import { LongLists } from '../../../src/apimachinery/patch/longLists.ts'
import * as fc from '../../support/fastCheck.ts'

t.test('a list in pieces is the list: any order of changes', async t => {
  const step = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    op: fc.constantFrom('insert', 'remove', 'set'),
  })
  const start = fc.constantFrom(0, 1, 4_095, 4_096, 9_000)
  fc.assert(
    fc.property(start, fc.array(step, { maxLength: 60 }), fc.boolean(), (length, steps, front) => {
      const plain = Array.from({ length }, (_, i) => i)
      const list = [...plain]
      const lists = new LongLists()
      for (const [i, { at, op }] of steps.entries()) {
        const index = front ? 0 : Math.floor(at * plain.length)
        if (op === 'insert') {
          plain.splice(index, 0, -i)
          lists.insert(list, index, -i)
        } else if (index < plain.length && op === 'set') {
          plain[index] = -i
          lists.set(list, index, -i)
        } else if (index < plain.length) {
          t.equal(lists.remove(list, index), plain.splice(index, 1)[0])
        }
        t.equal(lists.lengthOf(list), plain.length)
        t.equal(lists.at(list, index), plain[index])
      }
      t.strictSame([...lists.elementsOf(list)], plain)
      lists.settle()
      t.strictSame(list, plain)
      t.ok(lists.untouched)
    }),
    { numRuns: 50 },
  )
})

t.test('pieces that fill are cut, and pieces that empty go', async t => {
  const list = Array.from({ length: 5_000 }, (_, i) => i)
  const lists = new LongLists()
  for (let i = 0; i < 5_000; i++) lists.insert(list, 0, -i)
  for (let i = 0; i < 10_000; i++) lists.remove(list, 0)
  t.equal(lists.lengthOf(list), 0)
  lists.insert(list, 0, 'a')
  lists.settle()
  t.strictSame(list, ['a'])
})

t.test('an element at the front of a long list does not move the others', async t => {
  const list: unknown[] = Array.from({ length: 100_000 }, (_, i) => i)
  list.splice = () => {
    throw new Error('all elements were moved')
  }
  const lists = new LongLists()
  lists.insert(list, 0, 'a')
  lists.remove(list, 1)
  t.equal(lists.at(list, 0), 'a')
  t.equal(lists.at(list, 1), 1)
})
