/** Authentication and authorization of a server, over its open store. */
import type { KubeObject } from '../apimachinery/object.ts'
import { type Soon, whenKnown } from '../apimachinery/soon.ts'
import { systemClock } from '../client/clock.ts'
import { type Nature, natureOf } from '../placement/spaces/nature.ts'
import type { WorkTurns } from '../program/workTurns.ts'
import type { Store } from '../storage/store.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { authenticators } from './auth/authenticators.ts'
import { forgetEndedTokens } from './auth/endedTokens.ts'
import { RbacAuthorizer } from './auth/rbac.ts'
import { TokenIssuer } from './auth/serviceAccountTokens.ts'
import type { UnionAuthenticator } from './auth/union.ts'
import { withContentRules } from './authority/contentRules.ts'
import { MailboxRules } from './authority/mailboxRules.ts'
import { syncerAuthenticators } from './authority/syncerAuthenticators.ts'
import { UpsyncDemands } from './authority/upsyncDemands.ts'
import { OpenAccess } from './exchange/openAccess.ts'
import type { Pki } from './pki/ensurePki.ts'
import { decodeObject } from './registry/codec.ts'
import { ROOT, type SpaceTree } from './spaces/tree.ts'
import type { TypeRegistry } from './types/typeRegistry.ts'

export interface AccessParts {
  readonly nature: Nature
  readonly openAccess: OpenAccess
  /** Upsync sets of mailboxes. */
  readonly demands: UpsyncDemands
  readonly authorizer: RbacAuthorizer
  readonly issuer: TokenIssuer
  readonly authenticator: UnionAuthenticator
  getObject(
    space: string,
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Soon<KubeObject | undefined>
}

interface AccessPartsDeps {
  store: Store
  work: WorkTurns
  tree: SpaceTree
  types: TypeRegistry
  pki: Pki
  url: () => string
}

export async function accessParts(
  { spaces, tokenFile, oidc, log }: ApiServerOptions,
  { store, work, tree, types, pki, url }: AccessPartsDeps,
): Promise<AccessParts> {
  const nature = natureOf(tree)
  const openAccess = new OpenAccess({ turns: work, clock: systemClock })
  const demands = new UpsyncDemands({ store, types })
  const authorizer = new RbacAuthorizer({
    store,
    turns: work,
    requireSpaceAccess: spaces,
    nature,
    ownKinds: spaces,
    rootSpace: ROOT,
    onForgotten: space => openAccess.rightsChanged(space),
    onLeftOut: space => log.warn({ space }, 'roles and bindings are more than may count: those behind grant nothing'),
    ...(spaces && { builtin: withContentRules(new MailboxRules({ tree, demands })) }),
  })
  const issuer = new TokenIssuer({ clock: Date.now, signingKeyPem: pki.serviceAccountKeyPem, url, rootSpace: ROOT })
  const getObject: AccessParts['getObject'] = (space, group, resource, namespace, name) =>
    whenKnown(store.get({ space, group, resource, namespace, name }), stored => stored && decodeObject(stored))
  const authenticator = await authenticators({
    issuer,
    getObject,
    nature,
    tokenFile,
    oidc,
    onForgotten: space => openAccess.credentialsChanged(space),
    ...(spaces && { more: syncerAuthenticators({ issuer, getObject, clock: Date.now }) }),
  })
  forgetEndedTokens(store, authenticator)
  return { nature, openAccess, demands, authorizer, issuer, authenticator, getObject }
}
