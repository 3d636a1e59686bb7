// An owner that holds the loop up much has less and less time to do so, and gets it back as time goes by.
import t from 'tap'
import { LoopShare } from '../../src/program/loopShare.ts'

function shareAt(t: { now: number }) {
  const share = new LoopShare(() => t.now)
  /** Share of an owner, of which it uses some. */
  return (owner: string, useMs = 0): number =>
    share.run(owner, ms => {
      t.now += useMs
      return ms
    })
}

t.test('ordinary work always has all of it', async t => {
  const time = { now: 1000 }
  const run = shareAt(time)
  for (let i = 0; i < 1000; i++) t.equal(run('a', 0.4), 20)
})

t.test('what was used is missing until some time has gone by', async t => {
  const time = { now: 1000 }
  const run = shareAt(time)
  t.equal(run('a', 15), 20)
  t.equal(run('a', 15), 5)
  t.equal(run('a', 15), 2, 'a little is always there')
  t.equal(run('b'), 20, 'for others nothing has changed')
  time.now += 200
  t.equal(run('a'), 10)
  time.now += 10_000
  t.equal(run('a'), 20, 'and no more than that')
})

t.test('work that fails counts, too', async t => {
  const time = { now: 0 }
  const share = new LoopShare(() => time.now)
  const fail = (): never => {
    time.now += 12
    throw new Error('no')
  }
  t.throws(() => share.run('a', fail), { message: 'no' })
  t.equal(
    share.run('a', ms => ms),
    8,
  )
})
