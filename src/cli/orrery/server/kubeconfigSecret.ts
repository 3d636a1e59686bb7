/**
 * `--kubeconfig-secret`: the administrator's kubeconfigs as a Secret of the server's own cluster. It has one for people outside
 * (`external.kubeconfig`), one for neighbours (`cluster.kubeconfig`), and a general one (`admin.kubeconfig`). The keys are those of
 * KubeStellar's chart. `ca.crt` is the authority that vouches for the names inside. They are written at the start, when certificates were
 * renewed, and looked after once an hour: a Secret that somebody deleted comes back. The cluster may be away; the server runs all the same.
 */
import { createHash, X509Certificate } from 'node:crypto'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { SECRETS } from '../../../apimachinery/resources.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { type Clock, idleClock } from '../../../client/clock.ts'
import type { Logger } from '../../../client/logger.ts'
import { unlessGone } from '../../../client/unlessGone.ts'

const FIELD_MANAGER = 'orrery'
/** Identity of the server: a hash of its authority, which outlives restarts. */
export const SERVER_ANNOTATION = 'orrery/server'
const RETRY_MS = 30_000
const LOOK_AFTER_MS = 3_600_000
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

export interface KubeconfigSecretOptions {
  client: Pick<SpaceClient, 'get' | 'patch'>
  namespace: string
  name: string
  /** URLs, without a path. */
  external: string | undefined
  internal: string | undefined
  /** The kubeconfig that leads to a URL, as of now. */
  kubeconfigFor: (server: string) => string
  /** Present authority of the server. */
  caPem: () => string
  /** Default: one whose timers keep no process alive. */
  clock?: Pick<Clock, 'after'>
  log: Logger
}

export class KubeconfigSecret {
  readonly #options: KubeconfigSecretOptions
  #cancel: (() => void) | undefined
  #writing: Promise<void> | undefined
  #again = false
  #stopped = false
  #failing = false
  #isLogged = false

  constructor(options: KubeconfigSecretOptions) {
    this.#options = options
  }

  /** Writes what is true now; called anew when that changed. Never throws: a failure is logged, and retried. */
  write(): void {
    if (this.#stopped) return
    this.#cancel?.()
    if (this.#writing) {
      this.#again = true
      return
    }
    this.#again = false
    this.#writing = this.#try().then(delayMs => {
      this.#writing = undefined
      if (this.#again) this.write()
      else if (!this.#stopped) this.#cancel = (this.#options.clock ?? idleClock).after(delayMs, () => this.write())
    })
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.#writing
  }

  /** @returns when to write again */
  async #try(): Promise<number> {
    const { client, namespace, name, log } = this.#options
    const secret = this.#secret()
    try {
      const before = await this.#before()
      const owner = secret.metadata.annotations![SERVER_ANNOTATION]
      if (before !== undefined && before !== owner) {
        const remedy = 'if that server still runs, give each a --kubeconfig-secret of its own'
        log.warn(
          { namespace, name },
          `the Secret held the kubeconfigs of another Orrery server and is written over; ${remedy}`,
        )
      }
      await client.patch(SECRETS, { namespace, name }, 'apply', secret, { fieldManager: FIELD_MANAGER, force: true })
      if (this.#failing || !this.#isLogged) log.info({ namespace, name }, 'the kubeconfigs are in the Secret')
      this.#isLogged = true
      this.#failing = false
      return LOOK_AFTER_MS
    } catch (error) {
      if (this.#stopped) return RETRY_MS
      const remedy = `the ServiceAccount must get and patch Secret ${name} in ${namespace}; it is tried again`
      if (!this.#failing) log.error({ err: error, namespace, name }, `the kubeconfigs could not be written: ${remedy}`)
      this.#failing = true
      return RETRY_MS
    }
  }

  /** Server of the Secret's kubeconfigs; `undefined`: none, or it is not there. */
  async #before(): Promise<string | undefined> {
    const { client, namespace, name } = this.#options
    const found = await unlessGone(client.get(SECRETS, { namespace, name }))
    return found?.metadata.annotations?.[SERVER_ANNOTATION]
  }

  #secret(): KubeObject {
    const { namespace, name, external, internal, kubeconfigFor, caPem } = this.#options
    const at = (server: string): string => Buffer.from(kubeconfigFor(server)).toString('base64')
    const [best = '', ...others] = [external, internal].filter(server => server !== undefined)
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name, annotations: { [SERVER_ANNOTATION]: keyHash(caPem()) } },
      type: 'Opaque',
      data: {
        'admin.kubeconfig': at(best),
        'external.kubeconfig': at(best),
        'cluster.kubeconfig': at(others[0] ?? best),
        'ca.crt': Buffer.from(caPem()).toString('base64'),
      },
    } as KubeObject
  }
}

/** @throws Error naming the flag */
export function secretName(text: string): { namespace: string | undefined; name: string } {
  const [namespace, name] = text.includes('/') ? text.split('/', 2) : [undefined, text]
  if (!NAME.test(name ?? '') || (namespace !== undefined && !NAME.test(namespace)))
    throw new Error(
      `--kubeconfig-secret: ${JSON.stringify(text)} is no name of a Secret, such as orrery or orrery/kubeconfigs`,
    )
  return { namespace, name: name! }
}

/** Hash of the key, which stays when the authority's certificate is renewed. */
function keyHash(caPem: string): string {
  const key = new X509Certificate(caPem).publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(key).digest('hex').slice(0, 32)
}
