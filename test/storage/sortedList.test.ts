import fc from 'fast-check'
import t from 'tap'
import { SortedList } from '../../src/storage/sortedList.ts'
import type { Stored } from '../../src/storage/store.ts'
import { key } from './support.ts'

const stored = (name: string): Stored => ({ key: key(name), revision: 1, bytes: Buffer.alloc(0), headBytes: 0 })
const nameOf = (i: number): string => String(i).padStart(5, '0')

function namesOf(list: SortedList): string[] {
  const names: string[] = []
  list.visit(0, list.size, s => names.push(s.key.name) > 0)
  return names
}

t.test('an insert anywhere into a full chunk keeps order, ranks and lookups', async t => {
  // Even names fill the list; the odd name goes to each place in turn, those where a chunk is cut in two among them.
  for (let odd = 1; odd < 1200; odd += 2) {
    const list = new SortedList()
    for (let i = 0; i < 600; i++) list.set(stored(nameOf(2 * i)))
    list.set(stored(nameOf(odd)))
    const names = namesOf(list)
    const wrong = names.findIndex(
      (name, i) => (i > 0 && name <= names[i - 1]!) || list.rank('default', name) !== i || !list.find('default', name),
    )
    if (wrong !== -1 || names.length !== 601) t.fail(`after ${odd}: wrong at ${wrong} of ${names.length}`)
  }
  t.pass('at every place')
})

t.test('random sets and deletes answer as a sorted map would', async t => {
  const op = fc.record({ add: fc.boolean(), i: fc.nat(3000), run: fc.nat(400) })
  fc.assert(
    fc.property(fc.array(op, { maxLength: 30 }), ops => {
      const list = new SortedList()
      const model = new Set<string>()
      for (const { add, i, run } of ops)
        for (let j = i; j <= i + run; j++) {
          const name = nameOf(j)
          if ((add ? list.set(stored(name)) : list.delete('default', name)) ? !model.has(name) : model.has(name))
            throw new Error(`${name} was ${model.has(name) ? '' : 'not '}there`)
          if (add) model.add(name)
          else model.delete(name)
        }
      const sorted = [...model].sort()
      if (JSON.stringify(namesOf(list)) !== JSON.stringify(sorted) || list.size !== sorted.length)
        throw new Error(`found ${namesOf(list)}, wanted ${sorted}`)
      const from = sorted.length >> 2
      const slice: string[] = []
      list.visit(from, from + 700, s => slice.push(s.key.name) < 600)
      if (slice.join() !== sorted.slice(from, from + Math.min(700, 600)).join()) throw new Error(`found ${slice}`)
    }),
    { numRuns: 100 },
  )
  t.pass('the list and the model agree')
})
