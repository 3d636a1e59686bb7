/**
 * The cost of a CEL expression in the worst case that its schema allows, before it ever runs: in the units of Kubernetes, where
 * naming a value costs 1 and reading a string 1 for every ten bytes. Where this estimate knows less about a value than
 * upstream's does it assumes that the value is small.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#estimated-cost-limits
 */
import type { ASTNode } from '@marcbachmann/cel-js'
import type { Schema } from '../schema.ts'
import { memberNamed } from './celNames.ts'
import { parseCel } from './celProgram.ts'
import { kindOf, maxSize, valuesOf } from './celSizes.ts'

/** Of one expression, times the values that it runs for. */
export const EXPRESSION_COST_LIMIT = 10_000_000
/** Of all expressions of a schema. */
export const SCHEMA_COST_LIMIT = 100_000_000

const READ = 0.1
const MATCH = 0.25
/** Reads of a text that a format's validation takes. */
const FORMAT_READS = 32
/** Comparing two addresses. */
const ADDRESS = 4
const LIST_LITERAL = 10
const MAP_LITERAL = 30

/** A value as far as it is known. */
interface Value {
  cost: number
  /** Elements or bytes, at most; Infinity when nothing is known. */
  size: number
  schema?: Schema | undefined
  /** Of a list's elements or a map's values, where no schema tells it. */
  element?: Value | undefined
  isUnknown?: boolean
  /** Of a list: whether a loop has made it. */
  isMade?: boolean
}
type Scope = Readonly<Record<string, Value>>

/** `schema` is that of `self`. The expression must compile. */
export function estimateCost(source: string, schema: Schema): number {
  const self = { cost: 1, ...shapeOf(schema) }
  return costOf(parseCel(source), { self, oldSelf: self }).cost
}

function shapeOf(schema: Schema): { size: number; schema: Schema } {
  // what is read as a time or a span of it is no text
  const isTime = schema.type === 'string' && TIMES.has(schema.format ?? '')
  return { size: isTime ? 1 : maxSize(schema), schema }
}

const TIMES: ReadonlySet<string> = new Set(['date', 'date-time', 'duration'])

/**
 * A text that upstream knows nothing of: comparing and reading it is free. In a loop it is taken to be as large as `self`, which
 * is nothing for an object.
 */
const UNKNOWN_TEXT: Value = { cost: 0, size: 0, isUnknown: true }

function scalar(cost: number): Value {
  return { cost, size: 1 }
}

function costOf(node: ASTNode, scope: Scope): Value {
  switch (node.op) {
    case 'value':
      return { cost: 0, size: typeof node.args === 'string' ? node.args.length : 1 }
    case 'id':
      return scope[node.args] === undefined ? scalar(0) : { ...scope[node.args]!, cost: 1 }
    case '.':
    case '.?':
      return member(costOf(node.args[0], scope), node.args[1])
    case '[]':
    case '[?]': {
      const [owner, index] = node.args.map(arg => costOf(arg, scope)) as [Value, Value]
      return { ...elementOf(owner), cost: owner.cost + index.cost + 1 }
    }
    case 'list': {
      const items = node.args.map(arg => costOf(arg, scope))
      return { cost: LIST_LITERAL + total(items), size: items.length, element: known(largest(items)) }
    }
    case 'map': {
      const values = node.args.map(([, value]) => costOf(value, scope))
      const keys = node.args.map(([key]) => costOf(key, scope))
      return { cost: MAP_LITERAL + total(keys) + total(values), size: values.length, element: largest(values) }
    }
    case '?:': {
      const [condition, yes, no] = node.args.map(arg => costOf(arg, scope)) as [Value, Value, Value]
      const result = yes.size >= no.size ? yes : no
      return { ...result, cost: condition.cost + Math.max(yes.cost, no.cost) }
    }
    case '||':
    case '&&':
      return scalar(total(node.args.map(arg => costOf(arg, scope))))
    case '!_':
    case '-_':
      return scalar(costOf(node.args, scope).cost + 1)
    case 'call':
      // asking for a member does not select it
      if (node.args[0] === 'has') return scalar(costOf(node.args[1][0]!, scope).cost - 1)
      return call(
        node.args[0],
        node.args[1].map(arg => costOf(arg, scope)),
      )
    case 'rcall':
      return method(node.args, scope)
    default:
      return binary(node.op, node.args.map(arg => costOf(arg, scope)) as [Value, Value])
  }
}

