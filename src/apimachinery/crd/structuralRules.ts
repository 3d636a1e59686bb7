/**
 * Rules of a structural schema: the shape of objects stands outside of allOf, anyOf, oneOf and not.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
import { type FieldError, fieldError, formatFieldError } from '../fieldErrors.ts'
import { messageOf } from '../messageOf.ts'
import type { Schema } from '../schema.ts'
import { userPattern } from '../structural/userPatterns.ts'

type Level = 'root' | 'item' | 'field'

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

/** Errors in order of their text, as upstream lists them. */
export function structuralErrors(schema: Schema, at: string): FieldError[] {
  const errors: FieldError[] = []
  invariants(schema, 'root', at, errors)
  completeness(schema, schema, at, at, errors)
  const texts = new Map(errors.map(error => [error, formatFieldError(error)]))
  return errors.sort((a, b) => (texts.get(a)! < texts.get(b)! ? -1 : 1))
}

function invariants(schema: Schema, level: Level, at: string, errors: FieldError[]): void {
  const add = (error: FieldError) => errors.push(error)
  const { type, items, properties = {}, additionalProperties: additional } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true
  if (type === 'array' && items === undefined) add(fieldError.required(`${at}.items`, 'must be specified'))
  if (items !== undefined) invariants(items, 'item', `${at}.items`, errors)
  for (const [name, property] of Object.entries(properties)) {
    invariants(property, 'field', `${at}.properties[${name}]`, errors)
  }
  if (additional !== undefined) {
    if (level === 'root') add(fieldError.forbidden(`${at}.additionalProperties`, 'must not be used at the root'))
    if (typeof additional === 'object') invariants(additional, 'field', `${at}.additionalProperties`, errors)
  }
  if (isIntOrString && keepsUnknown) {
    const field = `${at}.x-kubernetes-preserve-unknown-fields`
    add(fieldError.invalid(field, true, 'must be false if x-kubernetes-int-or-string is true'))
  }
  if (isIntOrString && isEmbedded) {
    const field = `${at}.x-kubernetes-embedded-resource`
    add(fieldError.invalid(field, true, 'must be false if x-kubernetes-int-or-string is true'))
  }
  valueValidations(schema, at, errors, isIntOrStringPair(schema.anyOf), isIntOrStringPair(schema.allOf?.[0]?.anyOf))
  if (isEmbedded) embeddedErrors(schema, at, errors)
  if (!(isEmbedded && type !== 'object') && type === undefined && !isIntOrString && !keepsUnknown) {
    add(fieldError.required(`${at}.type`, MISSING_TYPE[level]))
  }
  if (level === 'root' && type !== undefined && type !== 'object') {
    add(fieldError.invalid(`${at}.type`, type, 'must be object at the root'))
  }
  if (level === 'root' || isEmbedded) rootMemberErrors(schema, level, at, errors)
}

