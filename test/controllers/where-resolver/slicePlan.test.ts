// Destinations stay in the slice where they are, and none is missing from all of them between two writes.

import t from 'tap'
import { planSlices, rowKey, type Slice } from '../../../src/controllers/where-resolver/slicePlan.ts'
import type { SliceRow } from '../../../src/controllers/whereDesk.ts'
import { MAX_DESTINATIONS } from '../../../src/placement/words/placementSlices.ts'
import * as fc from '../../support/fastCheck.ts'

const row = (n: number): SliceRow => {
  const name = `c${String(n).padStart(5, '0')}`
  return { cluster: 'inv1', locationName: name, syncTargetName: name, syncTargetUID: `uid-${n}` }
}
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => row(from + i))
const plan = (current: readonly Slice[], wanted: readonly SliceRow[], taken: readonly string[] = []) =>
  planSlices({ placement: 'ep', current, wanted, isTaken: name => taken.includes(name) })
const sizes = (slices: readonly Slice[]) => Object.fromEntries(slices.map(({ name, rows }) => [name, rows.length]))
const changed = (before: readonly Slice[], after: readonly Slice[]) =>
  after.filter(({ name, rows }) => {
    const old = before.find(slice => slice.name === name)
    return old?.rows.map(rowKey).join() !== rows.map(rowKey).join()
  })

t.test('the first slice bears the name of the placement, also where there is nothing', async t => {
  t.same(plan([], []).slices, [{ name: 'ep', rows: [] }])
  t.same(sizes(plan([], rows(0, 1200)).slices), { ep: 500, 'ep-slice-2': 500, 'ep-slice-3': 200 })
})

t.test('one that comes or goes touches one slice', async t => {
  const { slices } = plan([], rows(0, 1200))
  const without = plan(slices, [...rows(0, 700), ...rows(701, 1200)])
  t.same(
    changed(slices, without.slices).map(({ name }) => name),
    ['ep-slice-2'],
  )
  const again = plan(without.slices, rows(0, 1201))
  t.equal(changed(without.slices, again.slices).length, 2, 'the free place and the last slice')
  t.equal(changed(without.slices, plan(without.slices, rows(0, 1200)).slices).length, 1)
})

t.test('one slice that is too big is divided, and gives away last', async t => {
  const big = [{ name: 'ep', rows: rows(0, 10_000) }]
  const { slices, givers, gone } = plan(big, rows(0, 10_000))
  t.equal(slices.length, 20)
  t.same([...givers], ['ep'])
  t.same(gone, [])
  t.same(slices[0]!.rows, rows(0, 500))
})

t.test('slices that have become small are dissolved when half of them would do', async t => {
  const { slices } = plan([], rows(0, 2500))
  const fewer = plan(
    slices,
    rows(0, 2500).filter((_, i) => i % 5 === 0),
  )
  t.same(sizes(fewer.slices), { ep: 400, 'ep-slice-5': 100 })
  t.same(fewer.gone.toSorted(), ['ep-slice-2', 'ep-slice-3', 'ep-slice-4'])
})

t.test('a name that another placement has is left to it', async t => {
  t.same(sizes(plan([], rows(0, 501), ['ep-slice-2']).slices), { ep: 500, 'ep-slice-3': 1 })
})

t.test(
  'whatever comes and goes: all that is wanted is there once, nothing else, and what stays never misses',
  async () => {
    const some = fc.uniqueArray(fc.integer({ min: 0, max: 3000 }), { maxLength: 50 })
    const step = fc.record({ from: fc.integer({ min: 0, max: 1500 }), count: fc.nat(1700), holes: some })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), steps => {
        let current: readonly Slice[] = []
        for (const { from, count, holes } of steps) {
          const wanted = rows(from, from + count).filter((_, i) => !holes.includes(i))
          const { slices, givers, gone } = plan(current, wanted)
          const all = slices.flatMap(({ rows }) => rows).map(rowKey)
          if (all.toSorted().join() !== wanted.map(rowKey).toSorted().join()) return false
          if (slices.some(({ name, rows }) => rows.length > MAX_DESTINATIONS || (rows.length === 0 && name !== 'ep')))
            return false
          // as they are written: what gives comes after what takes, what goes comes last
          const state = new Map(current.map(({ name, rows }) => [name, rows]))
          const before = new Set(current.flatMap(({ rows }) => rows).map(rowKey))
          const staying = wanted.map(rowKey).filter(key => before.has(key))
          const isWhole = () => {
            const here = new Set([...state.values()].flat().map(rowKey))
            return staying.every(key => here.has(key))
          }
          for (const { name, rows } of slices.toSorted((a, b) => +givers.has(a.name) - +givers.has(b.name))) {
            state.set(name, rows)
            if (!isWhole()) return false
          }
          for (const name of gone) {
            state.delete(name)
            if (!isWhole()) return false
          }
          current = slices
        }
        return true
      }),
      { numRuns: 15 },
    )
  },
)
