/** A syncer's report is read strictly: what is wrong is refused by its field, and what is too much is not taken. */
import t from 'tap'
import { isStatusError } from '../../../src/apimachinery/errors.ts'
import { MAX_EXCEPTIONS, readOutcomeReport, requireReached } from '../../../src/placement/outcome/outcome.ts'

const key = { group: '', resource: 'configmaps', namespace: 'shop', name: 'page' }
const exception = {
  ...key,
  seq: 7,
  state: 'refused',
  reason: 'Forbidden',
  message: 'no',
  since: '2026-01-31T12:00:00Z',
}
const report = {
  session: 's',
  number: 1,
  whole: true,
  epoch: 'e',
  compared: true,
  processed: 9,
  exceptions: [exception],
}

t.test('what is said is read', async t => {
  const whole = readOutcomeReport({ ...report, settled: [key], unlisted: { retrying: 3 } })
  t.strictSame(whole, { ...report, settled: [key], unlisted: { retrying: 3 } })
  const versions = { kubernetes: 'v1.34.1', syncer: '0.2.0' }
  t.strictSame(readOutcomeReport({ ...report, versions }).versions, versions)
  const least = readOutcomeReport({ session: 's', number: 1, processed: 0 })
  t.match(least, { whole: false, compared: false, epoch: '', exceptions: [], settled: [], unlisted: {} })
})

t.test('what a cluster does not hold as it was sent is read as strictly', async t => {
  const read = (more: object) =>
    readOutcomeReport({
      ...{ session: 's', number: 1, processed: 1 },
      exceptions: [
        {
          resource: 'jobs',
          group: 'batch',
          name: 'j',
          seq: 1,
          state: 'altered',
          reason: 'FieldsDropped',
          since: '2026-01-01T00:00:00Z',
          ...more,
        },
      ],
    }).exceptions[0]
  const one = { path: 'spec.suspend', change: 'Dropped', wanted: 'true', decisive: true }
  const liveFields = [{ path: 'spec.replicas', live: '5' }]
  t.match(read({ liveFields }), { liveFields })
  t.match(read({ differences: [one], health: { health: 'Progressing', message: 'it\nruns' } }), {
    differences: [one],
    health: { health: 'Progressing', message: 'it runs' },
  })
  for (const [more, field] of [
    [{ liveFields: [{ path: 'spec.replicas', live: 5 }] }, 'liveFields[0].live'],
    [{ liveFields: Array.from({ length: 9 }, () => one) }, 'liveFields'],
    [{ differences: Array.from({ length: 9 }, () => one) }, 'differences'],
    [{ differences: [{ ...one, path: 'x'.repeat(201) }] }, 'differences[0].path'],
    [{ differences: [{ ...one, live: 1 }] }, 'differences[0].live'],
    [{ differences: [{ ...one, change: 1 }] }, 'differences[0].change'],
    [{ health: { health: ['Healthy'], message: '' } }, 'health.health'],
  ] as const)
    t.throws(() => read(more), { message: new RegExp(`exceptions\\[0\\].${field.replace(/[[\]]/g, '\\$&')}`) }, field)
})

t.test(
  'a syncer of a later release knows more: its words cost the others nothing, and nothing is done or well by them',
  async t => {
    const later = { ...exception, name: 'later', state: 'quarantined', health: { health: 'Glowing', message: 'hot' } }
    const changed = { path: 'spec.a', change: 'Reordered', decisive: false }
    const read = readOutcomeReport({
      ...report,
      exceptions: [exception, { ...later, differences: [changed] }],
      unlisted: { quarantined: 2, waiting: 3, applied: 1 },
    })
    t.strictSame(read.exceptions[0], exception)
    t.match(read.exceptions[1], {
      name: 'later',
      state: 'waiting',
      reason: exception.reason,
      health: { health: 'Progressing', message: 'hot' },
      differences: [{ ...changed, change: 'Changed' }],
    })
    t.strictSame(read.unlisted, { waiting: 5, applied: 1 })
  },
)

t.test('what a cluster offers is read as strictly', async t => {
  const maps = { group: '', resource: 'configmaps', versions: ['v1'] }
  t.strictSame(readOutcomeReport({ ...report, offer: { resources: [maps] } }).offer, { resources: [maps], unlisted: 0 })
  const offer = { resources: [maps, { ...maps, resource: '../x' }] }
  t.throws(() => readOutcomeReport({ ...report, offer }), {
    reason: 'BadRequest',
    message: /^the report of a syncer is malformed: offer\.resources\[1\]\.resource: must be a DNS name/,
  })
})

