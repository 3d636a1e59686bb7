// The owner of a space reads what keeps it from being ready, and when that began.
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { failing, healed } from '../../../src/apiserver/spaces/workspaceConditions.ts'

const [EARLY, LATE] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
const OTHER = { type: 'Other', status: 'True', lastTransitionTime: EARLY }

t.test('a refusal is told in its own words, beside what others say', async t => {
  const status = { phase: 'Scheduling', conditions: [OTHER] }
  const error = new StatusError('Forbidden', 'exceeded quota: objects')
  t.same(failing(status, 'provision', error, LATE), {
    phase: 'Scheduling',
    conditions: [
      OTHER,
      {
        type: 'WorkspaceInitialized',
        status: 'False',
        severity: 'Error',
        reason: 'ProvisioningFailed',
        message: 'the space could not be provisioned: exceeded quota: objects; the server tries again',
        lastTransitionTime: LATE,
      },
    ],
  })
})

t.test('the inside of the server is not told', async t => {
  for (const error of [new Error('/var/lib/secret'), new StatusError('InternalError', '/var/lib/secret')]) {
    const text = JSON.stringify(failing({}, 'empty', error, LATE))
    t.notMatch(text, 'secret')
    t.match(
      text,
      /WorkspaceContentDeleted.*DeletionFailed.*the server failed, and its log says why; the server tries again/,
    )
  }
})

t.test('the time is that of the turn, not of the last failure', async t => {
  const first = failing({}, 'provision', new StatusError('Forbidden', 'a'), EARLY)
  const second = failing(first, 'provision', new StatusError('Forbidden', 'b'), LATE)
  t.match(second, { conditions: [{ message: /: b;/, lastTransitionTime: EARLY }] })
  t.same(healed(second, 'provision', LATE), {
    conditions: [{ type: 'WorkspaceInitialized', status: 'True', lastTransitionTime: LATE }],
  })
})

t.test('who never failed says nothing', async t => {
  const status = { phase: 'Ready', conditions: [OTHER] }
  t.equal(healed(status, 'provision', LATE), status)
  t.equal(healed(healed(status, 'provision', LATE), 'empty', LATE), status)
})

t.test('a very long cause is cut', async t => {
  const [condition] = failing({}, 'provision', new StatusError('Forbidden', 'x'.repeat(1e6)), LATE).conditions as [
    { message: string },
  ]
  t.ok(condition.message.length < 1200)
})
