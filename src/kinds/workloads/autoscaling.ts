/**
 * HorizontalPodAutoscalers, in both versions: what they follow and how fast.
 * @see https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  list,
  num,
  record,
  records,
  setDefault,
  setDefaults,
  str,
} from '../../apimachinery/fields.ts'
import { dns1123Label, pathSegment } from '../../apimachinery/names.ts'
import { invalidBy, nonNegative, quantity, requiredName } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { containerResourceName, parsed } from '../pods/resources.ts'
import { choice, when } from '../shapes.ts'

const DEFAULT_CPU_PERCENT = 80
const LONGEST_WINDOW_SECONDS = 3600
const LONGEST_PERIOD_SECONDS = 1800

const autoscalers = withStatus(
  {
    noGeneration: true,
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setDefault(spec, 'minReplicas', 1)
      if (object.apiVersion === 'autoscaling/v1') {
        setDefault(spec, 'targetCPUUtilizationPercentage', DEFAULT_CPU_PERCENT)
        return
      }
      if (list(spec, 'metrics').length === 0) {
        const target = { type: 'Utilization', averageUtilization: DEFAULT_CPU_PERCENT }
        spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
      }
      if (has(spec, 'behavior')) defaultBehavior(ensure(spec, 'behavior'))
    },
    validate(object, old) {
      const spec = record(object, 'spec')
      const [min, max] = [num(spec, 'minReplicas'), num(spec, 'maxReplicas')]
      const lowest = has(old, 'spec', 'minReplicas') && num(old, 'spec', 'minReplicas') === 0 ? 0 : 1
      return [
        ...when(has(spec, 'minReplicas') && min < lowest, () =>
          fieldError.invalid('spec.minReplicas', min, `must be greater than or equal to ${lowest}`),
        ),
        ...when(max < 1, () => fieldError.invalid('spec.maxReplicas', max, 'must be greater than 0')),
        ...when(has(spec, 'minReplicas') && max < min, () =>
          fieldError.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'),
        ),
        ...objectReference(record(spec, 'scaleTargetRef'), 'spec.scaleTargetRef'),
        ...validateMetrics(spec),
        ...['scaleUp', 'scaleDown'].flatMap(direction =>
          has(spec, 'behavior', direction)
            ? validateScaling(record(spec, 'behavior', direction), `spec.behavior.${direction}`)
            : [],
        ),
      ]
    },
    validateStatusUpdate: object =>
      nonNegative(record(object, 'status'), 'status', 'currentReplicas', 'desiredReplicas'),
  },
  () => ({ desiredReplicas: 0 }),
)

export const autoscalingStrategies: Strategies = { 'autoscaling/horizontalpodautoscalers': autoscalers }

function defaultBehavior(behavior: Fields): void {
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 }
  const pods = { type: 'Pods', value: 4, periodSeconds: 15 }
  setDefaults(ensure(behavior, 'scaleUp'), {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [pods, percent],
  })
  setDefaults(ensure(behavior, 'scaleDown'), { selectPolicy: 'Max', policies: [{ ...percent }] })
}

function objectReference(reference: Fields, path: string): FieldError[] {
  return ['kind', 'name'].flatMap(field => requiredName(str(reference, field), `${path}.${field}`, pathSegment))
}

/** A source by the `type` of its metric, in upstream's order; the first one that is there is checked. */
const SOURCES: Readonly<Record<string, { field: string; check: (source: Fields, path: string) => FieldError[] }>> = {
  Object: {
    field: 'object',
    check: (source, path) => [
      ...objectReference(record(source, 'describedObject'), `${path}.describedObject`),
      ...identifier(source, path),
      ...target(source, path),
      ...needs(source, path, ['value', 'averageValue'], 'must set either a target value or averageValue'),
    ],
  },
  External: {
    field: 'external',
    check: (source, path) => [
      ...identifier(source, path),
      ...target(source, path),
      ...needs(
        source,
        path,
        ['value', 'averageValue'],
        'must set either a target value for metric or a per-pod target',
      ),
      ...notBoth(source, path, 'averageValue', 'value', 'a target value for metric and a per-pod target'),
    ],
  },
  Pods: {
    field: 'pods',
    check: (source, path) => [
      ...identifier(source, path),
      ...target(source, path),
      ...needs(source, path, ['averageValue'], 'must specify a positive target averageValue'),
    ],
  },
  Resource: {
    field: 'resource',
    check: (source, path) => [
      ...when(str(source, 'name') === '', () => fieldError.required(`${path}.name`, 'must specify a resource name')),
      ...resourceTarget(source, path),
    ],
  },
  ContainerResource: {
    field: 'containerResource',
    check: (source, path) => [
      ...(str(source, 'name') === ''
        ? [fieldError.required(`${path}.name`, 'must specify a resource name')]
        : containerResourceName(str(source, 'name'), `${path}.name`)),
      ...(str(source, 'container') === ''
        ? [fieldError.required(`${path}.container`, 'must specify a container')]
        : invalidBy(dns1123Label, str(source, 'container'), `${path}.container`)),
      ...resourceTarget(source, path),
    ],
  },
}
const TYPES = Object.keys(SOURCES).sort()

