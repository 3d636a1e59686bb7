/**
 * Tokens without end, for those who ask for one with a Secret of type `kubernetes.io/service-account-token`: the Secret is
 * filled a moment after it is made, refilled when somebody empties it, and deleted when its ServiceAccount is gone.
 *
 * It follows the log of Secrets and ServiceAccounts of all spaces. Other Secrets are told apart by their bytes.
 * @see https://kubernetes.io/docs/concepts/configuration/secret/#serviceaccount-token-secrets
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { isStorageError, type Key, type Store, type Stored } from '../../storage/store.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import { deleteObject } from '../operations/remove.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { Logger } from '../request/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

export interface TokenSecretsDeps {
  store: Store
  registry: Registry
  types: TypeRegistry
  issuer: TokenIssuer
  /** What clients of this server are to trust, PEM. */
  caPem: string
  log: Logger
}

const TYPE = 'kubernetes.io/service-account-token'
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ACCOUNT_UID = 'kubernetes.io/service-account.uid'
const COMPONENT = 'token-secrets'
const SECRETS = { group: '', resource: 'secrets' } as const
const ACCOUNTS = { group: '', resource: 'serviceaccounts' } as const

export class TokenSecrets {
  readonly #deps: TokenSecretsDeps
  readonly #stopping = new AbortController()
  #loops: Promise<void>[] = []
  #caPem: string

  constructor(deps: TokenSecretsDeps) {
    this.#deps = deps
    this.#caPem = deps.caPem
  }

  /** Catches up with what happened while the server was down, in the background, then follows the log. */
  async start(): Promise<void> {
    const { items, revision } = await this.#deps.store.list(SECRETS)
    const waiting = items.filter(holdsToken).map(stored => stored.key)
    this.#loops = [this.#followSecrets(waiting, revision), this.#followAccounts(revision)]
  }

  /** Every Secret is given this authority instead. Resolves when those that are there have it. */
  async useAuthority(caPem: string): Promise<void> {
    if (caPem === this.#caPem) return
    this.#caPem = caPem
    await this.#settleAll()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#loops)
  }

  async #followSecrets(waiting: readonly Key[], after: number): Promise<void> {
    for (const key of waiting) {
      if (this.#stopping.signal.aborted) return
      await this.#settle(key)
    }
    await this.#follow(SECRETS, after, async event => {
      if (event.type === 'put' && holdsToken(event.stored)) await this.#settle(event.key)
    })
  }

  #followAccounts(after: number): Promise<void> {
    return this.#follow(ACCOUNTS, after, async event => {
      if (event.type !== 'delete') return
      const { space, namespace } = event.key
      const { items } = await this.#deps.store.list({ space, ...SECRETS, namespace })
      for (const stored of items) if (holdsToken(stored)) await this.#settle(stored.key)
    })
  }

  async #follow(
    range: typeof SECRETS | typeof ACCOUNTS,
    after: number,
    react: (event: { type: 'put' | 'delete'; key: Key; stored: Stored }) => Promise<void>,
  ): Promise<void> {
    const { store, log } = this.#deps
    const { signal } = this.#stopping
    let from: number | undefined = after
    while (!signal.aborted) {
      try {
        from ??= await this.#settleAll()
        for await (const batch of store.watch(range, { after: from, signal })) {
          for (const event of batch) {
            await react(event)
            from = event.revision
          }
        }
      } catch (error) {
        if (signal.aborted || isStorageError(error, 'Closed')) return
        log.error({ err: error, resource: range.resource }, 'the watch for token Secrets ended; starting again')
        // What was missed is made good by looking at everything.
        from = undefined
      }
    }
  }

  /** Resolves to the revision of what it looked at. */
  async #settleAll(): Promise<number> {
    const { items, revision } = await this.#deps.store.list(SECRETS)
    for (const stored of items) if (holdsToken(stored)) await this.#settle(stored.key)
    return revision
  }

  /** Brings one Secret to its wanted state. One that cannot be brought there is logged and left: others must not wait for it. */
  async #settle(key: Key): Promise<void> {
    try {
      await this.#converge(key)
    } catch (error) {
      if (isStatusError(error, 'NotFound', 'Conflict') || isStorageError(error, 'Closed')) return
      const { space, namespace, name } = key
      this.#deps.log.warn({ err: error, space, namespace, name }, 'a ServiceAccount token Secret could not be filled')
    }
  }

  async #converge(key: Key): Promise<void> {
    const { store, registry, types, issuer } = this.#deps
    const stored = await store.get(key)
    const type = types.in(key.space).find('', 'v1', SECRETS.resource)
    if (stored === undefined || type === undefined) return
    const secret = decodeObject(stored)
    const { annotations = {}, deletionTimestamp, uid } = secret.metadata
    if (secret.type !== TYPE || deletionTimestamp !== undefined) return
    const name = annotations[ACCOUNT_NAME] ?? ''
    const account = await store.get({ ...key, ...ACCOUNTS, name })
    const accountUid = account && (decodeObject(account).metadata.uid ?? '')
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
  return stored.bytes.includes(TYPE)
}

function dataOf(secret: KubeObject): Record<string, unknown> {
  return isRecord(secret.data) ? secret.data : {}
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
