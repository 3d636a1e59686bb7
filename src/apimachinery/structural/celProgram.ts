/**
 * One compiled CEL expression, bounded: the size of its text, the depth of its tree and the steps of its loops have limits,
 * and its regular expressions run in linear time, so no expression can hang the server.
 */
import {
  type ASTNode,
  TypeError as CelTypeError,
  type Environment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js'
import type { Schema } from '../schema.ts'
import { celEnvironment, LINEAR_MATCHES } from './celFunctions.ts'
import { expandMacros } from './celMacros.ts'
import { memberNamed } from './celNames.ts'
import { CelTypeMismatch, typeOfRule } from './celTypes.ts'

export const MAX_EXPRESSION_BYTES = 64 * 1024
/** Loop steps of one evaluation. */
export const MAX_EVALUATION_STEPS = 1_000_000

/** Loop steps left for a whole object; one budget is shared by all rules of a validation. */
export interface StepBudget {
  left: number
}

export interface CelProgram {
  /** Static type: `bool`, `string`, `dyn`, … */
  readonly type: string
  readonly usesOldSelf: boolean
  /** @throws CelBudgetError when the budget runs out, Error when the expression fails on these values */
  evaluate(variables: Readonly<Record<string, unknown>>, budget: StepBudget): unknown
}

/** The evaluation was stopped because it took too many steps. */
export class CelBudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
    this.name = 'CelBudgetError'
  }
}

/** The expression is wrong; the message shows where. */
export class CelCompileError extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.name = 'CelCompileError'
  }
}

// Immutable once made; making it takes milliseconds, so it is made at first use.
const environment = once(celEnvironment)

/**
 * @param schema of `self`
 * @param variables the environment that knows the variables; default: that of validation rules
 * @throws CelCompileError
 */
