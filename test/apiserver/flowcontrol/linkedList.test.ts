/** Items leave from anywhere, and the order of the others stays; whatever is done is what an array would show. */
import t from 'tap'
import { type Link, LinkedList, newLink } from '../../../src/apiserver/flowcontrol/linkedList.ts'
import * as fc from '../../support/fastCheck.ts'

interface Item extends Link<Item> {
  readonly name: number
  readonly other: Link<Item>
}

const item = (name: number): Item => ({ name, older: undefined, newer: undefined, other: newLink() })

t.test('as an array, in two lists at a time', t => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.boolean(), fc.nat(50))), steps => {
      const lists = [new LinkedList<Item>(each => each), new LinkedList<Item>(({ other }) => other)] as const
      const expected: [Item[], Item[]] = [[], []]
      const items = Array.from({ length: 12 }, (_, n) => item(n))
      for (const [second, adds, n] of steps) {
        const [list, order] = second ? [lists[1], expected[1]] : [lists[0], expected[0]]
        const one = items[n % items.length]!
        const at = order.indexOf(one)
        if (adds && at < 0) {
          list.append(one)
          order.push(one)
        } else if (!adds && at >= 0) {
          list.remove(one)
          order.splice(at, 1)
        }
      }
      lists.forEach((list, which) => {
        const linkOf = (each: Item): Link<Item> => (which === 0 ? each : each.other)
        const [onward, back]: [number[], number[]] = [[], []]
        for (let each = list.oldest; each !== undefined; each = linkOf(each).newer) onward.push(each.name)
        for (let each = list.newest; each !== undefined; each = linkOf(each).older) back.unshift(each.name)
        const names = expected[which]!.map(({ name }) => name)
        if (`${onward}` !== `${names}` || `${back}` !== `${names}`) throw new Error(`${onward} / ${back} / ${names}`)
      })
    }),
  )
  t.end()
})
