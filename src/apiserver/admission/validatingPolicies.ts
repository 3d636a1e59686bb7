/**
 * ValidatingAdmissionPolicy: CEL expressions that must hold for a request.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
import { statusError } from '../../apimachinery/errors.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { workFor } from '../registry/works.ts'
import type { AdmissionFacts } from './admissionFacts.ts'
import { AdmissionDenied } from './admissionReview.ts'
import { isNamespace, nameOf, namespaceOf } from './attributes.ts'
import { annotate, json } from './auditAnnotations.ts'
import { someReach } from './matchRules.ts'
import type { Binding, Policy } from './policyConfigurations.ts'
import { matchPolicy, type PolicyDeps, policiesMayHandle, policyFacts } from './policyEvaluation.ts'
import { PolicyConfigurationError } from './policyParams.ts'
import type { Validating, Verdict } from './policyVerdict.ts'

const VALIDATION_FAILURE = 'validation.policy.admission.k8s.io/validation_failure'
const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 }

export function validatingPolicies(deps: PolicyDeps): Admission {
  return {
    stage: 'validate',
    handles: policiesMayHandle,
    reaches: someReach(deps),
    async admit(request) {
      let refusal: AdmissionDenied | undefined
      const work = workFor(deps.turns, request.context)
      for (const policy of deps.configurations.in(request.context.space)) {
        if (work.due) await work.rest()
        refusal = (await judge(deps, policy, { request, work })) ?? refusal
        if (refusal) break
      }
      if (refusal) throw refusal
    },
  }
}

interface Judged {
  request: AdmissionRequest
  work: Work
}

/** Warns and annotates, and returns the first reason to refuse. */
async function judge(deps: PolicyDeps, policy: Policy, judged: Judged): Promise<AdmissionDenied | undefined> {
  const { request, work } = judged
  const matched = await matchPolicy(deps, policy, request, work)
  if (matched === undefined) return undefined
  const facts = await policyFacts(deps, request, matched.type)
  const { context } = request
  const annotations = new Map<string, Set<string>>()
  let refusal: AdmissionDenied | undefined
  for (const binding of matched.bindings) {
    const { actions, name } = binding
    const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${name}'`
    if (work.due) await work.rest()
    const verdict = await verdictOf(deps, policy, binding, { ...judged, facts })
    for (const { message, reason, index, actsAlways } of verdict.failures) {
      if (actsAlways || actions.includes('Deny')) {
        refusal ??= refused(request, `${who} denied request: ${message}`, reason)
      }
      if (actsAlways) continue
      if (actions.includes('Warn')) context.warn(`Validation failed for ${who}: ${message}`)
      if (work.due) await work.rest()
      // a message may hold all of its expression
      if (actions.includes('Audit') && context.annotate !== undefined)
        annotate(context, VALIDATION_FAILURE, auditedFailure(policy, binding, message, index))
    }
    for (const { key, value } of verdict.annotations) getOrInsert(annotations, key, () => new Set()).add(value)
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
  { request, work, facts }: Judged & { facts: AdmissionFacts },
): Promise<Verdict> {
  let all: readonly (Readonly<KubeObject> | null)[]
  try {
    const namespace = isNamespace(request.requestType) ? nameOf(request) : namespaceOf(request)
    all = await deps.params.of(request.context.space, { policy, binding, namespace, work })
  } catch (error) {
    if (!(error instanceof PolicyConfigurationError)) throw error
    if (policy.failsOpen) return { failures: [], annotations: [] }
    const message = `failed to configure ${error.of}: ${error.message}`
    return { failures: [{ message, reason: '', index: 0, actsAlways: true }], annotations: [] }
  }
  const verdict: Verdict = { failures: [], annotations: [] }
  for (const params of all) {
    if (work.due) await work.rest()
    const found = await deps.expressions.evaluate('validations', validating(policy), { request, facts, params })
    verdict.failures.push(...found.failures)
    verdict.annotations.push(...found.annotations)
  }
  return verdict
}

function validating({ conditions, variables, failsOpen, validations, auditAnnotations }: Policy): Validating {
  return { conditions, variables, failsOpen, validations, auditAnnotations }
}

function refused(request: AdmissionRequest, message: string, reason: string): AdmissionDenied {
  const forbidden = statusError.forbidden(request.requestType, nameOf(request), message)
  return new AdmissionDenied(forbidden.message, {
    code: CODES[reason] ?? 422,
    reason: reason || 'Invalid',
    details: { ...forbidden.details, causes: [{ message } as { reason: string; message: string }] },
  })
}
