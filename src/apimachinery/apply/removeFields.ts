/** Taking fields out of a value. */
import type { Schema } from '../schema.ts'
import { cloneJson, setMember } from '../values.ts'
import { type FieldSet, fieldSet, HERE } from './fieldSet.ts'
import { fieldElement } from './pathElement.ts'
import { elementsOf, isDeclared, listShape, memberShape, shapeOf } from './shape.ts'

/** A copy of `value` without the members and elements whose paths are in `set`. A container that becomes empty stays, empty. */
export function withoutFields(value: unknown, set: FieldSet, schema: Schema | undefined): unknown {
  const shape = shapeOf(value, schema)
  if (shape === 'leaf' || set.children === undefined) return cloneJson(value)
  if (shape === 'map') {
    const map = value as Record<string, unknown>
    const result: Record<string, unknown> = {}
    for (const name of Object.keys(map)) {
      const below = set.children.get(fieldElement(name))
      if (below === undefined) setMember(result, name, cloneJson(map[name]))
      else if (!below.self) setMember(result, name, withoutFields(map[name], below, memberShape(schema, name)))
    }
    return result
  }
  const list = value as unknown[]
  const elements = elementsOf(list, schema!, shape)
  if (elements === undefined) return cloneJson(value)
  const result: unknown[] = []
  list.forEach((item, i) => {
    const below = set.children?.get(elements[i]!)
    if (below === undefined) result.push(cloneJson(item))
    else if (!below.self) result.push(withoutFields(item, below, schema!.items))
  })
  return result
}

/**
 * `set` with the declared fields on the way to its paths added, so that a struct goes with the last of its fields. Keys of
 * free-form maps and list elements are not added: they are owned by themselves.
 */
export function withDeclaredParents(set: FieldSet, schema: Schema | undefined): FieldSet {
  if (set.children === undefined) return set
  const children = new Map<string, FieldSet>()
  for (const [element, child] of set.children) {
    const name = element.startsWith('f:') ? element.slice(2) : undefined
    const below = withDeclaredParents(child, name === undefined ? schema?.items : memberShape(schema, name))
    const self = below.self || (name !== undefined && isDeclared(schema, name))
    children.set(element, self === below.self ? below : fieldSet(true, below.children))
  }
  return fieldSet(set.self, children)
}

/** `set` with everything below a declared leaf (an atomic map or list) replaced by the leaf; the same object if nothing is. */
export function withoutPartsOfLeaves(set: FieldSet, schema: Schema | undefined): FieldSet {
  if (set.children === undefined || schema === undefined) return set
  if (schema['x-kubernetes-map-type'] === 'atomic') return HERE
  if (schema.type === 'array' && listShape(schema) === 'leaf') return HERE
  let children: Map<string, FieldSet> | undefined
  for (const [element, child] of set.children) {
    const fitted = withoutPartsOfLeaves(
      child,
      element.startsWith('f:') ? memberShape(schema, element.slice(2)) : schema.items,
    )
    if (fitted === child) continue
    children ??= new Map(set.children)
    children.set(element, fitted)
  }
  return children === undefined ? set : fieldSet(set.self, children)
}
