/** Whether a value has the structure that its schema declares: what server-side apply demands of a configuration. */
import { TEXT_CHARACTERS } from '../errors.ts'
import { goPrint } from '../go/goPrint.ts'
import { isRecord } from '../object.ts'
import type { Schema } from '../schema.ts'
import { fieldElement, showElement } from './pathElement.ts'
import { elementOf, listShape, memberShape } from './shape.ts'

/** Errors in upstream's words and format, in the order of the value; empty when it fits. Only the first of very many are listed. */
export function structureErrors(value: unknown, schema: Schema | undefined): string[] {
  const errors = new Errors()
  visit(value, { schema, open: false, path: undefined }, errors)
  return errors.texts()
}

/** The way to a value, from its end: nobody writes it out unless there is something to say about it. */
interface Path {
  above: Path | undefined
  element: string
}

interface Place {
  schema: Schema | undefined
  /** Whether a schema around it lets unknown fields be; that holds for everything below. */
  open: boolean
  path: Path | undefined
}

/** Each error says its whole path, which may be as long as the object. */
class Errors {
  readonly #texts: string[] = []
  #characters = 0
  #more = 0

  add(path: Path | undefined, problem: () => string): void {
    if (this.#characters >= TEXT_CHARACTERS) {
      this.#more++
      return
    }
    const text = `${showWay(path)}: ${problem()}`
    this.#characters += text.length
    this.#texts.push(text)
  }

  texts(): string[] {
    return this.#more === 0 ? this.#texts : [...this.#texts, `and ${this.#more} more`]
  }
}

function showWay(path: Path | undefined): string {
  const elements: string[] = []
  for (let at = path; at !== undefined; at = at.above) elements.push(showElement(at.element))
  return elements.reverse().join('')
}

function visit(value: unknown, place: Place, errors: Errors): void {
  if (value === null || value === undefined) return
  if (place.schema !== undefined && !hasType(value, place.schema)) {
    errors.add(place.path, () => typeProblem(value, place.schema!))
  } else if (Array.isArray(value)) visitList(value, place, errors)
  else if (isRecord(value)) visitMap(value, place, errors)
}

function visitMap(map: Record<string, unknown>, { schema, open, path }: Place, errors: Errors): void {
  const preserves = open || Boolean(schema?.['x-kubernetes-preserve-unknown-fields'])
  for (const name of Object.keys(map)) {
    const below = memberShape(schema, name)
    const here: Path = { above: path, element: fieldElement(name) }
    if (below === undefined && !preserves && schema !== undefined && !takesAnything(schema))
      errors.add(here, () => 'field not declared in schema')
    else visit(map[name], { schema: below, open: preserves, path: here }, errors)
  }
}

/** Whether members that the schema does not name may have any value. */
function takesAnything(schema: Schema): boolean {
  if (schema['x-kubernetes-embedded-resource'] || schema.additionalProperties === true) return true
  return schema.properties === undefined && schema.additionalProperties === undefined
}

function visitList(list: unknown[], { schema, open, path }: Place, errors: Errors): void {
  const shape = listShape(schema)
  const seen = new Set<string>()
  list.forEach((item, i) => {
    if (shape !== 'keyed' && shape !== 'set') {
      visit(item, { schema: schema?.items, open, path: { above: path, element: `i:${i}` } }, errors)
      return
    }
    let element: string
    try {
      element = elementOf(item, schema!, shape)
    } catch (error) {
      errors.add(path, () => `element ${i}: ${(error as Error).message}`)
      return
    }
    if (seen.has(element)) errors.add(path, () => `duplicate entries for key ${showElement(element)}`)
    seen.add(element)
    visit(item, { schema: schema!.items, open, path: { above: path, element } }, errors)
  })
}

function hasType(value: unknown, schema: Schema): boolean {
  if (schema['x-kubernetes-int-or-string']) return isScalar(value)
  switch (schema.type) {
    case 'object':
      return isRecord(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
    case 'number':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    default:
      return true
  }
}

/** Error for a value that has not the type of its schema. */
function typeProblem(value: unknown, schema: Schema): string {
  if (schema['x-kubernetes-int-or-string']) return `expected scalar, got ${goPrint(value)}`
  switch (schema.type) {
    case 'object':
      return `expected map, got &{${goPrint(value)}}`
    case 'array':
      return `expected list, got &{${goPrint(value)}}`
    case 'integer':
    case 'number':
      return `expected numeric (int or float), got ${typeName(value)}`
    case 'string':
      return `expected string, got &{${goPrint(value)}}`
    default:
      return `expected boolean, got &{${goPrint(value)}}`
  }
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  return isRecord(value) ? 'map' : typeof value
}
