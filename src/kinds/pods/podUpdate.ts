/** Changes that a plain update may make to an existing pod; sub-resources may change more. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, num, record, records, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'

export const MIRROR = 'kubernetes.io/config.mirror'
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const UPDATE_RULE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'
const ONLY_ADDITIONS = 'only additions are allowed (no mutations or deletions)'
const REQUIRED_TERMS = 'requiredDuringSchedulingIgnoredDuringExecution'
const MAX_INT32 = 2_147_483_647

export function validatePodUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const [now, before] = [record(pod, 'spec'), record(old, 'spec')]
  const errors = annotationErrors(pod, old)
  for (const field of ['containers', 'initContainers']) {
    if (list(now, field).length === list(before, field).length) continue
    return [...errors, fieldError.forbidden(`spec.${field}`, 'pod updates may not add or remove containers')]
  }
  const deadline = deadlineErrors(now, before)
  errors.push(...deadline)
  if (deadline.length > 0 && has(now, 'activeDeadlineSeconds')) return errors
  errors.push(...tolerationErrors(now, before), ...gateErrors(now, before))
  const munged = withOldOf(now, before, errors)
  if (sameMeaning(munged, before)) return errors
  return [...errors, fieldError.forbidden('spec', UPDATE_RULE)]
}

/** Also a rule of the sub-resources. */
export function annotationErrors(pod: KubeObject, old: KubeObject): FieldError[] {
  const [now, before] = [pod.metadata.annotations ?? {}, old.metadata.annotations ?? {}]
  const errors: FieldError[] = []
  const refuse = (key: string, what: string): void => {
    const forbidden = (noun: string) => fieldError.forbidden(`metadata.annotations[${key}]`, `may not ${what} ${noun}`)
    if (key.startsWith(APP_ARMOR)) errors.push(forbidden('AppArmor annotations'))
    if (key === MIRROR) errors.push(forbidden('mirror pod annotation'))
  }
  for (const [key, value] of Object.entries(before)) if (now[key] !== value) refuse(key, 'remove or update')
  for (const key of Object.keys(now)) if (!Object.hasOwn(before, key)) refuse(key, 'add')
  return errors
}

function deadlineErrors(now: Fields, before: Fields): FieldError[] {
  const field = 'spec.activeDeadlineSeconds'
  const had = has(before, 'activeDeadlineSeconds')
  if (!has(now, 'activeDeadlineSeconds')) {
    return had ? [fieldError.invalid(field, null, 'must not update from a positive integer to nil value')] : []
  }
  const next = num(now, 'activeDeadlineSeconds')
  if (next < 0 || next > MAX_INT32)
    return [fieldError.invalid(field, next, `must be between 0 and ${MAX_INT32}, inclusive`)]
  const isLonger = had && next > num(before, 'activeDeadlineSeconds')
  return isLonger ? [fieldError.invalid(field, next, 'must be less than or equal to previous value')] : []
}

function tolerationErrors(now: Fields, before: Fields): FieldError[] {
  const left = new Set(records(now, 'tolerations').map(tolerationId))
  if (records(before, 'tolerations').every(had => left.has(tolerationId(had)))) return []
  const detail = 'existing toleration can not be modified except its tolerationSeconds'
  return [fieldError.forbidden('spec.tolerations', detail)]
}

function tolerationId(toleration: Fields): string {
  return JSON.stringify(['key', 'operator', 'value', 'effect'].map(field => str(toleration, field)))
}

function gateErrors(now: Fields, before: Fields): FieldError[] {
  const known = new Set(records(before, 'schedulingGates').map(gate => gate.name))
  return [...records(now, 'schedulingGates').entries()]
    .filter(([, gate]) => !known.has(gate.name))
    .map(([i, gate]) => {
      const detail = `only deletion is allowed, but found new scheduling gate '${gate.name}'`
      return fieldError.forbidden(`spec.schedulingGates[${i}].name`, detail)
    })
}

/** The new spec with its old values where it may change. Adds to `errors` what a gated pod changes in a wrong way. */
function withOldOf(now: Fields, before: Fields, errors: FieldError[]): Fields {
  const munged = cloneJson(now)
  for (const field of ['containers', 'initContainers']) {
    const images = records(before, field).map(container => container.image)
    for (const [i, container] of records(munged, field).entries()) container.image = images[i]
  }
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) restore(munged, before, field)
  if (num(before, 'terminationGracePeriodSeconds') < 0 && num(munged, 'terminationGracePeriodSeconds') === 1) {
    restore(munged, before, 'terminationGracePeriodSeconds')
  }
  if (records(before, 'schedulingGates').length > 0) {
    errors.push(...nodeSelectorErrors(now, before), ...nodeAffinityErrors(now, before))
    restore(munged, before, 'nodeSelector')
    const affinity: Fields = { ...record(munged, 'affinity') }
    restore(affinity, record(before, 'affinity'), 'nodeAffinity')
    munged.affinity = affinity
  }
  return munged
}

export function restore(target: Fields, source: Fields, field: string): void {
  if (source[field] === undefined) delete target[field]
  else target[field] = source[field]
}

function nodeSelectorErrors(now: Fields, before: Fields): FieldError[] {
  const selector = record(now, 'nodeSelector')
  const kept = Object.entries(record(before, 'nodeSelector')).every(([key, value]) => selector[key] === value)
  return kept ? [] : [fieldError.invalid('spec.nodeSelector', selector, ONLY_ADDITIONS)]
}

function nodeAffinityErrors(now: Fields, before: Fields): FieldError[] {
  const terms = (spec: Fields) => records(spec, 'affinity', 'nodeAffinity', REQUIRED_TERMS, 'nodeSelectorTerms')
  const [next, last] = [terms(now), terms(before)]
  const field = `spec.affinity.nodeAffinity.${REQUIRED_TERMS}.nodeSelectorTerms`
  if (last.length > 0 && last.length !== next.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'
    return [fieldError.invalid(field, next, detail)]
  }
  return last.flatMap((term, i) =>
    onlyAdds(next[i]!, term) ? [] : [fieldError.invalid(`${field}[${i}]`, next[i], ONLY_ADDITIONS)],
  )
}

/** A term without any requirement selects nothing: one more would make it select. */
function onlyAdds(now: Fields, before: Fields): boolean {
  const lists = ['matchExpressions', 'matchFields']
  const count = (term: Fields) => lists.reduce((sum, field) => sum + list(term, field).length, 0)
  if (count(before) === 0 && count(now) > 0) return false
  return lists.every(field => {
    const had = list(before, field)
    return sameMeaning(list(now, field).slice(0, had.length), had)
  })
}

/** Rules for new pods only. */
export function validateNewPod(pod: KubeObject): FieldError[] {
  const spec = record(pod, 'spec')
  const errors: FieldError[] = []
  if (list(spec, 'ephemeralContainers').length > 0) {
    errors.push(fieldError.forbidden('spec.ephemeralContainers', 'cannot be set on create'))
  }
  if (str(spec, 'nodeName') !== '' && list(spec, 'schedulingGates').length > 0) {
    errors.push(fieldError.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'))
  }
  return errors
}
