/** Printers of apps, batch, autoscaling, policy and their elder, ReplicationController. */
import { at, type Fields, has, list, num, record, records, str } from '../../apimachinery/fields.ts'
import { age, humanDuration } from './duration.ts'
import { containerColumns, firstOf, formatBool, formatLabels, formatSelector, NONE } from './format.ts'
import { column, count, integer, type Printer, printer, printerWith, text } from './printer.ts'

const TEMPLATE = ['spec', 'template', 'spec'] as const
const selectorColumn = column('Selector', o => formatSelector(at(o, 'spec', 'selector')), {
  wide: true,
  field: 'spec.selector',
})
const wide = [...containerColumns(...TEMPLATE), selectorColumn]

const deployments = printerWith(
  [
    column('Ready', o => `${num(o, 'status', 'readyReplicas')}/${num(o, 'spec', 'replicas')}`, {
      description: 'How many of the wanted pods are ready.',
    }),
    count('Up-to-date', 'status.updatedReplicas'),
    count('Available', 'status.availableReplicas'),
  ],
  wide,
)
const replicaColumns = [
  integer('Desired', 'spec.replicas'),
  integer('Current', 'status.replicas'),
  integer('Ready', 'status.readyReplicas'),
]
const replicationControllers = printerWith(replicaColumns, [
  ...containerColumns(...TEMPLATE),
  column('Selector', o => formatLabels(at(o, 'spec', 'selector')), { wide: true, field: 'spec.selector' }),
])
const statefulSets = printerWith(
  [
    column('Ready', o => `${num(o, 'status', 'readyReplicas')}/${num(o, 'spec', 'replicas')}`, {
      description: 'How many of the wanted pods are ready.',
    }),
  ],
  containerColumns(...TEMPLATE),
)
const daemonSets = printerWith(
  [
    integer('Desired', 'status.desiredNumberScheduled'),
    integer('Current', 'status.currentNumberScheduled'),
    integer('Ready', 'status.numberReady'),
    integer('Up-to-date', 'status.updatedNumberScheduled'),
    integer('Available', 'status.numberAvailable'),
    column('Node Selector', o => formatLabels(at(o, ...TEMPLATE, 'nodeSelector')), {
      field: 'spec.template.spec.nodeSelector',
    }),
  ],
  wide,
)
const controllerRevisions = printer(
  column('Controller', controllerOf, { description: 'The controller that owns the revision.' }),
  count('Revision', 'revision'),
)
const jobs = printerWith(
  [
    column('Status', jobStatus, { field: 'status.conditions' }),
    column('Completions', jobCompletions, { field: 'status.succeeded' }),
    column('Duration', jobDuration, { description: 'How long the job took, or has taken so far.' }),
  ],
  wide,
)
const cronJobs = printerWith(
  [
    text('Schedule', 'spec.schedule'),
    text('Timezone', 'spec.timeZone', { absent: NONE }),
    column('Suspend', o => formatBool(at(o, 'spec', 'suspend')), { type: 'boolean', field: 'spec.suspend' }),
    integer('Active', 'status.active', o => list(o, 'status', 'active').length),
    column(
      'Last Schedule',
      (o, now) => (has(o, 'status', 'lastScheduleTime') ? age(at(o, 'status', 'lastScheduleTime'), now) : NONE),
      { field: 'status.lastScheduleTime' },
    ),
  ],
  [
    ...containerColumns('spec', 'jobTemplate', 'spec', 'template', 'spec'),
    column('Selector', o => formatSelector(at(o, 'spec', 'jobTemplate', 'spec', 'selector')), {
      wide: true,
      field: 'spec.jobTemplate.spec.selector',
    }),
  ],
)
const autoscalers = printer(
  column('Reference', o => `${str(o, 'spec', 'scaleTargetRef', 'kind')}/${str(o, 'spec', 'scaleTargetRef', 'name')}`, {
    field: 'spec.scaleTargetRef',
  }),
  column('Targets', metricTargets, { field: 'spec.metrics' }),
  column('MinPods', o => (has(o, 'spec', 'minReplicas') ? String(num(o, 'spec', 'minReplicas')) : '<unset>'), {
    field: 'spec.minReplicas',
  }),
  count('MaxPods', 'spec.maxReplicas'),
  count('Replicas', 'status.currentReplicas'),
)
const intOrNone = (o: Fields, field: string) => (has(o, 'spec', field) ? String(at(o, 'spec', field)) : 'N/A')
const disruptionBudgets = printer(
  column('Min Available', o => intOrNone(o, 'minAvailable'), { description: 'How many pods must stay available.' }),
  column('Max Unavailable', o => intOrNone(o, 'maxUnavailable'), { description: 'How many pods may be unavailable.' }),
  column('Allowed Disruptions', o => num(o, 'status', 'disruptionsAllowed'), {
    type: 'integer',
    description: 'How many pods may be disrupted now.',
  }),
)

