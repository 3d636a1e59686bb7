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
}
type Scope = Readonly<Record<string, Value>>

/** `schema` is that of `self`. The expression must compile. */
export function estimateCost(source: string, schema: Schema): number {
  const self = { cost: 1, ...shapeOf(schema) }
  return costOf(parseCel(source), { self, oldSelf: self }).cost
}

function shapeOf(schema: Schema): { size: number; schema: Schema } {
  return { size: maxSize(schema), schema }
}

function scalar(cost: number): Value {
  return { cost, size: 1 }
}

function costOf(node: ASTNode, scope: Scope): Value {
  switch (node.op) {
    case 'value':
      return { cost: 0, size: typeof node.args === 'string' ? node.args.length : 1 }
    case 'id':
      return { ...(scope[node.args] ?? scalar(0)), cost: 1 }
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
      return { cost: LIST_LITERAL + total(items), size: items.length, element: largest(items) }
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
      return scalar(args + b.size)
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
  return Math.max(1, Math.ceil(size * READ))
}

/** Overhead of a loop's steps, beside its body. */
const LOOPS: Readonly<Record<string, number>> = {
  all: 3,
  exists: 4,
  exists_one: 2,
  existsOne: 2,
  map: 12,
  filter: 13,
}

function method([name, target, args]: [string, ASTNode, ASTNode[]], scope: Scope): Value {
  const variable = args[0]
  const overhead = LOOPS[name]
  if (overhead !== undefined && variable?.op === 'id' && args.length >= 2) {
    const range = costOf(target, scope)
    const isMap = range.schema !== undefined && kindOf(range.schema) === 'map'
    // over a map the variable is its key
    const item: Value = isMap ? { cost: 1, size: 1 } : { ...elementOf(range), cost: 1 }
    const bodies = args.slice(1).map(arg => costOf(arg, { ...scope, [variable.args]: item }))
    const cost = range.cost + times(range.size, overhead + total(bodies)) + 1
    if (name === 'map') return { cost, size: range.size, element: bodies.at(-1)! }
    return name === 'filter' ? { ...range, cost } : scalar(cost)
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
  if (namespace === 'sets') return scalar(cost + times(values[0]?.size ?? 1, values[1]?.size ?? 1))
  return scalar(cost + 1)
}

/** Functions and methods: the target of a method is its first argument. */
function call(name: string, values: readonly Value[]): Value {
  const [a = scalar(0), b = scalar(0)] = values
  const args = total(values)
  const reading = args + read(a.size)
  switch (name) {
    case 'has':
    case 'size':
      return scalar(args + (name === 'size' ? 1 : 0))
    case 'startsWith':
    case 'endsWith':
      return scalar(args + read(b.size))
    case 'contains':
      return scalar(args + times(read(a.size), read(b.size)))
    case 'matches':
    case 'find':
    case 'findAll': {
      const cost = args + times(read(a.size + 1), Math.max(1, Math.ceil(b.size * MATCH)))
      return name === 'matches' ? scalar(cost) : { cost, size: a.size, ...(name === 'findAll' && { element: a }) }
    }
    case 'lowerAscii':
    case 'upperAscii':
    case 'trim':
    case 'reverse':
    case 'substring':
    case 'replace':
      return { cost: reading, size: a.size }
    case 'split':
      return { cost: reading, size: a.size, element: { cost: 0, size: a.size } }
    case 'join':
      return { cost: args + read(times(a.size, elementOf(a).size)), size: times(a.size, elementOf(a).size) }
    case 'sum':
    case 'min':
    case 'max':
    case 'isSorted':
      return { cost: args + times(a.size, read(elementOf(a).size)), size: elementOf(a).size }
    case 'indexOf':
    case 'lastIndexOf':
      return scalar(
        isList(a) ? args + times(a.size, read(elementOf(a).size)) : args + times(read(a.size), read(b.size)),
      )
    case 'string':
      return { cost: args + 1, size: isNumber(a) ? Number.POSITIVE_INFINITY : a.size }
    case 'url':
    case 'ip':
    case 'isIP':
    case 'cidr':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'duration':
    case 'timestamp':
    case 'int':
    case 'uint':
    case 'double':
      return scalar(reading)
    case 'orValue':
    case 'value':
    case 'dyn':
      return { ...a, cost: args + 1 }
    default:
      return scalar(args + 1)
  }
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
