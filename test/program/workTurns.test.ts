/** Long work leaves the loop to others, and ends when nobody wants it. */
import t from 'tap'
import { Abandoned, type Work, WorkTurns } from '../../src/program/workTurns.ts'

/** A loop that turns when it is told to, and a clock that each step of work moves by a millisecond. */
function fakeLoop() {
  let nowMs = 0
  const turns: (() => void)[] = []
  const work = new WorkTurns({ sliceMs: 5, clock: () => nowMs, later: turn => turns.push(turn) })
  const steps: string[] = []
  const run = async (name: string, count: number, options: { owner?: string; isAbandoned?: () => boolean } = {}) => {
    const mine: Work = work.begin({ owner: name, ...options })
    for (let i = 0; i < count; i++) {
      steps.push(name)
      nowMs++
      if (mine.due) await mine.rest()
    }
  }
  const turn = async (): Promise<boolean> => {
    const [next] = turns.splice(0, 1)
    next?.()
    await new Promise(setImmediate)
    return next !== undefined
  }
  return { run, steps, turn }
}

t.test('a slice, then a turn of the loop', async t => {
  const { run, steps, turn } = fakeLoop()
  const done = run('a', 20)
  t.equal(steps.length, 6, 'the first step began the slice')
  await turn()
  t.equal(steps.length, 11)
  while (await turn());
  await done
  t.equal(steps.length, 20)
})

t.test('many at a time have one slice together, and owners take turns', async t => {
  const { run, steps, turn } = fakeLoop()
  const all = [run('a', 30, { owner: 'x' }), run('b', 30, { owner: 'x' }), run('c', 30, { owner: 'y' })]
  t.equal(steps.length, 8, 'a slice, and the step in which each finds that it is over')
  const order: string[] = []
  for (;;) {
    const before = steps.length
    if (!(await turn())) break
    t.ok(steps.length - before <= 6, 'no turn has more')
    if (steps.length > before) order.push(steps.at(-1)!)
  }
  await Promise.all(all)
  t.equal(steps.length, 90)
  t.strictSame(order.slice(0, 6), ['a', 'c', 'b', 'c', 'a', 'c'])
})

t.test('what nobody wants ends with its slice', async t => {
  const { run, steps, turn } = fakeLoop()
  let gone = false
  const ended = t.rejects(run('a', 1000, { isAbandoned: () => gone }), Abandoned)
  const other = run('b', 3)
  gone = true
  const before = steps.length
  while (await turn());
  await ended
  await other
  t.equal(steps.filter(name => name === 'a').length, 6)
  t.equal(steps.length, before + 2, 'the other one went on')
})
