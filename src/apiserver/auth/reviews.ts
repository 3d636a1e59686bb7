/**
 * The reviews: requests that are answered at once and never stored. Each function takes the body as sent and gives it back
 * with its status filled.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/
 */
import { isStatusError, StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { str, strings } from '../../apimachinery/fields.ts'
import { joinedAsGo } from '../../apimachinery/go/goPrint.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { RbacAuthorizer } from './rbac.ts'
import type { PolicyRule } from './rbacRules.ts'
import { selectorErrors } from './reviewSelectors.ts'
import type { Attributes, Authenticator, Authorizer, UserInfo } from './types.ts'

/** Verbs, groups, resources and names of the rules that a SelfSubjectRulesReview tells; roles for people have some hundreds. */
export const MAX_RULE_WORDS = 50_000

/** The space in which the review was posted, and who posted it. */
export interface ReviewContext {
  /** Logical-cluster id. */
  space: string
  user: UserInfo
}

/**
 * TokenReview. A ServiceAccount token of another space does not authenticate here.
 * @throws StatusError BadRequest without a token
 */
export async function reviewToken(
  body: KubeObject,
  context: Pick<ReviewContext, 'space'> & { authenticator: Authenticator; audiences: readonly string[] },
): Promise<KubeObject> {
  const spec = specOf(body)
  const token = str(spec.token)
  if (token === '') throw statusError.badRequest('token is required for TokenReview in authentication')
  const requested = strings(spec.audiences)
  const answer = (status: Record<string, unknown>) => answered(body, { ...spec, token }, status)
  const failed = (why?: string) =>
    answer({ user: {}, error: why === undefined ? 'invalid bearer token' : `[invalid bearer token, ${why}]` })
  try {
    const found = await context.authenticator.authenticate({
      token,
      ...(requested.length > 0 && { audiences: requested }),
    })
    if (found === undefined) return failed()
    if (found.space !== undefined && found.space !== context.space) return failed('the token belongs to another space')
    const audiences = found.audiences ?? context.audiences
    return answer({ authenticated: true, user: userBody(found.user), audiences: [...audiences] })
  } catch (error) {
    if (!isStatusError(error, 'Unauthorized')) throw error
    return failed(error.cause instanceof Error ? error.cause.message : undefined)
  }
}

/** SelfSubjectReview: who the server takes the caller for. */
export function selfSubjectReview(body: KubeObject, context: Pick<ReviewContext, 'user'>): KubeObject {
  return answered(body, undefined, { userInfo: userBody(context.user) })
}

/** @throws StatusError Invalid */
export async function selfSubjectAccessReview(
  body: KubeObject,
  context: ReviewContext & { authorizer: Authorizer },
): Promise<KubeObject> {
  check(body, attributeErrors(specOf(body)))
  return accessAnswer(body, context.user, context)
}

/** @throws StatusError Invalid */
export async function subjectAccessReview(
  body: KubeObject,
  context: Pick<ReviewContext, 'space'> & { authorizer: Authorizer },
): Promise<KubeObject> {
  const spec = specOf(body)
  check(body, [...attributeErrors(spec), ...subjectErrors(spec)])
  return accessAnswer(body, subjectOf(spec), context)
}

/** `namespace` is the one of the request. @throws StatusError Invalid */
export async function localSubjectAccessReview(
  body: KubeObject,
  context: Pick<ReviewContext, 'space'> & { namespace: string; authorizer: Authorizer },
): Promise<KubeObject> {
  const spec = specOf(body)
  const errors = [...attributeErrors(spec), ...subjectErrors(spec)]
  const requested = isRecord(spec.resourceAttributes) ? str(spec.resourceAttributes.namespace) : undefined
  if (requested !== undefined && requested !== context.namespace) {
    errors.push(fieldError.invalid('spec.resourceAttributes.namespace', requested, 'must match metadata.namespace'))
  }
  if (isRecord(spec.nonResourceAttributes)) {
    const value = spec.nonResourceAttributes
    errors.push(fieldError.invalid('spec.nonResourceAttributes', value, 'disallowed on this kind of request'))
  }
  check(body, errors, ['name', 'namespace'])
  const local = { ...body, metadata: { ...body.metadata, namespace: context.namespace } }
  return accessAnswer(local, subjectOf(spec), context)
}

/** @throws StatusError BadRequest without a namespace */
export async function selfSubjectRulesReview(
  body: KubeObject,
  context: ReviewContext & { authorizer: Pick<RbacAuthorizer, 'rulesFor'> },
): Promise<KubeObject> {
  const namespace = str(specOf(body).namespace)
  if (namespace === '') throw statusError.badRequest('no namespace on request')
  const granted = await context.authorizer.rulesFor(context.user, context.space, namespace)
  const rules = listed(granted.rules)
  const left = granted.rules.length - rules.length
  const errors = left === 0 ? granted.errors : [...granted.errors, `${left} further rules are left out`]
  return answered(body, specOf(body), {
    resourceRules: rules
      .filter(rule => rule.resources !== undefined && rule.resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames && { resourceNames }),
      })),
    nonResourceRules: rules
      .filter(rule => rule.nonResourceURLs !== undefined && rule.nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: left > 0,
    ...(errors.length > 0 && { evaluationError: joinedAsGo(errors) }),
  })
}