function member(owner: Value, name: string): Value {
  const { schema } = owner
  const found = schema && (memberNamed(schema, name) ?? valuesOf(schema))
  return { ...(found ? shapeOf(found) : (owner.element ?? { size: 1 })), cost: owner.cost + 1 }
}

function elementOf({ schema, element }: Value): Value {
  const below = schema && (kindOf(schema) === 'map' ? valuesOf(schema) : schema.items)
  return below ? { cost: 0, ...shapeOf(below) } : (element ?? scalar(0))
}

function binary(operator: string, [a, b]: [Value, Value]): Value {
  const args = a.cost + b.cost
  switch (operator) {
    case 'in':
      return scalar(args + (b.schema !== undefined && kindOf(b.schema) === 'map' ? 1 : b.size))
    case '+': {
      const size = a.size + b.size
      if (isList(a) || isList(b)) return { ...a, size, cost: args + 1 }
      return { cost: args + (isNumber(a) && isNumber(b) ? 1 : read(size)), size: isNumber(a) && isNumber(b) ? 1 : size }
    }
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return scalar(args + read(Math.min(a.size, b.size)))
    default:
      return scalar(args + 1)
  }
}

function isList({ schema, element }: Value): boolean {
  return element !== undefined || schema?.type === 'array'
}

function isNumber({ size, schema }: Value): boolean {
  return size === 1 && (schema === undefined || kindOf(schema) === 'scalar')
}

function read(size: number): number {
  return Math.ceil(size * READ)
}

/** Overhead of a loop's steps, beside its body. */
const LOOPS: Readonly<Record<string, number>> = {
  all: 3,
  exists: 4,
  exists_one: 2,
  existsOne: 2,
  map: 12,
  filter: 13,
  transformList: 12,
  transformMap: 3,
}
/** What a loop begins with, where it makes something. */
const BEGINNINGS: Readonly<Record<string, number>> = {
  map: LIST_LITERAL,
  filter: LIST_LITERAL,
  transformList: LIST_LITERAL,
  transformMap: MAP_LITERAL,
}

function method([name, target, args]: [string, ASTNode, ASTNode[]], scope: Scope): Value {
  const variable = args[0]
  const overhead = LOOPS[name]
  if (overhead !== undefined && variable?.op === 'id' && args.length >= 2) {
    const range = costOf(target, scope)
    const isMap = range.schema !== undefined && kindOf(range.schema) === 'map'
    const found = elementOf(range)
    const element: Value = { ...(found.isUnknown === true ? { size: textSizeOf(scope.self) } : found), cost: 1 }
    const second = args[1]!
    const hasTwo = second.op === 'id' && args.length >= 3
    // the first of two variables is a place or a key; one alone is a key or an element
    const item: Value = isMap ? UNKNOWN_TEXT : hasTwo ? scalar(1) : element
    const inside = { ...scope, [variable.args]: item, ...(hasTwo && { [second.args]: element }) }
    const bodies = args.slice(hasTwo ? 2 : 1).map(arg => costOf(arg, inside))
    const cost = range.cost + (BEGINNINGS[name] ?? 0) + times(range.size, overhead + total(bodies)) + 1
    if (name === 'map' || name === 'transformList')
      return { cost, size: range.size, element: bodies.at(-1)!, isMade: true }
    if (name === 'transformMap') return { cost, size: range.size, element: bodies.at(-1)! }
    return name === 'filter' ? { ...range, cost } : scalar(cost)
  }
  if ((name === 'optMap' || name === 'optFlatMap') && variable?.op === 'id' && args.length === 2) {
    const owner = costOf(target, scope)
    const unknown: Value = { cost: 1, size: Number.POSITIVE_INFINITY }
    const made = costOf(args[1]!, { ...scope, [variable.args]: unknown })
    return { ...made, cost: owner.cost + made.cost + 1 }
  }
  if (target.op === 'id' && scope[target.args] === undefined) return namespaced(target.args, name, args, scope)
  const values = [target, ...args].map(arg => costOf(arg, scope))
  return call(name, values)
}

