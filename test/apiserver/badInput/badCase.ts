/**
 * A wrong request and the answer that users of Kubernetes know for it. A real kube-apiserver, when there is one, gets the same rows
 * (test/differential/differential.test.ts), so they cannot drift from it unnoticed.
 */
import type { Answer, Api } from '../../support/api.ts'
import { configMap } from '../../support/server.ts'

export interface BadCase {
  name: string
  method: string
  path: string
  body?: unknown
  /** Content-Type; default: JSON. */
  type?: string
  headers?: Record<string, string>
  code: number
  reason: string
  message: string | RegExp
  /** `field: reason` of each cause. */
  causes?: readonly string[]
  /** Subject of `details`, where it matters. */
  details?: { name?: string; group?: string; kind?: string }
  /** Why kube-apiserver 1.20 answers otherwise: newer releases do as we do, or we deliberately say more. */
  unlikeKube120?: string
}

export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
export const STRATEGIC = 'application/strategic-merge-patch+json'
export const APPLY = 'application/apply-patch+yaml'
export const CM = '/api/v1/namespaces/default/configmaps'
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
/** Go's decoder tells byte positions where we tell the field. */
export const DECODER = 'decoders word what they could not read differently'

export function deployment(name: string, spec: object = {}): object {
  const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { selector: { matchLabels: { app: 'x' } }, template, ...spec },
  }
}

/** Objects of the rows: ConfigMap `bad-a`, ConfigMap `bad-owned` (applied by `one`) and Deployment `bad-d`. */
export async function prepareBadCases(api: Api): Promise<void> {
  await api.ok(api.post(CM, configMap('bad-a', { k: 'v' })))
  const owned = configMap('bad-owned', { k: 'w', l: '2' })
  await api.ok(api.patch(`${CM}/bad-owned?fieldManager=one`, 'apply', owned))
  await api.ok(api.post(DEPLOYMENTS, deployment('bad-d')))
}

export async function cleanUpBadCases(api: Api): Promise<void> {
  for (const path of [`${CM}/bad-a`, `${CM}/bad-owned`, `${DEPLOYMENTS}/bad-d`]) await api.delete(path)
}

/** The part of an answer that a row describes, in the row's own form. */
export function seen(answer: Answer, row: BadCase): object {
  const { body } = answer
  const { name, group, kind } = body.details ?? {}
  const given = { ...(name && { name }), ...(group && { group }), ...(kind && { kind }) }
  return {
    code: answer.code,
    reason: body.reason,
    message: row.message instanceof RegExp && row.message.test(body.message ?? '') ? `${row.message}` : body.message,
    ...(row.causes && { causes: body.details?.causes?.map(c => `${c.field}: ${c.reason}`) }),
    ...(row.details && { details: given }),
  }
}

export function wanted(row: BadCase): object {
  const { code, reason, causes, details } = row
  return { code, reason, message: `${row.message}`, ...(causes && { causes }), ...(details && { details }) }
}

export async function ask(api: Api, row: BadCase): Promise<Answer> {
  const { method, path, body, type, headers } = row
  return api.send(method, path, {
    ...(body !== undefined && { body }),
    ...(type && { type }),
    ...(headers && { headers }),
  })
}
