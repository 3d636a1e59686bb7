import t from 'tap'
import { age, humanDuration } from '../../../src/kinds/printers/duration.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

t.test('ages are as coarse as kubectl users know them', async t => {
  const cases: [number, string][] = [
    [-2 * S, '<invalid>'],
    [-S, '0s'],
    [0, '0s'],
    [119 * S, '119s'],
    [2 * M, '2m'],
    [5 * M + 30 * S, '5m30s'],
    [10 * M + 30 * S, '10m'],
    [179 * M, '179m'],
    [3 * H, '3h'],
    [7 * H + 5 * M, '7h5m'],
    [47 * H, '47h'],
    [3 * D + 4 * H, '3d4h'],
    [8 * D + 4 * H, '8d'],
    [729 * D, '729d'],
    [2 * 365 * D, '2y'],
    [3 * 365 * D + 10 * D, '3y10d'],
    [9 * 365 * D + 10 * D, '9y'],
  ]
  for (const [ms, shown] of cases) t.equal(humanDuration(ms), shown, shown)
})

t.test('an absent timestamp has an unknown age, a wrong one an invalid age', async t => {
  const now = new Date('2026-01-01T00:05:00Z')
  t.equal(age('2026-01-01T00:00:00Z', now), '5m')
  t.equal(age(undefined, now), '<unknown>')
  t.equal(age('yesterday', now), '<invalid>')
})
