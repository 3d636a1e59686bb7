/** Validation of a CRD's schema: structural rules, OpenAPI subset, defaults and CEL rules. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import type { Json } from '../object.ts'
import type { Schema, ValidationRule } from '../schema.ts'
import { estimateCost } from '../structural/celCost.ts'
import { CelCompileError, compileCel } from '../structural/celProgram.ts'
import { maxSize } from '../structural/celSizes.ts'
import { pruneUnknown } from '../structural/prune.ts'
import { compileValidator } from '../structural/validate.ts'
import { RuleCosts } from './ruleCosts.ts'
import { structuralErrors } from './structuralRules.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']

/** Keywords at the root when status is a sub-resource: its schema must not be bound to the rest of the object. */
const ROOT_WITH_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems ' +
  'MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'
const ROOT_KEYWORDS_WITH_STATUS: ReadonlySet<string> = new Set([
  ...ROOT_WITH_STATUS.split(' ').map(name => name[0]!.toLowerCase() + name.slice(1)),
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
])

export function validateSchema(schema: Schema, at: string, hasStatus: boolean): FieldError[] {
  const errors: FieldError[] = hasStatus ? statusRootErrors(schema, at) : []
  if (schema.nullable === true)
    errors.push(fieldError.forbidden(`${at}.nullable`, 'nullable cannot be true at the root'))
  const structural = isConvertible(schema) ? structuralErrors(schema, at) : []
  if (structural.length > 0) errors.push(...structural)
  else errors.push(...defaultErrors(schema, at, true))
  const isSound = errors.length === 0
  const scope: Scope = { isRoot: true, inMetadata: false, defaultsForbidden: undefined, uncorrelatable: undefined }
  const own: FieldError[] = []
  openApiErrors(schema, at, scope, own)
  errors.push(...own)
  // rules are only judged on a schema that makes sense
  if (isSound && own.length === 0) {
    const costs = new RuleCosts(at)
    ruleErrors(schema, at, scope, { errors, costs, copies: 1 })
    errors.push(...costs.errors())
  }
  return errors
}

/** A list of schemas for items is no structural schema at all; only that is told then. */
function isConvertible(schema: Schema): boolean {
  const { items, additionalProperties, properties = {} } = schema
  if (Array.isArray(items)) return false
  const below = [...Object.values(properties), ...(items ? [items] : [])]
  if (typeof additionalProperties === 'object') below.push(additionalProperties)
  return below.every(isConvertible)
}

function statusRootErrors(schema: Schema, at: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== 'object') {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [fieldError.invalid(`${at}.type`, schema.type, why)]
  }
  const other = Object.entries(schema).find(([key, value]) => !ROOT_KEYWORDS_WITH_STATUS.has(key) && value !== false)
  if (other === undefined || other[0] === 'nullable') return []
  const why = `only [${ROOT_WITH_STATUS}] fields are allowed at the root of the schema if the status subresource is enabled`
  return [{ ...fieldError.invalid(at, schema, why), omitValue: true }]
}

/** Defaults must be valid and pruned. */
function defaultErrors(schema: Schema, at: string, isRoot: boolean): FieldError[] {
  const errors: FieldError[] = []
  if (schema.default !== undefined) {
    const copy: Json = structuredClone(schema.default)
    const unknown =
      schema['x-kubernetes-embedded-resource'] === true
        ? pruneUnknown(copy, schema)
        : pruneUnknown({ value: copy }, { type: 'object', properties: { value: schema } })
    if (unknown.length > 0) {
      errors.push(fieldError.invalid(`${at}.default`, schema.default, 'must not have unknown fields'))
    }
    // messages name the place inside the default, fields the place in the schema; keys of lists are not looked at
    for (const error of compileValidator(schema)(schema.default)) {
      if (error.type === 'Duplicate') continue
      errors.push({ ...error, field: `${at}.default${error.field === '' ? '' : '.'}${error.field}` })
    }
  }
  if (schema.items !== undefined) errors.push(...defaultErrors(schema.items, `${at}.items`, false))
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    // metadata is judged by its own rules
    if (isRoot && name === 'metadata') continue
    errors.push(...defaultErrors(property, `${at}.properties[${name}]`, false))
  }
  if (typeof schema.additionalProperties === 'object') {
    errors.push(...defaultErrors(schema.additionalProperties, `${at}.additionalProperties`, false))
  }
  return errors
}