function namespaced(namespace: string, name: string, args: readonly ASTNode[], scope: Scope): Value {
  const [first, second, third] = args
  if (namespace === 'cel' && name === 'bind' && first?.op === 'id' && second && third) {
    const bound = costOf(second, scope)
    const result = costOf(third, { ...scope, [first.args]: bound })
    return { ...result, cost: bound.cost + result.cost }
  }
  const values = args.map(arg => costOf(arg, scope))
  const cost = total(values)
  if (namespace === 'sets') {
    const pairs = times(values[0]?.size ?? 1, values[1]?.size ?? 1)
    return scalar(cost + (name === 'equivalent' ? 2 : 1) * pairs + 1)
  }
  return scalar(cost + 1)
}

/** Functions and methods: the target of a method is its first argument. */
function call(name: string, values: readonly Value[]): Value {
  const [a = scalar(0), b = scalar(0)] = values
  const args = total(values)
  const reading = args + read(a.size)
  switch (name) {
    case 'size':
      return scalar(args + 1)
    case 'startsWith':
    case 'endsWith':
      return scalar(args + read(b.size))
    case 'contains':
      return scalar(args + times(read(a.size), read(b.size)))
    case 'matches':
    case 'find':
    case 'findAll': {
      const cost = args + times(read(a.size + 1), Math.ceil(b.size * MATCH))
      return name === 'matches'
        ? scalar(cost)
        : { cost, size: a.size, ...(name === 'findAll' && { element: UNKNOWN_TEXT }) }
    }
    case 'lowerAscii':
    case 'upperAscii':
    case 'trim':
    case 'reverse':
    case 'substring':
      return { cost: reading, size: a.size }
    case 'bytes':
      return { cost: reading, size: a.size }
    case 'replace':
      return { cost: args + read(a.size * 2), size: a.size }
    case 'split':
      return { cost: args + read(a.size * 2), size: a.size, element: UNKNOWN_TEXT }
    case 'join': {
      // upstream knows nothing of what a loop has made
      const size = a.isMade === true ? Number.POSITIVE_INFINITY : times(a.size, elementOf(a).size)
      return { cost: args + (a.isMade === true ? size : traversal(a)), size }
    }
    case 'sum':
    case 'min':
    case 'max':
    case 'isSorted':
      return { cost: args + traversal(a), size: elementOf(a).size }
    case 'indexOf':
    case 'lastIndexOf':
      return scalar(isList(a) ? args + traversal(a) : args + times(read(a.size), read(b.size)))
    case 'string':
      return isNumber(a) ? { cost: args + 1, size: Number.POSITIVE_INFINITY } : { cost: reading, size: a.size }
    case 'validate':
      // with the regular expression that upstream assumes
      return scalar(args + times(read(b.size), FORMAT_READS))
    case 'containsIP':
    case 'containsCIDR':
      return scalar(args + ADDRESS + (b.schema?.type === 'string' || b.size > 1 ? read(b.size) : 0))
    case 'url':
    case 'ip':
    case 'isIP':
    case 'cidr':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return scalar(reading)
    case 'orValue':
    case 'value':
    case 'dyn':
      return { ...a, cost: args + 1 }
    default:
      return scalar(args + 1)
  }
}

/** Looking at each element of a list: texts are read. */
function traversal(list: Value): number {
  const element = elementOf(list)
  return times(list.size, isNumber(element) ? 1 : 1 + read(element.size))
}

/** 0 for what has no size of its own. */
function textSizeOf(value: Value | undefined): number {
  const kind = value?.schema && kindOf(value.schema)
  return value === undefined || kind === 'object' || kind === 'scalar' ? 0 : value.size
}

function known(element: Value): Value {
  return isNumber(element) || isList(element) ? element : UNKNOWN_TEXT
}

function total(values: readonly Value[]): number {
  return values.reduce((sum, { cost }) => sum + cost, 0)
}

function largest(values: readonly Value[]): Value {
  return values.reduce((most, value) => (value.size > most.size ? value : most), scalar(0))
}

/** Nothing times anything is nothing, however large. */
function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b
}
