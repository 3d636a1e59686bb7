/**
 * Evaluation of a policy's or a webhook's expressions for one request. All of it is made of plain values and gives plain values, so that a
 * thread does the same as the loop does.
 */
import { messageOf } from '../../apimachinery/messageOf.ts'
import { toCel } from '../../apimachinery/structural/celValues.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import {
  type AdmissionVariables,
  type ConditionOutcome,
  checkConditions,
  type Expression,
  evaluate,
  evaluateWorded,
  type MatchCondition,
} from './admissionCel.ts'
import type { AdmissionFacts } from './admissionFacts.ts'
import { type AuthorizerVariables, attempt } from './celAuthorizer.ts'
import { fromCel } from './fromCel.ts'
import type { PolicyVariable } from './policyConfigurations.ts'
import { MAX_CONDITIONS_COST, MAX_POLICY_COST, policyVerdict, type Validating, type Verdict } from './policyVerdict.ts'
import type { Purse } from './purse.ts'

/** Facts for expressions, and their budget. */
interface Scene {
  facts: AdmissionFacts
  /** Absent: there is no such variable. */
  params: { value: unknown } | undefined
  authorizer: AuthorizerVariables
  purse: Purse
}

/** Parts of a policy or a webhook, by what is made of them. */
export interface EvaluationParts {
  conditions: { conditions: readonly MatchCondition[]; variables: readonly PolicyVariable[] }
  validations: Validating
  mutation: { expression: Expression; variables: readonly PolicyVariable[] }
}
export interface EvaluationResults {
  conditions: ConditionOutcome
  validations: Verdict
  mutation: MutationResult
}
/** JSON, or why there is none. */
type MutationResult = { value: unknown; error?: undefined } | { error: string }

export type EvaluationName = keyof EvaluationParts

export function runEvaluation<N extends EvaluationName>(
  name: N,
  part: EvaluationParts[N],
  scene: Scene,
): EvaluationResults[N] {
  return EVALUATIONS[name](part, scene)
}

/** The result when there is none for `why`. */
export function failedEvaluation<N extends EvaluationName>(
  name: N,
  part: EvaluationParts[N],
  why: string,
): EvaluationResults[N] {
  return FAILED[name](part, why)
}

const EVALUATIONS: { [N in EvaluationName]: (part: EvaluationParts[N], scene: Scene) => EvaluationResults[N] } = {
  conditions({ conditions, variables }, scene) {
    const budget = scene.purse.budget(MAX_CONDITIONS_COST)
    return checkConditions(conditions, variablesOf(scene, variables, budget), budget)
  },
  validations: (policy, scene) =>
    policyVerdict(policy, budget => variablesOf(scene, policy.variables, budget), scene.purse),
  mutation({ expression, variables }, scene) {
    const budget = scene.purse.budget(MAX_POLICY_COST)
    const outcome = attempt(() => fromCel(evaluateWorded(expression, variablesOf(scene, variables, budget), budget)))
    return 'error' in outcome ? { error: messageOf(outcome.error) } : outcome
  },
}

const FAILED: { [N in EvaluationName]: (part: EvaluationParts[N], why: string) => EvaluationResults[N] } = {
  conditions: (_, error) => ({ matches: false, error }),
  validations: ({ failsOpen }, message) => ({
    failures: failsOpen ? [] : [{ message, reason: '', index: 0, actsAlways: false }],
    annotations: [],
  }),
  mutation: (_, error) => ({ error }),
}

/** `variables` are computed when an expression first reads them, out of that expression's budget. */
function variablesOf(
  { facts, params, authorizer }: Scene,
  own: readonly PolicyVariable[],
  budget: WorkBudget,
): AdmissionVariables {
  const variables = {}
  const all: AdmissionVariables = {
    ...facts.variables,
    ...authorizer,
    ...(params && { params: toCel(params.value, undefined), variables }),
  }
  for (const { name, expression } of own) {
    let known: { value: unknown } | { error: unknown } | undefined
    Object.defineProperty(variables, name, {
      enumerable: true,
      get: () => {
        known ??= attempt(() => evaluate(expression, all, budget))
        if ('error' in known) throw known.error
        return known.value
      },
    })
  }
  return all
}
