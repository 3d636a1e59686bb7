import t from 'tap'
import { HurriedClock } from './hurriedClock.ts'

t.test('who hurries does in order what was to come soon, and what is due by then', t => {
  const clock = new HurriedClock()
  const done: string[] = []
  const startedMs = clock.now()
  clock.after(4000, () => done.push('later'))
  clock.after(1000, () => {
    done.push('soon')
    clock.after(500, () => done.push('after that'))
  })
  clock.after(2000, () => done.push('not any more'))()
  t.teardown(clock.after(3_600_000, () => done.push('in an hour')))
  const byMs: number[] = []
  for (let by = clock.hurry(); by !== undefined; by = clock.hurry()) byMs.push(by)
  t.strictSame(done, ['soon', 'after that', 'later'])
  t.ok(clock.now() - startedMs >= 4000)
  t.equal(byMs.length, 3)
  t.end()
})
