/**
 * Keeps the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` in every active namespace of every space, from its creation on
 * and after each deletion or change.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
 */

import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { namespaceTrouble } from '../../apimachinery/errors.ts'
import { at } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import type { Controller } from '../../client/controller.ts'
import type { StreamHandler } from '../../client/streamSource.ts'
import { unlessGone, unlessThere } from '../../client/unlessGone.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'

interface NamespaceKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly namespace: string
}

interface ServiceAccountControllerOptions extends ControllerRuntime {
  /** The authorities that pods are to trust, PEM. */
  caPem: string
}

const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const ACCOUNT = 'default'
const CA_CONFIG_MAP = 'kube-root-ca.crt'

/** Names of namespaces whose objects are kept ready. */
const NAMES = 100
/** Namespaces that are completed with one write, and such writes at a time, which share the syncs of the disk. */
const TOGETHER = 128
const AT_ONCE = 64

interface Bodies {
  readonly account: KubeObject
  readonly ca: KubeObject
}

/** Known facts of a namespace: bits of a number, for there may be hundreds of thousands. */
const ACTIVE = 1
const HAS_ACCOUNT = 2
const HAS_CA = 4
const COMPLETE = ACTIVE | HAS_ACCOUNT | HAS_CA

/** Missing objects of each namespace, from the stream: three bits per namespace instead of three requests. */
export class NamespaceIndex implements StreamHandler {
  #caPem: string
  /** As it stands in the text of the ConfigMap, and nowhere else in that of any. */
  #caText: string
  readonly #missing: (key: NamespaceKey) => void
  readonly #known = new Map<string, number>()
  #synced = false

  constructor(caPem: string, missing: (key: NamespaceKey) => void) {
    this.#caPem = caPem
    this.#caText = textOf(caPem)
    this.#missing = missing
  }

