/** Validation of a CRD's schema: structural rules, OpenAPI subset, defaults and CEL rules. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import type { Json } from '../object.ts'
import type { Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { type Effort, fullEffort } from '../structural/effort.ts'
import { pruneUnknown } from '../structural/prune.ts'
import { compileValidator } from '../structural/validate.ts'
import { cloneJson } from '../values.ts'
import { eachCombined, eachShape, type Scope } from './schemaWalk.ts'
import { structuralErrors } from './structuralRules.ts'
import { ruleTextErrors, validateRules } from './validateRules.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']

const UNSTRUCTURAL = [...UNSUPPORTED, '$schema']

/** Keywords at the root when status is a sub-resource: its schema must not be bound to the rest of the object. */
const ROOT_WITH_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems ' +
  'MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'
const ROOT_KEYWORDS_WITH_STATUS: ReadonlySet<string> = new Set([
  ...ROOT_WITH_STATUS.split(' ').map(name => name[0]!.toLowerCase() + name.slice(1)),
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
])

/** In steps. Some of them go once over the schema. */
export function* validateSchema(schema: Schema, at: string, hasStatus: boolean): Steps<FieldError[]> {
  const errors: FieldError[] = hasStatus ? statusRootErrors(schema, at) : []
  if (schema.nullable === true)
    errors.push(fieldError.forbidden(`${at}.nullable`, 'nullable cannot be true at the root'))
  const unsupported = unsupportedKeyword(schema)
  yield
  const structural = unsupported === undefined ? structuralErrors(schema, at) : []
  yield
  if (structural.length > 0) errors.push(...structural)
  else if (unsupported === undefined) errors.push(...defaultErrors(schema, at, true, fullEffort(DEFAULTS_MS)))
  else if (unsupported === '$schema')
    errors.push(fieldError.invalid(at, '', "OpenAPIV3Schema 'schema' is not supported"))
  yield
  const isSound = errors.length === 0
  const scope: Scope = { isRoot: true, inMetadata: false, defaultsForbidden: undefined, uncorrelatable: undefined }
  const own: FieldError[] = []
  yield* openApiErrorsInSteps({ schema, at, scope }, own, STEP_LEVELS)
  errors.push(...own)
  yield
  // rules are only judged on a schema that makes sense
  if (isSound && own.length === 0) errors.push(...validateRules(schema, at, scope))
  return errors
}

/** A keyword that makes a schema unstructural; it is then the only error of its shape. */
function unsupportedKeyword(schema: Schema): string | undefined {
  for (const keyword of UNSTRUCTURAL) if (Object.hasOwn(schema, keyword)) return keyword
  const { items, additionalProperties, properties } = schema
  if (Array.isArray(items)) return 'items'
  let found = items && unsupportedKeyword(items)
  for (const name in properties) found ??= unsupportedKeyword(properties[name]!)
  return found ?? (typeof additionalProperties === 'object' ? unsupportedKeyword(additionalProperties) : undefined)
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

/** For all defaults of a schema: most are a word or a number. */
const DEFAULTS_MS = 100

/** Defaults must be valid and pruned. */
function defaultErrors(schema: Schema, at: string, isRoot: boolean, effort: Effort): FieldError[] {
  const errors: FieldError[] = []
  if (schema.default !== undefined) {
    const copy: Json = cloneJson(schema.default)
    const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
    const unknown = isEmbedded
      ? // metadata of all sorts may stand there
        pruneUnknown(copy, schema).filter(path => !path.startsWith('metadata.'))
      : pruneUnknown({ value: copy }, { type: 'object', properties: { value: schema } })
    if (unknown.length > 0) {
      errors.push(fieldError.invalid(`${at}.default`, schema.default, 'must not have unknown fields'))
    }
    // messages name the place inside the default, fields the place in the schema; keys of lists are not looked at
    const validated = isRoot ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema
    for (const error of compileValidator(validated)(schema.default, undefined, undefined, undefined, effort)) {
      if (error.type === 'Duplicate') continue
      errors.push({ ...error, field: `${at}.default${error.field === '' ? '' : '.'}${error.field}` })
    }
  }
  if (schema.items !== undefined) errors.push(...defaultErrors(schema.items, `${at}.items`, false, effort))
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    // metadata is judged by its own rules
    if (isRoot && name === 'metadata') continue
    errors.push(...defaultErrors(property, `${at}.properties[${name}]`, false, effort))
  }
  if (typeof schema.additionalProperties === 'object') {
    errors.push(...defaultErrors(schema.additionalProperties, `${at}.additionalProperties`, false, effort))
  }
  return errors
}

interface Place {
  schema: Schema
  at: string
  scope: Scope
}

/** Levels from the top that are gone through in steps. A long schema is long near the top, or has many members there. */
const STEP_LEVELS = 4
/** Schemas below which one step goes. */
const STEP = 256

function* openApiErrorsInSteps({ schema, at, scope }: Place, errors: FieldError[], levels: number): Steps<void> {
  if (levels === 0) return openApiErrors(schema, at, scope, errors)
  ownErrors(schema, at, scope, errors)
  const below: Place[] = []
  eachShape(schema, at, scope, (child, path, inside) => below.push({ schema: child, at: path, scope: inside }))
  eachCombined(schema, at, (child, path) => below.push({ schema: child, at: path, scope: { ...scope, isRoot: false } }))
  for (const [i, place] of below.entries()) {
    yield* openApiErrorsInSteps(place, errors, levels - 1)
    if ((i + 1) % STEP === 0) yield
  }
  kindErrors(schema, at, errors)
}

function openApiErrors(schema: Schema, at: string, scope: Scope, errors: FieldError[]): void {
  ownErrors(schema, at, scope, errors)
  eachShape(schema, at, scope, (child, path, inside) => openApiErrors(child, path, inside, errors))
  eachCombined(schema, at, (child, path) => openApiErrors(child, path, { ...scope, isRoot: false }, errors))
  kindErrors(schema, at, errors)
}

function ownErrors(schema: Schema, at: string, scope: Scope, errors: FieldError[]): void {
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
}

/** Errors behind all those of lower levels. */
function kindErrors(schema: Schema, at: string, errors: FieldError[]): void {
  const add = (error: FieldError) => errors.push(error)
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    add(fieldError.invalid(`${at}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
  }
  mapTypeErrors(schema, at, errors)
  listTypeErrors(schema, at, errors)
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    ruleTextErrors(rule, schema, `${at}.x-kubernetes-validations[${i}]`, errors)
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
