/**
 * The cost of a CEL expression in the worst case that its schema allows, before it ever runs. Units are those of Kubernetes, where naming a
 * value costs 1 and reading a string 1 for every ten bytes. Where this estimate knows less about a value than upstream's does it assumes
 * that the value is small.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#estimated-cost-limits
 */
import type { ASTNode } from '@marcbachmann/cel-js'
import type { Schema } from '../schema.ts'
import { allocation, call, listCall, literalOf, made, sortCost } from './celCallCosts.ts'
import {
  comparedSize,
  elementOf,
  isList,
  isScalar,
  known,
  LIST_LITERAL,
  largest,
  member,
  optionalOf,
  read,
  scalar,
  shapeOf,
  TEXT,
  times,
  total,
  UNKNOWN_TEXT,
  unknownOf,
  type Value,
} from './celCostValues.ts'
import { parseCel } from './celProgram.ts'
import { kindOf } from './celSizes.ts'

/** Bound on one expression, times the values that it runs for. */
export const EXPRESSION_COST_LIMIT = 10_000_000
/** Bound on all expressions of a schema. */
export const SCHEMA_COST_LIMIT = 100_000_000

const MAP_LITERAL = 30

type Scope = Readonly<Record<string, Value>>

/** `schema` is that of `self`. The expression must compile. */
export function estimateCost(source: string, schema: Schema): number {
  const self = { cost: 1, ...shapeOf(schema) }
  return costOf(parseCel(source), { self, oldSelf: self }).cost
}

/** Elements of each list and map, and characters of each text, that are assumed where no schema says anything. */
const ASSUMED_SIZE = 30

/** The same of an expression over variables without a schema: each of their parts may be a list. */
export function estimateOpenCost(source: string, variables: readonly string[]): number {
  const open: Value = { cost: 1, size: ASSUMED_SIZE }
  open.element = open
  return costOf(parseCel(source), Object.fromEntries(variables.map(name => [name, open]))).cost
}

