/**
 * A value that an update leaves as it was may stay invalid, so that a stricter schema does not lock objects up. This is when a value counts
 * as left as it was.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting
 */
import { isRecord } from '../object.ts'
import { type Schema, STRUCT_NAME } from '../schema.ts'
import { canonicalJson, equalJson } from '../values.ts'
import { elementKey } from './listTypes.ts'
import { NONE } from './validationRun.ts'

/**
 * Elements of a `map` list may have changed places. An object with members that its schema does not describe counts as changed, as
 * upstream. So does one with metadata, of which schemas describe little, and with it every whole object.
 */
export function isUnchanged(schema: Schema, value: unknown, old: unknown, known: Known): boolean {
  if (typeof value !== 'object' || value === null) return equalJson(value, old)
  const found = known.get(value)
  if (found !== undefined) return found
  const isSame = Array.isArray(value)
    ? Array.isArray(old) && sameElements(schema, value, old, known)
    : isRecord(value) && isRecord(old) && sameMembers(schema, value, old, known)
  known.set(value, isSame)
  return isSame
}

/** Earlier comparisons in one validation: nested values come again at every level. */
export type Known = Map<object, boolean>

function sameElements(schema: Schema, list: readonly unknown[], old: readonly unknown[], known: Known): boolean {
  if (schema['x-kubernetes-list-type'] !== 'map' || schema.items === undefined) return equalJson(list, old)
  const { items } = schema
  const before = byKey(old, schema['x-kubernetes-list-map-keys'] ?? [])
  return (
    list.length === old.length &&
    list.every(item => {
      const found = before(item)
      return found !== NONE && isUnchanged(items, item, found, known)
    })
  )
}

function sameMembers(
  schema: Schema,
  object: Record<string, unknown>,
  old: Record<string, unknown>,
  known: Known,
): boolean {
  if (schema[STRUCT_NAME] === OBJECT_META) return false
  const { properties = {}, additionalProperties } = schema
  const names = Object.keys(object).filter(name => object[name] !== undefined)
  if (names.length !== Object.keys(old).filter(name => old[name] !== undefined).length) return false
  return names.every(name => {
    const member = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    return typeof member === 'object' && Object.hasOwn(old, name) && isUnchanged(member, object[name], old[name], known)
  })
}

const OBJECT_META = 'v1.ObjectMeta'

/** The old element of a `map` list that has the same key, or {@link NONE}. */
export function byKey(old: readonly unknown[], keys: readonly string[]): (item: unknown) => unknown {
  const found = new Map(old.map(item => [canonicalJson(elementKey(item, keys)), item]))
  return item => {
    const key = canonicalJson(elementKey(item, keys))
    return found.has(key) ? found.get(key) : NONE
  }
}

/** Kind and version of a whole object are never compared: both objects are shown in the version of the request. */
export function isNeverKept(name: string): boolean {
  return name === 'kind' || name === 'apiVersion'
}
