/** The estimated cost of a call of a function or method, and the size of its result. */
import type { ASTNode } from '@marcbachmann/cel-js'
import {
  elementOf,
  isList,
  isScalar,
  isTime,
  LIST_LITERAL,
  READ,
  read,
  scalar,
  times,
  total,
  UNKNOWN_TEXT,
  unbounded,
  unknownOf,
  type Value,
} from './celCostValues.ts'
import { kindOf } from './celSizes.ts'

const MATCH = 0.25
/** Reads of a text that a format's validation takes. */
const FORMAT_READS = 32
/** Comparing two addresses. */
const ADDRESS = 4
/** Functions whose result is as large as literals among their arguments, `args`, say. */
export function listCall(name: string, values: readonly Value[], args: readonly ASTNode[]): Value | undefined {
  const list = values[0]!
  const cost = total(values)
  switch (name) {
    case 'slice': {
      const size = literalOf(args[1], list.size) - literalOf(args[0], 0)
      return made(list, cost + allocation(size), size < 0 ? Number.POSITIVE_INFINITY : size)
    }
    case 'reverse':
      return made(list, cost + allocation(list.size))
    case 'flatten': {
      const depth = args.length === 0 ? 1 : literalOf(args[0], Number.POSITIVE_INFINITY)
      return { cost: cost + allocation(times(list.size, depth)), size: list.size, element: UNKNOWN_TEXT }
    }
    case 'replace':
      return { cost: cost + read(list.size * 2), size: replacedSize(list.size, args[0], values[2]?.size ?? 0) }
    case 'split': {
      const size = literalOf(args[1], list.size)
      return { cost: cost + read(list.size * 2), size, element: UNKNOWN_TEXT }
    }
    case 'first':
    case 'last':
      return isScalar(elementOf(list)) ? scalar(cost + 1) : unbounded(cost + 1)
    case 'distinct':
    case 'sort':
      return made(list, cost + sortCost(list.size, elementOf(list)), list.size ** 2)
    default:
      return undefined
  }
}

/** The longest text that a replacement can make: by as short a part as may be looked for, which is nothing unless it is written. */
function replacedSize(size: number, part: ASTNode | undefined, replacement: number): number {
  const shortest = part?.op === 'value' && typeof part.args === 'string' ? part.args.length : 0
  if (shortest === 0) return times(size + 1, replacement) + size
  return replacement <= shortest ? size : times(Math.ceil(size / shortest), replacement)
}

/** As if each element were compared with each. */
export function sortCost(size: number, key: Value): number {
  const { schema = key.type } = key
  const isText = schema === undefined ? key.size !== 1 : kindOf(schema) === 'string'
  return allocation(Math.ceil(size ** 2 * (isText ? 2 + READ : 2)))
}

export function allocation(elements: number): number {
  return elements + 1 + LIST_LITERAL
}

/** A list of the elements of another one. */
export function made(list: Value, cost: number, size = list.size): Value {
  return { cost, size, element: unknownOf(elementOf(list)) }
}

export function literalOf(node: ASTNode | undefined, otherwise: number): number {
  return node?.op === 'value' && typeof node.args === 'bigint' ? Number(node.args) : otherwise
}

/** Functions and methods: the target of a method is its first argument. */
export function call(name: string, values: readonly Value[]): Value {
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
    case 'substring':
      return { cost: reading, size: a.size }
    case 'bytes':
      return { cost: reading, size: a.size }
    case 'format':
      return unbounded(args + read(a.size))
    case 'charAt':
    case 'getEscapedPath':
    case 'getHost':
    case 'getHostname':
    case 'getPort':
    case 'getQuery':
    case 'getScheme':
      return unbounded(args + 1)
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
      return isScalar(a) || isTime(a.schema)
        ? { cost: args + 1, size: Number.POSITIVE_INFINITY }
        : { cost: reading, size: a.size }
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
  return times(list.size, isScalar(element) ? 1 : 1 + read(element.size))
}
