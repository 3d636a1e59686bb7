/**
 * How values are structured for ownership: what is one leaf, what is owned member by member or element by element. Follows
 * the Kubernetes list and map types; where the schema is silent maps are granular and lists are leaves.
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
import { isRecord } from '../object.ts'
import { memberSchema, ONE_VALUE, type Schema } from '../schema.ts'
import { objectMetaSchema } from '../structural/objectMetaSchema.ts'
import { memberOf } from '../values.ts'
import { keyElement, valueElement } from './pathElement.ts'

/** `leaf`: owned as a whole. `map`: by member. `keyed`: a list by its elements' keys. `set`: a list by its elements' values. */
export type Shape = 'leaf' | 'map' | 'keyed' | 'set'

const RESOURCE_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

// A memo of a pure function: each lives as long as the schema that it is made of.
const wholes = new WeakMap<Schema, Schema>()
const SCHEMALESS = wholeOf(undefined)

/** The schema of a whole object: `schema` with the parts that every object has. */
export function objectSchema(schema: Schema | undefined): Schema {
  if (schema === undefined) return SCHEMALESS
  let whole = wholes.get(schema)
  if (whole === undefined) {
    whole = wholeOf(schema)
    wholes.set(schema, whole)
  }
  return whole
}

function wholeOf(schema: Schema | undefined): Schema {
  const root: Schema = {
    type: 'object',
    properties: {
      ...schema?.properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: objectMetaSchema,
    },
  }
  if (schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] || schema.properties === undefined)
    root['x-kubernetes-preserve-unknown-fields'] = true
  if (schema?.additionalProperties !== undefined) root.additionalProperties = schema.additionalProperties
  return root
}

/** The schema of member `name`; `undefined` when its structure follows from its value. */
export function memberShape(schema: Schema | undefined, name: string): Schema | undefined {
  if (name === 'metadata' && schema?.['x-kubernetes-embedded-resource']) return objectMetaSchema
  return memberSchema(schema, name)
}

/** Whether the schema names the member itself, as a struct names its fields; keys of free-form maps are not declared. */
export function isDeclared(schema: Schema | undefined, name: string): boolean {
  if (schema?.properties !== undefined && Object.hasOwn(schema.properties, name)) return true
  return schema?.['x-kubernetes-embedded-resource'] === true && RESOURCE_MEMBERS.has(name)
}

export function shapeOf(value: unknown, schema: Schema | undefined): Shape {
  if (typeof value !== 'object' || value === null || schema?.[ONE_VALUE]) return 'leaf'
  if (Array.isArray(value)) return listShape(schema)
  return schema?.['x-kubernetes-map-type'] === 'atomic' ? 'leaf' : 'map'
}

export function listShape(schema: Schema | undefined): Shape {
  if (schema === undefined) return 'leaf'
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'map') return 'keyed'
  if (listType === 'set') return 'set'
  if (listType === 'atomic') return 'leaf'
  // Built-in kinds without a list type: the strategic merge patch rules say the same thing.
  const strategy = schema['x-kubernetes-patch-strategy']
  if (strategy === undefined || !strategy.split(',').includes('merge')) return 'leaf'
  return schema['x-kubernetes-patch-merge-key'] === undefined ? 'set' : 'keyed'
}

function listKeys(schema: Schema): readonly string[] {
  const keys = schema['x-kubernetes-list-map-keys']
  if (keys !== undefined) return keys
  const mergeKey = schema['x-kubernetes-patch-merge-key']
  return mergeKey === undefined ? [] : [mergeKey]
}

/**
 * The path element of an element of a `keyed` or `set` list; keys left out take the schema's default.
 * @throws Error in upstream's words when the element has none
 */
export function elementOf(item: unknown, schema: Schema, shape: 'keyed' | 'set'): string {
  if (shape === 'set') {
    if (Array.isArray(item)) throw new Error('not supporting associative lists with lists as elements')
    if (isRecord(item)) throw new Error("associative list without keys has an element that's a map type")
    if (item === null) throw new Error("associative list without keys has an element that's an explicit null")
    return valueElement(item)
  }
  if (item === null) throw new Error('associative list with keys may not have a null element')
  if (!isRecord(item)) throw new Error('associative list with keys may not have non-map elements')
  const fields: Record<string, unknown> = {}
  const keys = listKeys(schema)
  for (const key of keys) {
    const value = memberOf(item, key) ?? memberSchema(schema.items, key)?.default
    if (value !== undefined) fields[key] = value
  }
  if (Object.keys(fields).length > 0) return keyElement(fields)
  const names = keys.map(key => JSON.stringify(key)).join(' ')
  throw new Error(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  )
}

/** Path elements of a list in its order; `undefined` when one has none, so that the list can only be taken as a whole. */
export function elementsOf(
  list: readonly unknown[],
  schema: Schema,
  shape: 'keyed' | 'set',
): readonly string[] | undefined {
  try {
    return list.map(item => elementOf(item, schema, shape))
  } catch {
    return undefined
  }
}
