/**
 * Validates values against structural schemas: each schema node is compiled once to a closure; the words are those of
 * kube-apiserver for custom resources.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
 */
import { type FieldError, type FieldErrorType, fieldError } from '../fieldErrors.ts'
import { messageOf } from '../messageOf.ts'
import { isRecord } from '../object.ts'
import type { Schema } from '../schema.ts'
import { canonicalJson } from '../values.ts'
import { READ } from '../workBudget.ts'
import { compileRules, type RuleValidator, type Warn } from './cel.ts'
import { combinationChecks } from './combinations.ts'
import { type Effort, fullEffort, UnfinishedCheck } from './effort.ts'
import { embeddedErrors } from './embeddedResource.ts'
import { stringFormats } from './formats.ts'
import { duplicates } from './listTypes.ts'
import { byKey, isNeverKept, isUnchanged } from './ratcheting.ts'
import { paidPattern, paidSteps } from './userPatterns.ts'
import {
  type Check,
  exhausted,
  invalid,
  NONE,
  newRun,
  pathOf,
  type Run,
  report,
  schemaBudget,
} from './validationRun.ts'

/**
 * Empty when the value is valid. `path` names the value in messages (`spec`); the default is the root of an object. `old` is the replaced
 * value: a value that an update leaves as it was may stay invalid (`ratcheting.ts`); `warn` receives the rules that it breaks. Validation
 * rules run unless the schema is broken in a way that would break them too.
 * @throws UnfinishedCheck when `effort` (default: a full one) is a trial and too small
 */
type Validator = (value: unknown, path?: string, old?: unknown, warn?: Warn, effort?: Effort) => FieldError[]

// A memo of a pure function: a schema graph is compiled once and its closures live as long as it does.
const checks = new WeakMap<Schema, Check>()
const validators = new WeakMap<Schema, Validator>()

export function compileValidator(schema: Schema): Validator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const check = checkOf(schema)
  let rules: RuleValidator | undefined | null = null
  const validator: Validator = (value, path = '', old = undefined, warn = () => {}, effort = fullEffort()) => {
    const run = newRun(path, [], schemaBudget(effort))
    try {
      check(value, run, old === undefined ? NONE : old)
    } catch (error) {
      if (run.budget.refusal === undefined || error !== run.budget.refusal) throw error
      if (effort.isTrial) throw new UnfinishedCheck()
      return [...run.errors, ...run.embedded, ...run.lists, exhausted(run, run.budget.refusal)]
    }
    const lists = run.lists.length > 0 && old !== undefined && hadListErrors(check, old, effort) ? [] : run.lists
    const errors = [...run.errors, ...run.embedded, ...lists]
    if (rules === null) rules = compileRules(schema)
    if (rules === undefined) return errors
    if (!errors.some(error => BLOCKING.has(error.type))) return [...errors, ...rules(value, old, path, warn, effort)]
    return [...errors, fieldError.invalid('', undefined, RULES_NOT_CHECKED)]
  }
  validators.set(schema, validator)
  return validator
}

const BLOCKING: ReadonlySet<FieldErrorType> = new Set(['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid'])
const RULES_NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/** An object whose lists were wrong before may be updated all the same. */
function hadListErrors(check: Check, old: unknown, effort: Effort): boolean {
  const run = newRun('', [], schemaBudget(effort))
  try {
    check(old, run)
  } catch (error) {
    if (error !== run.budget.refusal) throw error
    if (effort.isTrial) throw new UnfinishedCheck()
  }
  return run.lists.length > 0
}

/** Compiled at first use, because schema graphs may be cyclic. */
function checkOf(schema: Schema): Check {
  const known = checks.get(schema)
  if (known !== undefined) return known
  let compiled: Check | undefined
  const check: Check = (value, run, old = NONE) => {
    compiled ??= compile(schema)
    run.budget.spend()
    const before = run.errors.length
    compiled(value, run, old)
    if (run.errors.length > before && old !== NONE && isUnchanged(schema, value, old, run.kept)) {
      run.errors.length = before
    }
  }
  checks.set(schema, check)
  return check
}

function compile(schema: Schema): Check {
  const type = typeCheck(schema)
  const enumeration = enumCheck(schema)
  const text = stringCheck(schema)
  const number = numberCheck(schema)
  const list = listCheck(schema)
  const object = objectCheck(schema)
  const logic = combinationChecks(schema, checkOf)
  return (value, run, old = NONE) => {
    type?.(value, run)
    if (run.failed) return
    if (value === null || value === undefined) {
      if (schema.nullable !== true) enumeration?.(value, run)
      return
    }
    if (typeof value === 'string') text?.(value, run)
    else if (typeof value === 'number') number?.(value, run)
    else if (Array.isArray(value)) list?.(value, run, old)
    else if (isRecord(value)) object?.(value, run, old)
    if (run.failed) return
    enumeration?.(value, run)
    for (const check of logic) {
      if (run.failed) return
      check(value, run)
    }
  }
}

