/** `pods/status`: what a kubelet may report of a pod, given what it reported before. */
import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  records,
  setDefaults,
  setIfEmpty,
  str,
} from '../../apimachinery/fields.ts'
import { qualifiedName } from '../../apimachinery/nameRules.ts'
import { dns1123Subdomain } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { immutable, invalidBy, repeated, repeats } from '../checks.ts'
import { annotationErrors } from './podUpdate.ts'

const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized']
const NOT_NEGATIVE = 'must be a non-negative integer'
const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

/** Fields that Go's structs always write: times that are absent, and states that are empty. */
export function completePodStatus(status: Fields): void {
  pairAddresses(status)
  for (const condition of records(status, 'conditions')) setTimes(condition, 'lastProbeTime', 'lastTransitionTime')
  for (const field of STATUSES) {
    for (const container of records(status, field)) {
      setDefaults(container, { image: '', imageID: '', ready: false, restartCount: 0 })
      for (const state of ['state', 'lastState'].map(name => ensure(container, name))) {
        if (has(state, 'running')) setTimes(ensure(state, 'running'), 'startedAt')
        if (has(state, 'terminated')) setTimes(ensure(state, 'terminated'), 'startedAt', 'finishedAt')
      }
    }
  }
}

/** The one address of elder clients goes before those of newer ones. */
function pairAddresses(status: Fields): void {
  const [first] = records(status, 'podIPs')
  const address = str(status, 'podIP')
  if (address !== '' && first?.ip !== address) status.podIPs = [{ ip: address }]
  else if (address === '' && first !== undefined) status.podIP = first.ip
}

function setTimes(holder: Fields, ...names: readonly string[]): void {
  for (const name of names) holder[name] ??= null
}

/** Elder kubelets leave out the server's own fields, and unknown ones. */
export function preparePodStatus(pod: KubeObject, old: KubeObject): void {
  const [status, before] = [record(pod, 'status'), record(old, 'status')]
  if (str(before, 'qosClass') !== '') setIfEmpty(status, 'qosClass', before.qosClass)
  if (num(before, 'observedGeneration') !== 0) setIfEmpty(status, 'observedGeneration', before.observedGeneration)
  const known = Map.groupBy(records(before, 'conditions'), ({ type }) => type)
  for (const condition of records(status, 'conditions')) {
    const same = known.get(condition.type)?.shift()
    if (num(same, 'observedGeneration') !== 0) {
      setIfEmpty(condition, 'observedGeneration', record(same).observedGeneration)
    }
  }
}

export function validatePodStatus(pod: KubeObject, old: KubeObject): FieldError[] {
  const [spec, status, before] = [record(old, 'spec'), record(pod, 'status'), record(old, 'status')]
  const errors = [...annotationErrors(pod, old), ...conditionErrors(status)]
  const nominated = str(status, 'nominatedNodeName')
  if (nominated !== '' && nominated !== str(before, 'nominatedNodeName')) {
    errors.push(...invalidBy(dns1123Subdomain, nominated, 'status.nominatedNodeName'))
  }
  if (num(status, 'observedGeneration') < 0) {
    errors.push(fieldError.invalid('status.observedGeneration', status.observedGeneration, NOT_NEGATIVE))
  }
  errors.push(...immutable(status.qosClass, before.qosClass, 'status.qosClass'))
  const sidecars = records(spec, 'initContainers').filter(container => container.restartPolicy === 'Always')
  errors.push(
    ...revivals(status, before, 'containerStatuses', spec),
    ...revivals(status, before, 'initContainerStatuses', spec, new Set(sidecars.map(({ name }) => name))),
    // nothing starts an ephemeral container twice
    ...revivals(status, before, 'ephemeralContainerStatuses', { restartPolicy: 'Never' }),
    ...claimErrors(status, spec),
    ...addressErrors(status, before, 'podIPs'),
    ...addressErrors(status, before, 'hostIPs'),
    ...hostErrors(status),
  )
  return errors
}

function conditionErrors(status: Fields): FieldError[] {
  return records(status, 'conditions').flatMap((condition, i) => {
    const here = `status.conditions[${i}]`
    const errors: FieldError[] = []
    if (num(condition, 'observedGeneration') < 0) {
      errors.push(fieldError.invalid(`${here}.observedGeneration`, condition.observedGeneration, NOT_NEGATIVE))
    }
    const type = str(condition, 'type')
    if (!SYSTEM_CONDITIONS.includes(type)) errors.push(...invalidBy(qualifiedName, type, `${here}.Type`))
    return errors
  })
}

/** A container that ended and is not to be started again stays ended. */
function revivals(
  status: Fields,
  before: Fields,
  field: string,
  { restartPolicy }: Fields,
  restartable: ReadonlySet<unknown> = new Set(),
): FieldError[] {
  if (restartPolicy === 'Always') return []
  const errors: FieldError[] = []
  for (const [i, last] of records(before, field).entries()) {
    if (!has(last, 'state', 'terminated') || restartable.has(last.name)) continue
    if (num(last, 'state', 'terminated', 'exitCode') !== 0 && restartPolicy === 'OnFailure') continue
    for (const next of records(status, field)) {
      if (next.name !== last.name || has(next, 'state', 'terminated')) continue
      const detail = 'may not be transitioned to non-terminated state'
      errors.push(fieldError.forbidden(`status.${field}[${i}].state`, detail))
    }
  }
  return errors
}

function claimErrors(status: Fields, spec: Fields): FieldError[] {
  const known = new Set(records(spec, 'resourceClaims').map(({ name }) => name))
  const claims = records(status, 'resourceClaimStatuses')
  const again = repeats(claims.map(({ name }) => name))
  return claims.flatMap(({ name, resourceClaimName }, i) => {
    const here = `status.resourceClaimStatuses[${i}].name`
    const detail = 'must match the name of an entry in `spec.resourceClaims`'
    const errors = known.has(name) ? [] : [fieldError.invalid(here, name, detail)]
    if (again[i]) errors.push(fieldError.duplicate(here, name))
    if (typeof resourceClaimName === 'string') errors.push(...invalidBy(dns1123Subdomain, resourceClaimName, here))
    return errors
  })
}

/** One address of each family at most. An earlier value may stay as it is. */
function addressErrors(status: Fields, before: Fields, field: string): FieldError[] {
  const path = `status.${field}`
  const addresses = records(status, field).map(address => str(address, 'ip'))
  const known = new Set(records(before, field).map(address => str(address, 'ip')))
  const errors = addresses.flatMap((ip, i) =>
    isIP(ip) !== 0 || known.has(ip) ? [] : [fieldError.invalid(`${path}[${i}]`, ip, NOT_AN_IP)],
  )
  if (addresses.length <= 1) return errors
  const families = new Set(addresses.map(isIP))
  if (families.size < 2 || addresses.length > 2) {
    const detail = 'may specify no more than one IP for each IP family'
    errors.push(fieldError.invalid(path, status[field], detail))
  }
  return [...errors, ...repeated(addresses, i => `${path}[${i}]`)]
}

function hostErrors(status: Fields): FieldError[] {
  const [first] = records(status, 'hostIPs')
  if (first === undefined || first.ip === str(status, 'hostIP')) return []
  return [fieldError.invalid('status.hostIPs[0].ip', first.ip, 'must be equal to `hostIP`')]
}
