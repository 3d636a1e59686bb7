/** Deployments, ReplicaSets, DaemonSets, ControllerRevisions and the elder ReplicationController. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  setDefault,
  setDefaults,
  setIfEmpty,
  str,
} from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { NOTES } from '../../placement/words/marks.ts'
import { atMostAll, immutable, intOrPercent, nonNegative } from '../checks.ts'
import { labelsOf, type Strategies, withStatus } from '../kind.ts'
import { defaultPodTemplate } from '../pods/podDefaults.ts'
import { validatePodTemplate } from '../pods/podValidation.ts'
import type { Strategy } from '../strategy.ts'
import { replicaStatus } from './replicaStatus.ts'
import { isNothing, selectorAndTemplate, validateReplicaTemplate } from './replicaTemplate.ts'
import { surprisingName } from './templateWarnings.ts'

const deployments = withStatus({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
    defaultPodTemplate(ensure(spec, 'template'))
    const strategy = ensure(spec, 'strategy')
    setIfEmpty(strategy, 'type', 'RollingUpdate')
    if (strategy.type === 'RollingUpdate') {
      setDefaults(ensure(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' })
    }
  },
  validate(object) {
    const spec = record(object, 'spec')
    return [
      ...nonNegative(spec, 'spec', 'replicas'),
      ...selectorAndTemplate(spec, 'ReplicaSet', 'deployment', 'invalid label selector'),
      ...validateDeploymentStrategy(record(spec, 'strategy')),
      ...nonNegative(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'),
      ...(has(spec, 'progressDeadlineSeconds') && num(spec, 'progressDeadlineSeconds') <= num(spec, 'minReadySeconds')
        ? [
            fieldError.invalid(
              'spec.progressDeadlineSeconds',
              num(spec, 'progressDeadlineSeconds'),
              'must be greater than minReadySeconds',
            ),
          ]
        : []),
    ]
  },
  // annotations are part of what the controller copies to ReplicaSets, so they count as a change of the wish
  prepareForUpdate(object, old) {
    if (sameMeaning(wishes(object), wishes(old))) return
    object.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validateUpdate: immutableSelector,
  warnings: (object, old) => (old ? [] : surprisingName(object)),
  statusKeeps: ['labels'],
  validateStatusUpdate: replicaStatus({
    counts: [
      ...['observedGeneration', 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'],
      'unavailableReplicas',
    ],
    parts: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  }),
})
const SET_STATUS = replicaStatus({
  counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  parts: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
})

const replicaSets = withStatus(
  {
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setDefault(spec, 'replicas', 1)
      defaultPodTemplate(ensure(spec, 'template'))
    },
    validate(object) {
      const spec = record(object, 'spec')
      return [
        ...nonNegative(spec, 'spec', 'replicas', 'minReadySeconds'),
        ...selectorAndTemplate(spec, 'ReplicaSet', 'deployment', 'invalid label selector'),
      ]
    },
    validateUpdate: immutableSelector,
    warnings: (object, old) => (old ? [] : surprisingName(object)),
    validateStatusUpdate: SET_STATUS,
    selectableFields: replicaFields,
  },
  () => ({ replicas: 0 }),
)

const replicationControllers = withStatus(
  {
    orphansByDefault: true,
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setDefault(spec, 'replicas', 1)
      const labels = labelsOf(record(spec, 'template', 'metadata'))
      if (Object.keys(labels).length > 0) {
        if (Object.keys(record(spec, 'selector')).length === 0) spec.selector = { ...labels }
        if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels }
      }
      defaultPodTemplate(spec.template)
    },
    validate(object) {
      const spec = record(object, 'spec')
      const selector = record(spec, 'selector')
      const errors = nonNegative(spec, 'spec', 'minReadySeconds', 'replicas')
      if (Object.keys(selector).length === 0) errors.push(fieldError.required('spec.selector'))
      return [
        ...errors,
        ...validateReplicaTemplate({ ...spec, selector: { matchLabels: selector } }, 'ReplicationController'),
      ]
    },
    warnings: (object, old) => (old ? [] : surprisingName(object)),
    validateStatusUpdate: SET_STATUS,
    selectableFields: replicaFields,
  },
  () => ({ replicas: 0 }),
)

const daemonSets = withStatus(
  {
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      defaultPodTemplate(ensure(spec, 'template'))
      const strategy = ensure(spec, 'updateStrategy')
      setIfEmpty(strategy, 'type', 'RollingUpdate')
      if (strategy.type === 'RollingUpdate') {
        setDefaults(ensure(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 })
      }
      setDefault(spec, 'revisionHistoryLimit', 10)
      setTemplateGeneration(object, object.metadata.annotations?.[TEMPLATE_GENERATION] ?? '1')
    },
    prepareForCreate: object => setTemplateGeneration(object, '1'),
    prepareForUpdate(object, old) {
      const before = old.metadata.annotations?.[TEMPLATE_GENERATION] ?? '1'
      const changed = !sameMeaning(record(object, 'spec').template, record(old, 'spec').template)
      setTemplateGeneration(object, changed ? String(Number.parseInt(before, 10) + 1) : before)
    },
    validate(object) {
      const spec = record(object, 'spec')
      const errors = selectorAndTemplate(spec, 'DaemonSet', 'daemonset')
      errors.push(...nonNegative(spec, 'spec', 'minReadySeconds'))
      const type = str(spec, 'updateStrategy', 'type')
      if (type !== 'OnDelete' && type !== 'RollingUpdate') {
        errors.push(fieldError.notSupported('spec.updateStrategy', spec.updateStrategy, ['RollingUpdate', 'OnDelete']))
      } else if (type === 'RollingUpdate') {
        errors.push(
          ...validateDaemonRolling(
            record(spec, 'updateStrategy', 'rollingUpdate'),
            'spec.updateStrategy.rollingUpdate',
          ),
        )
      }
      return [...errors, ...nonNegative(spec, 'spec', 'revisionHistoryLimit')]
    },
    validateUpdate: immutableSelector,
    validateStatusUpdate: replicaStatus({
      counts: [
        ...['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
        ...['observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
      ],
      parts: [],
    }),
  },
  () => ({ currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 }),
)
/** The annotations, but for what the center notes about a Deployment that it places. */
function wishes({ metadata: { annotations = {} } }: KubeObject): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !NOTES.includes(key)))
}

