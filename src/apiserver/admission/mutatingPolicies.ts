/**
 * MutatingAdmissionPolicy: CEL expressions that change a request's object, by JSON Patch or by an apply configuration.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { jsonTextInSteps } from '../../apimachinery/jsonText.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { jsonPatchInSteps } from '../../apimachinery/patch/jsonPatch.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { Abandoned, type Work } from '../../program/workTurns.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { workFor } from '../registry/works.ts'
import { mergeApplied } from './applyConfiguration.ts'
import { asItIs, isNamespace, nameOf, namespaceOf, shownAs, takeBack } from './attributes.ts'
import { someReach } from './matchRules.ts'
import type { Binding, Mutation, Policy } from './policyConfigurations.ts'
import { type Matched, matchPolicy, type PolicyDeps, policiesMayHandle, policyFacts } from './policyEvaluation.ts'
import { PolicyConfigurationError } from './policyParams.ts'

/** As much as a request can carry: each mutation may add to what those before it have made. */
export const MAX_OBJECT_CHARACTERS = 3 * 1024 * 1024
/** Units for a character of the object: it is copied, compared and defaulted for each mutation. */
const CHANGE = 0.5

export function mutatingPolicies(deps: PolicyDeps): Admission {
  const self: Admission = {
    stage: 'mutate',
    handles: (type, operation) => operation !== 'DELETE' && policiesMayHandle(type),
    reaches: someReach(deps),
    async admit(request) {
      const { rounds } = request
      const again = (rounds?.memory.get(self) as Set<string> | undefined) ?? new Set<string>()
      rounds?.memory.set(self, again)
      const reinvocable = new Set<string>()
      const work = workFor(deps.turns, request.context)
      for (const policy of deps.configurations.in(request.context.space)) {
        if (work.due) await work.rest()
        if (rounds?.round === 2 && !again.has(policy.name)) continue
        const matched = await matchPolicy(deps, policy, request, work)
        if (matched === undefined) continue
        const before = asItIs(request)
        for (const binding of matched.bindings) await mutate(deps, matched, binding, { request, work })
        if (!equalJson(before, request.object)) {
          for (const name of reinvocable) again.add(name)
          rounds?.runAgain()
        }
        if (policy.reinvocable) reinvocable.add(policy.name)
      }
      // webhooks come later, and may change the object for everybody here
      for (const name of reinvocable) again.add(name)
    },
  }
  return self
}

/** @throws StatusError Forbidden when it fails and the failure policy says so */
async function mutate(
  deps: PolicyDeps,
  matched: Matched,
  binding: Binding,
  { request, work }: { request: AdmissionRequest; work: Work },
): Promise<void> {
  const { policy } = matched
  try {
    const namespace = isNamespace(request.requestType) ? nameOf(request) : namespaceOf(request)
    const all = await deps.params.of(request.context.space, { policy, binding, namespace, work })
    for (const params of all) {
      if (work.due) await work.rest()
      await mutateWith(deps, matched, params, { request, work })
    }
  } catch (error) {
    if (error instanceof Abandoned) throw error
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
  { request, work }: { request: AdmissionRequest; work: Work },
): Promise<void> {
  const given = async () => ({ request, facts: await policyFacts(deps, request, type), params })
  const { variables, conditions } = policy
  if (conditions.length > 0) {
    const outcome = await deps.expressions.evaluate('conditions', { variables, conditions }, await given())
    if (outcome.error !== undefined) throw new Error(outcome.error)
    if (!outcome.matches) return
  }
  for (const mutation of policy.mutations) {
    const { expression } = mutation
    // each step goes over the whole object
    if (work.due) await work.rest()
    const result = await deps.expressions.evaluate('mutation', { variables, expression }, await given())
    if (result.error !== undefined) throw new Error(result.error)
    const { object } = shownAs(request, type)
    if (object === null) continue
    if (work.due) await work.rest()
    const made = await changed(mutation, object, result.value, { policy, schema: type.schema, work })
    if (work.due) await work.rest()
    const { length: size } = await inSlices(jsonTextInSteps(made), work)
    if (size > MAX_OBJECT_CHARACTERS) {
      throw new Error(`the object would be larger as JSON than ${MAX_OBJECT_CHARACTERS} characters`)
    }
    deps.expressions.spend(request, size * CHANGE)
    if (work.due) await work.rest()
    takeBack(request, type, made)
  }
}

async function changed(
  mutation: Mutation,
  object: KubeObject,
  value: unknown,
  { policy, schema, work }: { policy: Policy; schema: Schema | undefined; work: Work },
): Promise<KubeObject> {
  const isPatch = mutation.kind === 'JSONPatch'
  const result = await inSlices<unknown>(
    isPatch ? jsonPatchInSteps(object, value) : mergeApplied(object, value, schema),
    work,
  )
  if (!isRecord(result)) throw new Error(`policy ${policy.name} makes the object something that is no JSON object`)
  return result as KubeObject
}
