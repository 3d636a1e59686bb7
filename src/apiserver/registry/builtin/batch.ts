/** Jobs and CronJobs. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { immutable, nonNegative, oneOf, podSelector } from './checks.ts'
import { cronScheduleError } from './cronSchedule.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  sameMeaning,
  setDefault,
  setDefaults,
  setIfEmpty,
  str,
} from './fields.ts'
import { labelsOf, type Strategies, withStatus } from './kind.ts'
import { defaultPodTemplate } from './podDefaults.ts'
import { validatePodTemplate } from './podValidation.ts'
import { SELECTOR_MISMATCH, selects } from './replicaTemplate.ts'

const JOB_COUNTS = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished']
const MAX_CRON_JOB_NAME = 52

/** A job is labelled as its pods are, unless it has labels of its own. */
function labelAsPods(job: KubeObject): void {
  const labels = labelsOf(record(job, 'spec', 'template', 'metadata'))
  if (Object.keys(job.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0)
    job.metadata.labels = { ...labels }
}

const jobs = withStatus({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    defaultJobSpec(spec)
    // one pod, done once, unless either number was said
    if (!has(spec, 'completions') && !has(spec, 'parallelism')) setDefaults(spec, { completions: 1, parallelism: 1 })
    setDefaults(spec, { parallelism: 1, completionMode: 'NonIndexed', suspend: false })
    if (!has(spec, 'backoffLimit')) spec.backoffLimit = has(spec, 'backoffLimitPerIndex') ? 2147483647 : 6
    setDefault(spec, 'podReplacementPolicy', has(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed')
    if (object.metadata.uid === undefined) labelAsPods(object)
  },
  prepareForCreate(object) {
    const spec = ensure(object, 'spec')
    if (spec.manualSelector !== true && isRecord(spec.template)) selectByOwnUid(object, spec, spec.template)
    labelAsPods(object)
  },
  validate(object) {
    const spec = record(object, 'spec')
    const errors = validateJobSpec(spec, 'spec')
    if (!has(spec, 'selector')) errors.unshift(fieldError.required('spec.selector'))
    else errors.unshift(...validateJobSelector(object, spec))
    return errors
  },
  validateUpdate(object, old) {
    const now = record(object, 'spec')
    const before = record(old, 'spec')
    const mayScale = now.completionMode === 'Indexed' && now.completions === now.parallelism
    return [
      ...(mayScale ? [] : immutable(now.completions, before.completions, 'spec.completions')),
      ...immutable(now.selector, before.selector, 'spec.selector'),
      ...immutableTemplate(now, old),
      ...immutable(now.completionMode, before.completionMode, 'spec.completionMode'),
      ...immutable(now.podFailurePolicy, before.podFailurePolicy, 'spec.podFailurePolicy'),
      ...immutable(now.backoffLimitPerIndex, before.backoffLimitPerIndex, 'spec.backoffLimitPerIndex'),
    ]
  },
  selectableFields: job => ({ 'status.successful': String(num(job, 'status', 'succeeded')) }),
})

const cronJobs = withStatus({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    setIfEmpty(spec, 'concurrencyPolicy', 'Allow')
    setDefaults(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })
    defaultJobSpec(ensure(ensure(spec, 'jobTemplate'), 'spec'))
  },
  validate(object) {
    const spec = record(object, 'spec')
    const errors = validateSchedule(spec)
    errors.push(...nonNegative(spec, 'spec', 'startingDeadlineSeconds'))
    errors.push(...oneOf(str(spec, 'concurrencyPolicy'), 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']))
    const template = 'spec.jobTemplate.spec'
    const jobSpec = record(spec, 'jobTemplate', 'spec')
    if (has(jobSpec, 'manualSelector')) {
      errors.push(fieldError.notSupported(`${template}.manualSelector`, jobSpec.manualSelector, ['nil', 'false']))
    }
    errors.push(...validateJobSpec(jobSpec, template))
    errors.push(...nonNegative(spec, 'spec', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'))
    const name = object.metadata.name ?? ''
    if (name.length > MAX_CRON_JOB_NAME) {
      errors.push(fieldError.invalid('metadata.name', name, `must be no more than ${MAX_CRON_JOB_NAME} characters`))
    }
    return errors
  },
})

export const batchStrategies: Strategies = { 'batch/jobs': jobs, 'batch/cronjobs': cronJobs }

function defaultJobSpec(spec: Fields): void {
  defaultPodTemplate(ensure(spec, 'template'))
}

/** Makes the job select exactly its own pods: labels hold its uid, which the registry gives before it calls this. */
function selectByOwnUid(object: KubeObject, spec: Fields, template: Fields): void {
  const uid = object.metadata.uid ?? ''
  const labels = ensure(ensure(template, 'metadata'), 'labels')
  const name = object.metadata.name ?? ''
  setDefaults(labels, {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  })
  const selector = ensure(spec, 'selector')
  setDefault(ensure(selector, 'matchLabels'), 'batch.kubernetes.io/controller-uid', uid)
}

function validateJobSelector(object: KubeObject, spec: Fields): FieldError[] {
  const errors = podSelector(spec.selector, 'spec.selector')
  const labels = labelsOf(record(spec, 'template', 'metadata'))
  if (spec.manualSelector !== true) {
    const uid = object.metadata.uid
    const generated = ['batch.kubernetes.io/controller-uid', 'controller-uid'].map(key => ({
      matchLabels: { [key]: uid },
    }))
    if (!generated.some(selector => sameMeaning(spec.selector, selector))) {
      errors.push(fieldError.invalid('spec.selector', spec.selector, '`selector` not auto-generated'))
    }
  }
  if (!selects(spec.selector, labels)) {
    errors.push(fieldError.invalid('spec.template.metadata.labels', labels, SELECTOR_MISMATCH))
  }
  return errors
}

function validateJobSpec(spec: Fields, path: string): FieldError[] {
  const errors = nonNegative(spec, path, ...JOB_COUNTS)
  if (has(spec, 'completionMode')) {
    const mode = str(spec, 'completionMode')
    if (mode !== 'Indexed' && mode !== 'NonIndexed') {
      errors.push(fieldError.notSupported(`${path}.completionMode`, mode, ['Indexed', 'NonIndexed']))
    } else if (mode === 'Indexed' && !has(spec, 'completions')) {
      errors.push(fieldError.required(`${path}.completions`, 'when completion mode is Indexed'))
    }
  }
  errors.push(...validatePodTemplate(spec.template, `${path}.template`))
  const restartPolicy = str(spec, 'template', 'spec', 'restartPolicy')
  if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never') {
    errors.push(fieldError.required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'))
  }
  return errors
}

/** Fields of the pods that may change while the job is suspended and has not started: how and where they are scheduled. */
const SCHEDULING = ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates']

function immutableTemplate(now: Fields, old: KubeObject): FieldError[] {
  const before = record(old, 'spec')
  const suspended = before.suspend === true && !has(old, 'status', 'startTime')
  const template = (spec: Fields) => {
    if (!suspended) return spec.template
    const copy = structuredClone(record(spec, 'template'))
    for (const field of SCHEDULING) delete record(copy, 'spec')[field]
    const { labels: _, annotations: __, ...metadata } = record(copy, 'metadata')
    return { ...copy, metadata }
  }
  return sameMeaning(template(now), template(before)) ? [] : immutable(now.template, before.template, 'spec.template')
}

function validateSchedule(spec: Fields): FieldError[] {
  const schedule = str(spec, 'schedule')
  if (schedule === '') return [fieldError.required('spec.schedule')]
  const errors: FieldError[] = []
  const zoned = schedule.includes('TZ')
  if (zoned) {
    const detail = has(spec, 'timeZone')
      ? 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
      : 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
    errors.push(fieldError.invalid('spec.schedule', schedule, detail))
  } else {
    const problem = cronScheduleError(schedule)
    if (problem !== undefined) errors.push(fieldError.invalid('spec.schedule', schedule, problem))
  }
  if (has(spec, 'timeZone')) {
    const zone = str(spec, 'timeZone')
    if (zone === '') errors.push(fieldError.invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string'))
    else if (zone.toLowerCase() === 'local') {
      errors.push(
        fieldError.invalid(
          'spec.timeZone',
          zone,
          'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
        ),
      )
    } else if (!isTimeZone(zone)) {
      errors.push(fieldError.invalid('spec.timeZone', zone, `unknown time zone ${zone}`))
    }
  }
  return errors
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
