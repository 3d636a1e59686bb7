/**
 * Bootstrap credentials, and what clusters claim with them, by TokenRequest in the core space.
 *
 * - A user who may make tokens in all mailboxes gets a bootstrap credential of one inventory.
 * - Its holder names a SyncTarget there and shows a key. The first time that makes a claim: a Secret in the mailbox with the hash of the key.
 * - An approved claim gets one renewal credential, for as long as that is unused: an answer may be lost on its way.
 * - A mailbox that has a credential is joined. Further claims are refused, and stand in the mailbox with the reason. No approval changes that:
 *   the credentials are to be revoked first.
 * - By rule, the first claim of a mailbox is approved if it is the only one and no syncer was ever there.
 */
import { randomBytes } from 'node:crypto'
import { isStatusError, StatusError, statusError } from '../../apimachinery/errors.ts'
import { num, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { RefusedClaim, RefusedClaims } from '../../placement/desks/refusedClaims.ts'
import {
  APPROVED_ANNOTATION,
  APPROVES_ANNOTATION,
  APPROVES_LISTED,
  BOOTSTRAP_ACCOUNT,
  BOOTSTRAP_ANNOTATION,
  BOOTSTRAP_AUDIENCE,
  BOOTSTRAP_MAX_SECONDS,
  BOOTSTRAP_PREFIX,
  BOOTSTRAP_TYPE,
  CLAIM_ANNOTATION,
  CLAIM_KEY,
  CLAIM_KEY_ANNOTATION,
  CLAIM_PREFIX,
  CLAIM_TYPE,
  CLAIMS_LIMIT,
  claimHash,
  claimName,
  INVENTORY_ANNOTATION,
  ISSUED_ANNOTATION,
  MAILBOX_SPACE_ANNOTATION,
  REFUSED_ANNOTATION,
  SYNC_TARGET_ANNOTATION,
} from '../../placement/spaces/syncerBootstrap.ts'
import {
  CREDENTIAL_PREFIX,
  CREDENTIAL_TYPE,
  EXPIRES_ANNOTATION,
  LIFETIME_ANNOTATION,
  RENEWAL_AUDIENCE,
  RENEWAL_MAX_SECONDS,
  SESSION_NAME,
  USED_ANNOTATION,
} from '../../placement/spaces/syncerCredential.ts'
import {
  MAILBOX_PARENT,
  mailboxName,
  SYNC_TARGETS,
  SYNCER_NAME,
  SYNCER_NAMESPACE,
} from '../../placement/words/placement.ts'
import { EXTRAS, isBootstrap } from '../auth/users.ts'
import type { CredentialAccounts } from './credentialAccounts.ts'
import { answerTo, atMost, identityOf, type SyncerTokensDeps, type TokenRequestContext } from './tokenRequest.ts'

/** Name of the credential that a claim gets: one for each mailbox, so that of two claims only one is the first. */
const JOINED = `${CREDENTIAL_PREFIX}joined`
const TOKENS = { group: '', version: 'v1', resource: 'serviceaccounts', subresource: 'token', namespace: '', name: '' }

/** The subject of a claim. */
interface Scene {
  syncTarget: KubeObject
  /** Ids of its space, and of the mailbox space. */
  inventory: string
  mailbox: string
  account: KubeObject
  hashed: string
  /** Name of the bootstrap credential. */
  bootstrap: string
  byRule: boolean
}

export class SyncerClaims implements RefusedClaims {
  readonly #deps: SyncerTokensDeps
  readonly #accounts: CredentialAccounts
  readonly #followers = new Set<(refused: RefusedClaim) => void>()
  /** One claim at a time: bounds count, and of two claims one is the first. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(deps: SyncerTokensDeps, accounts: CredentialAccounts) {
    this.#deps = deps
    this.#accounts = accounts
  }

  follow(follower: (refused: RefusedClaim) => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  /** `undefined`: it is a request like any other. @throws StatusError */
  async answer(request: TokenRequestContext): Promise<KubeObject | undefined> {
    const wanted = strings(request.body.spec, 'audiences')
    if (isBootstrap(request.user)) {
      const claimed = this.#turn.then(() => this.#claim(request))
      this.#turn = claimed.catch(() => undefined)
      return await claimed
    }
    return wanted.includes(BOOTSTRAP_AUDIENCE) ? await this.#bootstrap(request) : undefined
  }

  async #bootstrap({ space, user, account, body, dryRun }: TokenRequestContext): Promise<KubeObject> {
    const { authorizer, tree, issuer } = this.#deps
    atMost(body, BOOTSTRAP_MAX_SECONDS, 'a bootstrap credential lives for 90 days at most')
    if (dryRun) throw statusError.badRequest('a bootstrap credential is an object of its own: no dry run makes one')
    const { namespace, name } = BOOTSTRAP_ACCOUNT
    if (account.metadata.namespace !== namespace || account.metadata.name !== name)
      throw statusError.badRequest(`a bootstrap credential is requested as a token of ${namespace}/${name}`)
    const { allowed } = await authorizer.authorize({ user, space: '*', verb: 'create', resource: TOKENS, path: '' })
    if (!allowed)
      throw statusError.forbidden(
        { group: '', resource: 'serviceaccounts' },
        name,
        'a bootstrap credential stands for syncers of all clusters of an inventory: only administrators of the server make one',
      )
    const annotations = body.metadata?.annotations ?? {}
    const { [INVENTORY_ANNOTATION]: named = '', [APPROVES_ANNOTATION]: approves = '' } = annotations
    const inventory = tree.get(named) === undefined ? tree.idAt(named) : named
    if (inventory === undefined)
      throw statusError.badRequest(`metadata.annotations[${INVENTORY_ANNOTATION}] is neither path nor id of a space`)
    if (approves !== '' && approves !== APPROVES_LISTED)
      throw statusError.badRequest(`metadata.annotations[${APPROVES_ANNOTATION}] is not "${APPROVES_LISTED}"`)
    for (const former of await this.#accounts.list(space, BOOTSTRAP_PREFIX))
      if (former.type === BOOTSTRAP_TYPE && !this.#isGood(former)) await this.#accounts.delete(space, former)
    const seconds = num(body.spec, 'expirationSeconds')
    const expires = this.#in(seconds)
    const fixed = { [INVENTORY_ANNOTATION]: inventory, [EXPIRES_ANNOTATION]: expires }
    const secret = await this.#accounts.create(space, {
      name: `${BOOTSTRAP_PREFIX}${randomBytes(5).toString('hex')}`,
      type: BOOTSTRAP_TYPE,
      annotations: { ...fixed, ...(approves !== '' && { [APPROVES_ANNOTATION]: approves }) },
    })
    const token = await issuer.issueRenewal({
      audience: BOOTSTRAP_AUDIENCE,
      space,
      account: { namespace, name, uid: account.metadata.uid ?? '' },
      secret: identityOf(secret),
      expirationSeconds: seconds,
      more: { inventory, approves },
    })
    const made = { [BOOTSTRAP_ANNOTATION]: secret.metadata.name ?? '' }
    return answerTo(body, account, { token, expires, audiences: [BOOTSTRAP_AUDIENCE], seconds, annotations: made })
  }

  async #claim(request: TokenRequestContext): Promise<KubeObject> {
    const { user, space } = request
    const bootstrap = user.extra?.[BOOTSTRAP_ANNOTATION]?.[0] ?? ''
    // impersonated by an administrator of the space alone, or revoked since
    if (user.extra?.[EXTRAS.scopes] !== undefined || (await this.#accounts.get(space, bootstrap)) === undefined)
      throw new StatusError('Unauthorized', 'the bootstrap credential was revoked')
    if (request.dryRun) throw statusError.badRequest('a claim is an object of its own: no dry run makes one')
    const scene = await this.#scene(request)
    const token = await this.#credentialFor(scene)
    const { hashed, mailbox } = scene
    return answerTo(request.body, request.account, {
      token,
      expires: this.#in(RENEWAL_MAX_SECONDS),
      audiences: [RENEWAL_AUDIENCE],
      seconds: RENEWAL_MAX_SECONDS,
      annotations: { [CLAIM_ANNOTATION]: claimName(hashed), [MAILBOX_SPACE_ANNOTATION]: mailbox },
    })
  }

  async #scene({ user, body }: TokenRequestContext): Promise<Scene> {
    const { getObject, tree } = this.#deps
    const { [SYNC_TARGET_ANNOTATION]: name = '', [CLAIM_KEY_ANNOTATION]: key = '' } = body.metadata?.annotations ?? {}
    if (!CLAIM_KEY.test(key))
      throw statusError.badRequest(`metadata.annotations[${CLAIM_KEY_ANNOTATION}] is not 32 bytes in base64url`)
    const inventory = user.extra?.[INVENTORY_ANNOTATION]?.[0] ?? ''
    const { group, resource } = SYNC_TARGETS
    const syncTarget = await getObject(inventory, group, resource, '', name)
    if (syncTarget === undefined || syncTarget.metadata.deletionTimestamp !== undefined)
      throw new StatusError(
        'NotFound',
        `there is no SyncTarget ${JSON.stringify(name)} in the inventory of this credential; "kubectl kubestellar ensure location" makes one`,
      )
    const mailbox = tree.idAt(`${MAILBOX_PARENT}:${mailboxName(inventory, syncTarget.metadata.uid ?? '')}`) ?? ''
    const account = await getObject(mailbox, '', 'serviceaccounts', SYNCER_NAMESPACE, SYNCER_NAME)
    if (account === undefined)
      throw new StatusError('ServiceUnavailable', `the mailbox of SyncTarget "${name}" is not ready yet; try again`)
    return {
      syncTarget,
      inventory,
      mailbox,
      account,
      hashed: claimHash(key),
      bootstrap: user.extra?.[BOOTSTRAP_ANNOTATION]?.[0] ?? '',
      byRule: user.extra?.[APPROVES_ANNOTATION]?.[0] === APPROVES_LISTED,
    }
  }

  /** `''`: the claim waits. @throws StatusError Conflict: it gets nothing */
  async #credentialFor(scene: Scene): Promise<string> {
    const { mailbox, hashed, syncTarget } = scene
    const name = syncTarget.metadata.name ?? ''
    const claims = (await this.#accounts.list(mailbox, CLAIM_PREFIX)).filter(({ type }) => type === CLAIM_TYPE)
    const all = await this.#accounts.list(mailbox, CREDENTIAL_PREFIX)
    const credentials = all.filter(one => one.type === CREDENTIAL_TYPE && this.#isGood(one))
    const mine = claims.find(claim => claim.metadata.annotations?.[CLAIM_ANNOTATION] === hashed)
    const own = credentials.find(({ metadata }) => metadata.annotations?.[CLAIM_ANNOTATION] === hashed)
    if (own !== undefined && own.metadata.annotations?.[USED_ANNOTATION] === undefined)
      return await this.#issued(scene, own)
    if (credentials.length > 0)
      return await this.#refuse(
        scene,
        claims,
        `SyncTarget "${name}" is joined already; another claim gets nothing until "kubectl kubestellar syncer revoke ${name}"`,
      )
    if (mine?.metadata.annotations?.[ISSUED_ANNOTATION] !== undefined)
      throw new StatusError(
        'Conflict',
        'the credential of this claim was revoked or expired; claim anew with a new key',
      )
    const served = str(syncTarget.status, 'lastSyncerHeartbeatTime') !== ''
    const known = claims.filter(claim => claim !== mine)
    const isFirst = known.length === 0 && !served && (await this.#accounts.get(mailbox, SESSION_NAME)) === undefined
    if (mine?.metadata.annotations?.[APPROVED_ANNOTATION] !== undefined || (scene.byRule && isFirst))
      return await this.#issue(scene)
    if (mine === undefined) await this.#noted(scene, claims, {})
    return ''
  }

  /** The refusal stands on the claim, where administrators read it. It ends an approval, which counts for this syncer alone. */
  async #refuse(scene: Scene, claims: readonly KubeObject[], why: string): Promise<never> {
    const mine = claims.find(({ metadata }) => metadata.annotations?.[CLAIM_ANNOTATION] === scene.hashed)
    const {
      [ISSUED_ANNOTATION]: issued,
      [REFUSED_ANNOTATION]: refused,
      [APPROVED_ANNOTATION]: approved,
    } = mine?.metadata.annotations ?? {}
    const isNews = mine === undefined || (issued === undefined && (refused === undefined || approved !== undefined))
    if (mine === undefined) await this.#noted(scene, claims, { [REFUSED_ANNOTATION]: why })
    else if (isNews) await this.#mark(scene, { [REFUSED_ANNOTATION]: why })
    if (isNews) this.#log(scene, why)
    throw new StatusError('Conflict', why)
  }

  #log({ syncTarget, inventory, hashed, bootstrap }: Scene, why: string): void {
    const claim = claimName(hashed)
    const message = `claim ${claim} by the bootstrap credential ${bootstrap}: ${why}`
    for (const follower of this.#followers) follower({ inventory, syncTarget, claim, message })
  }

  /** A new claim. Those by bootstrap credentials that have ended make room. @throws StatusError Conflict where there is none */
  async #noted(scene: Scene, claims: readonly KubeObject[], more: Record<string, string>): Promise<void> {
    const { mailbox, hashed, bootstrap, syncTarget } = scene
    const others = claims.filter(({ metadata }) => metadata.annotations?.[ISSUED_ANNOTATION] === undefined)
    if (others.length >= CLAIMS_LIMIT) {
      const core = this.#deps.tree.idAt(MAILBOX_PARENT) ?? ''
      const ended: KubeObject[] = []
      for (const claim of others) {
        const { [BOOTSTRAP_ANNOTATION]: by = '' } = claim.metadata.annotations ?? {}
        const credential = await this.#accounts.get(core, by)
        if (credential === undefined || !this.#isGood(credential)) ended.push(claim)
      }
      if (ended.length === 0) {
        const name = syncTarget.metadata.name ?? ''
        throw new StatusError(
          'Conflict',
          `${others.length} other claims of SyncTarget "${name}" are there, and no more are kept; an administrator denies those that are wrong: "kubectl kubestellar deny ${name}"`,
        )
      }
      for (const claim of ended) await this.#accounts.delete(mailbox, claim)
    }
    try {
      await this.#accounts.create(mailbox, {
        name: `${CLAIM_PREFIX}${claimName(hashed)}`,
        type: CLAIM_TYPE,
        annotations: { [CLAIM_ANNOTATION]: hashed, [BOOTSTRAP_ANNOTATION]: bootstrap, ...more },
      })
    } catch (error) {
      // the same claimant in the same moment
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }

  async #issue(scene: Scene): Promise<string> {
    const { mailbox, hashed } = scene
    const former = await this.#accounts.get(mailbox, JOINED)
    if (former !== undefined && !this.#isGood(former)) await this.#accounts.delete(mailbox, former)
    try {
      const annotations = {
        [CLAIM_ANNOTATION]: hashed,
        [EXPIRES_ANNOTATION]: this.#in(RENEWAL_MAX_SECONDS),
        [LIFETIME_ANNOTATION]: `${RENEWAL_MAX_SECONDS}`,
      }
      const secret = await this.#accounts.create(mailbox, { name: JOINED, type: CREDENTIAL_TYPE, annotations })
      return await this.#issued(scene, secret)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      throw new StatusError('ServiceUnavailable', 'another claim of this SyncTarget is being answered; try again')
    }
  }

  /** That it was stays, also when the credential is revoked: then no rule approves another claim. */
  async #issued(scene: Scene, secret: KubeObject): Promise<string> {
    const { mailbox, account } = scene
    await this.#noted(scene, [], {})
    await this.#mark(scene, { [ISSUED_ANNOTATION]: this.#in(0) })
    return await this.#deps.issuer.issueRenewal({
      audience: RENEWAL_AUDIENCE,
      space: mailbox,
      account: { namespace: SYNCER_NAMESPACE, ...identityOf(account) },
      secret: identityOf(secret),
    })
  }

  async #mark({ mailbox, hashed }: Scene, annotations: Record<string, string>): Promise<void> {
    await this.#accounts.change(mailbox, `${CLAIM_PREFIX}${claimName(hashed)}`, secret => {
      const { [APPROVED_ANNOTATION]: _settled, ...kept } = secret.metadata.annotations ?? {}
      secret.metadata.annotations = { ...kept, ...annotations }
    })
  }

  #isGood({ metadata }: KubeObject): boolean {
    return this.#deps.clock().getTime() < Date.parse(metadata.annotations?.[EXPIRES_ANNOTATION] ?? '')
  }

  #in(seconds: number): string {
    return timestamp(new Date(this.#deps.clock().getTime() + seconds * 1000))
  }
}
