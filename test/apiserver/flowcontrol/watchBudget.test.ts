/** How many watches there may be, and that a long selector counts as several. */
import t from 'tap'
import { WatchBudget, watchWeight } from '../../../src/apiserver/flowcontrol/watchBudget.ts'
import {
  addTally,
  emptyTally,
  type WatchedPlace,
  type WatchOwner,
} from '../../../src/apiserver/flowcontrol/watchTally.ts'

const owner = (more: Partial<WatchOwner> = {}): WatchOwner => ({
  spaces: ['a'],
  user: 'u',
  isSyncer: false,
  isExempt: false,
  weight: 1,
  ...more,
})
const PLACE: WatchedPlace = { space: 'a', resource: 'pods', namespace: '' }
const takeAll = (budget: WatchBudget, who: WatchOwner): number => {
  let taken = 0
  while (budget.admit(who, PLACE)) taken++
  return taken
}

t.test('a space has a quarter of all, those below it half of that and so on', async t => {
  const budget = new WatchBudget(800)
  t.equal(takeAll(budget, owner({ spaces: ['a', 'b'], user: 'v' })), 100)
  t.equal(takeAll(budget, owner()), 100, 'what is left of the quarter')
  t.equal(takeAll(budget, owner({ spaces: ['c'], user: 'v' })), 100, 'a user has a quarter, too')
  t.equal(takeAll(budget, owner({ spaces: ['m'], isSyncer: true })), 4)
  t.equal(budget.open, 304)
  for (let i = 0; i < 100; i++) budget.release(owner(), PLACE)
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
  budget.release(wide, PLACE)
  t.ok(budget.admit(wide, PLACE), 'it takes the room that it gave')
  t.ok(budget.admit(owner({ isExempt: true, weight: 1000 }), PLACE))
})

t.test('those of other threads take room, count for what a change costs, and are not its own', async t => {
  const budget = new WatchBudget(800)
  const other = new WatchBudget(800)
  takeAll(other, owner())
  budget.add(structuredClone(other.all))
  t.equal(takeAll(budget, owner()), 0)
  t.equal(takeAll(budget, owner({ spaces: ['c'], user: 'v' })), 200)
  t.equal(budget.open, 200)
  t.equal(budget.all.open, 400)
  t.equal(budget.of('a', 'pods', 'x'), 400)
  budget.add(structuredClone(other.all), -1)
  t.equal(budget.of('a', 'pods', 'x'), 200)
  t.equal(takeAll(budget, owner()), 200, 'they have gone')
})

t.test('what streams and watches of all namespaces are told of counts with those of one', async t => {
  const budget = new WatchBudget(800)
  const at = (place: Partial<WatchedPlace>): void => void budget.admit(owner(), { ...PLACE, ...place })
  at({ resource: '' })
  at({})
  at({ namespace: 'x' })
  at({ space: '*' })
  t.same(
    [
      budget.of('a', 'pods', 'x'),
      budget.of('a', 'pods', 'y'),
      budget.of('a', 'secrets', ''),
      budget.of('b', 'pods', ''),
    ],
    [4, 3, 1, 1],
  )
})

t.test('a tally that is taken out of another leaves nothing behind', async t => {
  const budget = new WatchBudget(800)
  takeAll(budget, owner())
  takeAll(budget, owner({ spaces: ['m'], isSyncer: true }))
  const all = emptyTally()
  addTally(all, budget.all)
  t.same(all, budget.all)
  addTally(all, budget.all, -1)
  t.same(all, emptyTally())
})
