/** Cluster addresses of Services and the families that they are of: what goes together, and what may change. */

import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, record, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { repeats } from '../checks.ts'
import { choice } from '../shapes.ts'
import { ipAddress } from './addresses.ts'

const IPS = 'spec.clusterIPs'
const FAMILIES = 'spec.ipFamilies'
const POLICY = 'spec.ipFamilyPolicy'

const isNone = (spec: Fields): boolean => list(spec, 'clusterIPs').length === 1 && str(spec, 'clusterIPs', 0) === 'None'

/** @param old the spec before, whose addresses are not judged anew */
export function serviceIpErrors(spec: Fields, old: Fields): FieldError[] {
  const [ip, ips] = [str(spec, 'clusterIP'), strings(spec, 'clusterIPs')]
  const errors: FieldError[] = []
  if (ip !== '') {
    if (ips.length === 0) errors.push(fieldError.required(IPS))
    else if (ips[0] !== ip) errors.push(fieldError.invalid(IPS, ips, 'first value must match `clusterIP`'))
  } else if (ips.length > 0) {
    errors.push(fieldError.invalid(IPS, ips, 'must be empty when `clusterIP` is not specified'))
  }
  errors.push(...familyErrors(strings(spec, 'ipFamilies')))
  errors.push(...choice(spec, 'ipFamilyPolicy', POLICY, ['PreferDualStack', 'RequireDualStack', 'SingleStack']))
  const wrong = addressErrors(ips, strings(old, 'clusterIPs'))
  if (ips.length > 2) wrong.last.push(fieldError.invalid(IPS, ips, 'may only hold up to 2 values'))
  errors.push(...wrong.first, ...wrong.last)
  if (wrong.first.length > 0) return errors
  if (ips.length > 1 && (ips.length > 2 || isIP(ips[0]!) === isIP(ips[1]!))) {
    errors.push(fieldError.invalid(IPS, ips, 'may specify no more than one IP for each IP family'))
  }
  if (isNone(spec)) return errors
  for (const [i, family] of strings(spec, 'ipFamilies').entries()) {
    const own = ips[i]
    if (own === undefined || `IPv${isIP(own)}` === family || (family !== 'IPv4' && family !== 'IPv6')) continue
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${i}]\``
    errors.push(fieldError.invalid(`${IPS}[${i}]`, own, detail))
  }
  return errors
}

const FAMILY_NAMES = ['IPv4', 'IPv6']

function familyErrors(families: readonly string[]): FieldError[] {
  const again = repeats(families)
  return families.flatMap((family, i) => [
    ...(FAMILY_NAMES.includes(family) ? [] : [fieldError.notSupported(`${FAMILIES}[${i}]`, family, FAMILY_NAMES)]),
    ...(again[i] ? [fieldError.duplicate(`${FAMILIES}[${i}]`, family)] : []),
  ])
}

/** `first` are faults that end the validation of the addresses. */
function addressErrors(ips: readonly string[], old: readonly string[]): { first: FieldError[]; last: FieldError[] } {
  const first: FieldError[] = []
  for (const [i, ip] of ips.entries()) {
    if (i === 0 && ip === 'None') {
      if (ips.length > 1) first.push(fieldError.invalid(IPS, ips, "'None' must be the first and only value"))
    } else if (!old.includes(ip)) first.push(...ipAddress(ip, `${IPS}[${i}]`))
  }
  return { first, last: [] }
}

/** A second address or family may come and go, the first stays; but for Services that are, or were, only a name. */
export function serviceIpChanges(service: KubeObject, before: KubeObject): FieldError[] {
  const [now, old] = [record(service, 'spec'), record(before, 'spec')]
  if (now.type === 'ExternalName' || old.type === 'ExternalName') return []
  const single = (what: string, count: number, had: number): FieldError[] => {
    if (had <= count || count !== 1 || now.ipFamilyPolicy === 'SingleStack') return []
    const shown = has(now, 'ipFamilyPolicy') ? now.ipFamilyPolicy : null
    return [fieldError.invalid(POLICY, shown, `must be set to 'SingleStack' when releasing the secondary ${what}`)]
  }
  const errors: FieldError[] = []
  const [ips, oldIps] = [strings(now, 'clusterIPs'), strings(old, 'clusterIPs')]
  if (!isNone(now) || !isNone(old)) {
    if (ips.length === oldIps.length) {
      for (const [i, ip] of oldIps.entries()) {
        if (ip !== ips[i]) errors.push(fieldError.invalid(`${IPS}[${i}]`, ips, 'may not change once set'))
      }
    } else if (oldIps.length > 0 && ips.length === 0) {
      errors.push(fieldError.invalid(`${IPS}[0]`, null, 'primary clusterIP can not be unset'))
    } else if (oldIps.length > 0 && ips[0] !== oldIps[0]) {
      errors.push(fieldError.invalid(`${IPS}[0]`, ips, 'may not change once set'))
    }
    errors.push(...single('clusterIP', ips.length, oldIps.length))
  }
  if (isNone(now) || isNone(old)) return errors
  const [families, oldFamilies] = [strings(now, 'ipFamilies'), strings(old, 'ipFamilies')]
  const first = `${FAMILIES}[0]`
  if (families.length === oldFamilies.length) {
    const changed = oldFamilies.filter((family, i) => family !== families[i])
    errors.push(...changed.map(() => fieldError.invalid(first, families, 'may not change once set')))
  } else if (oldFamilies.length > 0 && families.length > 0 && families[0] !== oldFamilies[0]) {
    errors.push(fieldError.invalid(first, ips.length > 0 ? ips : null, 'may not change once set'))
  }
  return [...errors, ...single('ipFamily', families.length, oldFamilies.length)]
}
