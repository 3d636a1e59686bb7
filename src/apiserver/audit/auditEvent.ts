/** The shape of a line in the audit log. @see https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ */
import type { UserInfo } from '../auth/types.ts'

export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof AUDIT_LEVELS)[number]
export const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof AUDIT_STAGES)[number]

interface AuditUser {
  username?: string
  uid?: string
  groups?: readonly string[]
  extra?: Readonly<Record<string, readonly string[]>>
}

export interface ObjectReference {
  resource: string
  namespace?: string
  name?: string
  uid?: string
  apiGroup?: string
  apiVersion?: string
  resourceVersion?: string
  subresource?: string
}

export interface AuditEvent {
  kind: 'Event'
  apiVersion: 'audit.k8s.io/v1'
  level: AuditLevel
  auditID: string
  stage: AuditStage
  requestURI: string
  verb: string
  user: AuditUser
  impersonatedUser?: AuditUser
  sourceIPs?: readonly string[]
  userAgent?: string
  objectRef?: ObjectReference
  responseStatus?: Record<string, unknown>
  requestObject?: unknown
  responseObject?: unknown
  /** RFC 3339 with microseconds. */
  requestReceivedTimestamp: string
  stageTimestamp: string
  annotations?: Readonly<Record<string, string>>
}

export function auditUser(user: UserInfo | undefined): AuditUser {
  if (user === undefined) return {}
  const { name, uid, groups, extra } = user
  return { username: name, ...(uid && { uid }), groups, ...(extra && Object.keys(extra).length > 0 && { extra }) }
}

/** `ms` is the time since the epoch, with fractions. */
export function microTime(ms: number): string {
  const micros = Math.floor((ms % 1) * 1000)
  return new Date(Math.floor(ms)).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}
