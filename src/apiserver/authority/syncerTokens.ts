/**
 * Tokens of a mailbox's syncer, by TokenRequest.
 *
 * - An administrator who asks for the audience of renewal credentials gets one. Its Secret in the mailbox is the account of it.
 * - Who holds one gets tokens of a day. They are bound to the Secret of the session, so they end with it: in the same moment,
 *   and with the streams that they opened. The first request of a process begins a session and thereby ends the one before;
 *   the later ones name theirs, and are refused when it is not the newest any more.
 * - Who asks for a dry run only looks: it gets a token that reads, bound to its credential, and nobody's session ends. That it did is
 *   noted on the credential.
 * - No other token of a syncer lives longer than a day.
 */
import { randomBytes } from 'node:crypto'
import { isStatusError, StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { num, strings } from '../../apimachinery/fields.ts'
import type { KubeObject, OwnerReference } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import {
  CREDENTIAL_ANNOTATION,
  CREDENTIAL_PREFIX,
  CREDENTIAL_TYPE,
  EXPIRES_ANNOTATION,
  LIFETIME_ANNOTATION,
  LOOKED_ANNOTATION,
  LOOKING_SECONDS,
  RENEWAL_AUDIENCE,
  RENEWAL_MAX_SECONDS,
  REPLACES_ANNOTATION,
  SESSION_ANNOTATION,
  SESSION_NAME,
  SESSION_TYPE,
  USED_ANNOTATION,
  WORKING_SECONDS,
} from '../../placement/spaces/syncerCredential.ts'
import { isMailbox, SYNCER_NAME, SYNCER_NAMESPACE } from '../../placement/words/placement.ts'
import type { Store } from '../../storage/store.ts'
import type { ObjectReader } from '../auth/serviceAccountAuthenticator.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import type { UserInfo } from '../auth/types.ts'
import { isRenewal } from '../auth/users.ts'
import { deleteObject } from '../operations/remove.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

export interface SyncerTokensDeps {
  store: Pick<Store, 'list'>
  registry: Registry
  types: Pick<TypeRegistry, 'in'>
  tree: Pick<SpaceTree, 'pathOf'>
  issuer: TokenIssuer
  getObject: ObjectReader
  clock: () => Date
}

export interface TokenAsked {
  space: string
  user: UserInfo
  dryRun: boolean
  /** As it is stored. */
  account: KubeObject
  /** TokenRequest, checked for its types, with an expiry. */
  body: KubeObject
}

const COMPONENT = 'syncer-tokens'
const TOKEN_REQUEST = { group: 'authentication.k8s.io', kind: 'TokenRequest' }
const BEGIN_TRIES = 5
/** A credential that is used all the time is written this seldom. */
const USED_GRAIN_MS = 60_000

export class SyncerTokens {
  readonly #deps: SyncerTokensDeps

  constructor(deps: SyncerTokensDeps) {
    this.#deps = deps
  }

  /**
   * `undefined`: it is a request like any other.
   * @throws StatusError Invalid (a lifetime), Forbidden, Conflict (the session has ended)
   */
  async answer(asked: TokenAsked): Promise<KubeObject | undefined> {
    const { space, account, user, body } = asked
    const { namespace, name } = account.metadata
    if (namespace !== SYNCER_NAMESPACE || name !== SYNCER_NAME) return undefined
    if (!isMailbox(this.#deps.tree.pathOf(space) ?? '')) return undefined
    const wanted = strings(body.spec, 'audiences').includes(RENEWAL_AUDIENCE)
    if (isRenewal(user)) {
      if (!wanted) return await this.#working(asked)
      throw statusError.forbidden(
        { group: '', resource: 'serviceaccounts' },
        name,
        'a renewal credential makes no other',
      )
    }
    if (wanted) return await this.#renewal(asked)
    atMost(body, WORKING_SECONDS, `a syncer's token is good for a day at most; for longer, ask for ${RENEWAL_AUDIENCE}`)
    return undefined
  }

  async #renewal({ space, account, body, dryRun }: TokenAsked): Promise<KubeObject> {
    atMost(body, RENEWAL_MAX_SECONDS, 'a renewal credential may go unused for 90 days at most; each use renews it')
    if (dryRun) throw statusError.badRequest('a renewal credential is an object of its own: no dry run makes one')
    const seconds = num(body.spec, 'expirationSeconds')
    const replaced = body.metadata?.annotations?.[REPLACES_ANNOTATION] === undefined ? [] : await this.#names(space)
    const expires = this.#in(seconds)
    const annotations = {
      [EXPIRES_ANNOTATION]: expires,
      [LIFETIME_ANNOTATION]: `${seconds}`,
      ...(replaced.length > 0 && { [REPLACES_ANNOTATION]: replaced.join(',') }),
    }
    const secret = await this.#create(space, {
      name: `${CREDENTIAL_PREFIX}${randomBytes(5).toString('hex')}`,
      type: CREDENTIAL_TYPE,
      annotations,
    })
    const token = await this.#deps.issuer.issueRenewal({
      audience: RENEWAL_AUDIENCE,
      space,
      account: accountOf(account),
      secret: identityOf(secret),
    })
    return answerTo(body, { audiences: [RENEWAL_AUDIENCE], seconds, token, expires, annotations: {} })
  }

  async #working({ space, user, account, body, dryRun }: TokenAsked): Promise<KubeObject> {
    const { issuer } = this.#deps
    const name = user.extra?.[CREDENTIAL_ANNOTATION]?.[0] ?? ''
    const credential = await this.#secret(space, name)
    if (credential === undefined) throw new StatusError('Unauthorized', 'the renewal credential was revoked')
    if (dryRun) return await this.#looking(space, account, body, credential)
    const session = await this.#session(space, credential, body.metadata?.annotations?.[SESSION_ANNOTATION])
    await this.#used(space, credential)
    const seconds = Math.min(num(body.spec, 'expirationSeconds') || WORKING_SECONDS, WORKING_SECONDS)
    const token = await issuer.issue({
      space,
      serviceAccount: accountOf(account),
      expirationSeconds: seconds,
      bound: { kind: 'Secret', ...identityOf(session) },
    })
    const annotations = { [SESSION_ANNOTATION]: session.metadata.uid ?? '' }
    return answerTo(body, { audiences: issuer.audiences, seconds, token, expires: this.#in(seconds), annotations })
  }

  async #looking(space: string, account: KubeObject, body: KubeObject, credential: KubeObject): Promise<KubeObject> {
    const { issuer } = this.#deps
    await this.#looked(space, credential)
    const token = await issuer.issue({
      space,
      serviceAccount: accountOf(account),
      expirationSeconds: LOOKING_SECONDS,
      bound: { kind: 'Secret', ...identityOf(credential) },
    })
    const expires = this.#in(LOOKING_SECONDS)
    return answerTo(body, { audiences: issuer.audiences, seconds: LOOKING_SECONDS, token, expires, annotations: {} })
  }

  /** Neither its end nor that of those that it replaces is moved by that. */
  async #looked(space: string, { metadata: { name = '', annotations } }: KubeObject): Promise<void> {
    const now = this.#deps.clock().getTime()
    if (now - Date.parse(annotations?.[LOOKED_ANNOTATION] ?? '') < USED_GRAIN_MS) return
    const { registry } = this.#deps
    await registry.update(systemContext(space, COMPONENT), this.#type(space), SYNCER_NAMESPACE, name, secret => {
      secret.metadata.annotations = { ...secret.metadata.annotations, [LOOKED_ANNOTATION]: timestamp(new Date(now)) }
      return secret
    })
  }

  /** The session that is named, or a new one. Where none is left, nobody is displaced. */
  async #session(space: string, credential: KubeObject, named: string | undefined): Promise<KubeObject> {
    for (let attempt = 1; attempt <= BEGIN_TRIES; attempt++) {
      const current = await this.#secret(space, SESSION_NAME)
      if (named !== undefined && current !== undefined) {
        if (current.metadata.uid === named) return current
        const { creationTimestamp, annotations } = current.metadata
        throw new StatusError(
          'Conflict',
          `this session of the syncer has ended: another one began at ${creationTimestamp} with the credential ` +
            `${annotations?.[CREDENTIAL_ANNOTATION]}. One syncer serves a mailbox; stop one of the two, or revoke its credential`,
        )
      }
      if (current !== undefined) await this.#delete(space, current)
      try {
        const owner = { apiVersion: 'v1', kind: 'Secret', ...identityOf(credential) }
        return await this.#create(space, {
          name: SESSION_NAME,
          type: SESSION_TYPE,
          annotations: { [CREDENTIAL_ANNOTATION]: credential.metadata.name ?? '' },
          ownerReferences: [owner],
        })
      } catch (error) {
        // another syncer begins in the same moment: the last one stays
        if (!isStatusError(error, 'AlreadyExists')) throw error
      }
    }
    throw new StatusError('ServiceUnavailable', 'several syncers begin a session of this mailbox at once; try again')
  }

  /** Moves the end of the credential, and ends those that it replaces. */
  async #used(space: string, { metadata }: KubeObject): Promise<void> {
    const { name = '', annotations = {} } = metadata
    for (const former of annotations[REPLACES_ANNOTATION]?.split(',') ?? []) {
      const secret = await this.#secret(space, former)
      if (secret?.type === CREDENTIAL_TYPE) await this.#delete(space, secret)
    }
    const now = this.#deps.clock().getTime()
    if (now - Date.parse(annotations[USED_ANNOTATION] ?? '') < USED_GRAIN_MS) return
    const { registry } = this.#deps
    await registry.update(systemContext(space, COMPONENT), this.#type(space), SYNCER_NAMESPACE, name, secret => {
      const { [REPLACES_ANNOTATION]: _done, ...kept } = secret.metadata.annotations ?? {}
      const seconds = Number(kept[LIFETIME_ANNOTATION] ?? RENEWAL_MAX_SECONDS)
      const moved = { [EXPIRES_ANNOTATION]: this.#in(seconds), [USED_ANNOTATION]: timestamp(new Date(now)) }
      secret.metadata.annotations = { ...kept, ...moved }
      return secret
    })
  }

  #secret(space: string, name: string): Soon<KubeObject | undefined> {
    return this.#deps.getObject(space, '', 'secrets', SYNCER_NAMESPACE, name)
  }

  /** Of all credentials of a mailbox. */
  async #names(space: string): Promise<string[]> {
    const range = { space, group: '', resource: 'secrets', namespace: SYNCER_NAMESPACE }
    const { items } = await this.#deps.store.list(range)
    const ours = items.filter(({ key }) => key.name.startsWith(CREDENTIAL_PREFIX)).map(decodeObject)
    return ours.filter(({ type }) => type === CREDENTIAL_TYPE).map(({ metadata }) => metadata.name ?? '')
  }

  async #create(
    space: string,
    {
      type,
      ...metadata
    }: { name: string; type: string; annotations: Record<string, string>; ownerReferences?: OwnerReference[] },
  ): Promise<KubeObject> {
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: SYNCER_NAMESPACE, ...metadata }, type }
    const context = systemContext(space, COMPONENT)
    const { stored } = await this.#deps.registry.create(context, this.#type(space), SYNCER_NAMESPACE, object)
    return decodeObject(stored)
  }

  async #delete(space: string, { metadata: { name = '', uid = '' } }: KubeObject): Promise<void> {
    const { registry } = this.#deps
    const ref = { namespace: SYNCER_NAMESPACE, name }
    try {
      await deleteObject(registry.deps, systemContext(space, COMPONENT), this.#type(space), ref, {
        preconditions: { uid },
      })
    } catch (error) {
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
  }

  #type(space: string) {
    const type = this.#deps.types.in(space).find('', 'v1', 'secrets')
    if (type === undefined) throw new Error('the built-in kind Secret is missing from the catalog')
    return type
  }

  #in(seconds: number): string {
    return timestamp(new Date(this.#deps.clock().getTime() + seconds * 1000))
  }
}

function atMost(body: KubeObject, limitSeconds: number, why: string): void {
  const seconds = num(body.spec, 'expirationSeconds')
  if (seconds > limitSeconds)
    throw statusError.invalid(TOKEN_REQUEST, '', [fieldError.invalid('spec.expirationSeconds', seconds, why)])
  if (seconds < 600)
    throw statusError.invalid(TOKEN_REQUEST, '', [
      fieldError.invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes'),
    ])
}

function accountOf({ metadata: { name = '', uid = '' } }: KubeObject) {
  return { namespace: SYNCER_NAMESPACE, name, uid }
}

function identityOf({ metadata: { name = '', uid = '' } }: KubeObject) {
  return { name, uid }
}

function answerTo(
  body: KubeObject,
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
    metadata: { name: SYNCER_NAME, namespace: SYNCER_NAMESPACE, annotations: a.annotations },
    spec: { audiences: [...a.audiences], expirationSeconds: a.seconds, boundObjectRef: null },
    status: { token: a.token, expirationTimestamp: a.expires },
  }
}
