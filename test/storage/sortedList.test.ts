import t from 'tap'
import { ObjectSlots } from '../../src/storage/objectSlots.ts'
import { ABSENT, SortedList } from '../../src/storage/sortedList.ts'
import * as fc from '../support/fastCheck.ts'
import { key } from './support.ts'

/** A list with slots of its own. */
class Names {
  readonly slots = new ObjectSlots()
  readonly list = new SortedList(this.slots)

  /** Whether it was there. */
  set(name: string): boolean {
    if (this.has(name)) return true
    this.list.add(this.slots.add({ key: key(name), revision: 1, bytes: Buffer.alloc(0), headBytes: 0 }))
    return false
  }

  delete(name: string): boolean {
    const slot = this.list.delete('default', name)
    if (slot !== ABSENT) this.slots.remove(slot)
    return slot !== ABSENT
  }

  has(name: string): boolean {
    return this.list.find('default', name) !== ABSENT
  }
}

const nameOf = (i: number): string => String(i).padStart(5, '0')

function namesOf({ list, slots }: Names): string[] {
  const names: string[] = []
  list.visit(0, list.size, (run, start, end) => names.push(...run.slice(start, end).map(slot => slots.name(slot))) > 0)
  return names
}

t.test('an insert anywhere into a full chunk keeps order, ranks and lookups', async t => {
  // Even names fill the list; the odd name goes to each place in turn, those where a chunk is cut in two among them.
  for (let odd = 1; odd < 1200; odd += 2) {
    const all = new Names()
    const { list } = all
    for (let i = 0; i < 600; i++) all.set(nameOf(2 * i))
    all.set(nameOf(odd))
    const names = namesOf(all)
    const wrong = names.findIndex(
      (name, i) => (i > 0 && name <= names[i - 1]!) || list.rank('default', name) !== i || !all.has(name),
    )
    if (wrong !== -1 || names.length !== 601) t.fail(`after ${odd}: wrong at ${wrong} of ${names.length}`)
  }
  t.pass('at every place')
})

t.test('random sets and deletes answer as a sorted map would', async t => {
  const op = fc.record({ add: fc.boolean(), i: fc.nat(3000), run: fc.nat(400) })
  fc.assert(
    fc.property(fc.array(op, { maxLength: 30 }), ops => {
      const all = new Names()
      const { list, slots } = all
      const model = new Set<string>()
      for (const { add, i, run } of ops)
        for (let j = i; j <= i + run; j++) {
          const name = nameOf(j)
          if ((add ? all.set(name) : all.delete(name)) !== model.has(name))
            throw new Error(`${name} was ${model.has(name) ? '' : 'not '}there`)
          if (add) model.add(name)
          else model.delete(name)
        }
      const sorted = [...model].sort()
      if (JSON.stringify(namesOf(all)) !== JSON.stringify(sorted) || list.size !== sorted.length)
        throw new Error(`found ${namesOf(all)}, wanted ${sorted}`)
      const from = sorted.length >> 2
      const slice: string[] = []
      list.visit(from, from + 700, (run, start, end) => {
        for (const slot of run.slice(start, end)) slice.push(slots.name(slot))
        return slice.length < 600
      })
      const next = list.first('default', nameOf(1500))
      const wanted = sorted.find(name => name >= nameOf(1500))
      if ((next === ABSENT ? undefined : slots.name(next)) !== wanted) throw new Error(`not ${wanted}`)
      const reached = sorted.slice(from, from + slice.length)
      if (slice.length < Math.min(600, sorted.length - from) || slice.length > 700)
        throw new Error(`${slice.length} visited`)
      if (slice.join() !== reached.join()) throw new Error(`found ${slice}`)
    }),
    { numRuns: 100 },
  )
  t.pass('the list and the model agree')
})
