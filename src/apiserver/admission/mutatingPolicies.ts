/**
 * MutatingAdmissionPolicy: CEL expressions that change a request's object, by JSON Patch or by an apply configuration.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { applyJsonPatch } from '../../apimachinery/patch/jsonPatch.ts'
import { cloneJson, equalJson } from '../../apimachinery/values.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { type AdmissionVariables, checkConditions } from './admissionCel.ts'
import { mergeApplied } from './applyConfiguration.ts'
import { isNamespace, nameOf, namespaceOf, shownAs, takeBack } from './attributes.ts'
import { fromCel } from './fromCel.ts'
import type { Binding, Mutation, Policy } from './policyConfigurations.ts'
import {
  evaluateWorded,
  type Matched,
  matchPolicy,
  type PolicyDeps,
  policiesHandle,
  policyVariables,
  withParams,
} from './policyEvaluation.ts'
import { PolicyConfigurationError } from './policyParams.ts'
import { evaluateAtCost } from './requestCost.ts'

/** Cost of the conditions, and of each mutation, of one policy for a request, as upstream's. */
const MAX_POLICY_COST = 10_000_000

export function mutatingPolicies(deps: PolicyDeps): Admission {
  const self: Admission = {
    stage: 'mutate',
    handles: (type, operation, target) => operation !== 'DELETE' && policiesHandle(deps, type, operation, target),
    async admit(request) {
      const { rounds } = request
      const again = (rounds?.memory.get(self) as Set<string> | undefined) ?? new Set<string>()
      rounds?.memory.set(self, again)
      const asked = new Set<string>()
      for (const policy of deps.configurations.in(request.context.space)) {
        if (rounds?.round === 2 && !again.has(policy.name)) continue
        const matched = await matchPolicy(deps, policy, request)
        if (matched === undefined) continue
        const before = cloneJson(request.object)
        for (const binding of matched.bindings) await mutate(deps, matched, binding, request)
        if (!equalJson(before, request.object)) {
          for (const name of asked) again.add(name)
          rounds?.runAgain()
        }
        if (policy.reinvocable) asked.add(policy.name)
      }
      // webhooks come later, and may change the object for everybody here
      for (const name of asked) again.add(name)
    },
  }
  return self
}

/** @throws StatusError Forbidden when it fails and the failure policy says so */
async function mutate(deps: PolicyDeps, matched: Matched, binding: Binding, request: AdmissionRequest): Promise<void> {
  const { policy } = matched
  try {
    const namespace = isNamespace(request.requestType) ? nameOf(request) : namespaceOf(request)
    const all = await deps.params.of(request.context.space, policy, binding, namespace)
    for (const params of all) await mutateWith(deps, matched, params, request)
  } catch (error) {
    if (error instanceof StatusError && !(error.cause instanceof Error)) throw error
    if (policy.failsOpen) return
    const cause = error instanceof StatusError ? error.cause : error
    const place = error instanceof PolicyConfigurationError ? `failed to configure ${error.of}: ` : ''
    const why = `policy '${policy.name}' with binding '${binding.name}' denied request: ${place}${messageOf(cause)}`
    throw statusError.forbidden(request.requestType, nameOf(request), why)
  }
}

async function mutateWith(
  deps: PolicyDeps,
  { policy, type }: Matched,
  params: Readonly<KubeObject> | null,
  request: AdmissionRequest,
): Promise<void> {
  const evaluate = async <T>(run: (variables: AdmissionVariables, budget: WorkBudget) => T): Promise<T> => {
    const base = await policyVariables(deps, request, type)
    return evaluateAtCost(deps.authorizer, request, MAX_POLICY_COST, (authorizer, budget) =>
      run(withParams({ ...base, ...authorizer }, policy, params, budget), budget),
    )
  }
  const conditions = await evaluate((variables, budget) => checkConditions(policy.conditions, variables, budget))
  if (conditions.error !== undefined) throw new Error(conditions.error)
  if (!conditions.matches) return
  for (const mutation of policy.mutations) {
    const value = await evaluate((variables, budget) => fromCel(evaluateWorded(mutation.expression, variables, budget)))
    const { object } = shownAs(request, type)
    if (object !== null) takeBack(request, type, changed(mutation, object, value, policy, type.schema))
  }
}

function changed(
  mutation: Mutation,
  object: KubeObject,
  value: unknown,
  policy: Policy,
  schema: Parameters<typeof mergeApplied>[2],
): KubeObject {
  const result = mutation.kind === 'JSONPatch' ? applyJsonPatch(object, value) : mergeApplied(object, value, schema)
  if (!isRecord(result)) throw new Error(`policy ${policy.name} makes the object something that is no JSON object`)
  return result as KubeObject
}
