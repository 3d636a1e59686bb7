/**
 * Empty members of built-in kinds: upstream's servers read objects into structs and write these. A manifest's `labels: {}` or `paused:
 * false` is therefore gone when it comes back (Go's `omitempty`). Fields without `omitempty` are there although the author omitted them:
 * structs, and others with Go's zero value, which of lists, maps and pointers is null.
 * @see https://pkg.go.dev/encoding/json#Marshal
 */
import type { StructFacts } from '../../../openapi/catalogFormat.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { memberSchema, type Schema, STRUCT_FACTS } from '../../apimachinery/schema.ts'

/** Removes what upstream would not write of a built-in kind, in place; the values must be of the types of `schema`. */
export function dropEmpty(object: KubeObject, schema: Schema): void {
  dropMembers(object, schema)
}

/** The same for metadata, which is a struct for every kind. */
export function dropEmptyMetadata(metadata: KubeObject['metadata']): void {
  const members = metadata as Record<string, unknown>
  for (const [name, value] of Object.entries(members))
    if (value === '' || isEmptyCollection(value)) delete members[name]
}

/** Adds what upstream always writes of a built-in kind, in place. */
export function fillEmpty(object: Record<string, unknown>, schema: Schema): void {
  fillMembers(object, schema, false)
}

/** The same, as it comes out of upstream's store, which does not tell empty lists and maps from absent ones: null as well. */
export function fillStored(object: Record<string, unknown>, schema: Schema): void {
  fillMembers(object, schema, true)
}

/** Upstream's empty object of a built-in kind. The creator of an object does not come to own its content. */
export function zeroObject(schema: Schema): Record<string, unknown> {
  const zero: Record<string, unknown> = {}
  fillEmpty(zero, schema)
  return zero
}

function dropMembers(object: Record<string, unknown>, schema: Schema): void {
  if (schema['x-kubernetes-preserve-unknown-fields']) return
  const isStruct = schema.properties !== undefined
  const facts = schema[STRUCT_FACTS] ?? {}
  for (const name of Object.keys(object)) {
    const value = object[name]
    const member = memberSchema(schema, name)
    if (member === undefined) continue
    if (isStruct && !isAlways(name, schema, facts) && isEmpty(name, value, member, facts)) delete object[name]
    else drop(value, member)
  }
}

function drop(value: unknown, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) drop(item, schema.items)
  } else if (isRecord(value)) dropMembers(value, schema)
}

function isAlways(name: string, { required }: Schema, { always, omitted }: StructFacts): boolean {
  return always?.includes(name) === true || (required?.includes(name) === true && !omitted?.includes(name))
}

function isEmpty(name: string, value: unknown, schema: Schema, facts: StructFacts): boolean {
  switch (typeof value) {
    case 'string':
      return value === '' && schema.type === 'string' && !facts.pointers?.includes(name)
    case 'boolean':
      return !value && schema.type === 'boolean' && !facts.pointers?.includes(name)
    case 'number':
      return value === 0 && (schema.type === 'integer' || schema.type === 'number') && !facts.pointers?.includes(name)
    default:
      return isEmptyCollection(value) && (Array.isArray(value) || isMap(schema))
  }
}

/** A map, not a struct that has no member yet: `emptyDir: {}` says something. */
function isMap(schema: Schema): boolean {
  return schema.additionalProperties !== undefined && schema.additionalProperties !== false && !schema.properties
}

function isEmptyCollection(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.keys(value).length === 0
}

type Fill = (object: Record<string, unknown>, schema: Schema) => void

// A memo of a pure function: it lives as long as the schemas.
const filling = new WeakMap<Schema, boolean>()

/** Whether upstream always writes something that stands in `schema` or below. Schemas may be cyclic. */
function isFilled(schema: Schema): boolean {
  const known = filling.get(schema)
  if (known !== undefined) return known
  const seen = new Set<Schema>([schema])
  let found = false
  for (const node of seen) {
    if (node['x-kubernetes-preserve-unknown-fields']) continue
    found ||= filling.get(node) === true || alwaysWrites(node)
    if (found) break
    for (const name in node.properties) seen.add(node.properties[name]!)
    if (typeof node.additionalProperties === 'object') seen.add(node.additionalProperties)
    if (node.items !== undefined) seen.add(node.items)
  }
  if (found) filling.set(schema, true)
  // nothing below the root means nothing below any of its descendants
  else for (const node of seen) filling.set(node, false)
  return found
}

function alwaysWrites({ required, [STRUCT_FACTS]: facts }: Schema): boolean {
  if (facts === undefined) return false
  return (facts.always?.length ?? 0) > 0 || required?.some(name => !facts.omitted?.includes(name)) === true
}

function fillMembers(object: Record<string, unknown>, schema: Schema, stored: boolean): void {
  if (schema['x-kubernetes-preserve-unknown-fields'] || !isFilled(schema)) return
  const facts = schema[STRUCT_FACTS]
  if (facts !== undefined) {
    for (const name of schema.required ?? []) {
      if (needsZero(object[name], stored) && !facts.omitted?.includes(name)) setZero(object, name, schema)
    }
    for (const name of facts.always ?? []) if (needsZero(object[name], stored)) setZero(object, name, schema)
  }
  const fill: Fill = stored ? fillStored : fillEmpty
  for (const name in object) {
    const value = object[name]
    if (typeof value !== 'object' || value === null) continue
    const member = memberSchema(schema, name)
    if (member === undefined) continue
    if (Array.isArray(value)) fillItems(value, member.items, fill)
    else fill(value as Record<string, unknown>, member)
  }
}

function fillItems(list: readonly unknown[], schema: Schema | undefined, fill: Fill): void {
  if (schema === undefined) return
  for (const item of list) {
    if (Array.isArray(item)) fillItems(item, schema.items, fill)
    else if (isRecord(item)) fill(item, schema)
    // texts and numbers: so are the others
    else return
  }
}

function needsZero(value: unknown, stored: boolean): boolean {
  return value === undefined || (stored && isEmptyCollection(value))
}

/** A struct, or what may hold anything, stays what it is when it has no member yet. */
function setZero(object: Record<string, unknown>, name: string, schema: Schema): void {
  const member = schema.properties?.[name]
  if (member === undefined) return
  const saysSomething = member.properties !== undefined || member['x-kubernetes-preserve-unknown-fields'] === true
  if (object[name] !== undefined && saysSomething) return
  object[name] = schema[STRUCT_FACTS]?.pointers?.includes(name) ? null : zeroValue(member)
}

function zeroValue(schema: Schema): unknown {
  if (schema.format === 'quantity') return '0'
  if (schema.format === 'int-or-string') return 0
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' || schema.format === 'byte' ? null : ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 0
    default:
      return schema.properties === undefined ? null : {}
  }
}
