/** Verdict of a ValidatingAdmissionPolicy on one request with one parameter. */
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import { type AdmissionVariables, checkConditions, type Expression, evaluate, evaluateWorded } from './admissionCel.ts'
import type { Policy, Validation } from './policyConfigurations.ts'
import type { Purse } from './purse.ts'

/** Cost of all validations with their messages, and of all audit annotations, as upstream's. */
export const MAX_POLICY_COST = 10_000_000
/** Bound on all match conditions of a policy or a webhook, as upstream's. */
export const MAX_CONDITIONS_COST = 2_500_000
export const MAX_MESSAGE_BYTES = 5 * 1024
export const MAX_ANNOTATION_BYTES = 10 * 1024

export interface Failure {
  message: string
  reason: string
  /** Index of the validation in its policy. */
  index: number
  /** The policy itself cannot be applied: refused, whatever the actions of the binding. */
  actsAlways: boolean
}
export interface Annotation {
  key: string
  value: string
}
export interface Verdict {
  failures: Failure[]
  annotations: Annotation[]
}

export type Validating = Pick<Policy, 'conditions' | 'variables' | 'failsOpen' | 'validations' | 'auditAnnotations'>

/** `variablesFor`: with the policy's own variables, paid out of that budget. */
export function policyVerdict(
  policy: Validating,
  variablesFor: (budget: WorkBudget) => AdmissionVariables,
  purse: Purse,
): Verdict {
  const ofConditions = purse.budget(MAX_CONDITIONS_COST)
  const conditions = checkConditions(policy.conditions, variablesFor(ofConditions), ofConditions)
  const failures: Failure[] = []
  const fail = (message: string, index: number, actsAlways = false): void => {
    if (!policy.failsOpen) failures.push({ message, reason: '', index, actsAlways })
  }
  if (conditions.error !== undefined) fail(conditions.error, 0)
  if (!conditions.matches) return { failures, annotations: [] }
  const budget = purse.budget(MAX_POLICY_COST)
  const variables = variablesFor(budget)
  for (const [index, validation] of policy.validations.entries()) {
    try {
      if (evaluateWorded(validation.expression, variables, budget) === true) continue
    } catch (error) {
      if (budget.refusal !== undefined) return ranOut(policy, budget.refusal)
      fail(messageOf(error), index)
      continue
    }
    const message = messageFor(validation, variables, budget)
    failures.push({ message, reason: validation.reason, index, actsAlways: false })
  }
  const annotations: Annotation[] = []
  const ofAnnotations = purse.budget(MAX_POLICY_COST)
  const variablesOfAnnotations = variablesFor(ofAnnotations)
  for (const { key, expression } of policy.auditAnnotations) {
    try {
      const value = annotationValue(expression, variablesOfAnnotations, ofAnnotations)
      if (value !== '') annotations.push({ key, value })
    } catch (error) {
      if (ofAnnotations.refusal !== undefined) return ranOut(policy, ofAnnotations.refusal)
      fail(messageOf(error), 0, true)
    }
  }
  return { failures, annotations }
}

/** As upstream has it, which then says nothing else. */
function ranOut({ failsOpen }: Validating, { message }: Error): Verdict {
  return { failures: failsOpen ? [] : [{ message, reason: '', index: 0, actsAlways: false }], annotations: [] }
}

/** `''` for none. @throws Error for a failing expression, and for a value that is neither text nor null */
function annotationValue(expression: Expression, variables: AdmissionVariables, budget: WorkBudget): string {
  const value = evaluateWorded(expression, variables, budget)
  if (value === null) return ''
  if (typeof value !== 'string') {
    const type = typeof value === 'bigint' ? 'int' : typeof value === 'boolean' ? 'bool' : celTypeOf(value)
    throw new Error(
      `valueExpression '${expression.source}' resulted in unsupported return type: ${type}. ` +
        'Return type must be either string or null.',
    )
  }
  return beginning(value.trim(), MAX_ANNOTATION_BYTES)
}

/** No character is cut in two. */
function beginning(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}

function celTypeOf(value: unknown): string {
  if (typeof value === 'number') return 'double'
  return Array.isArray(value) ? 'list' : 'map'
}

function messageFor(validation: Validation, variables: AdmissionVariables, budget: WorkBudget): string {
  const computed = validation.messageExpression && computedMessage(validation, variables, budget)
  return computed || validation.message || `failed expression: ${validation.expression.source.trim()}`
}

/** `undefined` when it fails or gives no usable text: then the fixed message is shown. */
function computedMessage(
  { messageExpression }: Validation,
  variables: AdmissionVariables,
  budget: WorkBudget,
): string | undefined {
  try {
    const text = evaluate(messageExpression!, variables, budget)
    if (typeof text !== 'string') return undefined
    const trimmed = text.trim()
    return Buffer.byteLength(trimmed) > MAX_MESSAGE_BYTES || /[\r\n]/.test(trimmed) ? undefined : trimmed
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}
