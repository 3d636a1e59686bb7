/**
 * CEL expressions of admission: match conditions, validations, variables and mutations.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#validation-expression
 */
import type { Environment } from '@marcbachmann/cel-js'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { celEnvironment } from '../../apimachinery/structural/celFunctions.ts'
import {
  CelCompileError,
  type CelProgram,
  compileCel,
  type StepBudget,
} from '../../apimachinery/structural/celProgram.ts'
import { toCel } from '../../apimachinery/structural/celValues.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import { requestFields, type Shown } from './attributes.ts'
import { type AuthorizerVariables, registerAuthorizer } from './celAuthorizer.ts'
import { withoutMessageTypes } from './celMessages.ts'
import { LruMap } from './lruMap.ts'

/** What expressions can name. `params` and `variables` are there for policies. */
export const ADMISSION_VARIABLES = ['object', 'oldObject', 'request', 'params', 'namespaceObject', 'variables'] as const
export type AdmissionVariables = Partial<Record<(typeof ADMISSION_VARIABLES)[number], unknown> & AuthorizerVariables>

/** Compiled or why not; one program serves all policies with the same text. */
export type Expression = { source: string } & ({ program: CelProgram } | { program?: undefined; failure: string })

const MAX_PROGRAMS = 2000

/** Compiles each text once. One per server. */
export class AdmissionCel {
  readonly #programs = new LruMap<string, Expression>(MAX_PROGRAMS)
  #environment: Environment | undefined

  compile(source: string): Expression {
    const known = this.#programs.get(source)
    if (known !== undefined) return known
    const made = this.#compile(source)
    this.#programs.set(source, made)
    return made
  }

  #compile(source: string): Expression {
    try {
      const plain = withoutMessageTypes(source)
      return { source, program: compileCel(plain, undefined, this.#variables()) }
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error
      return { source, failure: `compilation failed: ${error.message}` }
    }
  }

  #variables(): Environment {
    if (this.#environment === undefined) {
      const environment = celEnvironment().clone()
      for (const name of ADMISSION_VARIABLES) environment.registerVariable(name, 'dyn')
      environment.registerFunction(
        'jsonpatchEscapeKey(string): string',
        ((key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')) as (...args: unknown[]) => unknown,
        { async: false } as object,
      )
      registerAuthorizer(environment)
      this.#environment = environment
    }
    return this.#environment
  }
}

/** The variables of one request. */
export function requestVariables(request: AdmissionRequest, type: ResourceType, shown: Shown): AdmissionVariables {
  return {
    object: toCel(shown.object, undefined),
    oldObject: toCel(shown.old, undefined),
    request: toCel(requestFields(request, type), undefined),
  }
}

/** @throws Error with the words that users are shown, CelBudgetError */
export function evaluate(expression: Expression, variables: AdmissionVariables, budget: StepBudget): unknown {
  if (expression.program === undefined) throw new Error(expression.failure)
  return expression.program.evaluate(variables, budget)
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
  budget: StepBudget,
): ConditionOutcome {
  const errors: string[] = []
  for (const { expression } of conditions) {
    try {
      const value = evaluate(expression, variables, budget)
      if (value === false) return { matches: false }
      if (value !== true) throw new Error('match condition must evaluate to a bool')
    } catch (error) {
      errors.push(`expression '${expression.source}' resulted in error: ${messageOf(error)}`)
    }
  }
  if (errors.length === 0) return { matches: true }
  return { matches: false, error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