function costOf(node: ASTNode, scope: Scope): Value {
  switch (node.op) {
    case 'value':
      return typeof node.args === 'string' ? { cost: 0, size: node.args.length, type: TEXT } : scalar(0)
    case 'id':
      return scope[node.args] === undefined ? scalar(0) : { ...scope[node.args]!, cost: 1 }
    case '.':
      return member(costOf(node.args[0], scope), node.args[1])
    case '.?':
      return optionalOf(member(costOf(node.args[0], scope), node.args[1]))
    case '[]':
    case '[?]': {
      const [owner, index] = node.args.map(arg => costOf(arg, scope)) as [Value, Value]
      const element = { ...elementOf(owner), cost: owner.cost + index.cost + 1 }
      return node.op === '[]' ? element : optionalOf(element)
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
      return scalar(node.args.op === 'value' ? 0 : costOf(node.args, scope).cost + 1)
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

function binary(operator: string, [a, b]: [Value, Value]): Value {
  const args = a.cost + b.cost
  switch (operator) {
    case 'in':
      return scalar(args + (b.schema !== undefined && kindOf(b.schema) === 'map' ? 1 : b.size))
    case '+': {
      const size = a.size + b.size
      if (isList(a) || isList(b)) return { ...a, size, cost: args + 1 }
      return { cost: args + (isScalar(a) && isScalar(b) ? 1 : read(size)), size: isScalar(a) && isScalar(b) ? 1 : size }
    }
    case '==':
    case '!=':
      return scalar(args + read(Math.min(comparedSize(a), comparedSize(b))))
    case '<':
    case '<=':
    case '>':
    case '>=':
      return scalar(args + read(Math.min(a.size, b.size)))
    default:
      return scalar(args + 1)
  }
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
  transformMapEntry: 2,
}
/** Cost of a loop's first value, where it makes something. */
const BEGINNINGS: Readonly<Record<string, number>> = {
  map: LIST_LITERAL,
  filter: LIST_LITERAL,
  transformList: LIST_LITERAL,
  transformMap: MAP_LITERAL,
  transformMapEntry: MAP_LITERAL,
}

function method([name, target, args]: [string, ASTNode, ASTNode[]], scope: Scope): Value {
  const variable = args[0]
  const overhead = LOOPS[name]
  if (overhead !== undefined && variable?.op === 'id' && args.length >= 2) {
    const range = costOf(target, scope)
    const isMap = range.isMap ?? (range.schema !== undefined && kindOf(range.schema) === 'map')
    const found = elementOf(range)
    const element: Value = {
      ...(found.isUnknown === true ? { size: textSizeOf(scope.self), type: found.type } : found),
      cost: 1,
    }
    const second = args[1]!
    const hasTwo = second.op === 'id' && args.length >= 3
    // the first of two variables is a place or a key; one alone is a key or an element
    const item: Value = isMap ? UNKNOWN_TEXT : hasTwo ? scalar(1) : element
    const inside = { ...scope, [variable.args]: item, ...(hasTwo && { [second.args]: element }) }
    const bodies = args.slice(hasTwo ? 2 : 1).map(arg => costOf(arg, inside))
    const cost = range.cost + (BEGINNINGS[name] ?? 0) + times(range.size, overhead + total(bodies)) + 1
    if (name === 'map' || name === 'transformList')
      return { cost, size: range.size, element: unknownOf(bodies.at(-1)!), isMade: true }
    if (name === 'transformMap' || name === 'transformMapEntry')
      return { cost, size: range.size, element: bodies.at(-1)!, isMap: true }
    return name === 'filter' ? { ...range, cost } : scalar(cost)
  }
  if ((name === 'optMap' || name === 'optFlatMap') && variable?.op === 'id' && args.length === 2) {
    const owner = costOf(target, scope)
    const unknown: Value = { cost: 1, size: Number.POSITIVE_INFINITY }
    const made = costOf(args[1]!, { ...scope, [variable.args]: unknown })
    return { ...made, cost: owner.cost + made.cost + 1 }
  }
  if (target.op === 'id' && scope[target.args] === undefined) return namespaced(target.args, name, args, scope)
  if (name === 'sortBy' && variable?.op === 'id' && args.length === 2)
    return sortedBy(target, variable.args, args[1]!, scope)
  const values = [target, ...args].map(arg => costOf(arg, scope))
  return listCall(name, values, args) ?? call(name, values)
}

/** A macro of upstream's: the list is bound to a name, its keys are mapped from that, and both are read. */
function sortedBy(target: ASTNode, variable: string, key: ASTNode, scope: Scope): Value {
  const list = costOf(target, scope)
  const item = { ...elementOf(list), cost: 1 }
  const keys = costOf(key, { ...scope, [variable]: item })
  const mapping = LIST_LITERAL + times(list.size, LOOPS.map! + keys.cost) + 1
  return made(list, list.cost + LIST_LITERAL + mapping + 2 + sortCost(list.size, keys), list.size ** 2)
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
  if (namespace === 'lists' && name === 'range') {
    const size = literalOf(first, Number.POSITIVE_INFINITY)
    return { cost: cost + allocation(size), size, element: scalar(0) }
  }
  if (namespace === 'strings' && name === 'quote') {
    const { size } = values[0]!
    return { cost: cost + read(size), size: 2 * size }
  }
  if (namespace === 'optional' && values[0] !== undefined) return optionalOf({ ...values[0], cost: cost + 1 })
  if (namespace === 'sets') {
    const pairs = times(values[0]?.size ?? 1, values[1]?.size ?? 1)
    return scalar(cost + (name === 'equivalent' ? 2 : 1) * pairs + 1)
  }
  return scalar(cost + 1)
}

/** 0 for what has no size of its own. */
function textSizeOf(value: Value | undefined): number {
  const kind = value?.schema && kindOf(value.schema)
  return value === undefined || kind === 'object' || kind === 'scalar' ? 0 : value.size
}
