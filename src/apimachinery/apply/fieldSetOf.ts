/** The field set of a value: what somebody who writes exactly this value owns. */
import { isRecord } from '../object.ts'
import { hasMoreValues } from '../objectSize.ts'
import type { Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { EMPTY_SET, type FieldSet, fieldSet, HERE } from './fieldSet.ts'
import { fieldElement } from './pathElement.ts'
import { elementsOf, isDeclared, memberShape, shapeOf } from './shape.ts'

/** Number of values that one step looks through. */
export const STEP_VALUES = 1000
/** Members and elements between two steps. */
export const STEP_MEMBERS = 250

/**
 * Leaves, keys of free-form maps, list elements, and members that are empty or null; not the structs around them.
 * The path of `value` itself is in the set when it is a leaf.
 */
export function ownedBy(value: unknown, schema: Schema | undefined): FieldSet {
  const shape = shapeOf(value, schema)
  if (shape === 'leaf') return HERE
  const children = new Map<string, FieldSet>()
  if (shape === 'map') {
    const map = value as Record<string, unknown>
    for (const name of Object.keys(map)) {
      const member = map[name]
      if (member === undefined) continue
      const below = ownedBy(member, memberShape(schema, name))
      const owned = member === null || isEmptyMap(member) || !isDeclared(schema, name)
      add(children, fieldElement(name), owned, below)
    }
  } else {
    const list = value as unknown[]
    const elements = elementsOf(list, schema!, shape)
    if (elements === undefined) return HERE
    for (let i = 0; i < list.length; i++) add(children, elements[i]!, true, ownedBy(list[i], schema!.items))
  }
  return fieldSet(false, children)
}

/** Every path below `value`, structs included: what appears or disappears together with it. */
export function allBelow(value: unknown, schema: Schema | undefined): FieldSet {
  const shape = shapeOf(value, schema)
  if (shape === 'leaf') return EMPTY_SET
  const children = new Map<string, FieldSet>()
  if (shape === 'map') {
    const map = value as Record<string, unknown>
    for (const name of Object.keys(map)) {
      const member = map[name]
      if (member === undefined) continue
      children.set(
        fieldElement(name),
        typeof member === 'object' ? fieldSet(true, allBelow(member, memberShape(schema, name)).children) : HERE,
      )
    }
  } else {
    const list = value as unknown[]
    const elements = elementsOf(list, schema!, shape)
    if (elements === undefined) return EMPTY_SET
    for (let i = 0; i < list.length; i++) add(children, elements[i]!, true, allBelow(list[i], schema!.items))
  }
  return fieldSet(false, children)
}

/** The same in steps. */
export function* allBelowInSteps(value: unknown, schema: Schema | undefined): Steps<FieldSet> {
  const shape = shapeOf(value, schema)
  if (shape === 'leaf') return EMPTY_SET
  if (!hasMoreValues(value, STEP_VALUES)) return allBelow(value, schema)
  const children = new Map<string, FieldSet>()
  let passed = 0
  if (shape === 'map') {
    const map = value as Record<string, unknown>
    for (const name of Object.keys(map)) {
      const member = map[name]
      if (member === undefined) continue
      const isStructure = typeof member === 'object'
      const below = isStructure ? yield* allBelowInSteps(member, memberShape(schema, name)) : HERE
      children.set(fieldElement(name), isStructure ? fieldSet(true, below.children) : HERE)
      if (++passed % STEP_MEMBERS === 0) yield
    }
  } else {
    const list = value as unknown[]
    for (let from = 0; from < list.length; from += STEP_MEMBERS) {
      const part = list.slice(from, from + STEP_MEMBERS)
      const elements = elementsOf(part, schema!, shape)
      if (elements === undefined) return EMPTY_SET
      for (const [i, item] of part.entries())
        add(children, elements[i]!, true, yield* allBelowInSteps(item, schema!.items))
      yield
    }
  }
  return fieldSet(false, children)
}

function add(children: Map<string, FieldSet>, element: string, self: boolean, below: FieldSet): void {
  const set = fieldSet(self || below.self, below.children)
  if (set.self || set.children !== undefined) children.set(element, set)
}

function isEmptyMap(value: unknown): boolean {
  if (!isRecord(value)) return false
  for (const name in value) if (value[name] !== undefined) return false
  return true
}
