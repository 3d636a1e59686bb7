/** HorizontalPodAutoscalers (v1 and v2) and PodDisruptionBudgets. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { pathSegment } from '../../../apimachinery/names.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { atMostAll, intOrPercent, nonNegative, optionalSelector, requiredName } from './checks.ts'
import { ensure, type Fields, has, list, num, record, records, setDefault, setDefaults, str } from './fields.ts'
import { type Strategies, withStatus } from './kind.ts'

const DEFAULT_CPU_PERCENT = 80

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
    validate(object) {
      const spec = record(object, 'spec')
      const [min, max] = [num(spec, 'minReplicas'), num(spec, 'maxReplicas')]
      const errors: FieldError[] = []
      if (has(spec, 'minReplicas') && min < 1) {
        errors.push(fieldError.invalid('spec.minReplicas', min, 'must be greater than or equal to 1'))
      }
      if (max < 1) errors.push(fieldError.invalid('spec.maxReplicas', max, 'must be greater than 0'))
      if (has(spec, 'minReplicas') && max < min) {
        errors.push(fieldError.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
      }
      for (const field of ['kind', 'name']) {
        errors.push(...requiredName(str(spec, 'scaleTargetRef', field), `spec.scaleTargetRef.${field}`, pathSegment))
      }
      return [...errors, ...validateMetrics(spec)]
    },
    validateStatusUpdate: object =>
      nonNegative(record(object, 'status'), 'status', 'currentReplicas', 'desiredReplicas'),
  },
  () => ({ currentReplicas: 0, desiredReplicas: 0 }),
)

const disruptionBudgets = withStatus(
  {
    validate(object: KubeObject) {
      const spec = record(object, 'spec')
      const errors: FieldError[] = []
      if (has(spec, 'minAvailable') && has(spec, 'maxUnavailable')) {
        errors.push(fieldError.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set'))
      }
      for (const field of ['minAvailable', 'maxUnavailable']) {
        if (!has(spec, field)) continue
        errors.push(...intOrPercent(spec[field], `spec.${field}`), ...atMostAll(spec[field], `spec.${field}`))
      }
      errors.push(...optionalSelector(spec.selector, 'spec.selector'))
      const policies = ['AlwaysAllow', 'IfHealthyBudget']
      const policy = str(spec, 'unhealthyPodEvictionPolicy')
      if (policy !== '' && !policies.includes(policy)) {
        errors.push(fieldError.notSupported('spec.unhealthyPodEvictionPolicy', policy, policies))
      }
      return errors
    },
  },
  () => ({ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }),
)

export const scalingStrategies: Strategies = {
  'autoscaling/horizontalpodautoscalers': autoscalers,
  'policy/poddisruptionbudgets': disruptionBudgets,
}

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

const METRIC_SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}

function validateMetrics(spec: Fields): FieldError[] {
  const errors: FieldError[] = []
  const percentage = num(spec, 'targetCPUUtilizationPercentage')
  if (has(spec, 'targetCPUUtilizationPercentage') && percentage < 1) {
    errors.push(fieldError.invalid('spec.targetCPUUtilizationPercentage', percentage, 'must be greater than 0'))
  }
  for (const [i, metric] of records(spec, 'metrics').entries()) {
    const path = `spec.metrics[${i}]`
    const type = str(metric, 'type')
    if (type === '') {
      errors.push(fieldError.required(`${path}.type`, 'must specify a metric source type'))
      continue
    }
    const source = METRIC_SOURCES[type]
    if (source === undefined) {
      errors.push(fieldError.notSupported(`${path}.type`, type, Object.keys(METRIC_SOURCES)))
      continue
    }
    if (!has(metric, source)) {
      const detail = 'must populate information for the given metric source'
      errors.push(fieldError.required(`${path}.${source}`, detail))
      continue
    }
    const target = record(metric, source, 'target')
    if (has(target, 'averageUtilization') && num(target, 'averageUtilization') < 1) {
      const field = `${path}.${source}.target.averageUtilization`
      errors.push(fieldError.invalid(field, num(target, 'averageUtilization'), 'must be greater than 0'))
    }
  }
  return errors
}
