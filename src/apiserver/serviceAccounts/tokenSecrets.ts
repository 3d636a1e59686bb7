/**
 * Tokens without end, on request by a Secret of type `kubernetes.io/service-account-token`. The Secret is filled a moment after it is made,
 * refilled when a client empties it, and deleted when its ServiceAccount is gone. Where ServiceAccounts are descriptions, so is a Secret
 * for one that does not act: it is left as it is. In a mailbox a Secret that is on its way holds no token.
 *
 * It follows the log of Secrets of all spaces; those of other types are recognized by their bytes. A failure is retried with backoff.
 * @see https://kubernetes.io/docs/concepts/configuration/secret/#serviceaccount-token-secrets
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { TOKEN_SECRET_TYPE } from '../../apimachinery/tokenSecret.ts'
import { NATURED_LABEL, type Nature } from '../../placement/spaces/nature.ts'
import type { Key, Range, Store, Stored, StoreEvent } from '../../storage/store.ts'
import { unverifiedClaims } from '../auth/jwtClaims.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import { type FollowerDeps, followLog } from '../following/followLog.ts'
import { KeyWorker } from '../following/keyWorker.ts'
import { deleteObject } from '../operations/remove.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

interface TokenSecretsDeps extends FollowerDeps {
  store: Store
  registry: Registry
  types: TypeRegistry
  issuer: TokenIssuer
  /** Which accounts act. */
  nature: Nature
  /** Authority that clients of this server trust, PEM. */
  caPem: string
}

const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ACCOUNT_UID = 'kubernetes.io/service-account.uid'
const COMPONENT = 'token-secrets'
const SECRETS = { group: '', resource: 'secrets' } as const
const ACCOUNTS = { group: '', resource: 'serviceaccounts' } as const

export class TokenSecrets {
  readonly #deps: TokenSecretsDeps
  /** Keys of Secrets, and of ServiceAccounts that are gone or begin to act. */
  readonly #worker: KeyWorker<Key>
  #caPem: string

  constructor(deps: TokenSecretsDeps) {
    this.#deps = deps
    const work = {
      id: ({ space, resource, namespace, name }: Key) => `${space} ${resource} ${namespace}/${name}`,
      party: ({ space }: Key) => space,
      reconcile: (key: Key) => this.#reconcile(key),
      failed: ({ space, resource, namespace, name }: Key, error: unknown) =>
        deps.log.warn(
          { err: error, space, resource, namespace, name },
          'a ServiceAccount token Secret could not be brought to its wanted state; it is tried again',
        ),
    }
    this.#worker = new KeyWorker(work, deps)
    this.#caPem = deps.caPem
  }

  /** Catches up with what happened while the server was down, in the background, then follows the log. */
  start(): void {
    const { store, nature } = this.#deps
    // No deletion is missed, however long a watch is away.
    store.project(ACCOUNTS, {
      reset() {},
      apply: ({ type, key, stored }) => {
        const begins = (): boolean => nature.isDescribed(key.space, ACCOUNTS) && stored.bytes.includes(NATURED_LABEL)
        if (type === 'delete' || begins()) this.#worker.add(key)
      },
    })
    const following = {
      ...this.#deps,
      range: SECRETS,
      what: 'Secrets',
      wants: ({ type, stored }: Pick<StoreEvent, 'type' | 'stored'>) => type === 'put' && holdsToken(stored),
      add: (key: Key) => this.#worker.add(key),
      note: (key: Key, error: unknown) => void this.#worker.note(key, error),
    }
    this.#worker.start(followLog(following, this.#worker.signal))
  }

  /** Every Secret is given this authority instead. Resolves when those that are there have it, or have to be tried again. */
  async useAuthority(caPem: string): Promise<void> {
    if (caPem === this.#caPem) return
    this.#caPem = caPem
    await this.#wantAll(SECRETS)
    await this.#worker.idle()
  }

  stop(): Promise<void> {
    return this.#worker.stop()
  }

  async #wantAll(range: Range): Promise<void> {
    const { items } = await this.#deps.store.list(range)
    for (const stored of items) if (holdsToken(stored)) this.#worker.add(stored.key)
  }

