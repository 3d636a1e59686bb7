/**
 * Validation rules (`x-kubernetes-validations`): CEL expressions at schema nodes, run after the schema itself holds.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
import { Optional } from '@marcbachmann/cel-js'
import { type FieldError, fieldError } from '../fieldErrors.ts'
import { messageOf } from '../messageOf.ts'
import { isRecord } from '../object.ts'
import type { Schema, ValidationRule } from '../schema.ts'
import type { WorkBudget } from '../workBudget.ts'
import {
  CelBudgetError,
  CelCallCostError,
  CelCompileError,
  type CelProgram,
  celBudget,
  compileCel,
} from './celProgram.ts'
import { toCel } from './celValues.ts'
import { type Effort, UnfinishedCheck } from './effort.ts'
import { findField } from './fieldPath.ts'
import { byKey, isNeverKept, isUnchanged, type Known } from './ratcheting.ts'
import { type Step, type Trail, trailText } from './trail.ts'
import { NONE } from './validationRun.ts'

const MAX_MESSAGE_BYTES = 5120

/**
 * Errors of all rules. `old` is the stored object on updates and `undefined` on creation: rules about `oldSelf` run only where an old value
 * stands for the new one. Other rules that fail for an unchanged value, or a part of one, are no errors; `warn` receives them. Rules that
 * cannot be evaluated are errors wherever they stand.
 * @throws UnfinishedCheck when `effort` is a trial and too small
 */
export type RuleValidator = (value: unknown, old: unknown, path: string, warn: Warn, effort: Effort) => FieldError[]
export type Warn = (error: FieldError) => void

interface CompiledRule {
  rule: ValidationRule
  program: CelProgram
  message: CelProgram | undefined
  /** Type of the schema: errors show it instead of a value that no rule could judge. */
  type: string
  /** `rule.fieldPath` as errors tell it. */
  place: string
  /** Why the rule cannot run; it then fails every value. */
  failure?: string
}
/** Rules to run at a node and below. */
interface Node {
  schema: Schema
  rules: CompiledRule[]
  members: [name: string, node: Node][]
  additional: Node | undefined
  items: Node | undefined
}

// A memo of a pure function: programs live as long as their schema.
const nodes = new WeakMap<Schema, Node | null>()

/** `undefined` when the schema has no rule. A rule that does not compile fails every value. */
export function compileRules(schema: Schema): RuleValidator | undefined {
  const node = nodeOf(schema)
  if (node === null) return undefined
  return (value, old, path, warn, effort) => {
    const budget = celBudget(effort.ruleUnits, effort.isLate)
    const run: Run = { base: path, trail: [], errors: [], warn, budget, kept: new Map() }
    try {
      walk(node, value, old === undefined ? NO_PAST : pastOf({ schema, value, old, known: run.kept }), run)
    } catch (error) {
      if (!(error instanceof CelBudgetError)) throw error
      if (effort.isTrial) throw new UnfinishedCheck()
      // reported where it happened
      if (error instanceof CelCallCostError) return run.errors
      run.errors.push({ ...fieldError.invalid(trailText(run.trail, path), undefined, error.message), omitValue: true })
    }
    return run.errors
  }
}

interface Run {
  base: string
  trail: Trail
  errors: FieldError[]
  warn: Warn
  budget: WorkBudget
  kept: Known
}

/** Value of the comparison. */
interface Past {
  /** {@link NONE}: nothing stands for the new value. */
  old: unknown
  /** Whether rules may speak of it: they may not inside of what is one value as a whole. */
  isCorrelated: boolean
  /** Whether nothing has changed; a value for which nothing stands is as it was when that is which it is part of. */
  isKept: () => boolean
}

const NO_PAST: Past = { old: NONE, isCorrelated: false, isKept: () => false }

interface Pair {
  schema: Schema
  value: unknown
  old: unknown
  known: Known
}

function pastOf({ schema, value, old, known }: Pair, isCorrelated = true): Past {
  return { old, isCorrelated, isKept: () => isUnchanged(schema, value, old, known) }
}

