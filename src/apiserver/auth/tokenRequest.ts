/**
 * `serviceaccounts/token`: a token on request, bound to its account and, if wanted, to a Pod, Secret or Node.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { str } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import { NATURED_LABEL, type Nature } from '../../placement/spaces/nature.ts'
import type { ObjectReader } from './serviceAccountAuthenticator.ts'
import type { IdentifiedRef, TokenIssuer, TokenSpec } from './serviceAccountTokens.ts'

export interface TokenRequestContext {
  /** Logical-cluster id. */
  space: string
  issuer: TokenIssuer
  getObject: ObjectReader
  /** Which accounts act. Absent: all. */
  nature?: Pick<Nature, 'acts'>
  /** Longer requests are shortened to this. Default: a year. */
  maxExpirationSeconds?: number | undefined
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Lifetime of a token whose request gives none. */
export const DEFAULT_SECONDS = 3600
export const MIN_SECONDS = 600
/** Upper bound of a request. */
export const MAX_SECONDS = 2 ** 32
export const YEAR_SECONDS = 365 * 24 * 3600
/** Lifetime in kubelets' requests for Pods without renewal; upstream grants a year and warns after this. */
const KUBELET_SECONDS = 3607
const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' }
const BINDABLE = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

/**
 * Gives the body back with its status filled. `serviceAccount` is the object as stored.
 * @throws StatusError Forbidden for an account that does not act in its space. Invalid for a bad duration, BadRequest for an object that
 *   cannot be bound to. NotFound or Conflict when the bound object is not there or has another uid.
 */
export async function tokenRequest(
  serviceAccount: KubeObject,
  body: KubeObject,
  context: TokenRequestContext,
): Promise<KubeObject> {
  const { namespace = '', name = '', uid = '' } = serviceAccount.metadata
  const spec = isRecord(body.spec) ? body.spec : {}
  checkMetadata(body, { namespace, name })
  if (context.nature?.acts(context.space, SERVICE_ACCOUNTS, serviceAccount) === false) {
    const why = `it describes an account of clusters and has no tokens in this space, unless it is labelled ${NATURED_LABEL}: "true"`
    throw statusError.forbidden(SERVICE_ACCOUNTS, name, why)
  }
  const seconds = expiration(spec.expirationSeconds)
  const requested = Array.isArray(spec.audiences) ? spec.audiences.filter(a => typeof a === 'string' && a !== '') : []
  const audiences: readonly string[] = requested.length > 0 ? requested : context.issuer.audiences
  const binding = isRecord(spec.boundObjectRef) ? await bind(spec.boundObjectRef, { namespace, name }, context) : {}

  const maximum = context.maxExpirationSeconds ?? YEAR_SECONDS
  const granted = Math.min(seconds, maximum)
  const extended = binding.bound?.kind === 'Pod' && granted === KUBELET_SECONDS && requested.length === 0
  const token = await context.issuer.issue({
    space: context.space,
    serviceAccount: { namespace, name, uid },
    audiences,
    expirationSeconds: extended ? Math.min(YEAR_SECONDS, maximum) : granted,
    ...(extended && { warnAfterSeconds: granted }),
    ...binding,
  })
  const now = context.clock()
  const timestamp = (ms: number) => new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
  return {
    apiVersion: body.apiVersion,
    kind: body.kind,
    metadata: { ...body.metadata, name, namespace, creationTimestamp: timestamp(now) },
    spec: { audiences: [...audiences], expirationSeconds: granted, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: timestamp(now + granted * 1000) },
  }
}

function checkMetadata(body: KubeObject, account: { namespace: string; name: string }): void {
  const { name, namespace } = body.metadata ?? {}
  if (namespace && namespace !== account.namespace) {
    throw statusError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
  if (name && name !== account.name) {
    throw statusError.badRequest(
      `the name of the object (${name}) does not match the name on the URL (${account.name})`,
    )
  }
}

function expiration(value: unknown): number {
  const seconds = value === undefined || value === null ? DEFAULT_SECONDS : value
  const field = 'spec.expirationSeconds'
  const errors: FieldError[] = []
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) {
    errors.push(fieldError.typeInvalid(field, value, 'must be an integer'))
  } else if (seconds < MIN_SECONDS) {
    errors.push(fieldError.invalid(field, seconds, 'may not specify a duration less than 10 minutes'))
  } else if (seconds > MAX_SECONDS) {
    errors.push(fieldError.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'))
  } else return seconds
  throw statusError.invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', errors)
}

async function bind(
  ref: Record<string, unknown>,
  account: { namespace: string; name: string },
  context: TokenRequestContext,
): Promise<Pick<TokenSpec, 'bound' | 'node'>> {
  const kind = str(ref.kind)
  const name = str(ref.name)
  const group = parseApiVersion(str(ref.apiVersion))?.group ?? ''
  if (group !== '' || !isBindable(kind)) {
    const version = parseApiVersion(str(ref.apiVersion))?.version ?? ''
    throw statusError.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  }
  const resource = BINDABLE[kind]
  const namespace = kind === 'Node' ? '' : account.namespace
  const object = await context.getObject(context.space, '', resource, namespace, name)
  if (object === undefined) throw statusError.notFound({ group: '', resource }, name)
  const { uid = '' } = object.metadata
  if (typeof ref.uid === 'string' && ref.uid !== '' && ref.uid !== uid) {
    const why =
      `the UID in the bound object reference (${ref.uid}) does not match the UID in record. ` +
      'The object might have been deleted and then recreated'
    throw new StatusError('Conflict', `Operation cannot be fulfilled on ${kind} "${name}": ${why}`, { name, kind })
  }
  const bound = { kind, name, uid }
  if (kind !== 'Pod') return { bound }
  const pod = isRecord(object.spec) ? object.spec : {}
  if (pod.serviceAccountName !== account.name) {
    throw statusError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account.name)} ` +
        'to pod running with different serviceaccount name.',
    )
  }
  const node = await nodeOf(pod, context)
  return { bound, ...(node && { node }) }
}

/** The node that a Pod runs on; without uid when the Node is not (or no longer) known. */
async function nodeOf(pod: Record<string, unknown>, context: TokenRequestContext): Promise<IdentifiedRef | undefined> {
  const name = pod.nodeName
  if (typeof name !== 'string' || name === '') return undefined
  const node = await context.getObject(context.space, '', 'nodes', '', name)
  return { name, uid: node?.metadata.uid ?? '' }
}

function isBindable(kind: string): kind is keyof typeof BINDABLE {
  return Object.hasOwn(BINDABLE, kind)
}