/** The first of the rules: somebody may have been granted all that a space can hold. */
function listed(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  let words = 0
  for (const [i, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }] of rules.entries()) {
    for (const each of [verbs, apiGroups, resources, resourceNames, nonResourceURLs]) words += each?.length ?? 0
    if (words > MAX_RULE_WORDS) return rules.slice(0, i)
  }
  return rules
}

async function accessAnswer(
  body: KubeObject,
  user: UserInfo,
  context: { space: string; authorizer: Authorizer },
): Promise<KubeObject> {
  const spec = specOf(body)
  const decision = await context.authorizer.authorize(attributesOf(spec, user, context.space))
  return answered(body, spec, { allowed: decision.allowed, ...(decision.reason !== '' && { reason: decision.reason }) })
}

function attributesOf(spec: Record<string, unknown>, user: UserInfo, space: string): Attributes {
  if (isRecord(spec.nonResourceAttributes)) {
    const { path, verb } = spec.nonResourceAttributes
    return { user, space, verb: str(verb), path: str(path) }
  }
  const requested = isRecord(spec.resourceAttributes) ? spec.resourceAttributes : {}
  const resource = {
    group: str(requested.group),
    version: str(requested.version),
    resource: str(requested.resource),
    subresource: str(requested.subresource),
    namespace: str(requested.namespace),
    name: str(requested.name),
  }
  return { user, space, verb: str(requested.verb), resource, path: '' }
}

function attributeErrors(spec: Record<string, unknown>): FieldError[] {
  const resource = isRecord(spec.resourceAttributes)
  const path = isRecord(spec.nonResourceAttributes)
  if (resource && path) {
    const why = 'cannot be specified in combination with resourceAttributes'
    return [fieldError.invalid('spec.nonResourceAttributes', spec.nonResourceAttributes, why)]
  }
  if (isRecord(spec.resourceAttributes)) return selectorErrors(spec.resourceAttributes)
  if (path) return []
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [fieldError.invalid('spec.resourceAttributes', undefined, why)]
}

function subjectErrors(spec: Record<string, unknown>): FieldError[] {
  if (str(spec.user) !== '' || strings(spec.groups).length > 0) return []
  return [fieldError.invalid('spec.user', '', 'at least one of user or group must be specified')]
}

/** Reviews have no metadata of their own; `managedFields` and an empty creationTimestamp come with some clients. */
function check(body: KubeObject, errors: FieldError[], mayHave: readonly string[] = []): void {
  const ignored = ['managedFields', 'creationTimestamp', ...mayHave]
  const given = Object.entries(body.metadata ?? {}).filter(([key, value]) => !ignored.includes(key) && value !== '')
  const all =
    given.length > 0 ? [...errors, fieldError.invalid('metadata', Object.fromEntries(given), 'must be empty')] : errors
  if (all.length > 0) throw invalid(all)
}

/** Upstream leaves the kind out: `.authorization.k8s.io "" is invalid`. */
function invalid(errors: readonly FieldError[]): StatusError {
  const error = statusError.invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors)
  const { kind: _, ...details } = error.details ?? {}
  return new StatusError('Invalid', error.message, details)
}

function subjectOf(spec: Record<string, unknown>): UserInfo {
  const extra: Record<string, readonly string[]> = {}
  for (const [key, values] of Object.entries(isRecord(spec.extra) ? spec.extra : {})) {
    extra[key.toLowerCase()] = strings(values)
  }
  return {
    name: str(spec.user),
    ...(str(spec.uid) !== '' && { uid: str(spec.uid) }),
    groups: strings(spec.groups),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

function userBody(user: UserInfo): Record<string, unknown> {
  return {
    username: user.name,
    ...(user.uid && { uid: user.uid }),
    groups: [...user.groups],
    ...(user.extra && Object.keys(user.extra).length > 0 && { extra: { ...user.extra } }),
  }
}

function answered(body: KubeObject, spec: object | undefined, status: Record<string, unknown>): KubeObject {
  const { apiVersion, kind, metadata } = body
  return { apiVersion, kind, metadata: { ...metadata }, ...(spec && { spec }), status }
}

function specOf(body: KubeObject): Record<string, unknown> {
  return isRecord(body.spec) ? body.spec : {}
}
