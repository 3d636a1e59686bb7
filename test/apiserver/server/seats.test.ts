/** No crowd keeps another out, and nothing stands idle that somebody could use. */
import fc from 'fast-check'
import t from 'tap'
import { PRIORITY_LEVELS, type PriorityLevel } from '../../../src/apiserver/server/priorityLevels.ts'
import { Seats } from '../../../src/apiserver/server/seats.ts'

const LEVELS = Object.keys(PRIORITY_LEVELS) as PriorityLevel[]
const BOUNDED = LEVELS.filter(level => level !== 'exempt')
const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0)

/** Asks until refused; how many got in. */
function flood(seats: Seats, level: PriorityLevel): number {
  let got = 0
  while (seats.take(level)) got++
  return got
}

t.test('what the levels have of 400 is what they have of a kube-apiserver', async t => {
  const seats = new Seats(400, () => 0)
  const table = BOUNDED.map(level => [level, seats.share(level), seats.kept(level)])
  t.same(table, [
    ['system', 48, 32],
    ['node-high', 65, 48],
    ['leader-election', 16, 16],
    ['workload-high', 65, 32],
    ['workload-low', 163, 16],
    ['global-default', 32, 16],
    ['catch-all', 8, 8],
  ])
})

t.test('one crowd borrows what is idle, and all the others still get in', async t => {
  for (const crowd of BOUNDED) {
    const seats = new Seats(400, () => 0)
    const others = BOUNDED.filter(level => level !== crowd)
    const kept = sum(others.map(level => seats.kept(level)))
    t.equal(flood(seats, crowd), 400 - kept, `${crowd} alone has all that nobody keeps`)
    for (const other of others) t.equal(flood(seats, other), seats.kept(other), `${other} behind ${crowd}`)
    t.equal(seats.total, 400)
    t.ok(seats.take('exempt'), 'and an administrator')
  }
})

t.test('a bound of one is one', async t => {
  const seats = new Seats(1, () => 0)
  t.ok(seats.take('global-default'))
  t.notOk(seats.take('system'))
  t.ok(seats.take('exempt'))
  seats.give('global-default')
  t.ok(seats.take('system'), 'who is exempt takes nothing from the others')
})

t.test('whatever comes and goes', async t => {
  const event = fc.record({
    level: fc.constantFrom(...LEVELS),
    comes: fc.integer({ min: 0, max: 120 }),
    goes: fc.integer({ min: 0, max: 100 }),
    laterMs: fc.integer({ min: 0, max: 1500 }),
  })
  const property = fc.property(
    fc.integer({ min: 0, max: 400 }),
    fc.array(event, { maxLength: 60 }),
    (limit, events) => {
      const seats = new Seats(limit, () => nowMs)
      const running = Object.fromEntries(LEVELS.map(level => [level, 0])) as Record<PriorityLevel, number>
      let nowMs = 0
      let owedUntilMs = 0
      for (const { level, comes, goes, laterMs } of events) {
        nowMs += laterMs
        for (let i = 0; i < comes; i++) {
          const spoken = sum(BOUNDED.map(each => Math.max(running[each], seats.kept(each))))
          const own = running[level] < seats.share(level)
          const free = spoken < limit && (own || nowMs >= owedUntilMs)
          const expected = level === 'exempt' || running[level] < seats.kept(level) || free
          if (seats.take(level) !== expected) return false
          if (expected) running[level]++
          else if (own) owedUntilMs = nowMs + 2000
        }
        for (let i = 0; i < goes && running[level] > 0; i++) {
          seats.give(level)
          running[level]--
        }
        if (LEVELS.some(each => seats.running(each) !== running[each])) return false
        if (seats.total !== sum(Object.values(running))) return false
        if (seats.total - running.exempt > limit) return false
      }
      return true
    },
  )
  t.doesNotThrow(() => fc.assert(property, { numRuns: 200 }))
})

t.test('a level has its share again once what others had borrowed has ended', async t => {
  const property = fc.property(
    fc.shuffledSubarray(BOUNDED, { minLength: 2 }),
    fc.integer({ min: 0, max: 400 }),
    fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 20 }),
    ([victim, ...crowds], limit, picks) => {
      let nowMs = 0
      const seats = new Seats(limit, () => nowMs)
      const borrowed: PriorityLevel[] = []
      for (const crowd of crowds) for (let n = flood(seats, crowd); n > 0; n--) borrowed.push(crowd)
      // They end in any order; the crowds come again at once, the level that waits for its seats once a second.
      for (let step = 0; borrowed.length > 0; step++) {
        nowMs += 100
        const [ended] = borrowed.splice(picks[step % picks.length]! % borrowed.length, 1)
        if (step % 10 === 0) flood(seats, victim!)
        seats.give(ended!)
        for (const crowd of crowds) flood(seats, crowd)
      }
      flood(seats, victim!)
      return seats.running(victim!) >= seats.share(victim!)
    },
  )
  t.doesNotThrow(() => fc.assert(property, { numRuns: 100 }))
})

t.test('nobody borrows while a level is owed a seat; then lending goes on', async t => {
  let nowMs = 0
  const seats = new Seats(400, () => nowMs)
  flood(seats, 'global-default')
  flood(seats, 'workload-low')
  seats.give('global-default')
  nowMs = 1999
  t.notOk(seats.take('global-default'), 'a crowd gets back no seat that it had borrowed')
  t.ok(seats.take('workload-low'), 'it is there for whoever was refused')
  seats.give('workload-low')
  nowMs = 2000
  t.ok(seats.take('global-default'), 'who does not come again has no claim')
})
