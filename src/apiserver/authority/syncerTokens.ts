/**
 * Tokens of a mailbox's syncer, by TokenRequest.
 *
 * - An administrator who asks for the audience of renewal credentials gets one. Its Secret in the mailbox is the account of it.
 * - Its holder gets tokens of a day. They are bound to the Secret of the session, so they end with it: in the same moment, and with the
 *   streams that they opened. The first request of a process begins a session and thereby ends the one before. The later ones name theirs,
 *   and are refused when it is not the newest any more.
 * - A dry run only looks: it gets a token that reads, bound to its credential, and no session ends. That it did is noted on the credential.
 * - In the core space clusters claim renewal credentials ({@link SyncerClaims}).
 * - No other token of a syncer lives longer than a day.
 */
import { randomBytes } from 'node:crypto'
import { isStatusError, StatusError, statusError } from '../../apimachinery/errors.ts'
import { num, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { RefusedClaims } from '../../placement/desks/refusedClaims.ts'
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
import { isMailbox, MAILBOX_PARENT, SYNCER_NAME, SYNCER_NAMESPACE } from '../../placement/words/placement.ts'
import { isRenewal } from '../auth/users.ts'
import { CredentialAccounts } from './credentialAccounts.ts'
import { SyncerClaims } from './syncerClaims.ts'
import { answerTo, atMost, identityOf, type SyncerTokensDeps, type TokenRequestContext } from './tokenRequest.ts'

const COMPONENT = 'syncer-tokens'
const BEGIN_TRIES = 5
/** A credential that is used all the time is written this seldom. */
const USED_GRAIN_MS = 60_000

export class SyncerTokens {
  readonly #deps: SyncerTokensDeps
  readonly #accounts: CredentialAccounts
  readonly #claims: SyncerClaims

  constructor(deps: SyncerTokensDeps) {
    this.#deps = deps
    this.#accounts = new CredentialAccounts({ ...deps, component: COMPONENT })
    this.#claims = new SyncerClaims(deps, this.#accounts)
  }

  get refusedClaims(): RefusedClaims {
    return this.#claims
  }

  /**
   * `undefined`: it is a request like any other.
   * @throws StatusError Invalid (a lifetime), Forbidden, Conflict (the session has ended)
   */
  async answer(request: TokenRequestContext): Promise<KubeObject | undefined> {
    const { space, account, user, body } = request
    const { namespace, name } = account.metadata
    if (this.#deps.tree.pathOf(space) === MAILBOX_PARENT) return await this.#claims.answer(request)
    if (namespace !== SYNCER_NAMESPACE || name !== SYNCER_NAME) return undefined
    if (!isMailbox(this.#deps.tree.pathOf(space) ?? '')) return undefined
    const wanted = strings(body.spec, 'audiences').includes(RENEWAL_AUDIENCE)
    if (isRenewal(user)) {
      if (!wanted) return await this.#working(request)
      throw statusError.forbidden(
        { group: '', resource: 'serviceaccounts' },
        name,
        'a renewal credential makes no other',
      )
    }
    if (wanted) return await this.#renewal(request)
    atMost(body, WORKING_SECONDS, `a syncer's token is good for a day at most; for longer, ask for ${RENEWAL_AUDIENCE}`)
    return undefined
  }

  async #renewal({ space, account, body, dryRun }: TokenRequestContext): Promise<KubeObject> {
    atMost(body, RENEWAL_MAX_SECONDS, 'a renewal credential may go unused for 90 days at most; each use renews it')
    if (dryRun) throw statusError.badRequest('a renewal credential is an object of its own: no dry run makes one')
    const seconds = num(body.spec, 'expirationSeconds')
    const replaced =
      body.metadata?.annotations?.[REPLACES_ANNOTATION] === undefined ? [] : await this.#accounts.credentialNames(space)
    const expires = this.#in(seconds)
    const annotations = {
      [EXPIRES_ANNOTATION]: expires,
      [LIFETIME_ANNOTATION]: `${seconds}`,
      ...(replaced.length > 0 && { [REPLACES_ANNOTATION]: replaced.join(',') }),
    }
    const secret = await this.#accounts.create(space, {
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
    return answerTo(body, account, { audiences: [RENEWAL_AUDIENCE], seconds, token, expires, annotations: {} })
  }

  async #working({ space, user, account, body, dryRun }: TokenRequestContext): Promise<KubeObject> {
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
    return answerTo(body, account, {
      audiences: issuer.audiences,
      seconds,
      token,
      expires: this.#in(seconds),
      annotations,
    })
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
    return answerTo(body, account, {
      audiences: issuer.audiences,
      seconds: LOOKING_SECONDS,
      token,
      expires,
      annotations: {},
    })
  }

  /** Neither its end nor that of those that it replaces is moved by that. */
  async #looked(space: string, { metadata: { name = '', annotations } }: KubeObject): Promise<void> {
    const now = this.#deps.clock().getTime()
    if (now - Date.parse(annotations?.[LOOKED_ANNOTATION] ?? '') < USED_GRAIN_MS) return
    await this.#accounts.change(space, name, secret => {
      secret.metadata.annotations = { ...secret.metadata.annotations, [LOOKED_ANNOTATION]: timestamp(new Date(now)) }
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
      if (current !== undefined) await this.#accounts.delete(space, current)
      try {
        const owner = { apiVersion: 'v1', kind: 'Secret', ...identityOf(credential) }
        return await this.#accounts.create(space, {
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
      if (secret?.type === CREDENTIAL_TYPE) await this.#accounts.delete(space, secret)
    }
    const now = this.#deps.clock().getTime()
    if (now - Date.parse(annotations[USED_ANNOTATION] ?? '') < USED_GRAIN_MS) return
    await this.#accounts.change(space, name, secret => {
      const { [REPLACES_ANNOTATION]: _done, ...kept } = secret.metadata.annotations ?? {}
      const seconds = Number(kept[LIFETIME_ANNOTATION] ?? RENEWAL_MAX_SECONDS)
      const moved = { [EXPIRES_ANNOTATION]: this.#in(seconds), [USED_ANNOTATION]: timestamp(new Date(now)) }
      secret.metadata.annotations = { ...kept, ...moved }
    })
  }

  #secret(space: string, name: string): Soon<KubeObject | undefined> {
    return this.#accounts.get(space, name)
  }

  #in(seconds: number): string {
    return timestamp(new Date(this.#deps.clock().getTime() + seconds * 1000))
  }
}

function accountOf({ metadata: { name = '', uid = '' } }: KubeObject) {
  return { namespace: SYNCER_NAMESPACE, name, uid }
}
