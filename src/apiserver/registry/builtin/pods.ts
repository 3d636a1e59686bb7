/** Pods: defaults and status at creation, what may change later, and what field selectors see. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { type Fields, has, list, num, record, records, sameMeaning, str } from './fields.ts'
import { type Strategies, withStatus } from './kind.ts'
import { defaultPod, qosClass } from './podDefaults.ts'
import { validatePodSpec } from './podValidation.ts'

const pods = withStatus({
  applyDefaults(pod) {
    defaultPod(pod)
    pairAddresses(record(pod, 'status'))
  },
  prepareForCreate(pod) {
    pod.status = { phase: 'Pending', qosClass: qosClass(record(pod, 'spec')) }
  },
  validate: pod => validatePodSpec(record(pod, 'spec'), 'spec'),
  // ephemeral containers come through their own sub-resource alone
  prepareForUpdate(pod, old) {
    const before = record(old, 'spec').ephemeralContainers
    if (before === undefined) delete record(pod, 'spec').ephemeralContainers
    else record(pod, 'spec').ephemeralContainers = structuredClone(before)
  },
  validateUpdate: validatePodUpdate,
  selectableFields: pod => ({
    'spec.nodeName': str(pod, 'spec', 'nodeName'),
    'spec.restartPolicy': str(pod, 'spec', 'restartPolicy'),
    'spec.schedulerName': str(pod, 'spec', 'schedulerName'),
    'spec.serviceAccountName': str(pod, 'spec', 'serviceAccountName'),
    'spec.hostNetwork': String(record(pod, 'spec').hostNetwork === true),
    'status.phase': str(pod, 'status', 'phase'),
    'status.podIP': str(pod, 'status', 'podIP'),
    'status.nominatedNodeName': str(pod, 'status', 'nominatedNodeName'),
  }),
})

export const podStrategies: Strategies = { '/pods': pods }

/** The one address of elder clients is the first of newer ones. */
function pairAddresses(status: Fields): void {
  const [first] = records(status, 'podIPs')
  if (first === undefined && str(status, 'podIP') !== '') status.podIPs = [{ ip: status.podIP }]
  else if (first !== undefined && str(status, 'podIP') === '') status.podIP = first.ip
}

const UPDATE_RULE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

function validatePodUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const now = record(pod, 'spec')
  const before = record(old, 'spec')
  const errors: FieldError[] = []
  for (const field of ['containers', 'initContainers']) {
    if (list(now, field).length !== list(before, field).length) {
      errors.push(fieldError.forbidden(`spec.${field}`, 'pod updates may not add or remove containers'))
    }
  }
  if (errors.length > 0) return errors
  errors.push(...deadlineErrors(now, before), ...tolerationErrors(now, before))
  if (!sameMeaning(frozen(now, before), frozen(before, before))) errors.push(fieldError.forbidden('spec', UPDATE_RULE))
  return errors
}

function deadlineErrors(now: Fields, before: Fields): FieldError[] {
  const field = 'spec.activeDeadlineSeconds'
  if (!has(before, 'activeDeadlineSeconds')) return []
  if (!has(now, 'activeDeadlineSeconds')) {
    return [fieldError.invalid(field, null, 'must not update from a positive integer to nil value')]
  }
  const [next, last] = [num(now, 'activeDeadlineSeconds'), num(before, 'activeDeadlineSeconds')]
  return next > last ? [fieldError.invalid(field, next, 'must be less than or equal to previous value')] : []
}

function tolerationErrors(now: Fields, before: Fields): FieldError[] {
  const kept = records(before, 'tolerations').every(had =>
    records(now, 'tolerations').some(t => sameToleration(t, had)),
  )
  if (kept) return []
  const detail = 'existing toleration can not be modified except its tolerationSeconds'
  return [fieldError.forbidden('spec.tolerations', detail)]
}

function sameToleration(a: Fields, b: Fields): boolean {
  const identity = ({ tolerationSeconds: _, ...rest }: Fields) => rest
  return sameMeaning(identity(a), identity(b))
}

/** The spec without what may change: made equal to `before` there. */
function frozen(spec: Fields, before: Fields): Fields {
  const copy = structuredClone(spec)
  for (const field of ['containers', 'initContainers'])
    for (const container of records(copy, field)) delete container.image
  delete copy.activeDeadlineSeconds
  delete copy.tolerations
  delete copy.ephemeralContainers
  const gates = records(before, 'schedulingGates').map(gate => gate.name)
  if (gates.length > 0) {
    // a gated pod may lose gates and be told where to go
    if (records(copy, 'schedulingGates').every(gate => gates.includes(gate.name))) delete copy.schedulingGates
    delete copy.nodeSelector
    delete copy.affinity
  }
  if (num(before, 'terminationGracePeriodSeconds') < 0 && num(copy, 'terminationGracePeriodSeconds') === 1) {
    copy.terminationGracePeriodSeconds = before.terminationGracePeriodSeconds
  }
  return copy
}
