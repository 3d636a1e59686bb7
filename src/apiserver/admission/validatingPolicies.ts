/**
 * ValidatingAdmissionPolicy: CEL expressions that must hold for a request.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
import { statusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { type AdmissionVariables, checkConditions, type Expression, evaluate } from './admissionCel.ts'
import { AdmissionDenied } from './admissionReview.ts'
import { isNamespace, nameOf, namespaceOf } from './attributes.ts'
import { annotate, json } from './auditAnnotations.ts'
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
import { evaluateAtCost } from './requestCost.ts'

/** Cost of all expressions of one policy, one binding and one parameter for a request, as upstream's. */
const MAX_POLICY_COST = 10_000_000
const MAX_MESSAGE_CHARACTERS = 5 * 1024
const MAX_ANNOTATION_CHARACTERS = 10 * 1024
const VALIDATION_FAILURE = 'validation.policy.admission.k8s.io/validation_failure'
const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 }

interface Failure {
  message: string
  reason: string
  /** Of the validation in its policy. */
  index: number
  /** The policy itself cannot be applied: refused, whatever the actions of the binding. */
  actsAlways: boolean
}
interface Annotation {
  key: string
  value: string
}
interface Verdict {
  failures: Failure[]
  annotations: Annotation[]
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

/** Warns and annotates, and returns the first reason to refuse. */
async function judge(
  deps: PolicyDeps,
  policy: Policy,
  request: AdmissionRequest,
): Promise<AdmissionDenied | undefined> {
  const matched = await matchPolicy(deps, policy, request)
  if (matched === undefined) return undefined
  const base = await policyVariables(deps, request, matched.type)
  const { context } = request
  const annotations = new Map<string, Set<string>>()
  let refusal: AdmissionDenied | undefined
  for (const binding of matched.bindings) {
    const { actions, name } = binding
    const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${name}'`
    const verdict = await verdictOf(deps, policy, binding, request, base)
    for (const { message, reason, index, actsAlways } of verdict.failures) {
      if (actsAlways || actions.includes('Deny')) {
        refusal ??= refused(request, `${who} denied request: ${message}`, reason)
      }
      if (actsAlways) continue
      if (actions.includes('Warn')) context.warn(`Validation failed for ${who}: ${message}`)
      if (actions.includes('Audit'))
        annotate(context, VALIDATION_FAILURE, auditedFailure(policy, binding, message, index))
    }
    for (const { key, value } of verdict.annotations) {
      const values = annotations.get(key) ?? new Set()
      annotations.set(key, values.add(value))
    }
  }
  // values that differ come from different parameters
  for (const [key, values] of annotations) annotate(context, `${policy.name}/${key}`, [...values].join(', '))
  return refusal
}

function auditedFailure(policy: Policy, binding: Binding, message: string, expressionIndex: number): string {
  const { name, actions: validationActions } = binding
  return json([{ message, policy: policy.name, binding: name, expressionIndex, validationActions }])
}

async function verdictOf(
  deps: PolicyDeps,
  policy: Policy,
  binding: Binding,
  request: AdmissionRequest,
  base: AdmissionVariables,
): Promise<Verdict> {
  let all: readonly (Readonly<KubeObject> | null)[]
  try {
    const namespace = isNamespace(request.requestType) ? nameOf(request) : namespaceOf(request)
    all = await deps.params.of(request.context.space, policy, binding, namespace)
  } catch (error) {
    if (!(error instanceof PolicyConfigurationError)) throw error
    if (policy.failsOpen) return { failures: [], annotations: [] }
    const message = `failed to configure ${error.of}: ${error.message}`
    return { failures: [{ message, reason: '', index: 0, actsAlways: true }], annotations: [] }
  }
  const verdict: Verdict = { failures: [], annotations: [] }
  for (const params of all) {
    const found = await evaluateAtCost(deps.authorizer, request, MAX_POLICY_COST, (authorizer, budget) =>
      validate(policy, withParams({ ...base, ...authorizer }, policy, params, budget), budget),
    )
    verdict.failures.push(...found.failures)
    verdict.annotations.push(...found.annotations)
  }
  return verdict
}

function validate(policy: Policy, variables: AdmissionVariables, budget: WorkBudget): Verdict {
  const conditions = checkConditions(policy.conditions, variables, budget)
  const failures: Failure[] = []
  const fail = (message: string, index: number, actsAlways = false): void => {
    if (!policy.failsOpen) failures.push({ message, reason: '', index, actsAlways })
  }
  if (conditions.error !== undefined) fail(conditions.error, 0)
  if (!conditions.matches) return { failures, annotations: [] }
  for (const [index, validation] of policy.validations.entries()) {
    try {
      if (evaluateWorded(validation.expression, variables, budget) === true) continue
    } catch (error) {
      fail(messageOf(error), index)
      continue
    }
    const message = messageFor(validation, variables, budget)
    failures.push({ message, reason: validation.reason, index, actsAlways: false })
  }
  const annotations: Annotation[] = []
  for (const { key, expression } of policy.auditAnnotations) {
    try {
      const value = annotationValue(expression, variables, budget)
      if (value !== '') annotations.push({ key, value })
    } catch (error) {
      fail(messageOf(error), 0, true)
    }
  }
  return { failures, annotations }
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
  return value.trim().slice(0, MAX_ANNOTATION_CHARACTERS)
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
