/**
 * One compiled CEL expression, bounded. The size of its text, the depth of its tree, the work of an evaluation and the size of its results
 * have limits. Its regular expressions run in linear time, so no expression can hang or end the server.
 */
import {
  type ASTNode,
  TypeError as CelTypeError,
  type Environment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js'
import { isMistakable } from '../jsonParse.ts'
import { messageOf } from '../messageOf.ts'
import { mistakableKeyWords } from '../mistakableKeys.ts'
import type { Schema } from '../schema.ts'
import type { TimeBound } from '../threadTime.ts'
import { WorkBudget } from '../workBudget.ts'
import { MAX_EXPRESSION_CHARACTERS, tooDeep, tooLong, wordedDepth } from './celDepth.ts'
import { celEnvironment } from './celFunctions.ts'
import { childrenOf, expandMacros } from './celMacros.ts'
import { attachMeter, type Meter, type Role } from './celMeter.ts'
import { memberNamed } from './celNames.ts'
import { runningUnder } from './celRunning.ts'
import { REPLACED } from './celText.ts'
import { boundTypeDepth } from './celTypeDepth.ts'
import { CelTypeMismatch, typeOfRule } from './celTypes.ts'

/** Bound on an expression with its macros written out, which may repeat their targets. */
const MAX_EXPANDED_CHARACTERS = 4 * MAX_EXPRESSION_CHARACTERS
/** Cost of one evaluation, in upstream's units and with its limit. */
export const MAX_EVALUATION_COST = 1_000_000
/** Errors may tell of values, which may be large. */
const MAX_ERROR_CHARACTERS = 5120

export interface CelProgram {
  /** Static type: `bool`, `string`, `dyn`, … */
  readonly type: string
  readonly usesOldSelf: boolean
  /**
   * `budget` is shared by all expressions of an object or of a policy; this evaluation takes {@link MAX_EVALUATION_COST} of it
   * at most.
   * @throws CelBudgetError when a budget runs out, Error when the expression fails on these values
   */
  evaluate(variables: Readonly<Record<string, unknown>>, budget: WorkBudget): unknown
}

/** The evaluation was stopped because it cost too much. */
export class CelBudgetError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CelBudgetError'
  }
}

/** The evaluation alone cost too much, whatever was left for others. */
export class CelCallCostError extends CelBudgetError {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CelCallCostError'
  }
}

/** Common budget for all expressions of an object or of a policy. */
export function celBudget(cost: number, isLate?: TimeBound): WorkBudget {
  const why = 'validation failed due to running out of cost budget, no further validation rules will be run'
  return new WorkBudget(cost, () => new CelBudgetError(why), isLate)
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
  const long = tooLong(source)
  if (long !== undefined) throw new CelCompileError(long)
  const meter: Meter = { budget: celBudget(0) }
  try {
    const parsed = parseExpanded(source, variables ?? environment())
    const usesOldSelf = prepare(parsed.ast, schema, meter)
    const checked = parsed.check()
    if (!checked.valid) throw checked.error
    return {
      type: checked.type ?? 'dyn',
      usesOldSelf,
      evaluate: (values, budget) =>
        budget.part(
          MAX_EVALUATION_COST,
          () => new CelCallCostError(),
          part => metered(() => parsed(values), meter, part),
        ),
    }
  } catch (error) {
    if (error instanceof CelCompileError) throw error
    if (error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError) {
      const deep = wordedDepth(error.summary)
      if (deep !== undefined) throw new CelCompileError(deep, { cause: error })
      const at = error.range?.start ?? 0
      throw new CelCompileError(located(source, at, compileWords(error.summary)), { cause: error })
    }
    throw new CelCompileError(messageOf(error), { cause: error })
  }
}