function validateMetrics(spec: Fields): FieldError[] {
  const percentage = num(spec, 'targetCPUUtilizationPercentage')
  const metrics = records(spec, 'metrics')
  return [
    ...when(has(spec, 'targetCPUUtilizationPercentage') && percentage < 1, () =>
      fieldError.invalid('spec.targetCPUUtilizationPercentage', percentage, 'must be greater than 0'),
    ),
    ...metrics.flatMap((metric, i) => validateMetric(metric, `spec.metrics[${i}]`)),
    ...when(
      has(spec, 'minReplicas') &&
        num(spec, 'minReplicas') === 0 &&
        !metrics.some(({ type }) => type === 'Object' || type === 'External'),
      () =>
        fieldError.forbidden(
          'spec.metrics',
          'must specify at least one Object or External metric to support scaling to zero replicas',
        ),
    ),
  ]
}

function validateMetric(metric: Fields, path: string): FieldError[] {
  const type = str(metric, 'type')
  const present = Object.values(SOURCES).filter(({ field }) => has(metric, field))
  const [first] = present
  const wanted = SOURCES[type]?.field
  return [
    ...when(type === '', () => fieldError.required(`${path}.type`, 'must specify a metric source type')),
    ...when(wanted === undefined, () => fieldError.notSupported(`${path}.type`, type, TYPES)),
    ...(first?.check(record(metric, first.field), `${path}.${first.field}`) ?? []),
    ...when(wanted !== undefined && !has(metric, wanted), () =>
      fieldError.required(`${path}.${wanted}`, 'must populate information for the given metric source'),
    ),
    ...(present.length === 1 ? [] : present)
      .filter(({ field }) => field !== wanted)
      .map(({ field }) => fieldError.forbidden(`${path}.${field}`, 'must populate the given metric source only')),
  ]
}

function identifier(source: Fields, path: string): FieldError[] {
  const field = `${path}.metric.name`
  const name = str(source, 'metric', 'name')
  return name === '' ? [fieldError.required(field, 'must specify a metric name')] : invalidBy(pathSegment, name, field)
}

function resourceTarget(source: Fields, path: string): FieldError[] {
  return [
    ...target(source, path),
    ...needs(
      source,
      path,
      ['averageValue', 'averageUtilization'],
      'must set either a target raw value or a target utilization',
    ),
    ...notBoth(source, path, 'averageUtilization', 'averageValue', 'a target raw value and a target utilization'),
  ]
}

function target(source: Fields, path: string): FieldError[] {
  const values = record(source, 'target')
  const at = `${path}.target`
  const type = str(values, 'type')
  const utilization = num(values, 'averageUtilization')
  return [
    ...when(type === '', () => fieldError.required(`${at}.type`, 'must specify a metric target type')),
    ...when(!['Utilization', 'Value', 'AverageValue'].includes(type), () =>
      fieldError.invalid(`${at}.type`, type, 'must be either Utilization, Value, or AverageValue'),
    ),
    ...['value', 'averageValue'].flatMap(field =>
      when(has(values, field) && (parsed(values[field])?.nanos ?? 0n) <= 0n, () =>
        fieldError.invalid(`${at}.${field}`, String(values[field]), 'must be positive'),
      ),
    ),
    ...when(has(values, 'averageUtilization') && utilization < 1, () =>
      fieldError.invalid(`${at}.averageUtilization`, utilization, 'must be greater than 0'),
    ),
  ]
}

/** One of the fields of the target; the last one is named when there is none. */
function needs(source: Fields, path: string, fields: readonly string[], detail: string): FieldError[] {
  return when(!fields.some(field => has(source, 'target', field)), () =>
    fieldError.required(`${path}.target.${fields.at(-1)}`, detail),
  )
}

function notBoth(source: Fields, path: string, one: string, other: string, what: string): FieldError[] {
  return when(has(source, 'target', one) && has(source, 'target', other), () =>
    fieldError.forbidden(`${path}.target.${other}`, `may not set both ${what}`),
  )
}

function validateScaling(rules: Fields, path: string): FieldError[] {
  const window = num(rules, 'stabilizationWindowSeconds')
  const policies = records(rules, 'policies')
  const outside = (detail: string): FieldError =>
    fieldError.invalid(`${path}.stabilizationWindowSeconds`, window, detail)
  return [
    ...when(window < 0, () => outside('must be greater than or equal to zero')),
    ...when(window > LONGEST_WINDOW_SECONDS, () => outside(`must be less than or equal to ${LONGEST_WINDOW_SECONDS}`)),
    ...choice(rules, 'selectPolicy', `${path}.selectPolicy`, ['Disabled', 'Max', 'Min']),
    ...when(policies.length === 0, () => fieldError.required(`${path}.policies`, 'must specify at least one Policy')),
    ...policies.flatMap((policy, i) => validateScalingPolicy(policy, `${path}.policies[${i}]`)),
    ...(has(rules, 'tolerance') ? quantity(rules.tolerance, `${path}.tolerance`) : []),
  ]
}

function validateScalingPolicy(policy: Fields, path: string): FieldError[] {
  const type = str(policy, 'type')
  const period = num(policy, 'periodSeconds')
  return [
    ...when(type !== 'Pods' && type !== 'Percent', () =>
      fieldError.notSupported(`${path}.type`, type, ['Percent', 'Pods']),
    ),
    ...['value', 'periodSeconds'].flatMap(field =>
      when(num(policy, field) <= 0, () =>
        fieldError.invalid(`${path}.${field}`, num(policy, field), 'must be greater than zero'),
      ),
    ),
    ...when(period > LONGEST_PERIOD_SECONDS, () =>
      fieldError.invalid(`${path}.periodSeconds`, period, `must be less than or equal to ${LONGEST_PERIOD_SECONDS}`),
    ),
  ]
}
