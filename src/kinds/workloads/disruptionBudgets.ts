/** PodDisruptionBudgets. @see https://kubernetes.io/docs/tasks/run-application/configure-pdb/ */
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { has, record } from '../../apimachinery/fields.ts'
import { atMostAll, intOrPercent, nonNegative, optionalSelector } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { choice, conditions, when } from '../shapes.ts'

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget']
const STATUS_COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']

const disruptionBudgets = withStatus(
  {
    validate(object) {
      const spec = record(object, 'spec')
      return [
        ...when(has(spec, 'minAvailable') && has(spec, 'maxUnavailable'), () =>
          fieldError.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set'),
        ),
        ...['minAvailable', 'maxUnavailable']
          .filter(field => has(spec, field))
          .flatMap(field => [
            ...intOrPercent(spec[field], `spec.${field}`),
            ...atMostAll(spec[field], `spec.${field}`),
          ]),
        ...optionalSelector(spec.selector, 'spec.selector'),
        ...choice(spec, 'unhealthyPodEvictionPolicy', 'spec.unhealthyPodEvictionPolicy', POLICIES),
      ]
    },
    validateStatusUpdate: object => [
      ...conditions(object.status, 'conditions', 'status.conditions'),
      ...nonNegative(record(object, 'status'), 'status', ...STATUS_COUNTS),
    ],
  },
  () => ({ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }),
)

export const disruptionStrategies: Strategies = { 'policy/poddisruptionbudgets': disruptionBudgets }
