/**
 * ValidatingAdmissionPolicy: CEL expressions that must hold for a request.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
import { statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { MAX_EVALUATION_STEPS, type StepBudget } from '../../apimachinery/structural/celProgram.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { type AdmissionVariables, checkConditions, evaluate, messageOf } from './admissionCel.ts'
import { AdmissionDenied } from './admissionReview.ts'
import { isNamespace, nameOf, namespaceOf } from './attributes.ts'
import { withAuthorizer } from './celAuthorizer.ts'
import type { Binding, Policy, Validation } from './policyConfigurations.ts'
import {
  evaluateWorded,
  matchPolicy,
  type PolicyDeps,
  policiesHandle,
  policyVariables,
  withParams,
} from './policyEvaluation.ts'
import { PolicyConfigurationError } from './policyParams.ts'

/** Loop steps for all expressions of one policy and one request. */
const MAX_POLICY_STEPS = 10 * MAX_EVALUATION_STEPS
const MAX_MESSAGE_CHARACTERS = 5 * 1024
const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 }

interface Failure {
  message: string
  reason: string
}

export function validatingPolicies(deps: PolicyDeps): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, target) => policiesHandle(deps, type, operation, target),
    async admit(request) {
      let refusal: AdmissionDenied | undefined
      for (const policy of deps.configurations.in(request.context.space)) {
        refusal = (await judge(deps, policy, request)) ?? refusal
        if (refusal) break
      }
      if (refusal) throw refusal
    },
  }
}

/** Warns, and returns the first reason to refuse. */
async function judge(
  deps: PolicyDeps,
  policy: Policy,
  request: AdmissionRequest,
): Promise<AdmissionDenied | undefined> {
  const matched = await matchPolicy(deps, policy, request)
  if (matched === undefined) return undefined
  const base = await policyVariables(deps, request, matched.type)
  let refusal: AdmissionDenied | undefined
  for (const binding of matched.bindings) {
    for (const failure of await failures(deps, policy, binding, request, base)) {
      const { actions, name } = binding
      const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${name}'`
      if (failure.configuration || actions.includes('Deny')) {
        refusal ??= refused(request, `${who} denied request: ${failure.message}`, failure.reason)
      }
      if (!failure.configuration && actions.includes('Warn')) {
        request.context.warn(`Validation failed for ${who}: ${failure.message}`)
      }
    }
  }
  return refusal
}

async function failures(
  deps: PolicyDeps,
  policy: Policy,
  binding: Binding,
  request: AdmissionRequest,
  base: AdmissionVariables,
): Promise<(Failure & { configuration: boolean })[]> {
  let all: readonly (Readonly<KubeObject> | null)[]
  try {
    const namespace = isNamespace(request.requestType) ? nameOf(request) : namespaceOf(request)
    all = await deps.params.of(request.context.space, policy, binding, namespace)
  } catch (error) {
    if (!(error instanceof PolicyConfigurationError)) throw error
    if (policy.failsOpen) return []
    return [{ message: `failed to configure ${error.of}: ${error.message}`, reason: '', configuration: true }]
  }
  const failed: Failure[] = []
  for (const params of all) {
    const found = await withAuthorizer(deps.authorizer, request, authorizer => {
      const budget = { left: MAX_POLICY_STEPS }
      return validate(policy, withParams({ ...base, ...authorizer }, policy, params, budget), budget)
    })
    failed.push(...found)
  }
  return failed.map(failure => ({ ...failure, configuration: false }))
}

function validate(policy: Policy, variables: AdmissionVariables, budget: StepBudget): Failure[] {
  const conditions = checkConditions(policy.conditions, variables, budget)
  if (conditions.error !== undefined) return policy.failsOpen ? [] : [{ message: conditions.error, reason: '' }]
  if (!conditions.matches) return []
  const failed: Failure[] = []
  for (const validation of policy.validations) {
    try {
      if (evaluateWorded(validation.expression, variables, budget) === true) continue
    } catch (error) {
      if (!policy.failsOpen) failed.push({ message: messageOf(error), reason: '' })
      continue
    }
    failed.push({ message: messageFor(validation, variables, budget), reason: validation.reason })
  }
  return failed
}

function messageFor(validation: Validation, variables: AdmissionVariables, budget: StepBudget): string {
  const computed = validation.messageExpression && computedMessage(validation, variables, budget)
  return computed || validation.message || `failed expression: ${validation.expression.source.trim()}`
}

/** `undefined` when it fails or gives no usable text: then the fixed message is shown. */
function computedMessage(
  { messageExpression }: Validation,
  variables: AdmissionVariables,
  budget: StepBudget,
): string | undefined {
  try {
    const text = evaluate(messageExpression!, variables, budget)
    if (typeof text !== 'string') return undefined
    const trimmed = text.trim()
    return trimmed.length > MAX_MESSAGE_CHARACTERS || /[\r\n]/.test(trimmed) ? undefined : trimmed
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

function refused(request: AdmissionRequest, message: string, reason: string): AdmissionDenied {
  const forbidden = statusError.forbidden(request.requestType, nameOf(request), message)
  return new AdmissionDenied(forbidden.message, {
    code: CODES[reason] ?? 422,
    reason: reason || 'Invalid',
    details: { ...forbidden.details, causes: [{ message } as { reason: string; message: string }] },
  })
}