/** Kept for old clients; DaemonSets carried their template generation here when they left extensions/v1beta1. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

const controllerRevisions: Strategy = {
  noGeneration: true,
  validate: object => [
    ...(has(object, 'data') ? [] : [fieldError.required('data', 'data is mandatory')]),
    ...(num(object, 'revision') < 0
      ? [fieldError.invalid('revision', num(object, 'revision'), 'must be greater than or equal to 0')]
      : []),
  ],
  validateUpdate: (object, old) => immutable(object.data, old.data, 'data'),
}

const podTemplates: Strategy = {
  noGeneration: true,
  applyDefaults: object => defaultPodTemplate(ensure(object, 'template')),
  validate: object => validatePodTemplate(object.template, 'template'),
}

export const appsStrategies: Strategies = {
  'apps/deployments': deployments,
  'apps/replicasets': replicaSets,
  'apps/daemonsets': daemonSets,
  'apps/controllerrevisions': controllerRevisions,
  '/replicationcontrollers': replicationControllers,
  '/podtemplates': podTemplates,
}

function immutableSelector(object: KubeObject, old: KubeObject): FieldError[] {
  return immutable(record(object, 'spec').selector, record(old, 'spec').selector, 'spec.selector')
}

function replicaFields(object: KubeObject): Record<string, string> {
  return { 'status.replicas': String(num(object, 'status', 'replicas')) }
}

function setTemplateGeneration(object: KubeObject, generation: string): void {
  object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: generation }
}

function validateDeploymentStrategy(strategy: Fields): FieldError[] {
  const path = 'spec.strategy'
  if (strategy.type === 'Recreate') {
    if (!has(strategy, 'rollingUpdate')) return []
    const detail = "may not be specified when strategy `type` is 'Recreate'"
    return [fieldError.forbidden(`${path}.rollingUpdate`, detail)]
  }
  if (strategy.type !== 'RollingUpdate') return [fieldError.notSupported(path, strategy, ['Recreate', 'RollingUpdate'])]
  return validateRolling(record(strategy, 'rollingUpdate'), `${path}.rollingUpdate`)
}

function validateRolling(rolling: Fields, path: string): FieldError[] {
  const { maxUnavailable, maxSurge } = rolling
  const errors = [
    ...intOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...intOrPercent(maxSurge, `${path}.maxSurge`),
  ]
  if (isNothing(maxUnavailable) && isNothing(maxSurge)) {
    errors.push(fieldError.invalid(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'))
  }
  return [...errors, ...atMostAll(maxUnavailable, `${path}.maxUnavailable`)]
}

/** Surge and shrinking exclude each other: one node, one pod. */
function validateDaemonRolling(rolling: Fields, path: string): FieldError[] {
  const both = ['maxUnavailable', 'maxSurge']
  const errors = [
    ...both.flatMap(field => intOrPercent(rolling[field], `${path}.${field}`)),
    ...both.flatMap(field => atMostAll(rolling[field], `${path}.${field}`)),
  ]
  const [unavailable, surge] = both.map(field => !isNothing(rolling[field]))
  if (unavailable && surge) {
    const detail = 'may not be set when maxUnavailable is non-zero'
    errors.push(fieldError.invalid(`${path}.maxSurge`, rolling.maxSurge, detail))
  }
  if (!unavailable && !surge) {
    errors.push(fieldError.required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  }
  return errors
}