/** @throws CelBudgetError, or Error in the words that users are shown */
function metered(run: () => unknown, meter: Meter, budget: WorkBudget): unknown {
  const outer = meter.budget
  meter.budget = budget
  try {
    const value = runningUnder(budget, run)
    // quantifiers may go on behind the error
    if (budget.refusal !== undefined) throw budget.refusal
    return value
  } catch (error) {
    if (budget.refusal !== undefined) throw budget.refusal
    const why = messageOf(error)
    const words = error instanceof EvaluationError ? worded(error.summary) : why
    const shown = words.length > MAX_ERROR_CHARACTERS ? `${words.slice(0, MAX_ERROR_CHARACTERS)}…` : words
    throw new Error(shown, { cause: error })
  } finally {
    meter.budget = outer
  }
}

function parseExpanded(source: string, variables: Environment): ReturnType<Environment['parse']> {
  boundTypeDepth(variables)
  const parsed = variables.parse(source)
  const deep = tooDeep(parsed.ast)
  if (deep !== undefined) throw new CelCompileError(deep)
  const expanded = expandMacros(source, parsed.ast, MAX_EXPANDED_CHARACTERS)
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

/** Rewrites the tree in place (bounded functions, a meter everywhere) and tells whether it names `oldSelf`. */
function prepare(root: ASTNode, schema: Schema | undefined, meter: Meter): boolean {
  let usesOldSelf = false
  const visit = (node: ASTNode, at: { shadowed: boolean; within?: number | undefined; role: Role }): void => {
    if (node.op === 'id' && node.args === 'oldSelf') usesOldSelf = true
    if ((node.op === '.' || node.op === '.?') && !at.shadowed) checkField(node, schema, at.within)
    if (node.op === 'call' || node.op === 'rcall') {
      const replaced = REPLACED.get(node.args[0])
      if (replaced !== undefined) (node.args as unknown[])[0] = replaced
    }
    if (at.role === 'key' && node.op === 'value' && typeof node.args === 'string' && isMistakable(node.args))
      throw new CelCompileError(mistakableKeyWords(node.args))
    attachMeter(node, at.role, meter)
    let { shadowed } = at
    if (node.op === 'rcall') {
      const variable = node.args[2][0]
      if (variable?.op === 'id' && (variable.args === 'self' || variable.args === 'oldSelf')) shadowed = true
    }
    const within = node.op === 'call' && node.args[0] === 'has' ? node.range.start + 3 : undefined
    const roles = rolesIn(node)
    for (const child of childrenOf(node)) visit(child, { shadowed, within, role: roles.get(child) ?? 'part' })
  }
  visit(root, { shadowed: false, role: 'part' })
  return usesOldSelf
}

function rolesIn(node: ASTNode): ReadonlyMap<ASTNode, Role> {
  if (node.op === 'map') return new Map(node.args.map(([key]) => [key, 'key'] as const))
  if (node.op !== 'rcall' || !LOOPS.has(node.args[0])) return new Map()
  const [, range, parameters] = node.args
  return new Map([[range, 'range'], ...parameters.slice(1).map(body => [body, 'body'] as const)])
}

/** @throws CelCompileError when a chain such as `self.spec.nope` leaves the schema */
function checkField(node: ASTNode, schema: Schema | undefined, within: number | undefined): void {
  const owner = schemaOf(node.args, schema)
  if (owner === undefined) return
  const field = (node.args as [ASTNode, string])[1]
  if (isOpen(owner) || memberNamed(owner, field) !== undefined) return
  // upstream points at the dot, or at what asks for the field
  const at = within ?? node.input.lastIndexOf('.', node.pos - 1)
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

/** Schemas whose members are not all listed. Rules see no fields that a schema merely preserves. */
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
  let words = summary.replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')")
  for (const [theirs, ours] of REPLACED) words = words.replace(`${ours}(`, `${theirs}(`)
  return words
}

/** The failure that users meet most, in the words that they know. */
function worded(summary: string): string {
  return summary.replace(/^No such key: /, 'no such key: ')
}
