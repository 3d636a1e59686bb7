/** Content of every space from its birth, and its removal. Both are safe to repeat. */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import { LOGICAL_CLUSTERS, NAMESPACES, PATH_ANNOTATION, STORE_ANNOTATION } from '../../apimachinery/resources.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { unlessThere } from '../../client/unlessGone.ts'
import { FIRST_NAMESPACES, OWNER_BINDING } from '../../placement/spaces/firstContent.ts'
import { NATURED_LABEL } from '../../placement/spaces/nature.ts'
import type { Range, Store } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext, systemUser } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { ROOT, type SpaceTree } from './tree.ts'

export interface SpaceContentDeps {
  store: Store
  registry: Pick<Registry, 'create' | 'copies' | 'update'>
  types: TypeRegistry
  tree: SpaceTree
  /** `https://host:port`, without a path. */
  externalUrl: () => string
  /** False for a plain cluster: it has no kinds that speak of spaces. */
  spaces: boolean
}

/** Name of the server as the keeper of spaces. */
export const COMPONENT = 'spaces'
const PURGE_BATCH = 500
/** Users whose bindings are kept. */
const OWNERS = 100
const BINDINGS = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' } as const
/** The very same in every space. */
const INITIAL_NAMESPACES: readonly KubeObject[] = FIRST_NAMESPACES.map(name => {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
})

export class SpaceContent {
  readonly #deps: SpaceContentDeps
  /** Bindings that make users administrators, by the user: the maker of many spaces gets the same in each. Immutable. Nobody changes it. */
  readonly #bindings = new BoundedCache<string, KubeObject>({ entries: OWNERS })
  #store: string | undefined

  constructor(deps: SpaceContentDeps) {
    this.#deps = deps
  }

  /** `owner` is the user who becomes its administrator. */
  async fill(space: string, owner: string | undefined): Promise<void> {
    const shared = this.#ensureShared(space, this.#sharedContent(owner))
    // At the same time: they share a wait for the disk. Both to their ends, so that nothing comes into a space that is emptied.
    const parts = this.#deps.spaces ? [shared, this.#ensureLogicalCluster(space)] : [shared]
    for (const part of await Promise.allSettled(parts)) if (part.status === 'rejected') throw part.reason
  }

  async #ensureLogicalCluster(space: string): Promise<void> {
    const path = this.#deps.tree.pathOf(space) ?? space
    const store = space === ROOT ? undefined : await this.#storeId()
    const annotations = { [PATH_ANNOTATION]: path, ...(store && { [STORE_ANNOTATION]: store }) }
    const { registry, types, externalUrl } = this.#deps
    const object = {
      apiVersion: apiVersionOf(LOGICAL_CLUSTERS),
      kind: 'LogicalCluster',
      metadata: { name: 'cluster', annotations },
      spec: {},
      status: { phase: 'Ready', URL: `${externalUrl()}/clusters/${space}` },
    }
    const type = types.builtinIn(space, LOGICAL_CLUSTERS)
    await unlessThere(registry.create(systemContext(space, COMPONENT), type, '', object))
  }

  /** Content without a mention of its space. */
  #sharedContent(owner: string | undefined): readonly KubeObject[] {
    // The server needs no role, and nobody else shall have one by its name.
    if (!this.#deps.spaces || owner === undefined || owner.startsWith(systemUser(''))) return INITIAL_NAMESPACES
    const known = this.#bindings.get(owner)
    if (known) return [...INITIAL_NAMESPACES, known]
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: OWNER_BINDING, labels: { [NATURED_LABEL]: 'true' } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: owner }],
    }
    this.#bindings.set(owner, binding)
    return [...INITIAL_NAMESPACES, binding]
  }

  /** The uid of the root's LogicalCluster: made when the store was new, and never again. */
  async #storeId(): Promise<string | undefined> {
    if (this.#store === undefined) {
      const { group, resource } = LOGICAL_CLUSTERS
      const stored = await this.#deps.store.get({ space: ROOT, group, resource, namespace: '', name: 'cluster' })
      this.#store = stored && decodeObject(stored).metadata.uid
    }
    return this.#store
  }

  /** @throws the signal's reason when it aborts before all is gone */
  async purge(space: string, signal: AbortSignal): Promise<void> {
    // First the object that stands for the space: who follows it knows that what vanishes next was not unwanted.
    await this.#deleteAll({ space, group: LOGICAL_CLUSTERS.group, resource: LOGICAL_CLUSTERS.resource }, signal)
    await this.#deleteAll({ space }, signal)
  }

  /** One wait for the disk, once the first space has shown their bodies. */
  async #ensureShared(space: string, objects: readonly KubeObject[]): Promise<void> {
    const { registry, types } = this.#deps
    const context = systemContext(space, COMPONENT)
    const wanted = objects.map(object => {
      const type = types.builtinIn(space, object.kind === 'Namespace' ? NAMESPACES : BINDINGS)
      return { context, type, namespace: '', object }
    })
    const made = await registry.copies.create(wanted)
    const lacking = wanted.filter((_, i) => made[i] === undefined)
    await Promise.all(
      lacking.map(({ type, object }) =>
        unlessThere(registry.create(context, type, '', cloneJson(object), { isShared: true })),
      ),
    )
  }

  async #deleteAll(range: Range, signal: AbortSignal): Promise<void> {
    const { store } = this.#deps
    for (;;) {
      signal.throwIfAborted()
      const { items } = await store.list(range, { limit: PURGE_BATCH, uncounted: true })
      if (items.length === 0) return
      await store.writeMany(
        items.map(stored => ({
          key: stored.key,
          expect: stored.revision,
          mutation: { type: 'delete' as const },
        })),
      )
    }
  }
}
