/** Objects of the fake servers and their changes: their kinds, their places, and how selections and patches see them. */
import { StatusError } from '../../src/apimachinery/errors.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  isRecord,
  type KubeObject,
} from '../../src/apimachinery/object.ts'
import { loadCatalog } from '../../src/apiserver/catalog/catalog.ts'
import type { ObjectRef, StreamEvent } from '../../src/client/client.ts'

/** A test that meets it uses a real server, or teaches the fake and its conformance suite. */
export class NotOffered extends Error {
  constructor(what: string) {
    super(`the fake server does not offer ${what}`)
    this.name = 'NotOffered'
  }
}

export interface Entry {
  readonly space: string
  readonly resource: GroupVersionResource
  /** Never changed. */
  readonly object: KubeObject
}

export interface Change extends Entry {
  readonly type: StreamEvent['type']
  readonly revision: number
  readonly previous: KubeObject | undefined
  readonly event: StreamEvent
}

export interface Kind {
  readonly kind: string
  readonly group: string
  readonly namespaced: boolean
  readonly subresources: readonly string[]
}

export interface Shape {
  readonly space: string
  readonly uid: string | undefined
  readonly creationTimestamp: string | undefined
  readonly deletionTimestamp?: string | undefined
  readonly generation?: number | undefined
}

export const idOfKind = ({ group, resource }: GroupResource): string => `${group}/${resource}`
export const CATALOG = new Map(loadCatalog().types.map((type): [string, Kind] => [idOfKind(type), type]))

/** How a broken connection looks to a client. */
export const brokenConnection = () => new StatusError('ServiceUnavailable', 'the connection broke')

export function isIn(space: string, entry: Entry): boolean {
  return space === '*' || entry.space === space
}

/** The change of a selection, if it is one. */
export function transition(
  { type, object, previous }: Change,
  matches: (object: KubeObject) => boolean,
): Change['type'] | undefined {
  const [was, is] = [previous !== undefined && matches(previous), type !== 'DELETED' && matches(object)]
  if (was) return is ? 'MODIFIED' : 'DELETED'
  return is ? 'ADDED' : undefined
}

export function placeOf({ metadata: { namespace, name = '' } }: KubeObject): ObjectRef {
  return namespace === undefined ? { name } : { namespace, name }
}

export function idOf(space: string, { group, resource }: GroupResource, ref: ObjectRef): string {
  return `${space} ${group}|${resource} ${ref.namespace ?? ''} ${ref.name}`
}

export function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return structuredClone(patch)
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else if (value !== undefined) result[name] = merge(result[name], value)
  }
  return result
}