function typeOfValue(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number') return fitsInteger(value, undefined) ? 'integer' : 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

function typeCheck(schema: Schema): Check | undefined {
  const { type, nullable } = schema
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true
  if (type === undefined && !isIntOrString) return undefined
  const wanted = isIntOrString ? 'integer,string' : type
  const format = isIntOrString ? undefined : knownFormat(schema)
  return (value, run) => {
    const actual = typeOfValue(value)
    if (isIntOrString ? actual === 'integer' || actual === 'string' : actual === type) return
    if (actual === 'null' && nullable === true) return
    if (type === 'number' && actual === 'integer') return
    const isByFormat = format !== undefined && actual !== 'string' && actual !== 'array' && actual !== 'null'
    const got = isByFormat ? (FORMATS_OF_VALUES[actual] ?? '') : actual
    const why = `in body must be of type ${isByFormat ? format : wanted}: "${got}"`
    report(run, path => fieldError.typeInvalid(path, got, `${path} ${why}`))
  }
}

/** Where the schema has a format, upstream compares formats instead of types. */
const FORMATS_OF_VALUES: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' }
const NUMBER_FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}

/** Other formats, and those of other types, mean nothing. */
function knownFormat({ type, format }: Schema): string | undefined {
  if (type === undefined || format === undefined) return undefined
  const isKnown = type === 'string' ? Object.hasOwn(stringFormats, format) : NUMBER_FORMATS[type]?.includes(format)
  return isKnown ? format : undefined
}

function enumCheck(schema: Schema): Check | undefined {
  if (schema.enum === undefined) return undefined
  const shown = schema.enum.map(allowed => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)))
  const scalars = new Set<unknown>(schema.enum.filter(allowed => typeof allowed !== 'object' || allowed === null))
  const compound = new Set(
    schema.enum.filter(allowed => typeof allowed === 'object' && allowed !== null).map(canonicalJson),
  )
  const characters = shown.reduce((sum, text) => sum + text.length, 0)
  return (value, run) => {
    if (typeof value !== 'object' || value === null) {
      if (!scalars.has(value)) report(run, path => fieldError.notSupported(path, value, shown), characters)
      return
    }
    const json = canonicalJson(value)
    run.budget.spend(json.length * READ)
    if (compound.has(json)) return
    report(run, path => fieldError.notSupported(path, value, shown), characters + json.length)
  }
}

/** Cost of a character that is counted or compared with a format, in units of the budget. */
const LOOK = 0.02

function stringCheck(schema: Schema): ((value: string, run: Run) => void) | undefined {
  const { minLength, maxLength, pattern, format } = schema
  const hasFormat = format !== undefined && Object.hasOwn(stringFormats, format) ? stringFormats[format] : undefined
  if (minLength === undefined && maxLength === undefined && pattern === undefined && hasFormat === undefined) {
    return undefined
  }
  const matches = pattern === undefined || pattern === '' ? undefined : patternCheck(pattern)
  return (value, run) => {
    run.budget.spend(value.length * LOOK)
    if (hasFormat !== undefined && !hasFormat(value)) {
      const why = `in body must be of type ${format}: ${JSON.stringify(value)}`
      report(run, path => fieldError.typeInvalid(path, value, `${path} ${why}`), value.length)
    }
    // only the first of these is reported
    if (maxLength !== undefined && value.length > maxLength && characters(value) > maxLength) {
      report(run, path => fieldError.tooLong(path, maxLength))
    } else if (minLength !== undefined && characters(value) < minLength) {
      invalid(run, value, `should be at least ${minLength} chars long`)
    } else matches?.(value, run)
  }
}

/** A definition that was stored with a pattern that is refused today lets nothing pass. */
function patternCheck(pattern: string): (value: string, run: Run) => void {
  return (value, run) => {
    const { budget } = run
    budget.spend(value.length * READ)
    try {
      if (!paidPattern(pattern, budget).test(value, paidSteps(budget))) invalid(run, value, `should match '${pattern}'`)
    } catch (error) {
      if (budget.refusal !== undefined) throw error
      invalid(run, value, `cannot be matched with the pattern of its definition: ${messageOf(error)}`)
    }
  }
}

/** Length in code points, as Go counts runes. */
function characters(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) count--
  }
  return count
}

function numberCheck(schema: Schema): ((value: number, run: Run) => void) | undefined {
  const { type, minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema
  const isInteger = type === 'integer'
  const format = knownFormat(schema)
  const isFloat = format === 'float'
  if (minimum === undefined && maximum === undefined && multipleOf === undefined && !isInteger && !isFloat) {
    return undefined
  }
  return (value, run) => {
    if ((isInteger && !fitsInteger(value, format)) || (isFloat && Math.abs(value) > LARGEST_FLOAT32)) {
      // upstream tells the place in words only
      const wanted = format === undefined ? 'integer (default format)' : `${type} with format ${format}`
      report(run, path => fieldError.invalid(run.base, '', `Checked value must be of type ${wanted} in ${path}`))
    }
    if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
      invalid(run, value, `should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`)
    }
    if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
      invalid(run, value, `should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`)
    }
    if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
      invalid(run, value, `should be a multiple of ${multipleOf}`)
    }
  }
}

