/** States of a copy and counts of a placement are the same in the code and in openapi/groups. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { COPY_COUNTS, COPY_STATES, COUNT_NAMES, OUTCOME_STATES } from '../../../src/placement/outcome/copyStates.ts'
import { withStates } from '../../../tools/pages/states.ts'

const GROUP = readFileSync(join(import.meta.dirname, '../../../openapi/groups/edge.kubestellar.io.yaml'), 'utf8')
const states = Object.keys(COPY_STATES)
const numbers = (length: number): number[] => Array.from({ length }, (_, i) => i + 1)
const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)

t.test('no two states have one rank, and no two counts one place or rung', async t => {
  t.strictSame(sorted(Object.values(COPY_STATES).map(({ rank }) => rank)), numbers(states.length))
  t.strictSame(sorted(Object.values(COPY_COUNTS).map(({ place }) => place)), numbers(COUNT_NAMES.length))
  t.strictSame(sorted(Object.values(COPY_COUNTS).map(({ rung }) => rung)), numbers(COUNT_NAMES.length))
})

t.test('openapi/groups follow the table; "npm run pages" writes them anew', async t => {
  t.equal(withStates(GROUP), GROUP)
  for (const [from, to] of [
    [OUTCOME_STATES.join(', '), 'refused'],
    ['                    - Drifted\n', ''],
    [COPY_COUNTS.retrying.description, 'Copies.'],
  ] as const) {
    const stale = GROUP.replace(from, to)
    t.not(stale, GROUP)
    t.equal(withStates(stale), GROUP)
  }
})
