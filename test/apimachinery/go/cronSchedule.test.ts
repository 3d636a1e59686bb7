import t from 'tap'
import { cronScheduleError } from '../../../src/apimachinery/go/cronSchedule.ts'
import * as fc from '../../support/fastCheck.ts'

t.test('schedules that people write are taken', async t => {
  const good = [
    '* * * * *',
    '*/5 * * * *',
    '0 0 1 1 0',
    '0 9-17 * * mon-fri',
    '1,2,30-40/2 * * jan *',
    '? * * * ?',
    '5/15 * * * *',
  ]
  for (const schedule of [...good, '@daily', '@every 1h30m']) t.equal(cronScheduleError(schedule), undefined, schedule)
})

t.test('what is wrong is said', async t => {
  const bad: Record<string, string> = {
    '* * * *': 'expected exactly 5 fields, found 4: [* * * *]',
    '99 * * * *': 'end of range (99) above maximum (59): 99',
    '0 0 0 * *': 'beginning of range (0) below minimum (1): 0',
    '2-1 * * * *': 'beginning of range (2) beyond end of range (1): 2-1',
    '*/0 * * * *': 'step of range should be a positive number: */0',
    'a * * * *': 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax',
    '1-2-3 * * * *': 'too many hyphens: 1-2-3',
    '1/2/3 * * * *': 'too many slashes: 1/2/3',
    '@foo': 'unrecognized descriptor: @foo',
    '@every x': 'failed to parse duration @every x: time: invalid duration "x"',
  }
  for (const [schedule, error] of Object.entries(bad)) t.equal(cronScheduleError(schedule), error, schedule)
})

t.test('any text is judged, none throws', async () => {
  fc.assert(fc.property(fc.string(), text => typeof cronScheduleError(text) !== 'number'))
})

t.test('every list of numbers in range is a schedule', async t => {
  const field = (min: number, max: number) =>
    fc.array(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map(values => values.join(','))
  const schedule = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  fc.assert(fc.property(schedule, fields => cronScheduleError(fields.join(' ')) === undefined))
  t.pass()
})
