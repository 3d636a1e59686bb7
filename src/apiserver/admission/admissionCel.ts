/**
 * CEL expressions of admission: match conditions, validations, variables and mutations.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#validation-expression
 */
import type { Environment } from '@marcbachmann/cel-js'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { celEnvironment } from '../../apimachinery/structural/celFunctions.ts'
import { CelCompileError, type CelProgram, compileCel } from '../../apimachinery/structural/celProgram.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import { type AuthorizerVariables, registerAuthorizer } from './celAuthorizer.ts'
import { withoutMessageTypes } from './celMessages.ts'

/** Names in expressions. `params` and `variables` are there for policies. */
const ADMISSION_VARIABLES = ['object', 'oldObject', 'request', 'params', 'namespaceObject', 'variables'] as const
export type AdmissionVariable = (typeof ADMISSION_VARIABLES)[number]
export type AdmissionVariables = Partial<Record<AdmissionVariable, unknown> & AuthorizerVariables>

/** Compiled or why not; one program serves all policies with the same text. */
export type Expression = { source: string } & ({ program: CelProgram } | { program?: undefined; failure: string })

const MAX_PROGRAMS = 2000

/** Compiles each text once. One per server. */
export class AdmissionCel {
  readonly #programs = new BoundedCache<string, Expression>(MAX_PROGRAMS)
  /** By the variables that they lack. */
  readonly #environments = new Map<string, Environment>()

  /** `lacking`: variables that there are not where the expression stands. */
  compile(source: string, lacking: readonly AdmissionVariable[] = []): Expression {
    const key = `${lacking.join(' ')}\n${source}`
    const known = this.#programs.get(key)
    if (known !== undefined) return known
    const made = this.#compile(source, lacking)
    this.#programs.set(key, made)
    return made
  }

  /** The same, compiled when it is first evaluated: of thousands that a space has stored a request needs few. */
  later(source: string): Expression {
    let made: Expression | undefined
    const compiled = (): Expression => {
      made ??= this.compile(source)
      return made
    }
    return {
      source,
      get program() {
        return compiled().program
      },
      get failure() {
        const expression = compiled()
        return expression.program === undefined ? expression.failure : undefined
      },
    } as Expression
  }

  #compile(source: string, lacking: readonly AdmissionVariable[]): Expression {
    try {
      const plain = withoutMessageTypes(source)
      return { source, program: compileCel(plain, undefined, this.#environment(lacking)) }
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error
      return { source, failure: `compilation failed: ${wordedAsUpstream(error.message)}` }
    }
  }

  #environment(lacking: readonly AdmissionVariable[]): Environment {
    const key = lacking.join(' ')
    const known = this.#environments.get(key)
    if (known !== undefined) return known
    const names = ADMISSION_VARIABLES.filter(name => !lacking.includes(name))
    const made = admissionEnvironment(Object.fromEntries(names.map(name => [name, 'dyn'])))
    this.#environments.set(key, made)
    return made
  }
}

/** The functions of admission expressions, `authorizer`, and `variables` with their types. Making it takes milliseconds. */
export function admissionEnvironment(variables: Readonly<Record<string, string>>): Environment {
  const environment = celEnvironment().clone()
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type)
  environment.registerFunction(
    'jsonpatchEscapeKey(string): string',
    ((key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')) as (...args: unknown[]) => unknown,
    { async: false } as object,
  )
  registerAuthorizer(environment)
  return environment
}

/** The compiler's message, as upstream's users know it. A field is shown at its dot. */
export function wordedAsUpstream(message: string): string {
  const field = /^(ERROR: <input>:\d+:)(\d+): No such key: (\S+)\n([\s\S]*)\.\^$/.exec(message)
  if (field) return `${field[1]}${Number(field[2]) - 1}: undefined field '${field[3]}'\n${field[4]}^`
  return message
    .replace(/Unknown variable: (\S+)/, "undeclared reference to '$1' (in container '')")
    .replace(/no such overload: (\S+) (\S+) (\S+)$/m, "found no matching overload for '_$2_' applied to '($1, $3)'")
}

/** @throws Error with the words that users are shown, CelBudgetError */
export function evaluate(expression: Expression, variables: AdmissionVariables, budget: WorkBudget): unknown {
  if (expression.program === undefined) throw new Error(expression.failure)
  return expression.program.evaluate(variables, budget)
}

/** @throws Error worded `expression '…' resulted in error: …` */
export function evaluateWorded(expression: Expression, variables: AdmissionVariables, budget: WorkBudget): unknown {
  try {
    return evaluate(expression, variables, budget)
  } catch (error) {
    throw new Error(`expression '${expression.source}' resulted in error: ${messageOf(error)}`, { cause: error })
  }
}

export type ConditionOutcome = { matches: boolean; error?: undefined } | { matches: false; error: string }

export interface MatchCondition {
  name: string
  expression: Expression
}

/** All must be true; one that is false counts more than one that fails. */
export function checkConditions(
  conditions: readonly MatchCondition[],
  variables: AdmissionVariables,
  budget: WorkBudget,
): ConditionOutcome {
  const errors: string[] = []
  for (const { expression } of conditions) {
    try {
      const value = evaluate(expression, variables, budget)
      if (value === false) return { matches: false }
      if (value !== true) throw new Error('match condition must evaluate to a bool')
    } catch (error) {
      if (budget.refusal !== undefined) return { matches: false, error: budget.refusal.message }
      errors.push(`expression '${expression.source}' resulted in error: ${messageOf(error)}`)
    }
  }
  if (errors.length === 0) return { matches: true }
  return { matches: false, error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
}
