/** Number of log lines for conversion webhooks that fail. */
import t from 'tap'
import { SilentFailures } from '../../../src/apiserver/definitions/silentFailures.ts'

t.test('once a minute for each kind of each space', async t => {
  let now = 0
  const lines: unknown[] = []
  const failures = new SilentFailures({ warn: fields => lines.push(fields) }, () => now)
  const failure = { space: 'a', group: 'example.com', kind: 'Widget', why: 'boom' }
  failures.note(failure)
  failures.note({ ...failure, why: 'other' })
  failures.note({ ...failure, space: 'b' })
  t.strictSame(lines, [failure, { ...failure, space: 'b' }])
  now = 60_000
  failures.note(failure)
  t.equal(lines.length, 3)
})
