/** How much may go from clusters at once, to the copy. */
import t from 'tap'
import { isTooMuch, MAX_EMPTIED, MAX_REMOVED } from '../../../src/placement/brake/removalLimits.ts'

const going = (...sizes: number[]) => new Map(sizes.map((size, i) => [`mailbox ${i}`, { size }]))

t.test('a cluster may be emptied of so many, and not of one more', t => {
  for (const [size, isHeld] of [
    [MAX_EMPTIED, false],
    [MAX_EMPTIED + 1, true],
  ] as const) {
    t.equal(isTooMuch({ byMailbox: going(size), remains: () => false }), isHeld, `${size} and nothing stays`)
    t.equal(isTooMuch({ byMailbox: going(1, size), remains: name => name === 'mailbox 0' }), isHeld, 'in one of two')
    t.equal(isTooMuch({ byMailbox: going(size), remains: () => true }), false, `${size} and something stays`)
  }
  t.end()
})

t.test('so many may go from all clusters together, and not one more', t => {
  const remains = () => true
  t.equal(isTooMuch({ byMailbox: going(MAX_REMOVED), remains }), false)
  t.equal(isTooMuch({ byMailbox: going(MAX_REMOVED + 1), remains }), true)
  t.equal(isTooMuch({ byMailbox: going(MAX_REMOVED - 1, 1), remains }), false)
  t.equal(isTooMuch({ byMailbox: going(MAX_REMOVED - 1, 1, 1), remains }), true)
  t.end()
})
