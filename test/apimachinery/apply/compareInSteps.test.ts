/** A comparison in steps has the same result, whatever is large in it, and no step is long. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { compareInSteps, compareValues } from '../../../src/apimachinery/apply/compare.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import * as fc from '../../support/fastCheck.ts'

const ITEM: Schema = { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer' } } }
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    keyed: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: ITEM },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    whole: { type: 'array', items: { type: 'string' } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
  },
}

type Side = Record<string, unknown>

/** Fields that many of them have, some of which differ from the other side's. */
function side(count: number, odd: readonly number[], isOther: boolean): Side {
  const indexes = Array.from({ length: count }, (_, i) => i).filter(i => !(isOther && odd.includes(i) && i % 3 === 0))
  const value = (i: number): string => (isOther && odd.includes(i) ? 'other' : 'same')
  const doubled = odd.filter(i => i % 5 === 0 && i < count)
  return {
    keyed: [...indexes, ...doubled].map(i => ({ name: `n${i}`, port: i, ...(value(i) === 'other' && { more: [i] }) })),
    set: [...indexes, ...doubled].map(i => `s${i}${i % 2 === 0 ? value(i) : ''}`),
    whole: indexes.map(value),
    map: Object.fromEntries(indexes.map(i => [`k${i}`, value(i)])),
  }
}

t.test('as at once', async () => {
  const counts = fc.constantFrom(0, 3, 260, 1300)
  const odd = fc.array(fc.nat({ max: 700 }), { maxLength: 30 })
  const bent = fc.constantFrom('as it is', 'null', 'gone', 'no keys', 'a text', 'no list')
  const property = fc.property(counts, counts, odd, bent, (few, many, which, how) => {
    const [before, after] = [side(few, which, false), side(many, which, true)]
    if (how === 'null') after.map = null
    if (how === 'gone') delete after.keyed
    if (how === 'no keys') after.keyed = [...(after.keyed as unknown[]), { port: 1 }]
    if (how === 'a text') after.set = 'text'
    if (how === 'no list') after.keyed = 'text'
    return [
      [before, after],
      [after, before],
    ].every(([a, b]) => isDeepStrictEqual(atOnce(compareInSteps(a, b, SCHEMA)), compareValues(a, b, SCHEMA)))
  })
  fc.assert(property, { numRuns: 30 })
})

t.test('many elements are many steps', async t => {
  const [before, after] = [side(20_000, [], false), side(20_000, [], true)]
  for (const item of after.keyed as Side[]) item.more = 1
  const steps = [...compareInSteps(before, after, SCHEMA)].length
  t.ok(steps > 100, `${steps} steps`)
  const made = [...compareInSteps({}, after, SCHEMA)].length
  t.ok(made > 100, `${made} steps where all of it is new`)
})
