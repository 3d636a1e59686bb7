/** Common parts of validating and mutating policies: the match with a request, and the variables of their expressions. */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { AdmissionFacts, requestFacts } from './admissionFacts.ts'
import { isNamespace, nameOf, namespaceOf, shownAs } from './attributes.ts'
import type { ExpressionRunner } from './expressionRunner.ts'
import type { NamespaceReader } from './namespaces.ts'
import type { Binding, Policy, PolicyConfigurations } from './policyConfigurations.ts'
import type { PolicyParams } from './policyParams.ts'
import { remembered } from './requestMemory.ts'
import { isExempt } from './webhookConfigurations.ts'

export interface PolicyDeps {
  configurations: PolicyConfigurations
  params: PolicyParams
  types: TypeRegistry
  namespaces: NamespaceReader
  expressions: ExpressionRunner
  /** A space may have thousands of policies, bindings and parameters. */
  turns: Pick<WorkTurns, 'begin'>
}

/** A policy that concerns the request, the version in which it sees it, and its bindings that do. */
export interface Matched {
  policy: Policy
  type: ResourceType
  bindings: readonly Binding[]
}

/** Requests of a server to itself and others, which no expression may break; webhooks see them. */
const UNTOUCHED: ReadonlySet<string> = new Set([
  'selfsubjectreviews.authentication.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
])

export function policiesMayHandle(type: ResourceType): boolean {
  return !isExempt(type) && !UNTOUCHED.has(groupResourceName(type))
}

/** @throws StatusError NotFound when the request's namespace does not exist */
export async function matchPolicy(
  deps: PolicyDeps,
  policy: Policy,
  request: AdmissionRequest,
  work: Work,
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
    if (work.due) await work.rest()
    if (binding.match.rules(subject, versions, name) && (await binding.match.labels(request, labels))) {
      bindings.push(binding)
    }
  }
  return bindings.length === 0 ? undefined : { policy, type, bindings }
}

/** Makers for a version of the object, for policies. */
const policyMakers = new WeakMap<ResourceType, object>()

/** Facts for all expressions of a policy; parameters come on top. */
export function policyFacts(deps: PolicyDeps, request: AdmissionRequest, type: ResourceType): Promise<AdmissionFacts> {
  return remembered(
    request,
    getOrInsert(policyMakers, type, () => ({})),
    () => newFacts(deps, request, type),
  )
}

async function newFacts(deps: PolicyDeps, request: AdmissionRequest, type: ResourceType): Promise<AdmissionFacts> {
  const namespace = isNamespace(request.requestType) ? '' : namespaceOf(request)
  const namespaceObject =
    namespace === '' ? null : shownNamespace(await deps.namespaces.get(request.context, namespace))
  return new AdmissionFacts({ ...requestFacts(request, type, shownAs(request, type)), namespaceObject })
}

/** Metadata only as far as it describes the namespace; spec and status as they are. */
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