const LARGEST_FLOAT32 = 2 ** 128 - 2 ** 104

function fitsInteger(value: number, format: string | undefined): boolean {
  if (format === 'int32') return (value | 0) === value
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}

function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0
  const quotient = value / factor
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}

/** Cost of an error, as for others. */
const LIST_ERROR = 100

function listCheck(schema: Schema): ((value: unknown[], run: Run, old: unknown) => void) | undefined {
  const { minItems, maxItems, uniqueItems, items } = schema
  const listType = schema['x-kubernetes-list-type']
  const keyed = listType === 'set' || listType === 'map'
  if (items === undefined && minItems === undefined && maxItems === undefined && uniqueItems !== true && !keyed) {
    return undefined
  }
  const item = items && checkOf(items)
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return (value, run, old) => {
    if (item !== undefined) {
      const before = listType === 'map' && Array.isArray(old) ? byKey(old, keys) : undefined
      for (let i = 0; i < value.length; i++) {
        run.trail.push(i)
        item(value[i], run, before === undefined ? NONE : before(value[i]))
        run.trail.pop()
        if (run.failed) return
      }
    }
    if (maxItems !== undefined && value.length > maxItems) {
      report(run, path => fieldError.tooMany(path, value.length, maxItems))
    }
    if (minItems !== undefined && value.length < minItems) {
      invalid(run, value.length, `should have at least ${minItems} items`)
    }
    if (uniqueItems === true && hasTwice(value, run)) {
      invalid(run, value, "shouldn't contain duplicates")
    }
    if (!keyed || run.isProbe) return
    run.budget.spend(value.length)
    if (listType === 'map') {
      for (const [i, element] of value.entries()) {
        if (typeof element === 'object' && !Array.isArray(element)) continue
        const why = 'must be an object for an array of list-type map'
        run.budget.spend(LIST_ERROR)
        run.lists.push(fieldError.invalid(`${pathOf(run)}[${i}]`, element, why))
      }
    }
    for (const { index, key } of duplicates(value, listType === 'map' ? keys : undefined)) {
      run.budget.spend(LIST_ERROR)
      run.lists.push(fieldError.duplicate(`${pathOf(run)}[${index}]`, key))
    }
  }
}

function hasTwice(list: readonly unknown[], run: Run): boolean {
  const seen = new Set<string>()
  for (const item of list) {
    const json = canonicalJson(item)
    run.budget.spend(json.length * READ)
    if (seen.has(json)) return true
    seen.add(json)
  }
  return false
}

function objectCheck(schema: Schema): ((value: Record<string, unknown>, run: Run, old: unknown) => void) | undefined {
  const { minProperties, maxProperties, required = [], properties = {} } = schema
  const members = Object.entries(properties).map(([name, member]) => [name, checkOf(member)] as const)
  const additional = typeof schema.additionalProperties === 'object' ? checkOf(schema.additionalProperties) : undefined
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  if (
    members.length === 0 &&
    additional === undefined &&
    required.length === 0 &&
    minProperties === undefined &&
    maxProperties === undefined &&
    !isEmbedded
  ) {
    return undefined
  }
  return (value, run, old) => {
    const isRoot = run.trail.length === 0
    const before = (name: string): unknown =>
      isRecord(old) && has(old, name) && !(isRoot && isNeverKept(name)) ? old[name] : NONE
    if (minProperties !== undefined || maxProperties !== undefined) {
      const count = Object.keys(value).length
      if (minProperties !== undefined && count < minProperties) {
        invalid(run, count, `should have at least ${minProperties} properties`)
        return
      }
      if (maxProperties !== undefined && count > maxProperties) {
        report(run, path => fieldError.tooMany(path, count, maxProperties))
        return
      }
    }
    if (isEmbedded && !run.isProbe) {
      const found = embeddedErrors(value, pathOf(run))
      run.budget.spend(found.length * LIST_ERROR)
      for (const error of found) run.embedded.push(error)
    }
    run.budget.spend((members.length + required.length) * READ)
    // present members are compared with the former ones before missing ones are reported
    const isUpdate = old !== NONE
    if (!isUpdate) for (const name of required) if (!has(value, name)) under(run, name, requiredError)
    for (const [name, check] of members) {
      if (!has(value, name)) continue
      run.trail.push(name)
      check(value[name], run, before(name))
      run.trail.pop()
      if (run.failed) return
    }
    if (isUpdate) for (const name of required) if (!has(value, name)) under(run, name, requiredError)
    if (additional === undefined) return
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(properties, name)) continue
      run.trail.push(name)
      additional(value[name], run, before(name))
      run.trail.pop()
      if (run.failed) return
    }
  }
}

const requiredError = (path: string) => fieldError.required(path)

function under(run: Run, name: string, error: (path: string) => FieldError): void {
  run.trail.push(name)
  report(run, error)
  run.trail.pop()
}

/** `undefined` members count as absent: they are not written to JSON. */
function has(object: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(object, name) && object[name] !== undefined
}
