/**
 * Types of the parts of a rule, as far as its schema tells them. The library takes `self` for anything; upstream knows what it is and
 * refuses a rule whose parts do not go together. An unknown type is `dyn` and goes with everything.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#type-checking
 */
import type { ASTNode } from '@marcbachmann/cel-js'
import type { Schema } from '../schema.ts'
import { memberNamed } from './celNames.ts'
import { userPattern } from './userPatterns.ts'

interface Type {
  name: string
  /** Element of lists and maps. */
  element?: Type
  /** Schema of objects. */
  schema?: Schema
}
type Scope = ReadonlyMap<string, Type>

/** Two parts that do not go together; `offset` is where upstream points at. */
export class CelTypeMismatch extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.name = 'CelTypeMismatch'
    this.offset = offset
  }
}

const type = (name: string): Type => ({ name })
const DYN = type('dyn')
const BOOL = type('bool')
const INT = type('int')
const STRING = type('string')
const NUMBERS: ReadonlySet<string> = new Set(['int', 'uint', 'double'])
/** Types without null. */
const VALUES: ReadonlySet<string> = new Set(['int', 'uint', 'double', 'string', 'bool', 'bytes'])
const OF_FORMATS: Readonly<Record<string, string>> = {
  byte: 'bytes',
  date: 'timestamp',
  'date-time': 'timestamp',
  duration: 'duration',
}
const OPERATORS: Readonly<Record<string, string>> = {
  '[]': '_[_]',
  '?:': '_?_:_',
  in: '@in',
}

/** The type of the whole expression. @throws CelTypeMismatch */
export function typeOfRule(root: ASTNode, schema: Schema, oldSelf: Schema | undefined): string {
  const old = oldSelf === undefined ? DYN : typeOfSchema(oldSelf)
  return typeOf(root, new Map([['self', typeOfSchema(schema)] as const, ['oldSelf', old] as const])).name
}

function typeOfSchema(schema: Schema): Type {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN
  switch (schema.type) {
    case 'integer':
      return INT
    case 'number':
      return type('double')
    case 'boolean':
      return BOOL
    case 'string':
      return type((schema.format && OF_FORMATS[schema.format]) ?? 'string')
    case 'array':
      return schema.items === undefined ? DYN : listOf(typeOfSchema(schema.items))
    case 'object': {
      const { additionalProperties: values } = schema
      if (values === undefined || values === false) return { name: 'object', schema }
      const element = values === true ? DYN : typeOfSchema(values)
      return { name: `map(string, ${element.name})`, element }
    }
    default:
      return DYN
  }
}

function listOf(element: Type): Type {
  return { name: `list(${element.name})`, element }
}

function typeOf(node: ASTNode, scope: Scope): Type {
  switch (node.op) {
    case 'value':
      return literal(node.args, node)
    case 'id':
      return scope.get(node.args) ?? DYN
    case '.':
      return member(typeOf(node.args[0], scope), node.args[1], pointOf(node))
    case '.?':
      member(typeOf(node.args[0], scope), node.args[1], node.input.lastIndexOf('.', node.range.end - 1))
      return DYN
    case '[]':
      return indexed(node, scope)
    case 'list':
      return listLiteral(node.args, scope)
    case '?:':
      return chosen(node, scope)
    case '||':
    case '&&':
      for (const arg of node.args) expectBool(arg, scope)
      return BOOL
    case '!_':
      return unary(node, typeOf(node.args, scope), ['bool'])
    case '-_':
      if (node.args.op === 'value' && typeof node.args.args === 'bigint') return INT
      return unary(node, typeOf(node.args, scope), ['int', 'double'])
    case 'call':
      return call(node, scope)
    case 'rcall':
      return method(node, scope)
    case 'map':
    case '[?]':
      return DYN
    default:
      return binary(node, scope)
  }
}

function literal(value: unknown, node: ASTNode): Type {
  if (typeof value === 'string') return STRING
  if (typeof value === 'boolean') return BOOL
  if (typeof value === 'number') return type('double')
  if (value === null) return type('null')
  if (typeof value !== 'bigint') return value instanceof Uint8Array ? type('bytes') : type('uint')
  if (value >= 2n ** 63n) throw new CelTypeMismatch('invalid int literal', node.range.start)
  return INT
}

function member(owner: Type, name: string, offset: number): Type {
  if (owner.schema === undefined) return owner.name.startsWith('map(') ? (owner.element ?? DYN) : DYN
  const found = memberNamed(owner.schema, name)
  if (found === undefined) throw new CelTypeMismatch(`undefined field '${name}'`, offset)
  return typeOfSchema(found)
}

