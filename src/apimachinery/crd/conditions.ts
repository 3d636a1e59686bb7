/** The conditions of a CustomResourceDefinition, beside those about its names. */
import { record, records, str } from '../fields.ts'
import type { KubeObject } from '../object.ts'

export interface CrdCondition {
  type: 'NamesAccepted' | 'Established' | 'Terminating' | 'KubernetesAPIApprovalPolicyConformant'
  status: 'True' | 'False'
  reason: string
  message: string
  /** Carried over from the CRD while the status of the condition is the same; absent when it changed. */
  lastTransitionTime?: string
}

export const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io'
const APPROVAL_POLICY = 'https://github.com/kubernetes/enhancements/pull/1111'

/** What the approval annotation says, for groups of the Kubernetes project; `undefined` for all others. */
export type Approval =
  | { state: 'approved'; message: string }
  | { state: 'unapproved'; message: string }
  | { state: 'invalid'; message: string }
  | { state: 'missing'; message: string }

export function approvalOf(crd: KubeObject): Approval | undefined {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(str(record(crd.spec).group))) return undefined
  const value = crd.metadata.annotations?.[APPROVAL_ANNOTATION] ?? ''
  const demand = `protected groups must have approval annotation ${JSON.stringify(APPROVAL_ANNOTATION)}`
  if (value === '') return { state: 'missing', message: `${demand}, see ${APPROVAL_POLICY}` }
  if (value.startsWith('unapproved')) return { state: 'unapproved', message: `not approved: ${JSON.stringify(value)}` }
  if (isAbsoluteUrl(value)) return { state: 'approved', message: `approved in ${value}` }
  return {
    state: 'invalid',
    message: `${demand} with either a URL or a reason starting with "unapproved", see ${APPROVAL_POLICY}`,
  }
}

const APPROVAL_REASONS: Record<Approval['state'], string> = {
  approved: 'ApprovedAnnotation',
  unapproved: 'UnapprovedAnnotation',
  invalid: 'InvalidAnnotation',
  missing: 'MissingAnnotation',
}

/** Conditions that follow from what the CRD itself says. */
export function ownConditions(crd: KubeObject): CrdCondition[] {
  const approval = approvalOf(crd)
  if (approval === undefined) return []
  const status = approval.state === 'approved' ? 'True' : 'False'
  const reason = APPROVAL_REASONS[approval.state]
  const { message } = approval
  return keepingTimes(crd, [{ type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message }])
}

/** `lastTransitionTime` as it was, where the status of a condition is what it was. */
export function keepingTimes(crd: KubeObject, conditions: readonly CrdCondition[]): CrdCondition[] {
  const before = new Map(records(crd.status, 'conditions').map(condition => [str(condition.type), condition] as const))
  return conditions.map(condition => {
    const old = before.get(condition.type)
    const since = old?.status === condition.status ? str(old.lastTransitionTime) : ''
    return since === '' ? condition : { ...condition, lastTransitionTime: since }
  })
}

function isAbsoluteUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(value) && URL.canParse(value)
}