  /** The common content has changed. */
  useAuthority(caPem: string): void {
    if (caPem === this.#caPem) return
    this.#caPem = caPem
    this.#caText = textOf(caPem)
    for (const [id, known] of this.#known) this.#known.set(id, known & ~HAS_CA)
    if (this.#synced) this.#reportMissing()
  }

  /** Whether a namespace still lacks something: what came meanwhile, or went with its space, is no work. */
  lacks({ space, namespace }: NamespaceKey): boolean {
    const known = this.#known.get(`${space}/${namespace}`)
    return known !== undefined && lacks(known)
  }

  /** The same of all that it has to have, as of a new one. */
  lacksAll({ space, namespace }: NamespaceKey): boolean {
    return this.#known.get(`${space}/${namespace}`) === ACTIVE
  }

  /** Namespaces that are known. */
  get size(): number {
    return this.#known.size
  }

  begin(): void {
    this.#synced = false
    this.#known.clear()
  }

  change(event: StreamEvent): void {
    const { space, name, resource } = event
    const gone = event.type === 'DELETED'
    if (resource.resource === NAMESPACES.resource) {
      if (gone) return void this.#known.delete(`${space}/${name}`)
      const active = !event.mentions('"deletionTimestamp"') || isActive(event.object)
      this.#note({ space, namespace: name }, ACTIVE, active)
    } else if (resource.resource === ACCOUNTS.resource && name === ACCOUNT) {
      this.#note({ space, namespace: event.namespace }, HAS_ACCOUNT, !gone)
    } else if (resource.resource === CONFIG_MAPS.resource && name === CA_CONFIG_MAP) {
      // those that it made itself need not be parsed, one for each namespace
      const good = !gone && (event.mentions(this.#caText) || caOf(event.object) === this.#caPem)
      this.#note({ space, namespace: event.namespace }, HAS_CA, good)
    }
  }

  synced(): void {
    this.#synced = true
    this.#reportMissing()
  }

  #reportMissing(): void {
    for (const [id, known] of this.#known) {
      if (!lacks(known)) continue
      const [space = '', namespace = ''] = id.split('/')
      this.#missing({ space, namespace })
    }
  }

  #note(key: NamespaceKey, bit: number, isSo: boolean): void {
    const id = `${key.space}/${key.namespace}`
    const before = this.#known.get(id) ?? 0
    const known = isSo ? before | bit : before & ~bit
    // the stream reports objects of a namespace after its end when it was removed by force
    if (known === 0) this.#known.delete(id)
    else if (known !== before) this.#known.set(id, known)
    if (this.#synced && lacks(known)) this.#missing(key)
  }
}

export class ServiceAccountReconciler {
  readonly #client: Client
  /** Bodies of new objects, by name of the namespace: in most spaces they are the same. Immutable. Nobody changes it. */
  readonly #bodies = new BoundedCache<string, Bodies>({ entries: NAMES })
  #caPem: string

  constructor(options: Pick<ServiceAccountControllerOptions, 'client' | 'caPem'>) {
    this.#client = options.client
    this.#caPem = options.caPem
  }

  useAuthority(caPem: string): void {
    this.#caPem = caPem
    this.#bodies.clear()
  }

  /** Makes both for many namespaces that lack them; for each, at its index, whether that is done. */
  async makeMany(keys: readonly NamespaceKey[]): Promise<readonly boolean[]> {
    const wanted = keys.flatMap(({ space, namespace }) => {
      const { account, ca } = this.#bodiesOf(namespace)
      return [
        { space, resource: ACCOUNTS, object: account },
        { space, resource: CONFIG_MAPS, object: ca },
      ]
    })
    const made = (await this.#client.createCopies?.(wanted)) ?? []
    return keys.map((_, i) => typeof made[2 * i] === 'object' && typeof made[2 * i + 1] === 'object')
  }

  async reconcile(key: NamespaceKey): Promise<void> {
    try {
      await this.#complete(key)
    } catch (error) {
      // one that ends, or has ended since it was read, lacks nothing any more
      if (namespaceTrouble(error) === undefined) throw error
    }
  }

  async #complete({ space, namespace }: NamespaceKey): Promise<void> {
    const client = this.#client.in(space)
    const found = await unlessGone(client.get(NAMESPACES, { name: namespace }))
    if (!found || !isActive(found)) return
    const { account, ca } = this.#bodiesOf(namespace)
    await unlessThere(client.create(ACCOUNTS, account, { shared: true }))
    if (await unlessThere(client.create(CONFIG_MAPS, ca, { shared: true }))) return
    const current = await client.get(CONFIG_MAPS, { namespace, name: CA_CONFIG_MAP })
    if (caOf(current) === this.#caPem) return
    await client.update(CONFIG_MAPS, { ...current, data: ca.data })
  }

  #bodiesOf(namespace: string): Bodies {
    const known = this.#bodies.get(namespace)
    if (known) return known
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace } }
    const bodies = { account, ca: caConfigMap(namespace, this.#caPem) }
    this.#bodies.set(namespace, bodies)
    return bodies
  }
}

interface ServiceAccountController extends Controller<NamespaceKey> {
  /** Brings a renewed authority, PEM, into every namespace. */
  useAuthority(caPem: string): void
}

export function serviceAccountController(options: ServiceAccountControllerOptions): ServiceAccountController {
  const reconciler = new ServiceAccountReconciler(options)
  const handler = new NamespaceIndex(options.caPem, key => controller.add(key))
  const controller = spacesController<NamespaceKey>({
    ...options,
    name: 'serviceaccount-controller',
    resources: [NAMESPACES, ACCOUNTS, CONFIG_MAPS],
    handler,
    together: {
      most: TOGETHER,
      atOnce: AT_ONCE,
      concerns: () => true,
      prepare: key => (handler.lacksAll(key) ? key : undefined),
      work: keys => reconciler.makeMany(keys as readonly NamespaceKey[]),
    },
    reconcile: async key => {
      if (handler.lacks(key)) await reconciler.reconcile(key)
    },
    id: key => `${key.space}/${key.namespace}`,
  })
  return Object.assign(controller, {
    useAuthority(caPem: string) {
      reconciler.useAuthority(caPem)
      handler.useAuthority(caPem)
    },
  })
}

export function caConfigMap(namespace: string, caPem: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: CA_CONFIG_MAP,
      namespace,
      annotations: { 'kubernetes.io/description': 'The certificate authorities that vouch for this API server.' },
    },
    data: { 'ca.crt': caPem },
  }
}

function lacks(known: number): boolean {
  return (known & ACTIVE) !== 0 && known !== COMPLETE
}

function isActive(namespace: KubeObject): boolean {
  return namespace.metadata.deletionTimestamp === undefined
}

/** Quotes are escaped within texts, so this is data and nothing that somebody says of data. */
function textOf(caPem: string): string {
  return `"data":${JSON.stringify({ 'ca.crt': caPem })}`
}

function caOf(configMap: KubeObject): unknown {
  return at(configMap.data, 'ca.crt')
}
