/** Jobs. Their rules for failure and success are in `jobPolicies.ts`. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  setDefault,
  setDefaults,
  str,
  strings,
} from '../../apimachinery/fields.ts'
import { dns1123Label } from '../../apimachinery/names.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'
import { immutable, nonNegative, podSelector } from '../checks.ts'
import { labelsOf, type Strategies, withStatus } from '../kind.ts'
import { defaultPodTemplate } from '../pods/podDefaults.ts'
import { validatePodTemplate } from '../pods/podValidation.ts'
import { choice, domainPrefixedPath, when } from '../shapes.ts'
import { validateIndexing, validatePodFailurePolicy, validateSuccessPolicy } from './jobPolicies.ts'
import { SELECTOR_MISMATCH, selects, shownLabels } from './replicaTemplate.ts'
import { surprisingName } from './templateWarnings.ts'

const JOB_COUNTS = [
  ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'],
  ...['backoffLimitPerIndex', 'maxFailedIndexes'],
]
const STATUS_COUNTS = ['active', 'succeeded', 'failed', 'ready', 'terminating']
const REPLACEMENT_POLICIES = ['Failed', 'TerminatingOrFailed']
const MAX_MANAGER_NAME = 63
/** Labels that a job writes on its pods: its uid and name, each in today's and the elder form. */
const OWN_LABELS = {
  uid: ['controller-uid', 'batch.kubernetes.io/controller-uid'],
  name: ['job-name', 'batch.kubernetes.io/job-name'],
} as const

