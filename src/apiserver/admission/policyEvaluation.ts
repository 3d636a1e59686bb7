/** What validating and mutating policies share: which of them concern a request, and the variables of their expressions. */
import { messageOf } from '../../apimachinery/messageOf.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { toCel } from '../../apimachinery/structural/celValues.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import type { Authorizer } from '../auth/types.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { type AdmissionVariables, type Expression, evaluate, requestVariables } from './admissionCel.ts'
import { isNamespace, nameOf, namespaceOf, shownAs } from './attributes.ts'
import { attempt } from './celAuthorizer.ts'
import type { NamespaceReader } from './namespaces.ts'
import type { Binding, Policy, PolicyConfigurations } from './policyConfigurations.ts'
import type { PolicyParams } from './policyParams.ts'
import { isExempt } from './webhookConfigurations.ts'

export interface PolicyDeps {
  configurations: PolicyConfigurations
  params: PolicyParams
  types: TypeRegistry
  namespaces: NamespaceReader
  authorizer: Authorizer
}

/** A policy that concerns the request, the version in which it sees it, and its bindings that do. */
export interface Matched {
  policy: Policy
  type: ResourceType
  bindings: readonly Binding[]
}

/** What a server asks of itself and of others, which no expression shall be able to break; webhooks see it. */
const UNTOUCHED: ReadonlySet<string> = new Set([
  'selfsubjectreviews.authentication.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
])

export function policiesHandle(
  { configurations, types }: Pick<PolicyDeps, 'configurations' | 'types'>,
  type: ResourceType,
  operation: string,
  { space, subresource }: { space: string; subresource: string },
): boolean {
  const policies = configurations.in(space)
  if (policies.length === 0 || isExempt(type) || UNTOUCHED.has(groupResourceName(type))) return false
  const versions = types.in(space).versions(type.group, type.resource)
  return policies.some(({ match }) => match.rules({ operation, type, subresource }, versions) !== undefined)
}

/** @throws StatusError NotFound when the request's namespace does not exist */
export async function matchPolicy(
  deps: PolicyDeps,
  policy: Policy,
  request: AdmissionRequest,
): Promise<Matched | undefined> {
  const { requestType, subresource, operation, context } = request
  const versions = deps.types.in(context.space).versions(requestType.group, requestType.resource)
  const subject = { operation, type: requestType, subresource }
  const name = nameOf(request)
  const type = policy.match.rules(subject, versions, name)
  const labels = () => deps.namespaces.labels(request)
  if (type === undefined || !(await policy.match.labels(request, labels))) return undefined
  const bindings: Binding[] = []
  for (const binding of policy.bindings) {
    if (binding.match.rules(subject, versions, name) && (await binding.match.labels(request, labels))) {
      bindings.push(binding)
    }
  }
  return bindings.length === 0 ? undefined : { policy, type, bindings }
}

/** `object`, `oldObject`, `request` and `namespaceObject`; the rest is different for each parameter. */
export async function policyVariables(
  deps: PolicyDeps,
  request: AdmissionRequest,
  type: ResourceType,
): Promise<AdmissionVariables> {
  const namespace = isNamespace(request.requestType) ? '' : namespaceOf(request)
  const namespaceObject =
    namespace === '' ? null : shownNamespace(await deps.namespaces.get(request.context.space, namespace))
  return {
    ...requestVariables(request, type, shownAs(request, type)),
    namespaceObject: toCel(namespaceObject, undefined),
  }
}

/** Adds `params` and the policy's `variables`, each computed when an expression first reads it. */
export function withParams(
  base: AdmissionVariables,
  policy: Policy,
  params: Readonly<KubeObject> | null,
  budget: WorkBudget,
): AdmissionVariables {
  const variables = {}
  const all: AdmissionVariables = { ...base, params: toCel(params, undefined), variables }
  for (const { name, expression } of policy.variables) {
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

/** @throws Error worded `expression '…' resulted in error: …` */
export function evaluateWorded(expression: Expression, variables: AdmissionVariables, budget: WorkBudget): unknown {
  try {
    return evaluate(expression, variables, budget)
  } catch (error) {
    throw new Error(`expression '${expression.source}' resulted in error: ${messageOf(error)}`, { cause: error })
  }
}

/** Of the metadata only what describes the namespace; spec and status as they are. */
function shownNamespace(namespace: Readonly<KubeObject>): Record<string, unknown> {
  const { name, generateName, uid, resourceVersion, generation, labels, annotations, finalizers } = namespace.metadata
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = namespace.metadata
  const metadata = { name, generateName, uid, resourceVersion, generation, labels, annotations, finalizers }
  const times = { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds }
  return {
    apiVersion: namespace.apiVersion,
    kind: namespace.kind,
    metadata: { ...metadata, ...times },
    ...(isRecord(namespace.spec) && { spec: namespace.spec }),
    ...(isRecord(namespace.status) && { status: namespace.status }),
  }
}