export const workloadPrinters: Record<string, Printer> = {
  'apps/deployments': deployments,
  'apps/replicasets': printerWith(replicaColumns, wide),
  'apps/statefulsets': statefulSets,
  'apps/daemonsets': daemonSets,
  'apps/controllerrevisions': controllerRevisions,
  '/replicationcontrollers': replicationControllers,
  'batch/jobs': jobs,
  'batch/cronjobs': cronJobs,
  'autoscaling/horizontalpodautoscalers': autoscalers,
  'policy/poddisruptionbudgets': disruptionBudgets,
}

function controllerOf(object: Fields): string {
  const owner = records(object, 'metadata', 'ownerReferences').find(o => o.controller === true)
  if (owner === undefined) return NONE
  const slash = str(owner, 'apiVersion').indexOf('/')
  const group = slash < 0 ? '' : `.${str(owner, 'apiVersion').slice(0, slash)}`
  return `${str(owner, 'kind').toLowerCase()}${group}/${str(owner, 'name')}`
}

function jobStatus(job: Fields): string {
  const holds = (type: string) => records(job, 'status', 'conditions').some(c => c.type === type && c.status === 'True')
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (has(job, 'metadata', 'deletionTimestamp')) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running'
}

function jobCompletions(job: Fields): string {
  const succeeded = num(job, 'status', 'succeeded')
  if (has(job, 'spec', 'completions')) return `${succeeded}/${num(job, 'spec', 'completions')}`
  const parallelism = num(job, 'spec', 'parallelism')
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: Fields, now: Date): string {
  const start = Date.parse(str(job, 'status', 'startTime'))
  const end = Date.parse(str(job, 'status', 'completionTime'))
  if (Number.isNaN(start)) return ''
  return humanDuration((Number.isNaN(end) ? now.getTime() : end) - start)
}

function metricTargets(hpa: Fields): string {
  const metrics = records(hpa, 'spec', 'metrics')
  const current = records(hpa, 'status', 'currentMetrics')
  const texts = metrics.map((metric, i) => metricTarget(metric, current[i]))
  if (has(hpa, 'spec', 'targetCPUUtilizationPercentage')) {
    const now = at(hpa, 'status', 'currentCPUUtilizationPercentage')
    texts.push(`cpu: ${percent(now, '<unknown>')}/${num(hpa, 'spec', 'targetCPUUtilizationPercentage')}%`)
  }
  return texts.length === 0 ? NONE : firstOf(texts, 2).replaceAll(',', ', ')
}

const SOURCES: Record<string, string> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function metricTarget(metric: Fields, current: Fields | undefined): string {
  const source = SOURCES[str(metric, 'type')]
  if (source === undefined) return '<unknown type>'
  const target = record(metric, source, 'target')
  const now = record(current, source, 'current')
  const value = (from: Fields, field: string) => (has(from, field) ? String(from[field]) : '<unknown>')
  if (source === 'pods') return `${value(now, 'averageValue')}/${value(target, 'averageValue')}`
  if (source === 'external' || source === 'object') {
    return has(target, 'averageValue')
      ? `${value(now, 'averageValue')}/${value(target, 'averageValue')} (avg)`
      : `${value(now, 'value')}/${value(target, 'value')}`
  }
  const name = str(metric, source, 'name')
  return has(target, 'averageValue')
    ? `${name}: ${value(now, 'averageValue')}/${value(target, 'averageValue')}`
    : `${name}: ${percent(now.averageUtilization, '<unknown>')}/${percent(target.averageUtilization, '<auto>')}`
}

const percent = (value: unknown, absent: string): string => (typeof value === 'number' ? `${value}%` : absent)