/** A job is labelled as its pods are, unless it has labels of its own. */
function labelAsPods(job: KubeObject): void {
  const labels = labelsOf(record(job, 'spec', 'template', 'metadata'))
  if (Object.keys(job.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0)
    job.metadata.labels = { ...labels }
}

const jobs = withStatus({
  orphansByDefault: true,
  orphanWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    defaultJobSpec(spec)
    // one pod, done once, unless either number is set
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
  validate(object, old) {
    const spec = record(object, 'spec')
    return [
      ...(old ? [] : validateGenerated(object, spec)),
      ...validateJobSpec(spec, 'spec'),
      ...validateJobSelector(spec),
      ...(old ? [] : validateHostNames(object, spec)),
    ]
  },
  validateUpdate(object, old) {
    const now = record(object, 'spec')
    const before = record(old, 'spec')
    return [
      ...validateCompletions(now, before),
      ...immutable(now.selector, before.selector, 'spec.selector'),
      ...immutableTemplate(now, old),
      ...['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'].flatMap(field =>
        immutable(now[field], before[field], `spec.${field}`),
      ),
    ]
  },
  validateStatusUpdate: object => [
    ...nonNegative(record(object, 'status'), 'status', ...STATUS_COUNTS),
    ...validateUncounted(object),
  ],
  warnings: (object, old) => [...(old ? [] : surprisingName(object)), ...jobWarnings(record(object, 'spec'), 'spec')],
  selectableFields: job => ({ 'status.successful': String(num(job, 'status', 'succeeded')) }),
})

export const jobStrategies: Strategies = { 'batch/jobs': jobs }

/** Defaults of a job, and of those that a CronJob makes. */
export function defaultJobSpec(spec: Fields): void {
  defaultPodTemplate(ensure(spec, 'template'))
}

/** Makes the job select exactly its own pods: labels hold its uid, which the registry gives before it calls this. */
function selectByOwnUid(object: KubeObject, spec: Fields, template: Fields): void {
  const uid = object.metadata.uid ?? ''
  const labels = ensure(ensure(template, 'metadata'), 'labels')
  const name = object.metadata.name ?? ''
  for (const key of OWN_LABELS.uid) setDefault(labels, key, uid)
  for (const key of OWN_LABELS.name) setDefault(labels, key, name)
  const selector = ensure(spec, 'selector')
  setDefault(ensure(selector, 'matchLabels'), 'batch.kubernetes.io/controller-uid', uid)
}

/** Labels and selector as `selectByOwnUid` makes them; authors may have set others. */
function validateGenerated(object: KubeObject, spec: Fields): FieldError[] {
  if (spec.manualSelector === true || !has(spec, 'selector')) return []
  const { uid = '', name = '' } = object.metadata
  const labels = labelsOf(record(spec, 'template', 'metadata'))
  const own: Record<string, string> = {}
  const errors: FieldError[] = []
  const expect = (key: string, value: string): void => {
    own[key] = value
    const field = `spec.template.metadata.labels`
    if (labels[key] === undefined) errors.push(fieldError.required(`${field}[${key}]`, `must be '${value}'`))
    else if (labels[key] !== value) {
      errors.push(fieldError.invalid(`${field}[${key}]`, shownLabels(spec.template), `must be '${value}'`))
    }
  }
  for (const i of [0, 1] as const) {
    expect(OWN_LABELS.uid[i], uid)
    expect(OWN_LABELS.name[i], name)
  }
  if (!selects(spec.selector, own)) {
    errors.push(fieldError.invalid('spec.selector', spec.selector, '`selector` not auto-generated'))
  }
  return errors
}

function validateJobSelector(spec: Fields): FieldError[] {
  const labels = labelsOf(record(spec, 'template', 'metadata'))
  return [
    ...podSelector(spec.selector, 'spec.selector'),
    ...when(!selects(spec.selector, labels), () =>
      fieldError.invalid('spec.template.metadata.labels', shownLabels(spec.template), SELECTOR_MISMATCH),
    ),
  ]
}

/** Rules for any job, whoever makes it. @param path such as `spec` */
export function validateJobSpec(spec: Fields, path: string): FieldError[] {
  const errors = nonNegative(spec, path, ...JOB_COUNTS)
  if (has(spec, 'maxFailedIndexes') && !has(spec, 'backoffLimitPerIndex')) {
    errors.push(fieldError.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
  }
  if (has(spec, 'managedBy')) {
    errors.push(
      ...domainPrefixedPath(str(spec, 'managedBy'), `${path}.managedBy`),
      ...when(str(spec, 'managedBy').length > MAX_MANAGER_NAME, () =>
        fieldError.tooLong(`${path}.managedBy`, MAX_MANAGER_NAME),
      ),
    )
  }
  const restartPolicy = str(spec, 'template', 'spec', 'restartPolicy')
  const field = `${path}.template.spec.restartPolicy`
  const failurePolicy = has(spec, 'podFailurePolicy')
  return [
    ...errors,
    ...choice(spec, 'completionMode', `${path}.completionMode`, ['NonIndexed', 'Indexed']),
    ...validateIndexing(spec, path),
    ...validatePodFailurePolicy(spec, `${path}.podFailurePolicy`),
    ...validateSuccessPolicy(spec, `${path}.successPolicy`),
    ...choice(
      spec,
      'podReplacementPolicy',
      `${path}.podReplacementPolicy`,
      failurePolicy ? ['Failed'] : REPLACEMENT_POLICIES,
    ),
    ...validatePodTemplate(spec.template, `${path}.template`),
    ...(restartPolicy === '' || restartPolicy === 'Always'
      ? [fieldError.required(field, 'valid values: "OnFailure", "Never"')]
      : restartPolicy !== 'OnFailure' && restartPolicy !== 'Never'
        ? [fieldError.notSupported(field, restartPolicy, ['OnFailure', 'Never'])]
        : when(failurePolicy && restartPolicy !== 'Never', () =>
            fieldError.invalid(field, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified'),
          )),
  ]
}

/** The name of every pod of an indexed job must do as its host name. */
function validateHostNames(object: KubeObject, spec: Fields): FieldError[] {
  if (spec.completionMode !== 'Indexed' || num(spec, 'completions') < 1) return []
  const { name = '' } = object.metadata
  const longest = `${name}-${num(spec, 'completions') - 1}`
  return when(dns1123Label(longest).length > 0, () =>
    fieldError.invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`),
  )
}

/** An indexed job may grow and shrink, when as many pods run at a time as are to be done. */
function validateCompletions(now: Fields, before: Fields): FieldError[] {
  const field = 'spec.completions'
  if (now.completionMode !== 'Indexed') return immutable(now.completions, before.completions, field)
  if (sameMeaning(now.completions, before.completions) || !has(now, 'completions')) return []
  return when(now.completions !== now.parallelism, () =>
    fieldError.invalid(field, now.completions, 'can only be modified in tandem with spec.parallelism'),
  )
}

/** Fields of the pods that may change while the job is suspended and has not started: how and where they are scheduled. */
const SCHEDULING = ['nodeSelector', 'tolerations', 'schedulingGates']

function immutableTemplate(now: Fields, old: KubeObject): FieldError[] {
  const before = record(old, 'spec')
  const suspended = before.suspend === true && !has(old, 'status', 'startTime')
  const template = (spec: Fields) => {
    if (!suspended) return spec.template
    const copy = cloneJson(record(spec, 'template'))
    const podSpec = record(copy, 'spec')
    for (const field of SCHEDULING) delete podSpec[field]
    delete record(podSpec, 'affinity').nodeAffinity
    const { labels: _, annotations: __, ...metadata } = record(copy, 'metadata')
    return { ...copy, metadata }
  }
  return sameMeaning(template(now), template(before)) ? [] : immutable(now.template, before.template, 'spec.template')
}

function validateUncounted(object: KubeObject): FieldError[] {
  const seen = new Set<string>()
  return ['succeeded', 'failed'].flatMap(list =>
    strings(object, 'status', 'uncountedTerminatedPods', list).flatMap((uid, i) => {
      const field = `status.uncountedTerminatedPods.${list}[${i}]`
      if (uid === '') return [fieldError.invalid(field, uid, 'must not be empty')]
      const known = seen.has(uid)
      seen.add(uid)
      return known ? [fieldError.duplicate(field, uid)] : []
    }),
  )
}

export function jobWarnings(spec: Fields, path: string): string[] {
  if (spec.completionMode !== 'Indexed' || num(spec, 'completions') <= 100_000 || num(spec, 'parallelism') <= 10_000) {
    return []
  }
  const text =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail'
  return [`${path}: ${text}`]
}