function embeddedErrors(schema: Schema, at: string, errors: FieldError[]): void {
  const message = 'must be object if x-kubernetes-embedded-resource is true'
  if (schema.type === undefined) errors.push(fieldError.required(`${at}.type`, message))
  else if (schema.type !== 'object') errors.push(fieldError.invalid(`${at}.type`, schema.type, message))
  if (schema.additionalProperties !== undefined) {
    const field = `${at}.additionalProperties`
    errors.push(fieldError.forbidden(field, 'must not be used if x-kubernetes-embedded-resource is set'))
  }
  const isEmpty = Object.keys(schema.properties ?? {}).length === 0
  if (isEmpty && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    errors.push(
      fieldError.required(
        `${at}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  }
}

/** `apiVersion`, `kind` and `metadata` are given; a schema may only restrict the name. */
function rootMemberErrors(schema: Schema, level: Level, at: string, errors: FieldError[]): void {
  for (const name of ['kind', 'apiVersion']) {
    const member = schema.properties?.[name]
    if (member !== undefined && member.type !== 'string') {
      errors.push(fieldError.invalid(`${at}.properties[${name}].type`, member.type ?? '', 'must be string'))
    }
  }
  const metadata = schema.properties?.metadata
  if (metadata === undefined) return
  const field = `${at}.properties[metadata]`
  if (metadata.type !== 'object')
    errors.push(fieldError.invalid(`${field}.type`, metadata.type ?? '', 'must be object'))
  if (level !== 'root') return
  const { type: _type, properties = {}, default: _default, ...rest } = metadata
  const isOpen = Object.keys(properties).every(name => name === 'name' || name === 'generateName')
  if (isOpen && Object.keys(rest).length === 0) return
  errors.push(
    fieldError.forbidden(
      field,
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    ),
  )
}

function isIntOrStringPair(any: readonly Schema[] | undefined): boolean {
  return (
    any?.length === 2 &&
    any.every((each, i) => Object.keys(each).length === 1 && each.type === (i === 0 ? 'integer' : 'string'))
  )
}

function valueValidations(
  schema: Schema,
  at: string,
  errors: FieldError[],
  skipAnyOf: boolean,
  skipAllOf: boolean,
): void {
  if (!skipAnyOf)
    for (const [i, each] of (schema.anyOf ?? []).entries()) nested(each, `${at}.anyOf[${i}]`, errors, false)
  for (const [i, each] of (schema.allOf ?? []).entries())
    nested(each, `${at}.allOf[${i}]`, errors, skipAllOf && i === 0)
  for (const [i, each] of (schema.oneOf ?? []).entries()) nested(each, `${at}.oneOf[${i}]`, errors, false)
  if (schema.not !== undefined) nested(schema.not, `${at}.not`, errors, false)
  if (schema.pattern === undefined || schema.pattern === '') return
  try {
    userPattern(schema.pattern)
  } catch (error) {
    const why = messageOf(error)
    const detail = `must be a valid regular expression, but isn't: ${why}`
    errors.push(fieldError.invalid(`${at}.pattern`, schema.pattern, detail))
  }
}

/** Inside a combination only values may be judged; the shape stands outside. */
const FORBIDDEN_NESTED: readonly (readonly [keyof Schema & string, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function nested(schema: Schema, at: string, errors: FieldError[], skipAnyOf: boolean): void {
  valueValidations(schema, at, errors, skipAnyOf, false)
  if (schema.items !== undefined) nested(schema.items, `${at}.items`, errors, false)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    nested(property, `${at}.properties[${name}]`, errors, false)
  }
  for (const [keyword, message] of FORBIDDEN_NESTED) {
    const value = schema[keyword]
    if (value === undefined || value === false || value === '') continue
    errors.push(fieldError.forbidden(`${at}.${keyword}`, message))
  }
  if (schema.properties?.metadata !== undefined) {
    errors.push(fieldError.forbidden(`${at}.properties[metadata]`, 'must not be specified in a nested context'))
  }
}

/** Fields that the root's combinations judge must be specified outside of them. */
function completeness(judged: Schema, shape: Schema, shapeAt: string, at: string, errors: FieldError[]): void {
  const each = (schema: Schema, path: string) => nestedCompleteness(schema, shape, shapeAt, path, errors)
  for (const [i, schema] of (judged.allOf ?? []).entries()) each(schema, `${at}.allOf[${i}]`)
  for (const [i, schema] of (judged.anyOf ?? []).entries()) each(schema, `${at}.anyOf[${i}]`)
  for (const [i, schema] of (judged.oneOf ?? []).entries()) each(schema, `${at}.oneOf[${i}]`)
  if (judged.not !== undefined) each(judged.not, `${at}.not`)
}

function nestedCompleteness(judged: Schema, shape: Schema, shapeAt: string, at: string, errors: FieldError[]): void {
  completeness(judged, shape, shapeAt, at, errors)
  const follow = (schema: Schema, counterpart: Schema | undefined, step: string) => {
    if (counterpart !== undefined) nestedCompleteness(schema, counterpart, shapeAt + step, at + step, errors)
    else errors.push(fieldError.required(shapeAt + step, `because it is defined in ${at}${step}`))
  }
  if (judged.items !== undefined) follow(judged.items, shape.items, '.items')
  for (const [name, property] of Object.entries(judged.properties ?? {})) {
    follow(property, shape.properties?.[name], `.properties[${name}]`)
  }
}
