/** Work of requests before they run. */
import t from 'tap'
import { RetryAfter } from '../../../src/apiserver/flowcontrol/retryAfter.ts'
import { changeWork, type ListSize, listWork, widestOf } from '../../../src/apiserver/flowcontrol/workEstimates.ts'

const list: ListSize = { objects: 1000, bytes: 1000, limit: undefined, selects: false, streamed: true }
const seats = (part: Partial<ListSize>, widest = 100): number => listWork({ ...list, ...part }, widest).initialSeats

t.test('lists by what they look at; what is made whole by all of it', async t => {
  t.equal(seats({}), 10)
  t.equal(seats({ objects: 50_000 }), 10, 'a list that is written piece by piece')
  t.equal(seats({ objects: 5000, streamed: false }), 50)
  t.equal(seats({ objects: 50_000, streamed: false }), 100)
  t.equal(seats({ limit: 100 }), 1)
  t.equal(seats({ limit: 100, selects: true }), 5, 'who selects looks at more than is shown')
  t.equal(seats({ objects: 0 }), 1)
  t.equal(seats({ objects: undefined }, 7), 7, 'where nobody knows, the most')
  t.equal(seats({ objects: 5000, streamed: false }, 8), 8)
})

t.test('changes by who is told of them', async t => {
  t.same(changeWork(9, 10), { initialSeats: 1, finalSeats: 0, extraMs: 0 })
  t.same(changeWork(10, 10), { initialSeats: 1, finalSeats: 1, extraMs: 5 })
  t.same(changeWork(95, 10), { initialSeats: 1, finalSeats: 10, extraMs: 5 })
  t.same(changeWork(400, 10), { initialSeats: 1, finalSeats: 10, extraMs: 20 }, 'wider than it may be: longer')
})

t.test('no request takes more than a part of its level', async t => {
  t.equal(widestOf(245, 6), 37)
  t.equal(widestOf(49, 6), 8)
  t.equal(widestOf(49, 8), 6)
  t.equal(widestOf(13, undefined), 2)
  t.equal(widestOf(3, 8), 1)
})

t.test('a crowd that does not go away is told to come later and later, and sooner again', async t => {
  const after = new RetryAfter(0)
  let now = 0
  const told: number[] = []
  for (let second = 0; second < 70; second++) {
    for (let n = 0; n < 200; n++) told.push(after.refused(now))
    now += 1000
  }
  t.same([...new Set(told)], [1, 2, 4, 8, 16, 32])
  now += 33_000
  after.refused(now)
  now += 33_000
  t.ok(after.refused(now) < 32)
  now += 3_600_000
  t.equal(after.refused(now), 1)
})
