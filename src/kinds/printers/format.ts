/** How cells show labels, selectors, ports and lists: the notations of `kubectl get`. */

import { at, list, records, str } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { type Column, column } from './printer.ts'

export const NONE = '<none>'

export const orNone = (text: string): string => (text === '' ? NONE : text)

/** `a=b,c=d` in the order of keys; `<none>` when empty. */
export function formatLabels(labels: unknown): string {
  if (!isRecord(labels)) return NONE
  const names = Object.keys(labels).sort()
  return orNone(names.map(name => `${name}=${labels[name]}`).join(','))
}

/** A label selector in the notation of `kubectl -l`; `<none>` when it is empty or absent. */
export function formatSelector(selector: unknown): string {
  const terms: [key: string, term: string][] = []
  for (const [key, value] of Object.entries(
    isRecord(at(selector, 'matchLabels')) ? (at(selector, 'matchLabels') as object) : {},
  )) {
    terms.push([key, `${key}=${value}`])
  }
  for (const e of records(selector, 'matchExpressions')) {
    const key = str(e, 'key')
    const values = list(e, 'values').map(String).sort().join(',')
    const operator = str(e, 'operator')
    if (operator === 'In') terms.push([key, `${key} in (${values})`])
    else if (operator === 'NotIn') terms.push([key, `${key} notin (${values})`])
    else if (operator === 'Exists') terms.push([key, key])
    else if (operator === 'DoesNotExist') terms.push([key, `!${key}`])
  }
  terms.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))
  return orNone(terms.map(([, term]) => term).join(','))
}

/** A pointer to a boolean: `<unset>` when absent. */
export const formatBool = (value: unknown): string => (value === true ? 'True' : value === false ? 'False' : '<unset>')

/** Access modes abbreviated: `RWO,ROX`, in the order of how much they allow. */
export function formatAccessModes(modes: readonly unknown[]): string {
  const short: Record<string, string> = {
    ReadWriteOnce: 'RWO',
    ReadOnlyMany: 'ROX',
    ReadWriteMany: 'RWX',
    ReadWriteOncePod: 'RWOP',
  }
  return Object.keys(short)
    .filter(mode => modes.includes(mode))
    .map(mode => short[mode])
    .join(',')
}

/** The wide columns of kinds with a pod template. */
export function containerColumns(...templateSpec: readonly string[]): Column[] {
  const containers = (object: unknown, what: string) =>
    records(object, ...templateSpec, 'containers')
      .map(c => str(c, what))
      .join(',')
  return [
    column('Containers', object => containers(object, 'name'), {
      wide: true,
      description: 'Names of the containers in the template.',
    }),
    column('Images', object => containers(object, 'image'), {
      wide: true,
      description: 'Images of the containers in the template.',
    }),
  ]
}

/** `a,b,c + 2 more...`: at most `max` items. */
export function firstOf(items: readonly string[], max: number): string {
  const shown = items.slice(0, max).join(',')
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown
}

/** The addresses of a load balancer, sorted. */
export function loadBalancerAddresses(status: unknown): string {
  const addresses = records(status, 'loadBalancer', 'ingress').map(i => str(i, 'ip') || str(i, 'hostname'))
  return [...new Set(addresses.filter(a => a !== ''))].sort().join(',')
}