t.test('words of a cluster are on one line', async t => {
  const words = readOutcomeReport({ ...report, exceptions: [{ ...exception, message: ' a\n\tb\u0007 ' }] })
  t.equal(words.exceptions[0]?.message, 'a b')
})

t.test('what steers a terminal or turns the direction of writing is no word', async t => {
  const message = '\u001b[2J\u009b31mgone\u202egnp.exe\u200b'
  const words = readOutcomeReport({
    ...report,
    exceptions: [{ ...exception, message }],
    versions: { kubernetes: 'v1\u001b]0;x\u0007', syncer: '\u0000' },
  })
  t.equal(words.exceptions[0]?.message, '[2J 31mgone gnp.exe')
  t.strictSame(words.versions, { kubernetes: 'v1 ]0;x', syncer: '' })
})

t.test('counts of nought are nothing to tell', async t => {
  t.strictSame(readOutcomeReport({ ...report, unlisted: { refused: 0, retrying: 2 } }).unlisted, { retrying: 2 })
})

t.test('refused: a revision that the center has not reached', async t => {
  requireReached(readOutcomeReport(report), 9)
  const processed = {
    name: 'StatusError',
    reason: 'BadRequest',
    message: /malformed: processed: 9 is a revision that .*newest is 8/,
  }
  t.throws(() => requireReached(readOutcomeReport(report), 8), processed)
  t.throws(() => requireReached(readOutcomeReport({ ...report, processed: 3 }), 6), {
    message: /exceptions\[0\]\.seq: 7 /,
  })
})

const WRONG: [what: string, spec: unknown, field: string][] = [
  ['no object', 'x', 'spec'],
  ['no session', { ...report, session: undefined }, 'session'],
  ['a session without end', { ...report, session: 'x'.repeat(65) }, 'session'],
  ['a fraction', { ...report, processed: 1.5 }, 'processed'],
  ['a negative number', { ...report, number: -1 }, 'number'],
  ['no list', { ...report, exceptions: {} }, 'exceptions'],
  ['too many', { ...report, exceptions: Array(MAX_EXCEPTIONS + 1).fill(exception) }, 'exceptions'],
  ['no state', { ...report, exceptions: [{ ...exception, state: undefined }] }, 'exceptions[0].state'],
  ['a state without end', { ...report, exceptions: [{ ...exception, state: 'x'.repeat(61) }] }, 'exceptions[0].state'],
  ['a reason of many words', { ...report, exceptions: [{ ...exception, reason: 'a b' }] }, 'exceptions[0].reason'],
  ['a long message', { ...report, exceptions: [{ ...exception, message: 'x'.repeat(301) }] }, 'exceptions[0].message'],
  ['no time', { ...report, exceptions: [{ ...exception, since: 'now' }] }, 'exceptions[0].since'],
  ['a bar in a resource', { ...report, exceptions: [{ ...exception, resource: 'a|b' }] }, 'exceptions[0].resource'],
  ['no name', { ...report, settled: [{ ...key, name: '' }] }, 'settled[0].name'],
  ['a version without end', { ...report, versions: { kubernetes: 'v'.repeat(65) } }, 'versions.kubernetes'],
  [
    'a day that there is not',
    { ...report, exceptions: [{ ...exception, since: '2026-13-99T99:99:99Z' }] },
    'exceptions[0].since',
  ],
  ['a count that is none', { ...report, unlisted: { refused: -1 } }, 'unlisted.refused'],
  ['more than there can be', { ...report, unlisted: { refused: Number.MAX_SAFE_INTEGER } }, 'unlisted.refused'],
  ['a number too large for one', { ...report, processed: 1e308 }, 'processed'],
  ['a number as text', { ...report, exceptions: [{ ...exception, seq: '7' }] }, 'exceptions[0].seq'],
  ['a list as a text', { ...report, exceptions: [{ ...exception, message: ['x'] }] }, 'exceptions[0].message'],
  ['an escape in a session', { ...report, session: 's\u001b[2J' }, 'session'],
  ['counts of no word', { ...report, unlisted: { 'so so': 1 } }, 'unlisted'],
  [
    'counts without end',
    { ...report, unlisted: Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`s${i}`, 1])) },
    'unlisted',
  ],
]

for (const [what, spec, field] of WRONG)
  t.test(`refused: ${what}`, async t => {
    const error = t.throws(() => readOutcomeReport(spec)) as unknown
    t.ok(isStatusError(error, 'BadRequest'))
    t.match((error as Error).message, `malformed: ${field}: `)
  })
