/** How often the log hears of conversion webhooks that fail. */
import t from 'tap'
import { UnheardFailures } from '../../../src/apiserver/definitions/unheardFailures.ts'

t.test('once a minute for each kind of each space', async t => {
  let now = 0
  const lines: unknown[] = []
  const failures = new UnheardFailures({ warn: fields => lines.push(fields) }, () => now)
  const failure = { space: 'a', group: 'example.com', kind: 'Widget', why: 'boom' }
  failures.note(failure)
  failures.note({ ...failure, why: 'other' })
  failures.note({ ...failure, space: 'b' })
  t.strictSame(lines, [failure, { ...failure, space: 'b' }])
  now = 60_000
  failures.note(failure)
  t.equal(lines.length, 3)
})
