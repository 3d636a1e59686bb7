/**
 * Rules for CertificateSigningRequests. The server records the requester. Approval and signing need the right for the signer. No request
 * may name a group that reaches beyond the space.
 *
 * Upstream has these as the admission plug-ins CertificateApproval, CertificateSigning and CertificateSubjectRestriction.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#authorization
 */
import { statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { at, objects } from '../../apimachinery/fields.ts'
import { isRecord, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { CLIENT_SIGNER, KUBELET_CLIENT_SIGNER, requestedSubject } from '../auth/certificateSigner.ts'
import { questionOf } from '../auth/questions.ts'
import type { Authorizer } from '../auth/types.ts'
import { crossesSpaces, effectiveUser, GROUPS } from '../auth/users.ts'
import type { Admission, AdmissionRequest } from '../registry/registry.ts'

const SIGNING_REQUESTS = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' } as const

interface Condition extends Record<string, unknown> {
  type: string
}

/** Conditions that last: what was decided stays decided. */
const DECISIONS: readonly string[] = ['Approved', 'Denied']
const LASTING: readonly string[] = [...DECISIONS, 'Failed']

export function certificateAdmission(authorizer: Authorizer, clock: () => Date): Admission {
  return {
    handles: (type, operation) => operation !== 'DELETE' && isSameResource(type, SIGNING_REQUESTS),
    async admit(request) {
      if (request.operation === 'CREATE') return prepareRequest(request)
      if (request.subresource === '' || request.old === undefined) return
      await checkDecision(request, request.old, authorizer)
      checkConditions(request.object, request.old)
      stampConditions(request.object, request.old, timestamp(clock()))
    },
  }
}

function prepareRequest({ context, object }: AdmissionRequest): void {
  const spec = isRecord(object.spec) ? object.spec : {}
  const { name, uid, groups, extra } = effectiveUser(context.user, context.space)
  for (const field of ['username', 'uid', 'groups', 'extra']) delete spec[field]
  Object.assign(spec, {
    username: name,
    ...(uid && { uid }),
    groups: [...groups],
    ...(extra && { extra: { ...extra } }),
  })
  object.spec = spec
}

/** Judges the subjects of well-formed requests: nothing but a readable one gets here. */
export const certificateSubjects: Admission = {
  stage: 'validate',
  handles: (type, operation) => operation === 'CREATE' && isSameResource(type, SIGNING_REQUESTS),
  admit: ({ object }) => checkSubject(object),
}

async function checkSubject(object: KubeObject): Promise<void> {
  const spec = isRecord(object.spec) ? object.spec : {}
  const { signerName } = spec
  if (signerName !== CLIENT_SIGNER && signerName !== KUBELET_CLIENT_SIGNER) return
  const pem = Buffer.from(typeof spec.request === 'string' ? spec.request : '', 'base64').toString('latin1')
  const group = (await requestedSubject(pem))?.organizations.find(crossesSpaces)
  if (group === undefined) return
  const who = group === GROUPS.masters ? group : JSON.stringify(group)
  throw forbidden(object, `use of ${signerName} signer with ${who} group is not allowed`)
}

async function checkDecision(request: AdmissionRequest, old: KubeObject, authorizer: Authorizer): Promise<void> {
  const { object } = request
  const decided = !equalJson(conditionsOf(object, DECISIONS), conditionsOf(old, DECISIONS))
  const signed =
    at(object, 'status', 'certificate') !== at(old, 'status', 'certificate') ||
    !equalJson(conditionsOf(object, ['Failed']), conditionsOf(old, ['Failed']))
  if (decided) await require(request, authorizer, 'approve')
  if (signed) await require(request, authorizer, 'sign')
}

/** A right is held for one signer or for all of a domain. */
async function require(request: AdmissionRequest, authorizer: Authorizer, verb: 'approve' | 'sign'): Promise<void> {
  const { context, object } = request
  const signer = String((isRecord(object.spec) ? object.spec.signerName : undefined) ?? '')
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    const question = questionOf(context, verb, { group: SIGNING_REQUESTS.group, resource: 'signers', name })
    if ((await authorizer.authorize(question)).allowed) return
  }
  throw forbidden(object, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`)
}

/** @throws StatusError Invalid */
function checkConditions(object: KubeObject, old: KubeObject): void {
  const errors: FieldError[] = []
  const conditions = conditionsOf(object)
  for (const type of LASTING) {
    if (conditionsOf(old, [type]).length > 0 && conditionsOf(object, [type]).length === 0) {
      errors.push(
        fieldError.forbidden('status.conditions', `updates may not remove a condition of type ${JSON.stringify(type)}`),
      )
    }
  }
  for (const [i, { type, status }] of conditions.entries()) {
    if (LASTING.includes(type) && status !== 'True') {
      errors.push(fieldError.notSupported(`status.conditions[${i}].status`, String(status ?? ''), ['True']))
    }
  }
  if (conditionsOf(object, DECISIONS).length > 1) {
    const why = 'Approved and Denied conditions are mutually exclusive'
    const last = conditions.findLastIndex(({ type }) => DECISIONS.includes(type))
    errors.push(fieldError.invalid(`status.conditions[${last}].type`, conditions[last]!.type, why))
  }
  if (errors.length > 0) {
    const kind = { group: SIGNING_REQUESTS.group, kind: 'CertificateSigningRequest' }
    throw statusError.invalid(kind, object.metadata.name ?? '', errors)
  }
}

/** Times of conditions that are new, for clients that leave them out. */
function stampConditions(object: KubeObject, old: KubeObject, now: string): void {
  const identity = ({ type, status }: Condition): string => JSON.stringify([type, status])
  const before = new Map(conditionsOf(old).map(condition => [identity(condition), condition]))
  for (const condition of conditionsOf(object)) {
    const known = before.get(identity(condition))
    condition.lastTransitionTime ??= known?.lastTransitionTime ?? now
    condition.lastUpdateTime ??= known?.lastUpdateTime ?? now
  }
}

function conditionsOf(object: KubeObject, types?: readonly string[]): Condition[] {
  return objects(object, 'status', 'conditions').filter(
    (c): c is Condition => typeof c.type === 'string' && (types === undefined || types.includes(c.type)),
  )
}

function forbidden(object: KubeObject, why: string): Error {
  return statusError.forbidden(SIGNING_REQUESTS, object.metadata.name ?? '', why)
}
