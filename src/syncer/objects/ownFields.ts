/**
 * What of a live object the center sets: its values at the places of what would be written, and nothing beside them. What a list holds
 * is told apart by names where its items have them, else by their places. Values of Secrets are hashed. Pure.
 */
import { createHmac } from 'node:crypto'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
type Fields = Record<string, unknown>

/** `live` at the places of `wanted`; `undefined` is not there. */
export function atPlacesOf(wanted: unknown, live: unknown): unknown {
  if (isRecord(wanted) && isRecord(live)) {
    const places = Object.keys(wanted).filter(key => live[key] !== undefined)
    return Object.fromEntries(places.map(key => [key, atPlacesOf(wanted[key], live[key])]))
  }
  if (!Array.isArray(wanted) || !Array.isArray(live)) return live
  if (wanted.length > 0 && [...wanted, ...live].every(isNamed)) {
    const byName = new Map(live.map(item => [(item as Named).name, item]))
    return wanted.flatMap((item: Named) => {
      const found = byName.get(item.name)
      return found === undefined ? [] : [atPlacesOf(item, found)]
    })
  }
  return wanted.length === live.length ? live.map((item, i) => atPlacesOf(wanted[i], item)) : live
}

interface Named {
  readonly name: string
}

function isNamed(item: unknown): item is Named {
  return isRecord(item) && typeof item.name === 'string'
}

/** As it may leave the cluster: without what servers set, values of Secrets as hashes. */
export function told(object: KubeObject, hashKey: string): Fields {
  const { apiVersion, kind, metadata, status: _, ...fields } = object
  const { labels, annotations = {} } = metadata
  const { [LAST_APPLIED]: _applied, ...others } = annotations
  const isSecret = kind === 'Secret' && apiVersion === 'v1'
  const hash = (value: unknown): string =>
    `hash:${createHmac('sha256', hashKey).update(JSON.stringify(value)).digest('hex').slice(0, 16)}`
  const hidden = (value: unknown): unknown =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hash(one)])) : hash(value)
  const shown = Object.entries(fields).map(([field, value]): [string, unknown] => [
    field,
    isSecret && (field === 'data' || field === 'stringData') ? hidden(value) : value,
  ])
  return { metadata: { ...(labels && { labels }), annotations: others }, ...Object.fromEntries(shown) }
}
