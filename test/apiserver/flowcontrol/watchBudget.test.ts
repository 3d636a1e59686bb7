/** How many watches there may be, and that a long selector counts as several. */
import t from 'tap'
import { WatchBudget, type WatchOwner, watchWeight } from '../../../src/apiserver/flowcontrol/watchBudget.ts'

const owner = (more: Partial<WatchOwner> = {}): WatchOwner => ({
  spaces: ['a'],
  user: 'u',
  isSyncer: false,
  isExempt: false,
  weight: 1,
  ...more,
})
const takeAll = (budget: WatchBudget, who: WatchOwner): number => {
  let taken = 0
  while (budget.take(who)) taken++
  return taken
}

t.test('a space has a quarter of all, those below it half of that and so on', async t => {
  const budget = new WatchBudget(800)
  t.equal(takeAll(budget, owner({ spaces: ['a', 'b'], user: 'v' })), 100)
  t.equal(takeAll(budget, owner()), 100, 'what is left of the quarter')
  t.equal(takeAll(budget, owner({ spaces: ['c'], user: 'v' })), 100, 'a user has a quarter, too')
  t.equal(takeAll(budget, owner({ spaces: ['m'], isSyncer: true })), 4)
  t.equal(budget.open, 304)
  for (let i = 0; i < 100; i++) budget.give(owner())
  t.equal(takeAll(budget, owner()), 100)
})

t.test('a watch with a long selector counts as several, and is one', async t => {
  t.equal(watchWeight(0), 1)
  t.equal(watchWeight(3), 1)
  t.equal(watchWeight(1000), 251)
  const budget = new WatchBudget(800)
  const wide = owner({ weight: 60 })
  t.equal(takeAll(budget, wide), 3, '200 for a space')
  t.equal(takeAll(budget, owner()), 20, 'others find the rest')
  t.equal(budget.open, 23)
  budget.give(wide)
  t.ok(budget.take(wide), 'it takes the room that it gave')
  t.ok(budget.take(owner({ isExempt: true, weight: 1000 })))
})
