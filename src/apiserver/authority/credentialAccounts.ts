/** The server's account of credentials: Secrets without a secret in the namespace `default` of mailboxes and of the core space. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { KubeObject, OwnerReference } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { CREDENTIAL_PREFIX, CREDENTIAL_TYPE } from '../../placement/spaces/syncerCredential.ts'
import { SYNCER_NAMESPACE } from '../../placement/words/placement.ts'
import type { Store } from '../../storage/store.ts'
import type { ObjectReader } from '../auth/serviceAccountAuthenticator.ts'
import { deleteObject } from '../operations/remove.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

/** A mailbox has few. */
const PAGE = 20

const SECRETS = { group: '', version: 'v1', resource: 'secrets' } as const

export interface CredentialAccountsDeps {
  store: Pick<Store, 'list'>
  registry: Registry
  types: Pick<TypeRegistry, 'builtinIn'>
  getObject: ObjectReader
  /** By which its writes are known. */
  component: string
}

export interface NewAccount {
  name: string
  type: string
  annotations: Record<string, string>
  ownerReferences?: OwnerReference[]
}

export class CredentialAccounts {
  readonly #deps: CredentialAccountsDeps

  constructor(deps: CredentialAccountsDeps) {
    this.#deps = deps
  }

  get(space: string, name: string): Soon<KubeObject | undefined> {
    return this.#deps.getObject(space, '', 'secrets', SYNCER_NAMESPACE, name)
  }

  /** Those whose names begin so: others beside them, copies of workload in a mailbox, are not read. */
  async list(space: string, prefix: string): Promise<KubeObject[]> {
    const range = { space, group: SECRETS.group, resource: SECRETS.resource, namespace: SYNCER_NAMESPACE }
    const found: KubeObject[] = []
    let after = { ...range, name: prefix }
    for (;;) {
      const { items, more } = await this.#deps.store.list(range, { after, limit: PAGE, uncounted: true })
      for (const stored of items) {
        if (!stored.key.name.startsWith(prefix)) return found
        found.push(decodeObject(stored))
      }
      const last = items.at(-1)
      if (!more || last === undefined) return found
      after = { ...range, name: last.key.name }
    }
  }

  /** All credentials of a mailbox, by name. */
  async credentialNames(space: string): Promise<string[]> {
    const ours = await this.list(space, CREDENTIAL_PREFIX)
    return ours.filter(({ type }) => type === CREDENTIAL_TYPE).map(({ metadata }) => metadata.name ?? '')
  }

  /** @throws StatusError AlreadyExists */
  async create(space: string, { type, ...metadata }: NewAccount): Promise<KubeObject> {
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: SYNCER_NAMESPACE, ...metadata }, type }
    const { stored } = await this.#deps.registry.create(
      this.#context(space),
      this.#type(space),
      SYNCER_NAMESPACE,
      object,
    )
    return decodeObject(stored)
  }

  /** @param change is run again on a conflict. @throws StatusError NotFound, and all that `change` throws */
  async change(space: string, name: string, change: (secret: KubeObject) => void): Promise<void> {
    await this.#deps.registry.update(this.#context(space), this.#type(space), SYNCER_NAMESPACE, name, secret => {
      change(secret)
      return secret
    })
  }

  /** That one, and no other of its name. */
  async delete(space: string, { metadata: { name = '', uid = '' } }: KubeObject): Promise<void> {
    const ref = { namespace: SYNCER_NAMESPACE, name }
    try {
      await deleteObject(this.#deps.registry.deps, this.#context(space), this.#type(space), ref, {
        preconditions: { uid },
      })
    } catch (error) {
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
  }

  #context(space: string) {
    return systemContext(space, this.#deps.component)
  }

  #type(space: string) {
    return this.#deps.types.builtinIn(space, SECRETS)
  }
}
