/** Long work leaves the loop to others, and ends when nobody wants it. */
import t from 'tap'
import { Abandoned, PAUSE_LIMIT_MS, type Work, WorkTurns } from '../../src/program/workTurns.ts'

/** A loop that turns on command, and a clock that each step of work moves by a millisecond. */
function fakeLoop() {
  let nowMs = 0
  const turns: (() => void)[] = []
  const pauses: { ms: number; call: () => void }[] = []
  const work = new WorkTurns({
    sliceMs: 5,
    clock: () => nowMs,
    later: turn => turns.push(turn),
    after: (ms, call) => pauses.push({ ms, call }),
    pauseLimitMs: PAUSE_LIMIT_MS,
  })
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
  const pass = (ms: number): void => {
    nowMs += ms
  }
  /** Until the pause is over. */
  const wait = (): number => {
    const { ms, call } = pauses.shift()!
    nowMs += ms
    call()
    return ms
  }
  return { work, run, steps, turn, pass, pauses, wait }
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

t.test('many owners of one tenant are no more turns', async t => {
  const { work, run, steps, turn } = fakeLoop()
  work.follow(owner => owner[0]!)
  const all = ['a1', 'a2', 'a3', 'b1'].map(owner => run(owner, 40, { owner }))
  const order: string[] = []
  for (let i = 0; i < 6; i++) {
    const before = steps.length
    await turn()
    order.push(steps[before]!)
  }
  t.same(order, ['a1', 'b1', 'a2', 'b1', 'a3', 'b1'])
  while (await turn());
  await Promise.all(all)
})

t.test('those that nobody waits for are told in bounded numbers', async t => {
  const { run, turn } = fakeLoop()
  let told = 0
  const gone = Array.from({ length: 100 }, () =>
    run('gone', 20, { owner: 'x', isAbandoned: () => true }).catch(() => void told++),
  )
  const counts: number[] = []
  while (await turn()) counts.push(told)
  await Promise.all(gone)
  t.equal(told, 100)
  t.same(counts.slice(0, 4), [32, 64, 96, 100])
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

t.test('whoever comes in a turn whose slice is over waits, however long the first steps were', async t => {
  const { work, turn, pass } = fakeLoop()
  const begun: number[] = []
  const long = async (i: number): Promise<void> => {
    const mine = work.begin({ owner: `space ${i}` })
    if (mine.due) await mine.rest()
    begun.push(i)
    pass(12)
  }
  const all = Promise.all(Array.from({ length: 8 }, (_, i) => long(i)))
  t.strictSame(begun, [0])
  for (let i = 1; i < 8; i++) {
    await turn()
    t.equal(begun.length, i + 1, 'one in each turn')
  }
  await all
  t.ok(await turn(), 'the last one asked for a turn that ends its slice')
  t.notOk(await turn(), 'then there is nothing more to do')
  t.notOk(work.begin({ owner: 'later' }).due, 'and the next one has a slice of its own')
})

t.test('while others connect there are no slices, so the loop turns and lets them in', async t => {
  const { work, run, steps, turn } = fakeLoop()
  const all = [run('a', 30)]
  const begun = steps.length
  for (let i = 0; i < 5; i++) {
    work.giveWay()
    all.push(run(`newcomer ${i}`, 1))
    await turn()
  }
  t.equal(steps.filter(step => step === 'a').length, begun)
  t.equal(steps.length, begun + 5, 'what somebody begins meanwhile does its first step, and waits')
  await turn()
  t.ok(steps.length > begun + 5)
  while (await turn());
  await Promise.all(all)
})

t.test('what is short is done while others connect, and does not sit on its seat until they are in', async t => {
  const { work, run, pass, turn } = fakeLoop()
  work.giveWay()
  const short = work.begin({ owner: 'a' })
  for (let i = 0; i < 4; i++) {
    pass(0.1)
    t.notOk(short.due, 'it goes on')
  }
  pass(0.2)
  t.ok(short.due, 'it is not short any more')
  const long = run('b', 30)
  await turn()
  t.notOk(work.begin({ owner: 'c' }).due, 'the next newcomer may only not be seen yet')
  await turn()
  t.ok(work.begin({ owner: 'd' }).due, 'without a newcomer it is the slice that counts')
  while (await turn());
  await long
})

t.test('whoever connects again and again does not stop it', async t => {
  const { work, run, steps, turn } = fakeLoop()
  const done = run('a', 30)
  let turns = 0
  for (; steps.length < 30 && turns < 1000; turns++) {
    work.giveWay()
    await turn()
  }
  await done
  t.ok(turns < 150, `${turns} turns`)
})

t.test('what is short goes before the slice, with what follows from it', async t => {
  const { work, run, steps, turn } = fakeLoop()
  const done = run('a', 10)
  const begun = steps.length
  let before = 0
  work.soon(() => {
    void Promise.resolve()
      .then(() => {})
      .then(() => {
        before = steps.length
      })
  })
  await turn()
  t.equal(before, begun)
  t.ok(steps.length > begun, 'the slice was in the same turn')
  while (await turn());
  await done
  work.soon(() => steps.push('alone'))
  await turn()
  t.equal(steps.at(-1), 'alone', 'also where nobody works')
})

/** Steps that cannot be cut: how many have been done. */
function longSteps({ work, pass }: ReturnType<typeof fakeLoop>, ms: number) {
  const done: string[] = []
  const run = async (owner: string, count: number): Promise<void> => {
    const mine = work.begin({ owner })
    for (let i = 0; i < count; i++) {
      if (mine.due) await mine.rest()
      done.push(owner)
      pass(ms)
    }
    if (mine.due) await mine.rest()
  }
  return { run, done }
}

t.test('behind a step that cannot be cut the loop is left to others for as long, owners in turn', async t => {
  const loop = fakeLoop()
  const { run, done } = longSteps(loop, 45)
  const all = [run('a', 2), run('b', 1)]
  t.same(done, ['a'])
  await loop.turn()
  t.same(done, ['a'], 'nobody goes on')
  t.notOk(await loop.turn(), 'nor does the loop turn for that alone')
  t.equal(loop.wait(), 40, 'what it took beyond the slice')
  await loop.turn()
  t.same(done, ['a', 'a'])
  await loop.turn()
  loop.wait()
  await loop.turn()
  t.same(done, ['a', 'a', 'b'])
  while ((await loop.turn()) || (loop.pauses.length > 0 && loop.wait()));
  await Promise.all(all)
})

t.test('meanwhile what is short is done, and what begins waits', async t => {
  const loop = fakeLoop()
  const { run } = longSteps(loop, 45)
  const first = run('a', 1)
  await loop.turn()
  const soon: string[] = []
  loop.work.soon(() => {
    soon.push('first')
    loop.work.soon(() => soon.push('behind it'))
  })
  while (await loop.turn());
  t.same(soon, ['first', 'behind it'])
  t.equal(loop.work.begin({ owner: 'b' }).due, true)
  t.equal(loop.pauses.length, 1)
  loop.wait()
  while (await loop.turn());
  await first
  t.notOk(loop.work.begin({ owner: 'b' }).due)
})

t.test('such a pause has an end, and what others take in the turn of a slice makes none', async t => {
  const loop = fakeLoop()
  const first = longSteps(loop, 5000).run('a', 1)
  await loop.turn()
  t.equal(loop.wait(), 500)
  while (await loop.turn());
  await first
  loop.work.begin({ owner: 'a' }).due
  loop.pass(100)
  t.equal(loop.work.begin({ owner: 'b' }).due, true)
  while (await loop.turn());
  t.same(loop.pauses, [])
})
