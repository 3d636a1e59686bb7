/**
 * A cluster with reads and without writes: the server tries the writes that it can (`dryRun`), with its admission, and deletions are only
 * noted. Tried writes are remembered, the weightiest act for each object.
 */
import { namespaceTrouble } from '../apimachinery/errors.ts'
import type { GroupResource, KubeObject } from '../apimachinery/object.ts'
import { NAMESPACES } from '../apimachinery/resources.ts'
import { equalJson } from '../apimachinery/values.ts'
import type { ObjectRef, SpaceClient } from '../client/client.ts'
import { keyText, type SyncKey } from './mailbox/mirror.ts'
import { isStrangers, SYNCER_MANAGER } from './objects/marks.ts'

/** By weight. */
const ACTS = ['change', 'adopt', 'create', 'release', 'delete'] as const
export type Act = (typeof ACTS)[number]

export class RehearsedCluster {
  readonly #acts = new Map<string, Act>()
  /** As they were read last, for whoever writes them. */
  readonly #read = new Map<string, KubeObject>()
  /** Unwanted objects: a change of one is its release. */
  readonly #unwanted = new Set<string>()

  actOn(key: SyncKey): Act | undefined {
    return this.#acts.get(keyText(key))
  }

  /** Tells of what is about to leave the cluster. */
  unwanted(key: SyncKey): void {
    this.#unwanted.add(keyText(key))
  }

  client(real: SpaceClient): SpaceClient {
    return {
      get: async (resource, ref) => {
        const object = await real.get(resource, ref)
        this.#read.set(idOf(resource, ref), object)
        return object
      },
      list: (...args) => real.list(...args),
      watch: (...args) => real.watch(...args),
      discover: () => real.discover(),
      create: async (resource, object, options) => {
        const { namespace = '', name = '' } = object.metadata
        const tried = await this.#inItsNamespace(namespace, object, () =>
          real.create(resource, object, { ...options, dryRun: true }),
        )
        this.#note(idOf(resource, { namespace, name }), 'create')
        return tried
      },
      update: async (resource, object, options) => {
        const { namespace = '', name = '' } = object.metadata
        const tried = await real.update(resource, object, { ...options, dryRun: true })
        this.#changed(idOf(resource, { namespace, name }), tried)
        return tried
      },
      patch: async (resource, ref, type, body, options) => {
        const tried = await real.patch(resource, ref, type, body, { ...options, dryRun: true })
        const isOurWord = options?.fieldManager === SYNCER_MANAGER && type !== 'json'
        if (isOurWord) this.#changed(idOf(resource, ref), tried)
        return tried
      },
      delete: async (resource, ref) => this.#note(idOf(resource, ref), 'delete'),
    }
  }

  /** A Namespace that would be there by then is not there now: what is to come into it cannot be tried. */
  async #inItsNamespace(
    namespace: string,
    object: KubeObject,
    attempt: () => Promise<KubeObject>,
  ): Promise<KubeObject> {
    try {
      return await attempt()
    } catch (error) {
      const lacksIt = namespaceTrouble(error) === 'NamespaceMissing'
      if (!lacksIt || this.#acts.get(idOf(NAMESPACES, { name: namespace })) !== 'create') throw error
      return object
    }
  }

  #changed(id: string, tried: Readonly<KubeObject>): void {
    const before = this.#read.get(id)
    if (this.#unwanted.has(id)) this.#note(id, 'release')
    else if (before && isStrangers(before)) this.#note(id, 'adopt')
    else if (!before || !equalJson(comparable(before), comparable(tried))) this.#note(id, 'change')
  }

  #note(id: string, act: Act): void {
    const before = this.#acts.get(id)
    if (before === undefined || ACTS.indexOf(act) > ACTS.indexOf(before)) this.#acts.set(id, act)
  }
}

function idOf(resource: GroupResource, { namespace = '', name }: ObjectRef): string {
  return keyText({ group: resource.group, resource: resource.resource, namespace, name })
}

/** Without what a server counts and notes of each write. */
function comparable({ metadata, ...rest }: Readonly<KubeObject>): unknown {
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...more } = metadata
  return { ...rest, metadata: more }
}
