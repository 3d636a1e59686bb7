/** Values that are compared in steps are as equal as `equalJson` says, and no step is long. */
import t from 'tap'
import { equalInSteps } from '../../src/apimachinery/equalInSteps.ts'
import { atOnce } from '../../src/apimachinery/steps.ts'
import { equalJson } from '../../src/apimachinery/values.ts'
import { countSteps } from '../support/countSteps.ts'
import * as fc from '../support/fastCheck.ts'

const key = fc.constantFrom('a', 'b', '__proto__', 'constructor')
const value = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(1, 2, 'x', null, true, undefined),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map(members => Object.fromEntries(members)),
  ),
})).value

t.test('the same verdict', async t => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      const copy = structuredClone(a)
      return (
        atOnce(equalInSteps(a, b)) === equalJson(a, b) &&
        atOnce(equalInSteps(b, a)) === equalJson(b, a) &&
        atOnce(equalInSteps(a, copy)) === equalJson(a, copy)
      )
    }),
    { numRuns: 2000 },
  )
  t.notOk(atOnce(equalInSteps({ a: undefined, b: 1 }, { a: 1, b: 1 })))
  t.ok(atOnce(equalInSteps({ a: undefined }, {})))
})

t.test('large values are many steps', async t => {
  const make = () => ({
    list: Array.from({ length: 20_000 }, (_, i) => ({ name: `${i}` })),
    map: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, {}])),
  })
  const { result, steps } = countSteps(equalInSteps(make(), make()))
  t.ok(result)
  t.ok(steps > 80, `${steps} steps`)
})
