/**
 * Removes what a structural schema does not know, and nulls where the schema allows none (a null stands for absence).
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning
 */
import { isRecord } from '../object.ts'
import type { Schema } from '../schema.ts'
import { resourceRootSchema } from './objectMetaSchema.ts'
import { type Trail, trailText } from './trail.ts'

/**
 * Prunes `object`, a whole API object, in place. `apiVersion`, `kind` and `metadata` are always known, here and in embedded
 * resources; inside `metadata` the fields of ObjectMeta are known.
 * @returns paths of the removed unknown fields in document order, such as `spec.containers[0].bar`; dropped nulls are not named
 */
export function pruneUnknown(object: unknown, schema: Schema | undefined): string[] {
  if (schema === undefined) return []
  const removed: string[] = []
  pruneValue(object, schema, true, { trail: [], removed })
  return removed
}

/**
 * The paths in upstream's order for custom resources: metadata, then unknown ones in the order of their text, then metadata of embedded
 * resources.
 */
export function inOrderOfText(paths: readonly string[]): string[] {
  const rank = (path: string): number => (path.startsWith('metadata.') ? 0 : path.includes('.metadata.') ? 2 : 1)
  return paths.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

interface Walk {
  trail: Trail
  removed: string[]
}

function pruneValue(value: unknown, schema: Schema, isResource: boolean, walk: Walk): void {
  if (Array.isArray(value)) {
    if (schema.items === undefined || keepsAll(schema.items)) return
    const isEmbedded = schema.items['x-kubernetes-embedded-resource'] === true
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] !== 'object' || value[i] === null) continue
      walk.trail.push(i)
      pruneValue(value[i], schema.items, isEmbedded, walk)
      walk.trail.pop()
    }
  } else if (isRecord(value)) {
    pruneMembers(value, schema, isResource, walk)
  }
}

function pruneMembers(object: Record<string, unknown>, schema: Schema, isResource: boolean, walk: Walk): void {
  const { properties } = schema
  const additional = schema.additionalProperties
  const keepsUnknown = keepsUnknownMembers(schema)
  for (const name of Object.keys(object)) {
    let member = isResource ? resourceRootSchema(name) : undefined
    if (member === undefined && properties !== undefined && Object.hasOwn(properties, name)) member = properties[name]
    if (member === undefined && typeof additional === 'object') member = additional
    if (member === undefined) {
      if (keepsUnknown) continue
      walk.trail.push(name)
      walk.removed.push(trailText(walk.trail))
      walk.trail.pop()
      delete object[name]
      continue
    }
    const value = object[name]
    if (value === null) {
      if (!allowsNull(member)) delete object[name]
    } else if (typeof value === 'object' && !keepsAll(member)) {
      walk.trail.push(name)
      pruneValue(value, member, member['x-kubernetes-embedded-resource'] === true, walk)
      walk.trail.pop()
    }
  }
}

/** Members without a schema stay: the schema says so, or it is the schema of any JSON value. */
function keepsUnknownMembers(schema: Schema): boolean {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true) return true
  return schema.type === undefined && schema.properties === undefined && schema.additionalProperties === undefined
}

/** Nothing below can be removed, so nothing below needs to be looked at. */
function keepsAll(schema: Schema): boolean {
  return (
    schema.properties === undefined &&
    typeof schema.additionalProperties !== 'object' &&
    schema.items === undefined &&
    schema['x-kubernetes-embedded-resource'] !== true &&
    keepsUnknownMembers(schema)
  )
}

function allowsNull(schema: Schema): boolean {
  return schema.nullable === true
}
