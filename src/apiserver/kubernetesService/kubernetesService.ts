/**
 * Keeps the Service `kubernetes`, its Endpoints and its EndpointSlice in every space. Nothing is stored for a space that leaves them alone:
 * all show one layer. A space that labels one gets a copy of its own, and the write itself corrects the server's fields in a copy. A
 * deletion of one is followed by a new one at once, with a new uid.
 */
import { isKubernetesService, KUBERNETES } from '../../apimachinery/kubernetesService.ts'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson, equalJson } from '../../apimachinery/values.ts'
import type { Key, Store } from '../../storage/store.ts'
import type { Admission } from '../registry/admission.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { keyOf } from '../registry/keys.ts'
import { type SharedLayer, type SharedLayers, sharedAs } from '../registry/sharedObjects.ts'
import { type KubernetesObjectsOptions, kubernetesObjects, type ServerAddress } from './kubernetesObjects.ts'

interface KubernetesServiceDeps {
  store: Pick<Store, 'list' | 'update' | 'write'>
  /** The content of the space is being removed: nothing comes back there. */
  isEnding: (space: string) => boolean
  clock: () => Date
  uuid: () => string
}

/** Fields that the server does not decide, or only at the beginning. */
const OTHERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status'])

export class KubernetesService {
  readonly #deps: KubernetesServiceDeps
  readonly #options: Omit<KubernetesObjectsOptions, keyof ServerAddress>
  #objects: ReadonlyMap<string, KubeObject> = new Map()

  constructor(deps: KubernetesServiceDeps, options: Omit<KubernetesObjectsOptions, keyof ServerAddress>) {
    this.#deps = deps
    this.#options = options
    this.#changed({ address: '127.0.0.1', port: 443 })
  }

  /** Once it is known where the server is reached: brings copies of earlier runs up to date. */
  async start(address: ServerAddress): Promise<void> {
    this.#changed(address)
    const { store } = this.#deps
    for (const { type } of kubernetesObjects({ ...this.#options, ...address })) {
      const { items } = await store.list(type)
      const copies = items.filter(({ key }) => isOwn(key))
      await Promise.all(
        copies.map(({ key }) =>
          store.update(key, stored => {
            if (stored === undefined) return undefined
            const object = decodeObject(stored)
            const before = cloneJson(object)
            this.#putRight(key, object)
            return equalJson(object, before) ? undefined : { type: 'put', text: encodeObject(object) }
          }),
        ),
      )
    }
  }

  /** Layers for spaces without a copy. */
  layers(): SharedLayers {
    const layer = (resource: string): SharedLayer => ({
      changeable: true,
      comeBack: key => this.#makeAnew(key),
      namespace: KUBERNETES.namespace,
      has: (_space, name) => name === KUBERNETES.name,
      get: async (space, type, name) =>
        name === KUBERNETES.name ? sharedAs(space, type, this.#objects.get(resource)!) : undefined,
      names: async () => [KUBERNETES.name],
      list: async (space, type, { names }) => names.map(() => sharedAs(space, type, this.#objects.get(resource)!)),
    })
    return new Map([...this.#objects.keys()].map(resource => [resource, layer(resource)]))
  }

  /** Corrects the server's fields in a space's copy. */
  admission(): Admission {
    return {
      stage: 'mutate',
      handles: (_type, operation, subresource) => operation === 'UPDATE' && subresource === '',
      reaches: ({ namespace }, type) =>
        namespace === KUBERNETES.namespace && this.#objects.has(groupResourceName(type)),
      concerns: ({ object }) => object.metadata.name === KUBERNETES.name,
      admit: ({ context, type, object }) => {
        const key = keyOf(context.space, type, KUBERNETES.namespace, object.metadata.name ?? '')
        if (isOwn(key)) this.#putRight(key, object)
      },
    }
  }

  #changed(address: ServerAddress): void {
    const objects = kubernetesObjects({ ...this.#options, ...address })
    this.#objects = new Map(objects.map(({ type, object }) => [groupResourceName(type), object]))
  }

  #putRight(key: Key, object: KubeObject): void {
    const right = this.#objects.get(groupResourceName(key))!
    for (const [field, value] of Object.entries(right)) if (!OTHERS.has(field)) object[field] = cloneJson(value)
    object.metadata.labels = { ...object.metadata.labels, ...right.metadata.labels }
  }

  async #makeAnew(key: Key): Promise<void> {
    if (this.#deps.isEnding(key.space)) return
    const shown = decodeObject(sharedAs(key.space, key, this.#objects.get(groupResourceName(key))!))
    const metadata = {
      ...shown.metadata,
      uid: this.#deps.uuid(),
      creationTimestamp: timestamp(this.#deps.clock()),
    }
    // A faster writer made it: that is as good.
    await this.#deps.store.write({
      key,
      mutation: { type: 'put', text: encodeObject({ ...shown, metadata }) },
      expect: 0,
    })
  }
}

function isOwn(key: Key): boolean {
  return isKubernetesService(key, key.namespace, key.name)
}