interface Scope {
  isRoot: boolean
  inMetadata: boolean
  /** Why defaults may not stand here. */
  defaultsForbidden: string | undefined
  /** The highest place below which old and new values do not correspond. */
  uncorrelatable: string | undefined
}

type Visit = (schema: Schema, at: string, scope: Scope) => void

/** The schemas right below `schema` that tell the shape of values. */
function eachShape(schema: Schema, at: string, scope: Scope, visit: Visit): void {
  const below: Scope = { ...scope, isRoot: false }
  if (typeof schema.additionalProperties === 'object') {
    const inside = scope.inMetadata
      ? { ...below, defaultsForbidden: 'inside additionalProperties applying to object metadata' }
      : below
    visit(schema.additionalProperties, `${at}.additionalProperties`, inside)
  }
  const isResource = scope.isRoot || schema['x-kubernetes-embedded-resource'] === true
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const inside = { ...below }
    if (schema['x-kubernetes-map-type'] === 'atomic') inside.uncorrelatable ??= at
    if (isResource && (name === 'metadata' || name === 'kind' || name === 'apiVersion')) {
      inside.inMetadata = true
      if (scope.isRoot) inside.defaultsForbidden = `in top-level ${name}`
    }
    visit(property, `${at}.properties[${name}]`, inside)
  }
  if (schema.items === undefined) return
  const inside = { ...below }
  if (schema['x-kubernetes-list-type'] !== 'map') inside.uncorrelatable ??= at
  visit(schema.items, `${at}.items`, inside)
}

function eachCombined(schema: Schema, at: string, visit: (schema: Schema, at: string) => void): void {
  if (schema.not !== undefined) visit(schema.not, `${at}.not`)
  for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, each] of (schema[keyword] ?? []).entries()) visit(each, `${at}.${keyword}[${i}]`)
  }
}

