/** The number of API threads follows the flag, else the cores; nothing else. */
import t from 'tap'
import { type ApiThreadFacts, apiThreadCount } from '../../../../src/cli/orrery/server/apiThreadCount.ts'

const counted = (facts: Partial<ApiThreadFacts>): number =>
  apiThreadCount({ count: undefined, isAudited: false, cores: 8, platform: 'linux', ...facts })

t.test('without a number: none up to two cores, else one less than the cores, four at most', async t => {
  const byCores = [1, 2, 3, 4, 5, 6, 64].map(cores => counted({ cores }))
  t.strictSame(byCores, [0, 0, 2, 3, 4, 4, 4])
})

t.test('without a number none begins where requests are recorded, nor on a system that shares no ports', async t => {
  t.equal(counted({ isAudited: true }), 0)
  t.equal(counted({ platform: 'darwin' }), 0)
})

t.test('a number counts, whatever the cores', async t => {
  t.strictSame(
    [counted({ count: 0 }), counted({ count: 3, cores: 1 }), counted({ count: 32, isAudited: true })],
    [0, 3, 32],
  )
  t.equal(counted({ count: 0, platform: 'darwin' }), 0)
  t.throws(() => counted({ count: 33 }), { message: '--api-threads: 33 is more than 32' })
  t.throws(() => counted({ count: 1, platform: 'darwin' }), { message: /^--api-threads needs Linux/ })
})
