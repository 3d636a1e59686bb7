/** Requests for credentials of syncers: their form, their bounds and their answers. */
import { statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { num } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Store } from '../../storage/store.ts'
import type { ObjectReader } from '../auth/serviceAccountAuthenticator.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import type { Authorizer, UserInfo } from '../auth/types.ts'
import type { Registry } from '../registry/registry.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

export interface SyncerTokensDeps {
  store: Pick<Store, 'list'>
  registry: Registry
  types: Pick<TypeRegistry, 'builtinIn'>
  tree: Pick<SpaceTree, 'pathOf' | 'idAt' | 'get'>
  authorizer: Authorizer
  issuer: TokenIssuer
  getObject: ObjectReader
  clock: () => Date
}

export interface TokenRequestContext {
  space: string
  user: UserInfo
  dryRun: boolean
  /** As it is stored. */
  account: KubeObject
  /** TokenRequest, checked for its types, with an expiry. */
  body: KubeObject
}

const TOKEN_REQUEST = { group: 'authentication.k8s.io', kind: 'TokenRequest' }

/** @throws StatusError Invalid */
export function atMost(body: KubeObject, limitSeconds: number, why: string): void {
  const seconds = num(body.spec, 'expirationSeconds')
  if (seconds > limitSeconds)
    throw statusError.invalid(TOKEN_REQUEST, '', [fieldError.invalid('spec.expirationSeconds', seconds, why)])
  if (seconds < 600)
    throw statusError.invalid(TOKEN_REQUEST, '', [
      fieldError.invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes'),
    ])
}

export function identityOf({ metadata: { name = '', uid = '' } }: KubeObject) {
  return { name, uid }
}

export function answerTo(
  body: KubeObject,
  { metadata: { name = '', namespace = '' } }: KubeObject,
  a: {
    audiences: readonly string[]
    seconds: number
    token: string
    expires: string
    annotations: Record<string, string>
  },
): KubeObject {
  return {
    apiVersion: body.apiVersion,
    kind: body.kind,
    metadata: { name, namespace, annotations: a.annotations },
    spec: { audiences: [...a.audiences], expirationSeconds: a.seconds, boundObjectRef: null },
    status: { token: a.token, expirationTimestamp: a.expires },
  }
}
