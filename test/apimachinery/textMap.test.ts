import t from 'tap'
import { TextMap } from '../../src/apimachinery/textMap.ts'
import * as fc from '../support/fastCheck.ts'

t.test('it answers as a map does, whatever is put in, taken out and put in again', async t => {
  const step = fc.record({ name: fc.nat(3000), run: fc.nat(700), adds: fc.boolean(), value: fc.nat(9) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(1, 7, 1009), (steps, stride) => {
      const [map, model] = [new TextMap<number>(), new Map<string, number>()]
      for (const { name, run, adds, value } of steps)
        for (let i = 0; i < run; i++) {
          const key = `uid-${(name + i * stride) % 3000}`
          if (adds) {
            map.set(key, value)
            model.set(key, value)
          } else if (map.delete(key) !== model.delete(key)) return false
        }
      const isSame = (key: string): boolean => map.get(key) === model.get(key) && map.has(key) === model.has(key)
      return map.size === model.size && Array.from({ length: 3001 }, (_, i) => `uid-${i}`).every(isSame)
    }),
  )
  t.pass('in all runs')
})
