/**
 * Credential of a syncer that joined, and its place over restarts: the state folder, or a Secret of the cluster (`--credential-secret`).
 * The folder of a Pod may go with its node. A Secret is the truth. Its content is put into the state folder, where a new credential is
 * taken up as from any kubeconfig.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isStatusError } from '../../../apimachinery/errors.ts'
import { str } from '../../../apimachinery/fields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { SECRETS } from '../../../apimachinery/resources.ts'
import type { ObjectRef, SpaceClient } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import { Informer } from '../../../client/informer.ts'
import type { Logger } from '../../../client/logger.ts'
import { CLAIM_KEY } from '../../../placement/spaces/syncerBootstrap.ts'
import { readIfExists, writePrivateFile } from '../../../program/replacedFiles.ts'
import {
  CLAIM_KEY_FIELD,
  CREDENTIAL_FIELD,
  MAILBOX_FIELD,
  type SyncerAccess,
  syncerKubeconfig,
  toYaml,
} from '../../kubestellar/syncers/syncerManifest.ts'

/** In the state folder. */
const KUBECONFIG = 'mailbox.kubeconfig'
const KEY = 'mailbox-claim.key'
/** Beside the kubeconfig that comes from a Secret. */
const TOKEN = 'mailbox.credential'

export interface JoinedCredential {
  /** Path of the kubeconfig to go by, and what names it for people. */
  readonly path: string
  readonly place: string
  /** Whether the syncer joined; `path` can be read then. */
  isThere(): Promise<boolean>
  /** The key of the claim: made once, and kept before its first use. */
  claimKey(): Promise<string>
  keep(access: SyncerAccess): Promise<void>
}

export class FolderCredential implements JoinedCredential {
  readonly path: string
  readonly #keyPath: string

  constructor(stateDir: string) {
    this.path = join(stateDir, KUBECONFIG)
    this.#keyPath = join(stateDir, KEY)
  }

  get place(): string {
    return this.path
  }

  async isThere(): Promise<boolean> {
    return (await readIfExists(this.path)) !== undefined
  }

  async claimKey(): Promise<string> {
    const before = (await readIfExists(this.#keyPath))?.trim()
    if (before !== undefined && CLAIM_KEY.test(before)) return before
    const key = newKey()
    await writePrivateFile(this.#keyPath, key)
    return key
  }

  async keep(access: SyncerAccess): Promise<void> {
    await writePrivateFile(this.path, toYaml(syncerKubeconfig(access)))
  }
}

interface SecretCredentialOptions {
  cluster: SpaceClient
  /** The Secret, which is there: the syncer may change it, and make none. */
  ref: ObjectRef & { readonly namespace: string }
  stateDir: string
  log: Logger
  clock: Clock
  random: () => number
}

export class SecretCredential implements JoinedCredential {
  readonly path: string
  readonly place: string
  readonly #options: SecretCredentialOptions
  readonly #tokenPath: string

  constructor(options: SecretCredentialOptions) {
    const { ref, stateDir } = options
    this.#options = options
    this.path = join(stateDir, KUBECONFIG)
    this.place = `Secret ${ref.namespace}/${ref.name} of the cluster`
    this.#tokenPath = join(stateDir, TOKEN)
  }

  async isThere(): Promise<boolean> {
    try {
      return await this.#taken(await this.#read())
    } catch (error) {
      if ((await readIfExists(this.path)) === undefined) throw error
      this.#options.log.warn({}, `${this.place} cannot be read: ${messageOf(error)}; the syncer goes by ${this.path}`)
      return true
    }
  }

  async claimKey(): Promise<string> {
    for (;;) {
      const secret = await this.#read()
      const before = fieldOf(secret, CLAIM_KEY_FIELD)
      if (CLAIM_KEY.test(before)) return before
      const key = newKey()
      try {
        await this.#write({ [CLAIM_KEY_FIELD]: key }, secret.metadata.resourceVersion)
        return key
      } catch (error) {
        // another Pod made one
        if (!isStatusError(error, 'Conflict')) throw error
      }
    }
  }

  async keep(access: SyncerAccess): Promise<void> {
    const kubeconfig = toYaml(syncerKubeconfig(access, TOKEN))
    await this.#taken(await this.#write({ [MAILBOX_FIELD]: kubeconfig, [CREDENTIAL_FIELD]: access.token }))
  }

  /** Takes up what is written there meanwhile, such as a new credential, until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { cluster, ref, clock, random, log } = this.#options
    const informer = new Informer({
      client: cluster,
      resource: SECRETS,
      namespace: ref.namespace,
      fieldSelector: `metadata.name=${ref.name}`,
      clock,
      random,
      logger: log,
    })
    let taking: Promise<unknown> = Promise.resolve()
    informer.subscribe(({ type, object }) => {
      if (type === 'delete') return log.warn({}, `${this.place} is gone: a Pod that starts anew cannot go on`)
      // one after the other, so that the newest stays
      taking = taking
        .then(() => this.#taken(object))
        .catch(error => log.warn({}, `${this.place} cannot be taken up: ${messageOf(error)}`))
    })
    await informer.run(signal)
    await taking
  }

  /** Whether the Secret has what the syncer goes by, which is then in the state folder. */
  async #taken(secret: KubeObject): Promise<boolean> {
    const [kubeconfig, token] = [fieldOf(secret, MAILBOX_FIELD), fieldOf(secret, CREDENTIAL_FIELD)]
    if (kubeconfig === '' || token === '') return false
    if ((await readIfExists(this.#tokenPath)) !== token) await writePrivateFile(this.#tokenPath, token)
    if ((await readIfExists(this.path)) !== kubeconfig) await writePrivateFile(this.path, kubeconfig)
    return true
  }

  async #read(): Promise<KubeObject> {
    const { cluster, ref } = this.#options
    try {
      return await cluster.get(SECRETS, ref)
    } catch (error) {
      if (!isStatusError(error, 'NotFound', 'Forbidden')) throw error
      const remedy = 'apply the manifest of prep-for-syncer again, which has the Secret and the right to it'
      throw new Error(`--credential-secret: ${error.message}; ${remedy}`, { cause: error })
    }
  }

  async #write(fields: Readonly<Record<string, string>>, resourceVersion?: string): Promise<KubeObject> {
    const { cluster, ref } = this.#options
    const data = Object.fromEntries(
      Object.entries(fields).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
    )
    const body = { ...(resourceVersion !== undefined && { metadata: { resourceVersion } }), data }
    return await cluster.patch(SECRETS, ref, 'merge', body, { fieldManager: 'orrery-syncer' })
  }
}

function fieldOf(secret: KubeObject, name: string): string {
  return Buffer.from(str(secret, 'data', name), 'base64').toString()
}

function newKey(): string {
  return randomBytes(32).toString('base64url')
}
