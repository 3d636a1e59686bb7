/** States of a copy and counts of a placement are the same in the code, in openapi/groups and in docs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { COPY_COUNTS, COPY_STATES, COUNT_NAMES, OUTCOME_STATES } from '../../../src/placement/outcome/copyStates.ts'
import { withStates, withSums } from '../../../tools/commands/states.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../..', file), 'utf8')
const GROUP = read('openapi/groups/edge.kubestellar.io.yaml')
const PAGE = read('docs/reference/states.md')
const states = Object.keys(COPY_STATES)
const numbers = (length: number): number[] => Array.from({ length }, (_, i) => i + 1)
const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)

t.test('no two states have one rank, and no two counts one place or rung', async t => {
  t.strictSame(sorted(Object.values(COPY_STATES).map(({ rank }) => rank)), numbers(states.length))
  t.strictSame(sorted(Object.values(COPY_COUNTS).map(({ place }) => place)), numbers(COUNT_NAMES.length))
  t.strictSame(sorted(Object.values(COPY_COUNTS).map(({ rung }) => rung)), numbers(COUNT_NAMES.length))
})

t.test('openapi/groups and the page of states follow the table; "npm run pages" writes them anew', async t => {
  t.equal(withStates(GROUP), GROUP)
  t.equal(withSums(PAGE), PAGE)
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

t.test('each state has its row, and each row a state', async t => {
  const table = /\n## States\n(.*?)\n## /s.exec(PAGE)?.[1] ?? ''
  const rows = table.split('\n').flatMap(line => (/^\| (`[^|]*)\|/.exec(line)?.[1] ?? '').match(/\w+/g) ?? [])
  t.strictSame([...new Set(rows)].filter(state => state !== 'DeletionHeld').sort(), states.toSorted())
})
