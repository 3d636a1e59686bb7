/** CronJobs. @see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ */
import { type FieldError, fieldError, oneOf } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, record, setDefaults, setIfEmpty, str } from '../../apimachinery/fields.ts'
import { cronScheduleError } from '../../apimachinery/go/cronSchedule.ts'
import { nonNegative } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { when } from '../shapes.ts'
import { defaultJobSpec, jobWarnings, validateJobSpec } from './jobs.ts'
import { surprisingName } from './templateWarnings.ts'

const MAX_CRON_JOB_NAME = 52

const cronJobs = withStatus({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    setIfEmpty(spec, 'concurrencyPolicy', 'Allow')
    setDefaults(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })
    defaultJobSpec(ensure(ensure(spec, 'jobTemplate'), 'spec'))
  },
  validate(object, old) {
    const spec = record(object, 'spec')
    const template = 'spec.jobTemplate.spec'
    const jobSpec = record(spec, 'jobTemplate', 'spec')
    const name = object.metadata.name ?? ''
    const sameZone = old !== undefined && str(old, 'spec', 'timeZone') === str(spec, 'timeZone')
    return [
      ...validateSchedule(spec, str(old, 'spec', 'schedule').includes('TZ')),
      ...nonNegative(spec, 'spec', 'startingDeadlineSeconds'),
      ...(sameZone ? [] : validateTimeZone(spec)),
      ...oneOf(str(spec, 'concurrencyPolicy'), 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
      ...validateJobSpec(jobSpec, template),
      ...when(has(jobSpec, 'selector'), () =>
        fieldError.invalid(`${template}.selector`, jobSpec.selector, '`selector` will be auto-generated'),
      ),
      ...when(jobSpec.manualSelector === true, () =>
        fieldError.notSupported(`${template}.manualSelector`, true, ['nil', 'false']),
      ),
      ...nonNegative(spec, 'spec', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'),
      ...when(old === undefined && name.length > MAX_CRON_JOB_NAME, () =>
        fieldError.invalid('metadata.name', name, `must be no more than ${MAX_CRON_JOB_NAME} characters`),
      ),
    ]
  },
  warnings: (object, old) => [
    ...(old ? [] : surprisingName(object)),
    ...jobWarnings(record(object, 'spec', 'jobTemplate', 'spec'), 'spec.jobTemplate.spec'),
    ...(old && str(object, 'spec', 'schedule').includes('TZ') ? [ZONE_IN_SCHEDULE] : []),
  ],
})
/** The path is upstream's. */
const ZONE_IN_SCHEDULE =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'

export const cronJobStrategies: Strategies = { 'batch/cronjobs': cronJobs }

/** Bytes. A full schedule fits into a quarter of it. */
export const MAX_SCHEDULE = 2048

/** `zonedBefore`: the schedule that is replaced names its zone itself, as schedules once could. */
function validateSchedule(spec: Fields, zonedBefore: boolean): FieldError[] {
  const schedule = str(spec, 'schedule')
  const field = 'spec.schedule'
  if (schedule === '') return [fieldError.required(field)]
  if (schedule.length > MAX_SCHEDULE) return [fieldError.tooLong(field, MAX_SCHEDULE)]
  const [, zone, rest] = /^(?:CRON_)?TZ=(\S*)\s*(.*)$/.exec(schedule) ?? []
  const problem =
    zone === undefined || isTimeZone(zone)
      ? cronScheduleError(rest ?? schedule)
      : `provided bad location ${zone}: unknown time zone ${zone}`
  const errors = problem === undefined ? [] : [fieldError.invalid(field, schedule, problem)]
  if (!schedule.includes('TZ')) return errors
  if (!zonedBefore) {
    errors.push(fieldError.invalid(field, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  } else if (has(spec, 'timeZone')) {
    errors.push(fieldError.invalid(field, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  }
  return errors
}

const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/

function validateTimeZone(spec: Fields): FieldError[] {
  if (!has(spec, 'timeZone')) return []
  const zone = str(spec, 'timeZone')
  const invalid = (detail: string): FieldError[] => [fieldError.invalid('spec.timeZone', zone, detail)]
  if (zone === '') return invalid('timeZone must be nil or non-empty string')
  if (zone.toLowerCase() === 'local') {
    return invalid('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  }
  const parts = zone.split('/')
  const odd = parts.some(part => part === '.' || part === '..' || part.startsWith('-') || !ZONE_PART.test(part))
  return odd || !isTimeZone(zone) ? invalid(`unknown time zone ${zone}`) : []
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
