/** The conditions of a CustomResourceDefinition, beside those about its names. */
import type { Condition } from '../conditions.ts'
import { record, str } from '../fields.ts'
import type { KubeObject } from '../object.ts'

export interface CrdCondition extends Condition {
  readonly type: 'NamesAccepted' | 'Established' | 'Terminating' | 'KubernetesAPIApprovalPolicyConformant'
}

export const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io'
const APPROVAL_POLICY = 'https://github.com/kubernetes/enhancements/pull/1111'

/** Meaning of the approval annotation, for groups of the Kubernetes project; `undefined` for all others. */
type Approval =
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
  return [{ type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message }]
}

function isAbsoluteUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(value) && URL.canParse(value)
}
