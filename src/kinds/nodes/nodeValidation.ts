/** Rules of Nodes. Their paths, such as `metadata.taints`, are upstream's. */

import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { has, record, records, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { repeated, repeats } from '../checks.ts'
import { cidr } from '../network/addresses.ts'
import { taints } from '../pods/affinity.ts'
import { resourceQuantity } from '../pods/resources.ts'

const CIDRS = 'spec.podCIDRs'

/** @param old whose ranges are not judged anew */
export function validateNode(node: KubeObject, old?: KubeObject): FieldError[] {
  const ranges = strings(node, 'spec', 'podCIDRs')
  const known = new Set(strings(old, 'spec', 'podCIDRs'))
  const errors = taints(records(node, 'spec', 'taints'), 'metadata.taints')
  for (const list of ['capacity', 'allocatable']) {
    for (const [name, amount] of Object.entries(record(node, 'status', list))) {
      errors.push(...resourceQuantity(name, amount, `status.${list}.${name}`))
    }
  }
  const judged = [...ranges.entries()].filter(([, range]) => !known.has(range))
  errors.push(...judged.flatMap(([i, range]) => cidr(range, `${CIDRS}[${i}]`)))
  if (ranges.length < 2) return errors
  const family = (range: string): number => isIP(range.split('/')[0]!)
  if (ranges.length > 2 || family(ranges[0]!) === family(ranges[1]!)) {
    errors.push(fieldError.invalid(CIDRS, ranges, 'may specify no more than one CIDR for each IP family'))
  }
  return [...errors, ...repeated(ranges, i => `${CIDRS}[${i}]`)]
}

/** A kubelet gets its range and its name at the provider once. */
export function validateNodeUpdate(node: KubeObject, old: KubeObject): FieldError[] {
  const [now, before] = [record(node, 'spec'), record(old, 'spec')]
  const addresses = records(node, 'status', 'addresses')
  const again = repeats(addresses.map(address => `${str(address, 'type')}\n${str(address, 'address')}`))
  const errors = addresses.flatMap((address, i) =>
    again[i] ? [fieldError.duplicate(`status.addresses[${i}]`, address)] : [],
  )
  const [ranges, oldRanges] = [strings(now, 'podCIDRs'), strings(before, 'podCIDRs')]
  if (oldRanges.length > 0 && !sameMeaning(ranges, oldRanges)) {
    errors.push(fieldError.forbidden(CIDRS, 'node updates may not change podCIDR except from "" to valid'))
  }
  if (str(before, 'providerID') !== '' && str(now, 'providerID') !== str(before, 'providerID')) {
    const detail = 'node updates may not change providerID except from "" to valid'
    errors.push(fieldError.forbidden('spec.providerID', detail))
  }
  if (str(now, 'externalID') === str(before, 'externalID')) return errors
  return [...errors, fieldError.forbidden('spec.externalID', 'may not be updated')]
}

/** Its feature is gone; only nodes that had it keep it. */
export function dropConfigSource(node: KubeObject): void {
  delete record(node, 'spec').configSource
}

export function nodeWarnings(node: KubeObject): string[] {
  const spec = record(node, 'spec')
  return [
    ...(has(spec, 'configSource') ? ['spec.configSource: the feature is removed'] : []),
    ...(str(spec, 'externalID') === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
  ]
}
