/** Work of a thread for `ExpressionRunner`. */
import { isRecord } from '../../apimachinery/object.ts'
import { AdmissionCel } from './admissionCel.ts'
import { AdmissionFacts } from './admissionFacts.ts'
import { Answers, authorizerVariables } from './celAuthorizer.ts'
import { type EvaluationName, type EvaluationParts, runEvaluation } from './evaluations.ts'
import type { ExpressionJob, ExpressionResult } from './expressionRunner.ts'
import { Purse } from './purse.ts'

/** Programs of the thread, each compiled once. */
const cel = new AdmissionCel()

export function expressionJob({ name, part, facts, params, ...rest }: ExpressionJob): ExpressionResult {
  const answers = new Answers(rest.answers)
  const purse = new Purse(rest.units)
  const value = runEvaluation(name, partFrom(part) as EvaluationParts[EvaluationName] as never, {
    facts: new AdmissionFacts(JSON.parse(facts)),
    params: params === undefined ? undefined : { value: JSON.parse(params) },
    authorizer: authorizerVariables(rest.authorizer, answers),
    purse,
  })
  return { value, unanswered: [...answers.unanswered], used: purse.used }
}

/** Whatever has a source and nothing else is an expression. */
function partFrom(text: string): unknown {
  return JSON.parse(text, (_, value) =>
    isRecord(value) && typeof value.source === 'string' && Object.keys(value).length === 1
      ? cel.compile(value.source)
      : value,
  )
}
