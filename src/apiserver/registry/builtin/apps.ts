/** Deployments, ReplicaSets, StatefulSets, DaemonSets, ControllerRevisions and the elder ReplicationController. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import type { Strategy } from '../strategy.ts'
import { atMostAll, immutable, intOrPercent, nonNegative, podSelector } from './checks.ts'
import {
  ensure,
  type Fields,
  has,
  isEmpty,
  num,
  record,
  records,
  sameMeaning,
  setDefault,
  setDefaults,
  setIfEmpty,
  str,
} from './fields.ts'
import { labelsOf, type Strategies, withStatus } from './kind.ts'
import { defaultPodTemplate } from './podDefaults.ts'
import { validatePodTemplate } from './podValidation.ts'
import { replicaStatus } from './replicaStatus.ts'
import { validateReplicaTemplate } from './replicaTemplate.ts'
import { defaultClaim } from './volumes.ts'

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
      ...podSelector(spec.selector, 'spec.selector', 'empty selector is invalid for deployment'),
      ...validateReplicaTemplate(spec, 'ReplicaSet'),
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
    if (sameMeaning(object.metadata.annotations, old.metadata.annotations)) return
    object.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validateUpdate: immutableSelector,
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
        ...podSelector(spec.selector, 'spec.selector', 'empty selector is invalid for deployment'),
        ...validateReplicaTemplate(spec, 'ReplicaSet'),
      ]
    },
    validateUpdate: immutableSelector,
    validateStatusUpdate: SET_STATUS,
    selectableFields: replicaFields,
  },
  () => ({ replicas: 0 }),
)

const replicationControllers = withStatus(
  {
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
    validateStatusUpdate: SET_STATUS,
    selectableFields: replicaFields,
  },
  () => ({ replicas: 0 }),
)

const statefulSets = withStatus(
  {
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setIfEmpty(spec, 'podManagementPolicy', 'OrderedReady')
      const strategy = ensure(spec, 'updateStrategy')
      setIfEmpty(strategy, 'type', 'RollingUpdate')
      if (strategy.type === 'RollingUpdate') setDefault(ensure(strategy, 'rollingUpdate'), 'partition', 0)
      setDefaults(ensure(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' })
      setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10 })
      defaultPodTemplate(ensure(spec, 'template'))
      for (const claim of records(spec, 'volumeClaimTemplates')) {
        Object.assign(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' })
        defaultClaim(claim)
        claim.status = { phase: 'Pending' }
      }
    },
    validate(object) {
      const spec = record(object, 'spec')
      const errors: FieldError[] = []
      const policy = str(spec, 'podManagementPolicy')
      if (policy !== 'OrderedReady' && policy !== 'Parallel') {
        const detail = "must be 'OrderedReady' or 'Parallel'"
        errors.push(fieldError.invalid('spec.podManagementPolicy', policy, detail))
      }
      const strategy = str(spec, 'updateStrategy', 'type')
      if (strategy !== 'OnDelete' && strategy !== 'RollingUpdate') {
        const detail = "must be 'RollingUpdate' or 'OnDelete'"
        errors.push(fieldError.invalid('spec.updateStrategy', spec.updateStrategy, detail))
      }
      const claims = records(spec, 'volumeClaimTemplates').map(claim => ({ name: str(claim, 'metadata', 'name') }))
      return [
        ...errors,
        ...nonNegative(spec, 'spec', 'replicas', 'minReadySeconds'),
        ...podSelector(spec.selector, 'spec.selector', 'empty selector is invalid for statefulset'),
        ...validateReplicaTemplate(withClaimVolumes(spec, claims), 'StatefulSet'),
      ]
    },
    validateUpdate(object, old) {
      const frozen = (spec: Fields) =>
        Object.fromEntries(Object.entries(spec).filter(([field]) => !STATEFUL_SET_MUTABLE.includes(field)))
      if (sameMeaning(frozen(record(object, 'spec')), frozen(record(old, 'spec')))) return []
      const names = STATEFUL_SET_MUTABLE.map(field => `'${field}'`)
      const listed = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
      return [fieldError.forbidden('spec', `updates to statefulset spec for fields other than ${listed} are forbidden`)]
    },
    validateStatusUpdate: replicaStatus({
      counts: ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      parts: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    }),
  },
  () => ({ replicas: 0, availableReplicas: 0 }),
)
const STATEFUL_SET_MUTABLE: readonly string[] = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

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
      const errors = podSelector(spec.selector, 'spec.selector', 'empty selector is invalid for daemonset')
      errors.push(...validateReplicaTemplate(spec, 'DaemonSet'), ...nonNegative(spec, 'spec', 'minReadySeconds'))
      const type = str(spec, 'updateStrategy', 'type')
      if (type !== 'OnDelete' && type !== 'RollingUpdate') {
        errors.push(fieldError.notSupported('spec.updateStrategy', spec.updateStrategy, ['RollingUpdate', 'OnDelete']))
      } else if (type === 'RollingUpdate') {
        errors.push(
          ...validateRolling(record(spec, 'updateStrategy', 'rollingUpdate'), 'spec.updateStrategy.rollingUpdate'),
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
  'apps/statefulsets': statefulSets,
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

/** The template as its pods will see it: every claim template becomes a volume of that name. */
function withClaimVolumes(spec: Fields, claims: readonly { name: string }[]): Fields {
  if (!isRecord(spec.template) || claims.length === 0) return spec
  const podSpec = record(spec.template, 'spec')
  const named = new Set(claims.map(claim => claim.name))
  const volumes = [
    ...records(podSpec, 'volumes').filter(volume => !named.has(str(volume, 'name'))),
    ...claims.map(({ name }) => ({ name, persistentVolumeClaim: { claimName: name } })),
  ]
  return { ...spec, template: { ...spec.template, spec: { ...podSpec, volumes } } }
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
  const isZero = (value: unknown) => isEmpty(value) || value === '0%'
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    errors.push(fieldError.invalid(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'))
  }
  return [...errors, ...atMostAll(maxUnavailable, `${path}.maxUnavailable`)]
}