function pastOfPart(whole: Past, pair: Pair, isCorrelated = true): Past {
  if (whole.old === NONE || pair.old === NONE) return { old: NONE, isCorrelated: false, isKept: whole.isKept }
  return pastOf(pair, whole.isCorrelated && isCorrelated)
}

function nodeOf(schema: Schema): Node | null {
  const known = nodes.get(schema)
  if (known !== undefined) return known
  // a cycle has no rules of its own beyond those that its first visit finds: custom resources have finite schemas
  nodes.set(schema, null)
  const node: Node = {
    schema,
    rules: (schema['x-kubernetes-validations'] ?? []).map(rule => compileRule(rule, schema)),
    members: Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const child = nodeOf(member)
      return child === null ? [] : [[name, child] as [string, Node]]
    }),
    additional: childNode(schema.additionalProperties),
    items: childNode(schema.items),
  }
  const isEmpty = node.rules.length + node.members.length === 0 && !node.additional && !node.items
  nodes.set(schema, isEmpty ? null : node)
  return isEmpty ? null : node
}

const ALWAYS: CelProgram = { type: 'bool', usesOldSelf: false, evaluate: () => true }

function compileRule(rule: ValidationRule, schema: Schema): CompiledRule {
  const { type = '' } = schema
  try {
    // definitions are checked while their rules may still lack a text
    const program = compileCel(rule.rule ?? '', schema)
    return {
      rule,
      program,
      message: compileMessage(rule.messageExpression, schema),
      type,
      place: placeOf(rule, schema),
    }
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    return {
      rule,
      program: ALWAYS,
      message: undefined,
      type,
      place: '',
      failure: `rule compile error: ${error.message}`,
    }
  }
}

function placeOf({ fieldPath = '' }: ValidationRule, schema: Schema): string {
  if (fieldPath === '') return ''
  const found = findField(schema, fieldPath, { brackets: true })
  return typeof found === 'string' ? fieldPath : found.text
}

/** A message expression that does not compile is as good as none: the fixed message is shown. */
function compileMessage(source: string | undefined, schema: Schema): CelProgram | undefined {
  if (!source) return undefined
  try {
    return compileCel(source, schema)
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    return undefined
  }
}

function childNode(schema: Schema | boolean | undefined): Node | undefined {
  return typeof schema === 'object' ? (nodeOf(schema) ?? undefined) : undefined
}

function walk(node: Node, value: unknown, past: Past, run: Run): void {
  if (value === undefined || (value === null && node.schema.nullable !== true)) return
  runRules(node, value, past, run)
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return
    const before = correlateItems(node.schema, past.old)
    for (const [i, item] of value.entries()) {
      const pair = { schema: items.schema, value: item, old: before(item), known: run.kept }
      descend(items, i, item, pastOfPart(past, pair), run)
    }
  } else if (isRecord(value)) {
    const isRoot = run.trail.length === 0
    const isCorrelated = node.schema['x-kubernetes-map-type'] !== 'atomic'
    const pastOfMember = (child: Node, name: string): Past => {
      if (isRoot && isNeverKept(name)) return NO_PAST
      const pair = { schema: child.schema, value: value[name], old: memberOf(past.old, name), known: run.kept }
      return pastOfPart(past, pair, isCorrelated)
    }
    for (const [name, child] of node.members) {
      if (Object.hasOwn(value, name)) descend(child, name, value[name], pastOfMember(child, name), run)
    }
    const { additional } = node
    if (additional === undefined) return
    for (const name of Object.keys(value)) {
      if (node.schema.properties !== undefined && Object.hasOwn(node.schema.properties, name)) continue
      descend(additional, { key: name }, value[name], pastOfMember(additional, name), run)
    }
  }
}

function descend(node: Node, part: Step, value: unknown, past: Past, run: Run): void {
  run.trail.push(part)
  walk(node, value, past, run)
  run.trail.pop()
}

function memberOf(old: unknown, name: string): unknown {
  return isRecord(old) && Object.hasOwn(old, name) ? (old[name] ?? NONE) : NONE
}

