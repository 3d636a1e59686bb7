/** Whether a value has the structure that its schema declares: what server-side apply demands of a configuration. */
import { goPrint } from '../go/goPrint.ts'
import { isRecord } from '../object.ts'
import type { Schema } from '../schema.ts'
import { fieldElement, showElement } from './pathElement.ts'
import { elementOf, listShape, memberShape } from './shape.ts'

/** Errors in upstream's words and format, in the order of the value; empty when it fits. */
export function structureErrors(value: unknown, schema: Schema | undefined): string[] {
  const errors: string[] = []
  visit(value, { schema, open: false, path: '' }, errors)
  return errors
}

interface Place {
  schema: Schema | undefined
  /** Whether a schema around it lets unknown fields be; that holds for everything below. */
  open: boolean
  path: string
}

function visit(value: unknown, place: Place, errors: string[]): void {
  if (value === null || value === undefined) return
  const problem = place.schema === undefined ? undefined : typeProblem(value, place.schema)
  if (problem !== undefined) errors.push(`${place.path}: ${problem}`)
  else if (Array.isArray(value)) visitList(value, place, errors)
  else if (isRecord(value)) visitMap(value, place, errors)
}

function visitMap(map: Record<string, unknown>, { schema, open, path }: Place, errors: string[]): void {
  const preserves = open || Boolean(schema?.['x-kubernetes-preserve-unknown-fields'])
  for (const name of Object.keys(map)) {
    const below = memberShape(schema, name)
    const here = path + showElement(fieldElement(name))
    if (below === undefined && !preserves && schema !== undefined && !takesAnything(schema))
      errors.push(`${here}: field not declared in schema`)
    else visit(map[name], { schema: below, open: preserves, path: here }, errors)
  }
}

/** Whether members that the schema does not name may have any value. */
function takesAnything(schema: Schema): boolean {
  if (schema['x-kubernetes-embedded-resource'] || schema.additionalProperties === true) return true
  return schema.properties === undefined && schema.additionalProperties === undefined
}

function visitList(list: unknown[], { schema, open, path }: Place, errors: string[]): void {
  const shape = listShape(schema)
  const seen = new Set<string>()
  list.forEach((item, i) => {
    if (shape !== 'keyed' && shape !== 'set') {
      visit(item, { schema: schema?.items, open, path: `${path}[${i}]` }, errors)
      return
    }
    let element: string
    try {
      element = elementOf(item, schema!, shape)
    } catch (error) {
      errors.push(`${path}: element ${i}: ${(error as Error).message}`)
      return
    }
    if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${showElement(element)}`)
    seen.add(element)
    visit(item, { schema: schema!.items, open, path: path + showElement(element) }, errors)
  })
}

function typeProblem(value: unknown, schema: Schema): string | undefined {
  if (schema['x-kubernetes-int-or-string'])
    return isScalar(value) ? undefined : `expected scalar, got ${goPrint(value)}`
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? undefined : `expected map, got &{${goPrint(value)}}`
    case 'array':
      return Array.isArray(value) ? undefined : `expected list, got &{${goPrint(value)}}`
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${typeName(value)}`
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got &{${goPrint(value)}}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goPrint(value)}}`
    default:
      return undefined
  }
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  return isRecord(value) ? 'map' : typeof value
}
