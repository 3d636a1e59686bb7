/** How many API threads the load asks for. */
import t from 'tap'
import { LOOKS } from '../../../src/apiserver/threads/shedding.ts'
import { SPARE_LOOKS, ThreadDemand } from '../../../src/apiserver/threads/threadDemand.ts'

const last = (demand: ThreadDemand, looks: number, loads: readonly number[], onProcessor = 1): number => {
  let wanted = 0
  for (let i = 0; i < looks; i++) wanted = demand.look(loads, onProcessor)
  return wanted
}

t.test('one more when all loops are busy, several looks on end', async t => {
  t.equal(last(new ThreadDemand(), LOOKS - 1, [1]), 0)
  t.equal(last(new ThreadDemand(), LOOKS, [1]), 1)
  t.equal(last(new ThreadDemand(), LOOKS, [1, 0.9]), 1)
  t.equal(last(new ThreadDemand(), LOOKS, [1, 0.5]), 0, 'one has room')
  const demand = new ThreadDemand()
  last(demand, LOOKS - 1, [1])
  last(demand, 1, [0.5])
  t.equal(last(demand, LOOKS - 1, [1]), 0, 'not on end')
})

t.test('none more where the main loop waits for a processor', async t => {
  t.equal(last(new ThreadDemand(), 10 * LOOKS, [1], 0.4), 0)
})

t.test('one less when the others could long have done all of it', async t => {
  t.equal(last(new ThreadDemand(), SPARE_LOOKS - 1, [0.2, 0.05]), 0)
  t.equal(last(new ThreadDemand(), SPARE_LOOKS, [0.2, 0.05]), -1)
  t.equal(last(new ThreadDemand(), SPARE_LOOKS, [0.2, 0.2]), 0, 'it would have too much')
  t.equal(last(new ThreadDemand(), SPARE_LOOKS, [0]), 0, 'the main loop stays')
})
