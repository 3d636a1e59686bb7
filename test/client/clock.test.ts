import t from 'tap'
import { systemClock } from '../../src/client/clock.ts'

t.test('what is to come in two months does not come at once', async t => {
  const came: string[] = []
  const cancel = systemClock.after(5.5e9, () => came.push('in two months'))
  // timers of one process come in the order of their times
  await new Promise<void>(resolve => systemClock.after(5, resolve))
  t.same(came, [])
  cancel()
})
