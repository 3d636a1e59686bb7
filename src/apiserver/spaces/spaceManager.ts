/**
 * Gives Workspace objects their spaces: makes a new space's first content, marks it Ready, and empties the space again when
 * its Workspace is deleted. Works from the log, so a restart goes on where a crash left off.
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Range, Store, StoreEvent } from '../../storage/store.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { ROOT, type SpaceTree } from './tree.ts'

export const WORKSPACES = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' } as const
export const WORKSPACE_FINALIZER = 'core.kcp.io/logicalcluster'
export const OWNER_ANNOTATION = 'experimental.tenancy.kcp.io/owner'
const COMPONENT = 'spaces'
const PURGE_BATCH = 500
const INITIAL_NAMESPACES = ['default', 'kube-system', 'kube-public']

export interface SpaceManagerDeps {
  store: Store
  registry: Registry
  types: TypeRegistry
  tree: SpaceTree
  /** `https://host:port`, without a path. */
  externalUrl: () => string
  /** False for a plain cluster: it has no kinds that speak of spaces. */
  spaces: boolean
  /** Told after a space is gone. */
  onRemoved(space: string): void
  log: { error(fields: object, text: string): void }
}

interface WorkspaceView {
  id: string
  parent: string
  name: string
  object: KubeObject
  phase: string
  deleting: boolean
}

export class SpaceManager {
  readonly #deps: SpaceManagerDeps
  readonly #stopping = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  readonly #deleting = new Set<string>()
  #loop: Promise<void> = Promise.resolve()

  constructor(deps: SpaceManagerDeps) {
    this.#deps = deps
  }

