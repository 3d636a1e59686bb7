/** JSON that is written in steps is what JSON.stringify writes, and no step is long. */
import t from 'tap'
import { jsonTextInSteps } from '../../src/apimachinery/jsonText.ts'
import { countSteps } from '../support/countSteps.ts'
import * as fc from '../support/fastCheck.ts'

t.test('the same text, whatever is in it', async t => {
  const many = Array.from({ length: 600 }, (_, i) => i)
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, key) => {
      for (const all of [
        [...many, value, undefined],
        { [key]: value, many, none: undefined },
        { a: [value], b: { many, value } },
        [value],
      ])
        t.equal(countSteps(jsonTextInSteps(all)).result, JSON.stringify(all))
    }),
    { numRuns: 100 },
  )
})

t.test('a large one is many steps, whether wide or deep', async t => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k:{"name":"${i}"}`, { 'f:value': {} }]))
  const list = Array.from({ length: 20_000 }, (_, i) => ({ name: `E${i}`, value: 'v' }))
  for (const value of [{ wide }, { a: { b: { list } } }, list]) {
    const { steps, result } = countSteps(jsonTextInSteps(value))
    t.equal(result, JSON.stringify(value))
    t.ok(steps > 30, `${steps} steps`)
  }
  t.equal(countSteps(jsonTextInSteps({ small: [] })).steps, countSteps(jsonTextInSteps({})).steps, 'a small one is one')
})
