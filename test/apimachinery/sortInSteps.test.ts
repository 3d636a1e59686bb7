/** A sort in steps gives the result of `toSorted`, and no step is long. */
import t from 'tap'
import { sortInSteps } from '../../src/apimachinery/sortInSteps.ts'
import { atOnce } from '../../src/apimachinery/steps.ts'
import * as fc from '../support/fastCheck.ts'

const byKey = (a: { key: number }, b: { key: number }): number => a.key - b.key

t.test('in the same order, and stable', async t => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 }), { maxLength: 1500, size: 'max' }), keys => {
      const all = keys.map((key, place) => ({ key, place }))
      const before = [...all]
      t.same(atOnce(sortInSteps(all, byKey)), all.toSorted(byKey))
      t.same(all, before, 'what was given stays as it is')
    }),
    { numRuns: 50 },
  )
})

t.test('no step compares many', async t => {
  let compared = 0
  let most = 0
  const keys = Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 20_011)
  const steps = sortInSteps(keys, (a, b) => {
    compared++
    return a - b
  })
  for (let step = steps.next(); !step.done; step = steps.next()) {
    most = Math.max(most, compared)
    compared = 0
  }
  t.ok(most < 5000, `${most} comparisons in a step`)
})