/** Elements of a `map` list correspond by key; those of other lists do not correspond. */
function correlateItems(schema: Schema, old: unknown): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys']
  if (schema['x-kubernetes-list-type'] !== 'map' || keys === undefined || !Array.isArray(old)) return () => NONE
  return byKey(old, keys)
}

function runRules(node: Node, value: unknown, past: Past, run: Run): void {
  if (node.rules.length === 0) return
  const old = past.isCorrelated && past.old !== NONE ? past.old : undefined
  let variables: { self: unknown; oldSelf: unknown } | undefined
  for (const compiled of node.rules) {
    const { program, rule } = compiled
    if (program.usesOldSelf && old === undefined && rule.optionalOldSelf !== true) continue
    variables ??= { self: toCel(value, node.schema), oldSelf: old === undefined ? null : toCel(old, node.schema) }
    const given =
      rule.optionalOldSelf === true ? { ...variables, oldSelf: optional(old, variables.oldSelf) } : variables
    runRule(compiled, given, value, past, run)
  }
}

function runRule(
  compiled: CompiledRule,
  variables: { self: unknown; oldSelf: unknown },
  value: unknown,
  past: Past,
  run: Run,
): void {
  const { rule, program } = compiled
  if (compiled.failure !== undefined) {
    run.errors.push(ruleError({ rule: rule.rule }, value, compiled.failure, run))
    return
  }
  try {
    if (program.evaluate(variables, run.budget) === true) return
  } catch (error) {
    const why = messageOf(error)
    const shown = rule.message?.trim() || rule.rule.trim()
    const report = (detail: string) =>
      run.errors.push(fieldError.invalid(trailText(run.trail, run.base), compiled.type, detail))
    if (error instanceof CelCallCostError) {
      report(`'${why}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`)
    }
    if (error instanceof CelBudgetError) throw error
    report(`${why} evaluating rule: ${shown}`)
    return
  }
  const add: Warn = error => {
    if (program.usesOldSelf || !past.isKept()) run.errors.push(error)
    else run.warn(error)
  }
  const computed = compiled.message && ruleMessage(compiled, compiled.message, variables, run, add)
  const detail = computed ?? (rule.message?.trim() || `failed rule: ${rule.rule.trim()}`)
  add(ruleError(rule, value, detail, run, compiled.place))
}

function optional(old: unknown, converted: unknown): unknown {
  return old === undefined ? Optional.none() : Optional.of(converted)
}

/** The message of a message expression; `undefined` when it fails or gives no usable text: the fixed message is shown then. */
function ruleMessage(
  { rule, type }: CompiledRule,
  program: CelProgram,
  variables: { self: unknown; oldSelf: unknown },
  run: Run,
  add: Warn,
): string | undefined {
  try {
    const message = program.evaluate(variables, run.budget)
    if (typeof message !== 'string') return undefined
    const trimmed = message.trim()
    return trimmed === '' || /[\r\n]/.test(trimmed) || Buffer.byteLength(trimmed) > MAX_MESSAGE_BYTES
      ? undefined
      : trimmed
  } catch (error) {
    if (error instanceof CelCallCostError) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for messageExpression'
      const detail = `${why}: ${JSON.stringify(rule.messageExpression)}`
      add(fieldError.invalid(trailText(run.trail, run.base), type, detail))
    }
    if (error instanceof CelBudgetError) throw error
    return undefined
  }
}

function ruleError(rule: ValidationRule, value: unknown, detail: string, run: Run, place = ''): FieldError {
  const path = trailText(run.trail, run.base) + suffix(place, run)
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return fieldError.forbidden(path, detail)
    case 'FieldValueRequired':
      return fieldError.required(path, detail)
    case 'FieldValueDuplicate':
      return fieldError.duplicate(path, value)
    default: {
      const isLarge = typeof value === 'object' && value !== null
      const error = fieldError.invalid(path, value, detail)
      return isLarge ? { ...error, omitValue: true } : error
    }
  }
}

/** `.spec.x` below the rule's own place; without its dot at the root of an object. */
function suffix(place: string, run: Run): string {
  const isRoot = run.trail.length === 0 && run.base === ''
  return isRoot && place.startsWith('.') ? place.slice(1) : place
}
