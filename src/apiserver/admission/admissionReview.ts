/**
 * AdmissionReview out and in, for both versions of it.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#webhook-request-and-response
 */
import { STATUS_REASONS, type StatusDetails, StatusError, type StatusReason } from '../../apimachinery/errors.ts'
import { str, strings } from '../../apimachinery/fields.ts'
import { countValues } from '../../apimachinery/jsonCount.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { refuseMistakableKeys } from '../../apimachinery/mistakableKeys.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { VALUES_LIMIT } from '../../apimachinery/objectSize.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { isTooDeep, NESTING_LIMIT } from '../../apimachinery/values.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import { requestFields, type Shown } from './attributes.ts'

export const REVIEW_VERSIONS = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number]

export interface ReviewAnswer {
  allowed: boolean
  /** The `status` of a refusal. */
  status: Record<string, unknown> | undefined
  /** JSON Patch, decoded; `undefined` when it changes nothing. */
  patch: unknown
  warnings: string[]
  /** For the audit event, by key. */
  auditAnnotations: Readonly<Record<string, string>>
}

export function admissionReview(
  request: AdmissionRequest,
  form: { type: ResourceType; version: ReviewVersion; uid: string; shown: Shown },
): Record<string, unknown> {
  const { dryRun, options, ...fields } = requestFields(request, form.type)
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${form.version}`,
    request: { uid: form.uid, ...fields, object: form.shown.object, oldObject: form.shown.old, dryRun, options },
  }
}

/** Fault of an answer; the message is for administrators, see {@link WebhookCallError}. */
export class InvalidReview extends Error {
  /** Public part of the message. */
  readonly openly: string

  /** `answered`: what shows the answer, put behind what is open. */
  constructor(openly: string, answered = '', options?: ErrorOptions) {
    super(openly + answered, options)
    this.name = 'InvalidReview'
    this.openly = openly
  }
}

/** @throws InvalidReview */
export function readReview(answer: unknown, version: ReviewVersion, uid: string): ReviewAnswer {
  if (!isRecord(answer)) throw new InvalidReview('webhook response was absent')
  const response = isRecord(answer.response) ? answer.response : undefined
  if (response === undefined) throw new InvalidReview('webhook response was absent')
  if (version === 'v1') {
    // an answer without a type counts as the requested one
    const apiVersion = str(answer, 'apiVersion') || 'admission.k8s.io/v1'
    const kind = str(answer, 'kind') || 'AdmissionReview'
    if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
      const wanted = 'admission.k8s.io/v1, Kind=AdmissionReview'
      throw new InvalidReview(`expected webhook response of ${wanted}`, `, got ${apiVersion}, Kind=${kind}`)
    }
    if (response.uid !== uid) {
      throw new InvalidReview(`expected response.uid=${JSON.stringify(uid)}`, `, got ${quoted(response.uid)}`)
    }
  }
  const allowed = response.allowed === true
  const { patch, patchType } = response
  const decoded = typeof patch === 'string' && patch !== '' ? decodePatch(patch) : []
  const isEmpty = Array.isArray(decoded) && decoded.length === 0
  if (!isEmpty && version === 'v1' && !patchType) {
    throw new InvalidReview('webhook returned response.patch but not response.patchType')
  }
  if (!isEmpty && patchType && patchType !== 'JSONPatch') {
    throw new InvalidReview('webhook returned invalid response.patchType', ` of ${quoted(patchType)}`)
  }
  return {
    allowed,
    status: isRecord(response.status) ? response.status : undefined,
    patch: isEmpty ? undefined : decoded,
    warnings: strings(response, 'warnings'),
    auditAnnotations: textsOf(response.auditAnnotations),
  }
}

function textsOf(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

function decodePatch(patch: string): unknown {
  try {
    const json = Buffer.from(patch, 'base64')
    if (countValues(json, VALUES_LIMIT) > VALUES_LIMIT)
      throw new Error(`it has more than ${VALUES_LIMIT} fields and elements`)
    const text = json.toString()
    refuseMistakableKeys(text)
    const value: unknown = JSON.parse(text)
    if (isTooDeep(value)) throw new Error(`it is nested more than ${NESTING_LIMIT} levels deep`)
    return value
  } catch (cause) {
    throw new InvalidReview('cannot decode response.patch', `: ${messageOf(cause)}`, { cause })
  }
}

function quoted(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value : '')
}

/** A refusal by a webhook or a policy, with whatever code and reason it says. */
export class AdmissionDenied extends StatusError {
  override readonly code: number
  readonly #reason: string

  constructor(message: string, status: { code: number; reason: string; details?: StatusDetails }) {
    super(knownReason(status), message, status.details)
    this.code = status.code
    this.#reason = status.reason
  }

  override toStatus(): ReturnType<StatusError['toStatus']> {
    const { reason: _, ...status } = super.toStatus()
    return this.#reason === '' ? status : { ...status, reason: this.#reason }
  }
}

/** How a webhook's refusal reads. */
export function denial(webhook: string, status: Record<string, unknown> = {}): AdmissionDenied {
  const deniedBy = `admission webhook ${JSON.stringify(webhook)} denied the request`
  const [message, reason] = [str(status, 'message'), str(status, 'reason')]
  const code = isErrorCode(status.code) ? status.code : 400
  const text = message || reason ? `${deniedBy}: ${message || reason}` : `${deniedBy} without explanation`
  return new AdmissionDenied(text, {
    code,
    reason,
    ...(isRecord(status.details) && { details: status.details as StatusDetails }),
  })
}

/** A webhook may say any number, and HTTP cannot. */
function isErrorCode(code: unknown): code is number {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600
}

function knownReason({ code, reason }: { code: number; reason: string }): StatusReason {
  if (Object.hasOwn(STATUS_REASONS, reason)) return reason as StatusReason
  return StatusError.fromStatus({ code }, code).reason
}
