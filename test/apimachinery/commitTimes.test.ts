/** When a change was committed is known of the newest ones, whatever shares a commit. */
import t from 'tap'
import { CommitTimes } from '../../src/apimachinery/commitTimes.ts'

t.test('a change was committed with all of its commit', async t => {
  const times = new CommitTimes()
  t.equal(times.of(1), undefined, 'nothing was')
  times.add(3, 100)
  times.add(4, 200)
  times.add(9, 200)
  times.add(10, 300)
  t.same(
    [1, 3, 4, 5, 9, 10, 11].map(revision => times.of(revision)),
    [100, 100, 200, 200, 200, 300, undefined],
  )
})

t.test('of what is long ago the first that is remembered is told', async t => {
  const times = new CommitTimes()
  for (let i = 1; i <= 100_000; i++) times.add(2 * i, i)
  t.equal(times.of(200_000), 100_000)
  t.equal(times.of(199_999), 100_000)
  t.equal(times.of(199_998), 99_999)
  t.equal(times.of(1), 100_000 - 32_768 + 1)
})
