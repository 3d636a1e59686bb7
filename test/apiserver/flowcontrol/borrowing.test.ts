/** Division of seats: nominal ones, and those at the places of demand. */
import t from 'tap'
import { allot, boundsOf, type LevelDemand, solveFraction } from '../../../src/apiserver/flowcontrol/borrowing.ts'
import * as fc from '../../support/fastCheck.ts'

/** Shares and lent part, in the order of the table in Kubernetes' documentation of its defaults. */
const UPSTREAM = [
  ['catch-all', 5, 0],
  ['system', 30, 33],
  ['node-high', 40, 25],
  ['leader-election', 10, 0],
  ['workload-high', 40, 50],
  ['workload-low', 100, 90],
  ['global-default', 20, 50],
] as const
const portions = UPSTREAM.map(([, shares, lendablePercent]) => ({ shares, lendablePercent }))

t.test('what the levels have of 600 is what they have of a kube-apiserver', async t => {
  const bounds = boundsOf([{ shares: 0, lendablePercent: 0 }, ...portions], 600)
  t.same(
    bounds.map(({ nominal }) => nominal),
    [0, 13, 74, 98, 25, 98, 245, 49],
  )
  t.same(
    bounds.map(({ min }) => min),
    [0, 13, 50, 73, 25, 49, 24, 24],
  )
  t.same(bounds[6], { nominal: 245, min: 24, max: 245 + 602, first: 135 })
  const [small] = boundsOf([{ shares: 1, lendablePercent: 0, borrowingLimitPercent: 50 }], 10)
  t.equal(small?.max, 15)
})

const level = (index: number, peak: number, average = peak): LevelDemand => ({
  bounds: boundsOf(portions, 600)[index]!,
  exempt: false,
  demand: { average, deviation: 0, peak },
  smoothed: 0,
})

t.test('a crowd gets what the others do not need, and they keep what is theirs', async t => {
  const levels = portions.map((_, index) => level(index, index === 6 ? 10_000 : 0))
  const { allotments } = allot(levels)
  for (const [index, { limit }] of allotments.entries()) {
    if (index !== 6) t.equal(limit, levels[index]!.bounds.min, UPSTREAM[index]![0])
  }
  const kept = levels.reduce((sum, { bounds }, index) => sum + (index === 6 ? 0 : bounds.min), 0)
  t.equal(allotments[6]?.limit, 602 - kept)
})

t.test('what the exempt use is not handed out a second time', async t => {
  const exempt: LevelDemand = {
    bounds: { nominal: 0, min: 0, max: 602, first: 0 },
    exempt: true,
    demand: { average: 300, deviation: 0, peak: 300 },
    smoothed: 0,
  }
  const busy = portions.map((_, index) => level(index, index === 5 ? 400 : 0))
  const { allotments } = allot([exempt, ...busy])
  t.equal(allotments[0]?.limit, 300)
  const others = allotments.slice(1).reduce((sum, { limit }) => sum + limit, 0)
  t.ok(Math.abs(others - 302) <= busy.length, `${others}`)
  t.equal(allot([{ ...exempt, demand: { average: 0, deviation: 0, peak: 900 } }, ...busy]).fairFraction, 0)
})

t.test('demand is forgotten slowly', async t => {
  const before = { ...level(5, 0), smoothed: 200 }
  t.match(allot([before]).allotments[0], { smoothed: 0.977 * 200 })
  t.match(allot([{ ...before, demand: { average: 250, deviation: 30, peak: 300 } }]).allotments[0], { smoothed: 280 })
})

t.test('whatever is asked for: nobody is below their least or above their most, and nothing lies idle', async () => {
  const wish = fc
    .record({ lower: fc.nat({ max: 200 }), more: fc.nat({ max: 300 }), target: fc.nat({ max: 900 }) })
    .map(({ lower, more, target }) => ({ lower, max: lower + more, target: Math.max(lower, target) }))
  fc.assert(
    fc.property(fc.array(wish, { minLength: 1, maxLength: 9 }), fc.nat({ max: 2000 }), (wishes, more) => {
      const lowers = wishes.reduce((sum, { lower }) => sum + lower, 0)
      const most = wishes.reduce((sum, { lower, max, target }) => sum + (target === 0 ? lower : max), 0)
      const seats = lowers + more
      const fraction = solveFraction(wishes, seats)
      const given = wishes.map(({ lower, max, target }) => Math.min(Math.max(fraction * target, lower), max))
      const sum = given.reduce((a, b) => a + b, 0)
      return Math.abs(sum - Math.min(seats, most)) < 1e-6
    }),
    { numRuns: 500 },
  )
})
