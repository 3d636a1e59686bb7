/** The names of work statuses: `<location>:<resource>[.<group>]:<object>`. Pure. */
import { groupResourceName } from '../../apimachinery/object.ts'
import { objectKey, parseObjectKey } from './names.ts'

/** @param label of the cluster as the space sees it; without colon, as are resources and groups */
export function workStatusName(label: string, key: string): { namespace: string; name: string } {
  return { namespace: parseObjectKey(key).namespace, name: `${label}:${tailOf(key)}` }
}

/** The rest of the key behind the location. */
export function tailOf(key: string): string {
  const object = parseObjectKey(key)
  return `${groupResourceName(object)}:${object.name}`
}

/** `undefined`: it is none of them. */
export function splitWorkStatusName(namespace: string, name: string): { label: string; key: string } | undefined {
  const first = name.indexOf(':')
  const second = name.indexOf(':', first + 1)
  if (first <= 0 || second < 0) return undefined
  const kind = name.slice(first + 1, second)
  const dot = kind.indexOf('.')
  const [resource, group] = dot < 0 ? [kind, ''] : [kind.slice(0, dot), kind.slice(dot + 1)]
  return { label: name.slice(0, first), key: objectKey({ group, resource }, namespace, name.slice(second + 1)) }
}