function openApiErrors(schema: Schema, at: string, scope: Scope, errors: FieldError[]): void {
  const add = (error: FieldError) => errors.push(error)
  const type: string | undefined = schema.type
  if (type !== undefined && !TYPES.includes(type)) add(fieldError.notSupported(`${at}.type`, type, TYPES))
  if (schema.default !== undefined && scope.defaultsForbidden !== undefined) {
    add(fieldError.forbidden(`${at}.default`, `must not be set ${scope.defaultsForbidden}`))
  }
  for (const keyword of UNSUPPORTED) {
    if (Object.hasOwn(schema, keyword)) add(fieldError.forbidden(`${at}.${keyword}`, `${keyword} is not supported`))
  }
  if (type === 'null') {
    add(fieldError.forbidden(`${at}.type`, 'type cannot be set to null, use nullable as an alternative'))
  }
  if (Array.isArray(schema.items)) {
    add(fieldError.forbidden(`${at}.items`, 'items must be a schema object and not an array'))
  }
  if (scope.inMetadata && schema['x-kubernetes-embedded-resource'] === true) {
    add(fieldError.forbidden(`${at}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    add(fieldError.forbidden(`${at}.uniqueItems`, why))
  }
  const additional = schema.additionalProperties
  if (additional !== undefined && additional !== true && Object.keys(schema.properties ?? {}).length > 0) {
    const why = 'additionalProperties and properties are mutual exclusive'
    add(fieldError.forbidden(`${at}.additionalProperties`, why))
  }
  eachShape(schema, at, scope, (child, path, inside) => openApiErrors(child, path, inside, errors))
  eachCombined(schema, at, (child, path) => openApiErrors(child, path, { ...scope, isRoot: false }, errors))
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    add(fieldError.invalid(`${at}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
  }
  mapTypeErrors(schema, at, errors)
  listTypeErrors(schema, at, errors)
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    ruleTextErrors(rule, `${at}.x-kubernetes-validations[${i}]`, errors)
  }
}

function mapTypeErrors(schema: Schema, at: string, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return
  errors.push(...typeDemand(schema, at, 'object', 'x-kubernetes-map-type'))
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(fieldError.notSupported(`${at}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']))
  }
}

function typeDemand(schema: Schema, at: string, wanted: string, keyword: string): FieldError[] {
  const why = `must be ${wanted} if ${keyword} is specified`
  if (schema.type === undefined) return [fieldError.required(`${at}.type`, why)]
  return schema.type === wanted ? [] : [fieldError.invalid(`${at}.type`, schema.type, why)]
}

function listTypeErrors(schema: Schema, at: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const { items } = schema
  if (listType !== undefined && schema.type !== 'array') {
    errors.push(...typeDemand(schema, at, 'array', 'x-kubernetes-list-type'))
  } else if (listType === 'set' && items !== undefined) {
    const why = 'must be atomic as item of a list with x-kubernetes-list-type=set'
    const inner = items['x-kubernetes-list-type']
    if (items.type === 'array' && inner !== undefined && inner !== 'atomic') {
      errors.push(fieldError.invalid(`${at}.items.x-kubernetes-list-type`, inner, why))
    }
    if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
      errors.push(fieldError.invalid(`${at}.items.x-kubernetes-map-type`, items['x-kubernetes-map-type'], why))
    }
  }
  if (listType !== undefined && listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    errors.push(fieldError.notSupported(`${at}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']))
  }
  if (keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty'
    const field = `${at}.x-kubernetes-list-type`
    errors.push(listType === undefined ? fieldError.required(field, why) : fieldError.invalid(field, listType, why))
  }
  if (listType === 'map') listMapErrors(schema, keys, at, errors)
  if ((listType === 'map' || listType === 'set') && items?.nullable === true) {
    const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`
    errors.push(fieldError.forbidden(`${at}.items.nullable`, why))
  }
}

function listMapErrors(schema: Schema, keys: string[], at: string, errors: FieldError[]): void {
  const { items } = schema
  const keysField = `${at}.x-kubernetes-list-map-keys`
  if (keys.length === 0) {
    errors.push(fieldError.required(keysField, 'must not be empty if x-kubernetes-list-type is map'))
  }
  if (items === undefined) {
    errors.push(fieldError.required(`${at}.items`, 'must have a schema if x-kubernetes-list-type is map'))
    return
  }
  if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(fieldError.invalid(`${at}.items.type`, items.type ?? '', why))
    return
  }
  for (const [i, key] of keys.entries()) {
    const property = items.properties?.[key]
    const field = `${at}.items.properties[${key}]`
    if (property === undefined) {
      errors.push(fieldError.invalid(keysField, keys, 'entries must all be names of item properties'))
    } else if ((property.type === 'array' || property.type === 'object') && keys.indexOf(key) === i) {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(fieldError.invalid(`${field}.type`, property.type, why))
    }
    if (keys.indexOf(key) < i) errors.push(fieldError.invalid(keysField, keys, 'must not contain duplicate entries'))
    if (property === undefined) continue
    if (items.required?.includes(key) !== true && property.default === undefined) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      errors.push(fieldError.required(`${field}.default`, why))
    }
    if (property.nullable === true) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'
      errors.push(fieldError.forbidden(`${field}.nullable`, why))
    }
  }
}

function ruleTextErrors(rule: ValidationRule, at: string, errors: FieldError[]): void {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule
  const breaks = (text: string) => /[\r\n]/.test(text)
  const ruleText = (rule.rule ?? '').trim()
  if (ruleText === '') errors.push(fieldError.required(`${at}.rule`, 'rule is not specified'))
  else if (message !== '' && message.trim() === '') {
    errors.push(fieldError.invalid(`${at}.message`, message, 'message must be non-empty if specified'))
  } else if (breaks(message.trim())) {
    errors.push(fieldError.invalid(`${at}.message`, message, 'message must not contain line breaks'))
  } else if (breaks(ruleText) && message.trim() === '') {
    errors.push(fieldError.required(`${at}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const why = 'messageExpression must be non-empty if specified'
    errors.push(fieldError.required(`${at}.messageExpression`, why))
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(fieldError.notSupported(`${at}.reason`, reason, REASONS))
  }
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'fieldPath must be non-empty if specified'))
  } else if (breaks(fieldPath)) {
    errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'fieldPath must not contain line breaks'))
  }
}