  async #reconcile(key: Key): Promise<void> {
    const { space, resource, namespace } = key
    if (resource === SECRETS.resource) await this.#converge(key)
    else await this.#wantAll({ space, ...SECRETS, namespace })
  }

  /** Whether a token was made by a server like this one for an account of a space. */
  #isTokenOf(space: string, encoded: unknown): boolean {
    if (typeof encoded !== 'string') return false
    const claims = unverifiedClaims(Buffer.from(encoded, 'base64').toString())
    const isOurs = this.#deps.issuer.formOf(claims?.iss, undefined) === 'legacy'
    return isOurs && claims?.['kubernetes.io/serviceaccount/clusterName'] === space
  }

  /** Whether a Secret without its account was never filled here, and may belong to an account of the clusters. */
  #isDescription(space: string, secret: KubeObject): boolean {
    return this.#deps.nature.isDescribed(space, ACCOUNTS) && !this.#isTokenOf(space, dataOf(secret).token)
  }

  /** A Secret that only describes one of the clusters is no credential here: a token from the time when it acted goes. */
  async #takeBack(key: Key, type: ResourceType, secret: KubeObject): Promise<void> {
    if (!this.#isTokenOf(key.space, dataOf(secret).token)) return
    const context = systemContext(key.space, COMPONENT)
    await this.#deps.registry.update(context, type, key.namespace, key.name, current => {
      const { token, ...rest } = dataOf(current)
      if (this.#isTokenOf(key.space, token)) current.data = rest
      return current
    })
  }

  /** Brings one Secret to its wanted state. */
  async #converge(key: Key): Promise<void> {
    const { store, registry, types, issuer, nature } = this.#deps
    const stored = await store.get(key)
    const type = types.in(key.space).find('', 'v1', SECRETS.resource)
    if (stored === undefined || type === undefined) return
    const secret = decodeObject(stored)
    const { annotations = {}, deletionTimestamp, uid } = secret.metadata
    if (secret.type !== TOKEN_SECRET_TYPE || deletionTimestamp !== undefined) return
    if (!nature.acts(key.space, SECRETS, secret)) return await this.#takeBack(key, type, secret)
    const name = annotations[ACCOUNT_NAME] ?? ''
    const found = await store.get({ ...key, ...ACCOUNTS, name })
    const account = found && decodeObject(found)
    if (account ? !nature.acts(key.space, ACCOUNTS, account) : this.#isDescription(key.space, secret)) return
    const accountUid = account && (account.metadata.uid ?? '')
    const context = systemContext(key.space, COMPONENT)
    if (accountUid === undefined || (annotations[ACCOUNT_UID] ?? accountUid) !== accountUid) {
      await deleteObject(registry.deps, context, type, key, { preconditions: { ...(uid && { uid }) } })
      return
    }
    const data = dataOf(secret)
    const known = typeof data.token === 'string' && data.token !== ''
    if (
      known &&
      data['ca.crt'] === encode(this.#caPem) &&
      data.namespace === encode(key.namespace) &&
      annotations[ACCOUNT_UID]
    ) {
      return
    }
    const ref = { namespace: key.namespace, name, uid: accountUid }
    const token = known ? data.token : encode(await issuer.issueForSecret(key.space, ref, key.name))
    await registry.update(context, type, key.namespace, key.name, current => {
      const held = dataOf(current)
      current.data = {
        ...held,
        'ca.crt': encode(this.#caPem),
        namespace: encode(key.namespace),
        token: held.token || token,
      }
      current.metadata.annotations = { ...current.metadata.annotations, [ACCOUNT_UID]: accountUid }
      return current
    })
  }
}

function holdsToken(stored: Stored): boolean {
  return stored.bytes.includes(TOKEN_SECRET_TYPE)
}

function dataOf(secret: KubeObject): Record<string, unknown> {
  return isRecord(secret.data) ? secret.data : {}
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