  /** Loads the tree, makes the root space, and starts to follow the log. Unfinished work of an earlier run is taken up. */
  async start(): Promise<void> {
    const { store, tree } = this.#deps
    const { items, revision } = await store.list({ group: WORKSPACES.group, resource: WORKSPACES.resource })
    let pending = items.map(stored => viewOf(stored.key.space, decodeObject(stored))).filter(view => view.id !== '')
    const known = pending
    while (pending.length > 0) {
      const later = pending.filter(view => !this.#admit(view))
      if (later.length === pending.length) break
      pending = later
    }
    await this.#fill(ROOT, undefined)
    this.#loop = this.#follow(revision)
    for (const view of known) if (tree.get(view.id)) this.#handle(view)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
    await Promise.all(this.#running.values())
  }

  /** True while the content of a space is being removed: nothing may be written there. */
  isDeleting(id: string): boolean {
    return this.#deleting.has(id)
  }

  /** Puts a space into the tree; false when its parent is not there yet. */
  #admit(view: WorkspaceView): boolean {
    const { tree } = this.#deps
    if (tree.get(view.id)) return true
    if (!tree.get(view.parent)) return false
    tree.add(view)
    return true
  }

  async #follow(after: number): Promise<void> {
    const { store } = this.#deps
    const range = { group: WORKSPACES.group, resource: WORKSPACES.resource }
    let from = after
    while (!this.#stopping.signal.aborted) {
      try {
        for await (const batch of store.watch(range, { after: from, signal: this.#stopping.signal })) {
          for (const event of batch) {
            this.#react(event)
            from = event.revision
          }
        }
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        this.#deps.log.error({ error }, 'the watch of workspaces ended; starting it again')
        if (isClosed(error)) return
      }
    }
  }

  #react(event: StoreEvent): void {
    const view = viewOf(event.key.space, decodeObject(event.stored))
    if (view.id === '') return
    if (event.type === 'delete') {
      this.#deps.tree.remove(view.id)
      this.#deleting.delete(view.id)
      this.#deps.types.forgetSpace(view.id)
      this.#deps.onRemoved(view.id)
      return
    }
    this.#admit(view)
    this.#handle(view)
  }

  /** At most one piece of work for a space at a time; each reads the state anew. */
  #handle(view: WorkspaceView): void {
    if (!view.deleting && view.phase === 'Ready') return
    if (view.deleting) this.#deleting.add(view.id)
    const before = this.#running.get(view.id) ?? Promise.resolve()
    const work = before
      .then(() => (view.deleting ? this.#empty(view) : this.#provision(view)))
      .catch(error => {
        if (isStatusError(error, 'NotFound') || isClosed(error)) return
        this.#deps.log.error(
          { error, space: view.id, workspace: view.name },
          'a space could not be brought to its wanted state',
        )
      })
      .finally(() => {
        if (this.#running.get(view.id) === work) this.#running.delete(view.id)
      })
    this.#running.set(view.id, work)
  }

  async #provision(view: WorkspaceView): Promise<void> {
    await this.#fill(view.id, view.object.metadata.annotations?.[OWNER_ANNOTATION])
    await this.#updateWorkspace(view, 'status', current => {
      current.status = { ...(isRecord(current.status) ? current.status : {}), phase: 'Ready' }
      return current
    })
  }

  /** What every new space holds. Safe to repeat. */
  async #fill(space: string, owner: string | undefined): Promise<void> {
    const ensure = async (group: string, version: string, resource: string, object: KubeObject): Promise<void> => {
      const type = this.#deps.types.in(space).find(group, version, resource)
      if (type === undefined) throw new Error(`the built-in kind ${resource} is missing from the catalog`)
      try {
        await this.#deps.registry.create(systemContext(space, COMPONENT), type, '', object)
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists')) throw error
      }
    }
    const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await Promise.all(INITIAL_NAMESPACES.map(name => ensure('', 'v1', 'namespaces', namespace(name))))
    if (!this.#deps.spaces) return
    const path = this.#deps.tree.get(space)?.path ?? space
    await ensure('core.kcp.io', 'v1alpha1', 'logicalclusters', {
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'LogicalCluster',
      metadata: { name: 'cluster', annotations: { 'kcp.io/path': path } },
      spec: {},
      status: { phase: 'Ready', URL: `${this.#deps.externalUrl()}/clusters/${space}` },
    })
    const user = owner === undefined ? undefined : ownerName(owner)
    if (user === undefined) return
    await ensure('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'workspace-admin' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    })
  }

  /** Removes all content of a space and of the spaces below it, then lets its Workspace go. */
  async #empty(view: WorkspaceView): Promise<void> {
    const { tree } = this.#deps
    const below = (id: string): string[] => [...tree.children(id).flatMap(child => below(child.id)), id]
    for (const id of below(view.id)) {
      this.#deleting.add(id)
      await this.#purge(id)
    }
    await this.#updateWorkspace(view, '', current => {
      const finalizers = (current.metadata.finalizers ?? []).filter(f => f !== WORKSPACE_FINALIZER)
      if (finalizers.length > 0) current.metadata.finalizers = finalizers
      else delete current.metadata.finalizers
      return current
    })
  }

  async #purge(space: string): Promise<void> {
    // First the object that stands for the space: who follows it knows that what vanishes next was not unwanted.
    await this.#deleteAll({ space, group: 'core.kcp.io', resource: 'logicalclusters' })
    await this.#deleteAll({ space })
  }

  async #deleteAll(range: Range): Promise<void> {
    const { store } = this.#deps
    for (;;) {
      const { items } = await store.list(range, { limit: PURGE_BATCH })
      if (items.length === 0) return
      await store.writeMany(
        items.map(stored => ({
          key: stored.key,
          expect: stored.revision,
          mutation: { type: 'delete' as const, text: encodeObject(decodeObject(stored)) },
        })),
      )
    }
  }

  async #updateWorkspace(
    view: WorkspaceView,
    subresource: string,
    change: (object: KubeObject) => KubeObject,
  ): Promise<void> {
    const type = this.#deps.types.in(view.parent).find(WORKSPACES.group, WORKSPACES.version, WORKSPACES.resource)
    if (type === undefined) throw new Error('the kind Workspace is missing from the catalog')
    await this.#deps.registry.update(systemContext(view.parent, COMPONENT), type, '', view.name, change, {
      subresource,
      preconditions: { uid: view.object.metadata.uid ?? '' },
    })
  }
}

function viewOf(parent: string, object: KubeObject): WorkspaceView {
  const spec = isRecord(object.spec) ? object.spec : {}
  const status = isRecord(object.status) ? object.status : {}
  return {
    id: typeof spec.cluster === 'string' ? spec.cluster : '',
    parent,
    name: object.metadata.name ?? '',
    object,
    phase: typeof status.phase === 'string' ? status.phase : '',
    deleting: object.metadata.deletionTimestamp !== undefined,
  }
}

/** The annotation holds the UserInfo of the creator as JSON, set by admission. */
function ownerName(owner: string): string | undefined {
  const user: unknown = JSON.parse(owner)
  return isRecord(user) && typeof user.username === 'string' ? user.username : undefined
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'Closed' || error.code === 'Failed')
}