interface RuleRun {
  errors: FieldError[]
  costs: RuleCosts
  /** How many values of this place one object can have. */
  copies: number
}

/** Compiles every rule and estimates what it costs. */
function ruleErrors(schema: Schema, at: string, scope: Scope, run: RuleRun): void {
  const { errors, costs, copies } = run
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const field = `${at}.x-kubernetes-validations[${i}]`
    const check = (source: string, part: 'rule' | 'messageExpression', wanted: 'bool' | 'string') => {
      const report = (detail: string) => errors.push(fieldError.invalid(`${field}.${part}`, rule, detail))
      const usesOldSelf = compileInto(source, schema, wanted, report)
      if (usesOldSelf !== undefined) {
        errors.push(...costs.add(`${field}.${part}`, part, estimateCost(source, schema) * copies))
      }
      return usesOldSelf
    }
    const usesOldSelf = check(rule.rule, 'rule', 'bool')
    if (rule.messageExpression) check(rule.messageExpression, 'messageExpression', 'string')
    if (usesOldSelf && scope.uncorrelatable !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${scope.uncorrelatable}`
      errors.push(fieldError.invalid(`${field}.rule`, rule.rule, why))
    } else if (usesOldSelf === false && rule.optionalOldSelf !== undefined) {
      const why = 'may not be set if oldSelf is not used in rule'
      errors.push(fieldError.invalid(`${field}.optionalOldSelf`, rule.optionalOldSelf, why))
    }
    errors.push(...fieldPathErrors(rule, schema, `${field}.fieldPath`))
  }
  eachShape(schema, at, scope, (child, path, inside) => {
    const isMember = child !== schema.items && child !== schema.additionalProperties
    ruleErrors(child, path, inside, { errors, costs, copies: copies * (isMember ? 1 : maxSize(schema)) })
  })
}

/** Whether the expression names `oldSelf`; `undefined` when it does not compile. */
function compileInto(
  source: string,
  schema: Schema,
  wanted: 'bool' | 'string',
  report: (detail: string) => void,
): boolean | undefined {
  try {
    const { type, usesOldSelf } = compileCel(source, schema)
    if (type !== wanted && type !== 'dyn') {
      report(
        wanted === 'bool' ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string',
      )
    }
    return usesOldSelf
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    report(`compilation failed: ${error.message}`)
    return undefined
  }
}

/** A field path must lead somewhere. */
function fieldPathErrors({ fieldPath = '' }: ValidationRule, schema: Schema, field: string): FieldError[] {
  if (fieldPath.trim() === '' || leadsTo(schema, fieldPath)) return []
  return [fieldError.invalid(field, fieldPath, 'fieldPath must be a valid path: does not refer to a valid field')]
}

function leadsTo(schema: Schema, path: string): boolean {
  const steps = path.match(/\.[A-Za-z_][A-Za-z0-9_-]*|\['(?:[^'\\]|\\.)*'\]/g)
  if (steps === null || steps.join('') !== path) return false
  let at: Schema | undefined = schema
  for (const step of steps) {
    const name = step.startsWith('.') ? step.slice(1) : step.slice(2, -2).replace(/\\(.)/g, '$1')
    const values: Schema | undefined =
      typeof at?.additionalProperties === 'object' ? at.additionalProperties : undefined
    at = at?.properties && Object.hasOwn(at.properties, name) ? at.properties[name] : values
    if (at === undefined) return false
  }
  return true
}
