/** Content of spaces equals a recount, whatever was written, placed and removed before. */
import t from 'tap'
import { SpaceUse } from '../../../src/apiserver/spaces/spaceUse.ts'
import * as fc from '../../support/fastCheck.ts'

const IDS = ['root', 'a', 'b', 'c', 'd']
const id = fc.constantFrom(...IDS)

t.test('sums of spaces with all below them equal a recount', async () => {
  const step = fc.oneof(
    fc.record({ add: id, objects: fc.integer({ min: -3, max: 5 }), bytes: fc.integer({ min: -100, max: 500 }) }),
    fc.record({ place: id, above: fc.option(id, { nil: undefined }) }),
    fc.record({ displace: id }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const use = new SpaceUse()
      const above = new Map<string, string | undefined>()
      const own = new Map<string, { objects: number; bytes: number }>()
      const lineage = (space: string): string[] => {
        const found = [space]
        for (let at = above.get(space); at !== undefined; at = above.get(at)) found.push(at)
        return found
      }
      for (const each of steps) {
        if ('add' in each) {
          const was = own.get(each.add) ?? { objects: 0, bytes: 0 }
          const objects = Math.max(each.objects, -was.objects)
          // nothing weighs nothing
          const bytes = was.objects + objects === 0 ? -was.bytes : each.bytes
          own.set(each.add, { objects: was.objects + objects, bytes: was.bytes + bytes })
          use.add(each.add, { objects, bytes })
        } else if ('place' in each) {
          if (each.above !== undefined && lineage(each.above).includes(each.place)) continue
          above.set(each.place, each.above)
          use.place(each.place, each.above)
        } else {
          above.delete(each.displace)
          use.displace(each.displace)
        }
      }
      for (const space of IDS) {
        const all = { objects: 0, bytes: 0 }
        for (const [each, { objects, bytes }] of own) {
          if (!lineage(each).includes(space)) continue
          all.objects += objects
          all.bytes += bytes
        }
        const found = use.get(space)
        const { objects = 0, bytes = 0 } = found?.all ?? {}
        if (objects !== all.objects || bytes !== all.bytes) return false
        if ((found?.own.objects ?? 0) !== (own.get(space)?.objects ?? 0)) return false
      }
      return true
    }),
    { numRuns: 500 },
  )
})

t.test('a space that is nowhere and holds nothing is forgotten', async t => {
  const use = new SpaceUse()
  use.place('a', undefined)
  use.place('b', 'a')
  use.add('b', { objects: 2, bytes: 20 })
  use.displace('b')
  t.match(use.get('a'), { all: { objects: 0 } })
  t.match(use.get('b'), { all: { objects: 2 }, above: undefined }, 'what nobody can reach is counted still')
  use.add('b', { objects: -2, bytes: -20 })
  t.equal(use.get('b'), undefined)
  use.displace('a')
  t.equal(use.size, 0)
})