export function compileCel(source: string, schema: Schema | undefined, variables?: Environment): CelProgram {
  if (Buffer.byteLength(source) > MAX_EXPRESSION_BYTES) {
    throw new CelCompileError(`expression is longer than ${MAX_EXPRESSION_BYTES} bytes`)
  }
  const steps: { budget: StepBudget; exhausted: boolean } = { budget: { left: 0 }, exhausted: false }
  const tick = () => {
    if (--steps.budget.left < 0) {
      steps.exhausted = true
      throw new CelBudgetError()
    }
  }
  try {
    const parsed = parseExpanded(source, variables ?? environment())
    const usesOldSelf = prepare(parsed.ast, schema, tick)
    const checked = parsed.check()
    if (!checked.valid) throw checked.error
    return {
      type: checked.type ?? 'dyn',
      usesOldSelf,
      evaluate(variables, budget) {
        steps.budget = budget
        steps.exhausted = false
        try {
          return parsed(variables)
        } catch (error) {
          // quantifiers may hide an error behind another one
          if (steps.exhausted) throw new CelBudgetError()
          const why = error instanceof Error ? error.message : String(error)
          throw new Error(error instanceof EvaluationError ? worded(error.summary) : why, { cause: error })
        } finally {
          steps.budget = { left: 0 }
        }
      },
    }
  } catch (error) {
    if (error instanceof CelCompileError) throw error
    if (error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError) {
      const at = error.range?.start ?? 0
      throw new CelCompileError(located(source, at, compileWords(error.summary)), { cause: error })
    }
    throw new CelCompileError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function parseExpanded(source: string, variables: Environment): ReturnType<Environment['parse']> {
  const parsed = variables.parse(source)
  const expanded = expandMacros(source, parsed.ast)
  return expanded === source ? parsed : variables.parse(expanded)
}

/** The tree of an expression that compiles. */
export function parseCel(source: string): ASTNode {
  return environment().parse(source).ast
}

/** The type that the schema gives to a rule that compiles. @throws CelCompileError when its parts do not go together */
export function checkRuleTypes(source: string, schema: Schema, oldSelf: Schema | undefined): string {
  try {
    return typeOfRule(parseCel(source), schema, oldSelf)
  } catch (error) {
    if (!(error instanceof CelTypeMismatch)) throw error
    throw new CelCompileError(located(source, error.offset, error.message), { cause: error })
  }
}

/** The message with the line that it speaks of, as compilers show it. */
function located(source: string, offset: number, summary: string): string {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = source.slice(lineStart).split('\n', 1)[0] ?? ''
  const column = offset - lineStart
  const row = before.split('\n').length
  return `ERROR: <input>:${row}:${column + 1}: ${summary}\n | ${line}\n | ${'.'.repeat(column)}^`
}

const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter'])

/** Rewrites the tree in place (linear regular expressions, counted loops) and tells whether it names `oldSelf`. */
function prepare(root: ASTNode, schema: Schema | undefined, tick: () => void): boolean {
  let usesOldSelf = false
  const visit = (node: ASTNode, shadowed: boolean, asked?: number): void => {
    if (node.op === 'id' && node.args === 'oldSelf') usesOldSelf = true
    if ((node.op === '.' || node.op === '.?') && !shadowed) checkField(node, schema, asked)
    if ((node.op === 'call' || node.op === 'rcall') && node.args[0] === 'matches') {
      ;(node.args as unknown[])[0] = LINEAR_MATCHES
    }
    let hidesSelf = shadowed
    if (node.op === 'rcall') {
      const [method, , parameters] = node.args
      if (LOOPS.has(method)) for (const body of parameters.slice(1)) count(body, tick)
      const variable = parameters[0]
      if (variable?.op === 'id' && (variable.args === 'self' || variable.args === 'oldSelf')) hidesSelf = true
    }
    const isHas = node.op === 'call' && node.args[0] === 'has'
    for (const child of childrenOf(node)) visit(child, hidesSelf, isHas ? node.range.start + 3 : undefined)
  }
  visit(root, false)
  return usesOldSelf
}

/** Counts every evaluation of `node`. The library sets `evaluate` itself on first use, so a setter keeps ours in front. */
function count(node: ASTNode, tick: () => void): void {
  type Evaluate = (this: unknown, ...args: unknown[]) => unknown
  let inner = (node as unknown as { evaluate: Evaluate }).evaluate
  const counted: Evaluate = (...args) => {
    tick()
    return inner.apply(node, args)
  }
  Object.defineProperty(node, 'evaluate', {
    configurable: true,
    get: () => counted,
    set: (next: Evaluate) => {
      inner = next
    },
  })
}

function childrenOf(node: ASTNode): ASTNode[] {
  const nodes: ASTNode[] = []
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) collect(each)
    else if (typeof value === 'object' && value !== null && 'op' in value && 'args' in value)
      nodes.push(value as ASTNode)
  }
  collect(node.args)
  return nodes
}

/** @throws CelCompileError when a chain such as `self.spec.nope` leaves the schema */
function checkField(node: ASTNode, schema: Schema | undefined, asked: number | undefined): void {
  const owner = schemaOf(node.args, schema)
  if (owner === undefined) return
  const field = (node.args as [ASTNode, string])[1]
  if (isOpen(owner) || memberNamed(owner, field) !== undefined) return
  // upstream points at the dot, or at what asks for the field
  const at = asked ?? node.input.lastIndexOf('.', node.pos - 1)
  throw new CelCompileError(located(node.input, at, `undefined field '${field}'`))
}

/** The schema of what stands before the dot; `undefined` when it is not plainly a part of `self`. */
function schemaOf(args: ASTNode['args'], schema: Schema | undefined): Schema | undefined {
  const owner = (args as [ASTNode, string])[0]
  if (owner.op === 'id') return owner.args === 'self' || owner.args === 'oldSelf' ? schema : undefined
  if (owner.op !== '.') return undefined
  const above = schemaOf(owner.args, schema)
  return above === undefined || isOpen(above) ? undefined : memberNamed(above, owner.args[1])
}

/** Schemas whose members are not all listed. Of fields that a schema lets be, rules see none. */
function isOpen(schema: Schema): boolean {
  return schema.type !== 'object' || schema.additionalProperties !== undefined
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A name that nothing stands for. */
function compileWords(summary: string): string {
  return summary.replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')")
}

/** The failure that users meet most, in the words that they know. */
function worded(summary: string): string {
  return summary.replace(/^No such key: /, 'no such key: ')
}
