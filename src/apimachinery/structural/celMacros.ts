/**
 * Macros of Kubernetes' CEL that the library does not have: `optMap`, `optFlatMap`, `sortBy`, comprehensions with two variables, and
 * `has` of what is no path. They are written out in terms of those that it has, in the text of the expression.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries
 */
import type { ASTNode, Environment } from '@marcbachmann/cel-js'
import { type CelMap, entriesOf } from './celEquality.ts'
import { registerAll } from './celRegister.ts'

/** Indices of a list, keys of a map. */
const KEYS = 'keysOf'
/** A map of a list of pairs. */
const MAP = 'mapOf'
/** One map of a list of maps. */
const MERGED = 'mergedMap'
/** Elements in the order of their keys, of a list of pairs. */
const SORTED = 'sortedByKey'

/** Functions that the expansions call. */
export function addMacroFunctions(environment: Environment): void {
  registerAll(environment, {
    [`${KEYS}(dyn): list`]: (value: unknown) => {
      if (Array.isArray(value)) return value.map((_, i) => BigInt(i))
      if (value instanceof Map) return [...value.keys()]
      if (typeof value === 'object' && value !== null) return Object.keys(value)
      throw new Error('no such overload')
    },
    [`${MAP}(list): map`]: (pairs: [unknown, unknown][]) => new Map(pairs),
    [`${MERGED}(list): map`]: merged,
  })
}

/** @throws Error for a key that two of the maps have */
function merged(maps: readonly CelMap[]): Map<unknown, unknown> {
  const all = new Map<unknown, unknown>()
  for (const map of maps) {
    for (const [key, value] of entriesOf(map)) {
      if (all.has(key)) throw new Error(`insert failed: key ${String(key)} already exists`)
      all.set(key, value)
    }
  }
  return all
}

/**
 * `source` without these macros; the same text when there are none. The target of a macro is written more than once, so macros inside one
 * another multiply.
 * @throws Error when the text would have more than `limit` characters
 */
export function expandMacros(source: string, root: ASTNode, limit: number): string {
  const edits: { start: number; end: number; text: string }[] = []
  const visit = (node: ASTNode): void => {
    const text = expansion(node, inner =>
      expandMacros(source.slice(inner.range.start, inner.range.end), shifted(inner), limit),
    )
    if (text !== undefined && text.length > limit) {
      throw new Error(`the expression is too large with its macros written out (more than ${limit} characters)`)
    }
    if (text === undefined) for (const child of childrenOf(node)) visit(child)
    else edits.push({ start: node.range.start, end: node.range.end, text })
  }
  const shifted = (node: ASTNode): ASTNode => relocate(node, node.range.start)
  visit(root)
  let result = source
  for (const { start, end, text } of edits.toSorted((a, b) => b.start - a.start))
    result = result.slice(0, start) + text + result.slice(end)
  return result
}

function expansion(node: ASTNode, textOf: (node: ASTNode) => string): string | undefined {
  if (node.op === 'call' && node.args[0] === 'has' && node.args[1].length === 1) return hasOf(node.args[1][0]!, textOf)
  if (node.op !== 'rcall') return undefined
  const [name, target, args] = node.args
  const [first, second] = args
  if (first?.op !== 'id' || second === undefined) return undefined
  const variable = first.args
  if (args.length === 2 && (name === 'optMap' || name === 'optFlatMap')) {
    const receiver = `(${textOf(target)})`
    const bound = `cel.bind(${variable}, ${receiver}.value(), ${textOf(second)})`
    return `(${receiver}.hasValue() ? ${name === 'optMap' ? `optional.of(${bound})` : bound} : optional.none())`
  }
  if (name === 'sortBy' && args.length === 2)
    return `${SORTED}((${textOf(target)}).map(${variable}, [dyn(${variable}), ${textOf(second)}]))`
  if (second.op !== 'id' || args.length < 3) return undefined
  const range = `(${textOf(target)})`
  const bodies = args.slice(2).map(body => `cel.bind(${second.args}, ${range}[${variable}], ${textOf(body)})`)
  switch (name) {
    case 'all':
    case 'exists':
    case 'existsOne':
    case 'exists_one':
      return `${KEYS}${range}.${name === 'existsOne' ? 'exists_one' : name}(${variable}, ${bodies[0]})`
    case 'transformList':
      return `${KEYS}${range}.map(${variable}, ${bodies.join(', ')})`
    case 'transformMapEntry':
      return `${MERGED}(${KEYS}${range}.map(${variable}, ${bodies.join(', ')}))`
    case 'transformMap': {
      const filter = bodies.length > 1 ? `${bodies[0]}, ` : ''
      return `${MAP}(${KEYS}${range}.map(${variable}, ${filter}[dyn(${variable}), ${bodies.at(-1)}]))`
    }
    default:
      return undefined
  }
}

/** The library takes paths from a name only; any other operand is bound to one. The name hides nothing: only the path stands there. */
function hasOf(operand: ASTNode, textOf: (node: ASTNode) => string): string | undefined {
  let path = ''
  let root = operand
  while (root.op === '.' || root.op === '.?') {
    path = `${root.op === '.' ? '.' : '.?'}${root.args[1]}${path}`
    root = root.args[0]
  }
  if (path === '' || root.op === 'id') return undefined
  return `cel.bind(operand, ${textOf(root)}, has(operand${path}))`
}

/** The tree with its ranges counted from `origin`. */
function relocate(node: ASTNode, origin: number): ASTNode {
  const move = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(move)
    return isNode(value) ? relocate(value, origin) : value
  }
  const { op, range } = node
  return { op, args: move(node.args), range: { start: range.start - origin, end: range.end - origin } } as ASTNode
}

export function childrenOf(node: ASTNode): ASTNode[] {
  const nodes: ASTNode[] = []
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) collect(each)
    else if (isNode(value)) nodes.push(value)
  }
  collect(node.args)
  return nodes
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}
