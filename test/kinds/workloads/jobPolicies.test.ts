import t from 'tap'
import { countIndexes } from '../../../src/kinds/workloads/jobPolicies.ts'
import * as fc from '../../support/fastCheck.ts'

/** `[0, 1, 2, 5]` as `0-2,5`. */
function textOf(indexes: readonly number[]): string {
  const runs: [number, number][] = []
  for (const index of indexes) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === index - 1) last[1] = index
    else runs.push([index, index])
  }
  return runs.map(([first, end]) => (first === end ? String(first) : `${first}-${end}`)).join(',')
}

t.test('as many indexes as a text names', async t => {
  const sets = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { maxLength: 30 })
  fc.assert(
    fc.property(sets, set => {
      const indexes = [...set].sort((a, b) => a - b)
      t.same(countIndexes(textOf(indexes), 100), { total: indexes.length })
    }),
    { numRuns: 200 },
  )
})

t.test('what is wrong with a text', async t => {
  for (const [text, problem] of [
    ['5', 'too large index: "5"'],
    ['0-5', 'too large index: "5"'],
    ['', undefined],
    ['x', 'cannot convert string to integer for index: "x"'],
    ['1-', 'cannot convert string to integer for index: ""'],
    ['1,1', 'non-increasing order, previous: 1, current: 1'],
    ['1-1', 'non-increasing order, previous: 1, current: 1'],
    ['0-2,1', 'non-increasing order, previous: 2, current: 1'],
    [
      '1-2-3',
      'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
    ],
  ] as const) {
    t.equal(countIndexes(text, 5).problem, problem, text)
  }
})