function indexed(node: ASTNode & { op: '[]' }, scope: Scope): Type {
  const [owner, index] = node.args.map(arg => typeOf(arg, scope)) as [Type, Type]
  const key = owner.name.startsWith('list(') ? NUMBERS.has(index.name) : index.name === 'string'
  if (isOpen(owner) || (owner.element !== undefined && (key || isOpen(index)))) return owner.element ?? DYN
  throw mismatch(node, [owner, index], between(node.args[0], '['))
}

function listLiteral(items: readonly ASTNode[], scope: Scope): Type {
  const types = items.map(item => typeOf(item, scope))
  const first = types.find(({ name }) => !isLoose(name))
  const other = types.findIndex(({ name }) => first !== undefined && !isLoose(name) && name !== first.name)
  if (first !== undefined && other >= 0) {
    const why = `expected type '${first.name}' but found '${types[other]!.name}'`
    throw new CelTypeMismatch(why, pointOf(items[other]!))
  }
  return first === undefined ? DYN : listOf(first)
}

function chosen(node: ASTNode & { op: '?:' }, scope: Scope): Type {
  const [condition, yes, no] = node.args.map(arg => typeOf(arg, scope)) as [Type, Type, Type]
  if ((condition.name === 'bool' || isOpen(condition)) && same(yes, no)) return isOpen(yes) ? no : yes
  throw mismatch(node, [condition, yes, no], between(node.args[0], '?'))
}

function expectBool(node: ASTNode, scope: Scope): void {
  const { name } = typeOf(node, scope)
  if (name === 'bool' || isLoose(name)) return
  throw new CelTypeMismatch(`expected type 'bool' but found '${name}'`, pointOf(node))
}

function unary(node: ASTNode, of: Type, wanted: readonly string[]): Type {
  if (isOpen(of) || wanted.includes(of.name)) return of
  throw mismatch(node, [of], node.range.start)
}

function binary(node: ASTNode, scope: Scope): Type {
  const args = node.args as [ASTNode, ASTNode]
  const [a, b] = args.map(arg => typeOf(arg, scope)) as [Type, Type]
  const result = resultOf(node.op, a, b)
  if (result !== undefined) return result
  throw mismatch(node, [a, b], between(args[0], node.op))
}

/** `undefined` where the operator does not take the two. */
function resultOf(operator: string, a: Type, b: Type): Type | undefined {
  switch (operator) {
    case '==':
    case '!=':
      return same(a, b) ? BOOL : undefined
    case '<':
    case '<=':
    case '>':
    case '>=':
      if (isOpen(a) || isOpen(b) || (NUMBERS.has(a.name) && NUMBERS.has(b.name))) return BOOL
      return a.name === b.name && a.element === undefined && a.schema === undefined ? BOOL : undefined
    case 'in':
      if (isOpen(b)) return BOOL
      if (b.element === undefined) return undefined
      return same(a, b.name.startsWith('list(') ? b.element : STRING) ? BOOL : undefined
    default:
      return arithmetic(operator, a, b)
  }
}

function arithmetic(operator: string, a: Type, b: Type): Type | undefined {
  if (isOpen(a) || isOpen(b)) return DYN
  const times = `${a.name} ${operator} ${b.name}`
  if (/^(timestamp [+-] duration|duration \+ timestamp)$/.test(times)) return type('timestamp')
  if (/^(timestamp - timestamp|duration [+-] duration)$/.test(times)) return type('duration')
  if (NUMBERS.has(a.name) && a.name === b.name) return operator === '%' && a.name === 'double' ? undefined : a
  if (operator !== '+') return undefined
  if (a.name === b.name && (a.name === 'string' || a.name === 'bytes')) return a
  return a.name.startsWith('list(') && b.name.startsWith('list(') ? (same(a, b) ? a : undefined) : undefined
}

/** Whether both may be of one type. */
function same(a: Type, b: Type): boolean {
  if (isOpen(a) || isOpen(b)) return true
  if (a.name === 'null' || b.name === 'null') {
    const other = a.name === 'null' ? b : a
    return !VALUES.has(other.name) && other.element === undefined
  }
  if (a.element !== undefined && b.element !== undefined) {
    return a.name.startsWith('list(') === b.name.startsWith('list(') && same(a.element, b.element)
  }
  return a.name === b.name
}

function call(node: ASTNode & { op: 'call' }, scope: Scope): Type {
  const [name, args] = node.args
  if (name === 'has') {
    const [argument] = args
    if (argument?.op === '.') member(typeOf(argument.args[0], scope), argument.args[1], node.range.start + name.length)
    return BOOL
  }
  const types = args.map(arg => typeOf(arg, scope))
  if (name !== 'size') return DYN
  if (types.length === 1 && !isSized(types[0]!)) throw mismatch(node, types, node.range.start + name.length, name)
  return INT
}

const TESTS: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith', 'matches'])
const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'existsOne', 'filter', 'map'])
/** Methods of lists alone, which make a list of the same type. */
const SAME_LIST: ReadonlySet<string> = new Set(['distinct', 'reverse', 'slice', 'sort'])

function method(node: ASTNode & { op: 'rcall' }, scope: Scope): Type {
  const [name, target, args] = node.args
  const receiver = typeOf(target, scope)
  if (LOOPS.has(name) && args.length === 2 && args[0]?.op === 'id') {
    const item = receiver.name.startsWith('map(') ? STRING : (receiver.element ?? DYN)
    const inside = new Map([...scope, [args[0].args, item] as const])
    if (name === 'map') return listOf(typeOf(args[1]!, inside))
    expectBool(args[1]!, inside)
    return name === 'filter' ? (receiver.name.startsWith('map(') ? listOf(STRING) : receiver) : BOOL
  }
  if (SAME_LIST.has(name)) {
    if (isOpen(receiver) || receiver.name.startsWith('list(')) return receiver
    throw methodMismatch(
      node,
      receiver,
      args.map(arg => typeOf(arg, scope)),
    )
  }
  if (TESTS.has(name) && args.length === 1) return textTest(node, receiver, args[0]!, scope)
  if (name !== 'size' || args.length > 0) return DYN
  if (!isSized(receiver)) throw methodMismatch(node, receiver, [])
  return INT
}

function textTest(node: ASTNode & { op: 'rcall' }, receiver: Type, arg: ASTNode, scope: Scope): Type {
  const given = typeOf(arg, scope)
  const fits = (of: Type): boolean => of.name === 'string' || isOpen(of)
  if (!fits(receiver) || !fits(given)) throw methodMismatch(node, receiver, [given])
  if (node.args[0] === 'matches' && arg.op === 'value' && typeof arg.args === 'string') {
    try {
      userPattern(arg.args)
    } catch {
      throw new CelTypeMismatch('invalid matches argument', arg.range.start)
    }
  }
  return BOOL
}

function isSized({ name }: Type): boolean {
  return isLoose(name) || name === 'string' || name === 'bytes' || name.startsWith('list(') || name.startsWith('map(')
}

function isOpen({ name }: Type): boolean {
  return isLoose(name)
}

function isLoose(name: string): boolean {
  return name === 'dyn'
}

function mismatch(node: ASTNode, types: readonly Type[], offset: number, name?: string): CelTypeMismatch {
  const operator = name ?? OPERATORS[node.op] ?? (/^[!-]_$/.test(node.op) ? node.op : `_${node.op}_`)
  const given = types.map(each => each.name).join(', ')
  return new CelTypeMismatch(`found no matching overload for '${operator}' applied to '(${given})'`, offset)
}

function methodMismatch(node: ASTNode & { op: 'rcall' }, receiver: Type, args: readonly Type[]): CelTypeMismatch {
  const [name, target] = node.args
  const given = `${receiver.name}.(${args.map(each => each.name).join(', ')})`
  const offset = node.input.indexOf('(', target.range.end)
  return new CelTypeMismatch(`found no matching overload for '${name}' applied to '${given}'`, offset)
}

/** Where `text` stands behind a part. */
function between(left: ASTNode, text: string): number {
  return Math.max(left.input.indexOf(text, left.range.end), 0)
}

/** Where upstream says that a part is: at its operator. */
function pointOf(node: ASTNode): number {
  if (node.op === '.') return node.input.lastIndexOf('.', node.range.end)
  if (node.op === 'rcall') return node.input.indexOf('(', node.args[1].range.end)
  if (node.op === 'call') return node.input.indexOf('(', node.range.start)
  const [left] = Array.isArray(node.args) ? (node.args as ASTNode[]) : []
  const isBinary = /^(==|!=|<=?|>=?|[-+*/%]|in|&&|\|\||\?:|\[\])$/.test(node.op)
  return isBinary && left !== undefined ? between(left, node.op === '?:' ? '?' : node.op[0]!) : node.range.start
}
