/**
 * Gives Workspace objects their spaces: makes a new space's first content, marks it Ready, and empties the space again when its Workspace
 * is deleted. Works from the log, so a restart goes on where a crash left off. A failure is retried with backoff, logged once for each
 * cause, and reported to the owner in the Workspace's conditions.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { mentions } from '../../storage/sharedStored.ts'
import type { Key, StoreEvent } from '../../storage/store.ts'
import { type FollowerDeps, followLog } from '../following/followLog.ts'
import { KeyWorker } from '../following/keyWorker.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import { COMPONENT, SpaceContent, type SpaceContentDeps } from './spaceContent.ts'
import { ROOT } from './tree.ts'
import { ownerName, type SpaceWork, viewOf, WORKSPACE_FINALIZER, type WorkspaceView, workFor } from './workspace.ts'
import { failing, healed } from './workspaceConditions.ts'

interface SpaceManagerDeps extends SpaceContentDeps, FollowerDeps {
  registry: Pick<Registry, 'create' | 'copies' | 'update'>
}

const RANGE = { group: WORKSPACES.group, resource: WORKSPACES.resource }
/** Spaces that are worked on at the same time, beside those that take long: many, because they share the syncs of the disk. */
const CONCURRENCY = 1000

export class SpaceManager {
  readonly #deps: SpaceManagerDeps
  readonly #content: SpaceContent
  /** Keys of Workspaces. A key is worked on by one at a time, and each work reads the state anew. */
  readonly #worker: KeyWorker<Key>

  constructor(deps: SpaceManagerDeps) {
    this.#deps = deps
    this.#content = new SpaceContent(deps)
    const work = {
      id: idOf,
      // a large space that is emptied takes nobody's place
      party: idOf,
      lane: ({ space }: Key) => ({ owner: space }),
      concurrency: CONCURRENCY,
      reconcile: (key: Key) => this.#reconcile(key),
      failed: (key: Key, error: unknown) => this.#failed(key, error),
      healed: (key: Key) => this.#healed(key),
    }
    this.#worker = new KeyWorker(work, deps)
  }

  /** Makes the root space, and starts to follow the log. Unfinished work of an earlier run is taken up. */
  async start(): Promise<void> {
    await this.#content.fill(ROOT, undefined)
    const following = {
      ...this.#deps,
      range: RANGE,
      what: 'workspaces',
      wants: asksForWork,
      add: (key: Key) => this.#worker.add(key),
      note: (key: Key, error: unknown) => void this.#worker.note(key, error),
    }
    this.#worker.start(followLog(following, this.#worker.signal))
  }

  stop(): Promise<void> {
    return this.#worker.stop()
  }

  async #reconcile(key: Key): Promise<void> {
    const stored = await this.#deps.store.get(key)
    const view = stored && viewOf(stored)
    const work = view && workFor(view)
    if (view !== undefined && work !== undefined) await this.#bring(view, work)
  }

  async #bring(view: WorkspaceView, work: SpaceWork): Promise<void> {
    const { tree, log } = this.#deps
    if (!tree.get(view.id)) throw new Error(`the space ${view.parent}, which the Workspace is in, is not in the tree`)
    if (work === 'empty') return await this.#empty(view)
    const owner = ownerName(view)
    if (owner === undefined) {
      const at = { space: view.id, workspace: view.name, parent: view.parent }
      log.warn(at, 'a Workspace does not tell its owner: its space begins without an administrator')
    }
    await this.#content.fill(view.id, owner)
    await this.#updateWorkspace(view, 'status', current => {
      const status = isRecord(current.status) ? current.status : {}
      current.status = { ...healed(status, 'provision', this.#now()), phase: 'Ready' }
      return current
    })
  }

  /** Removes all content of a space and of the spaces below it, then lets its Workspace go. */
  async #empty(view: WorkspaceView): Promise<void> {
    const below = this.#deps.tree.below(view.id).reverse()
    for (const { id } of below) await this.#content.purge(id, this.#worker.signal)
    await this.#updateWorkspace(view, '', current => {
      const finalizers = (current.metadata.finalizers ?? []).filter(f => f !== WORKSPACE_FINALIZER)
      if (finalizers.length > 0) current.metadata.finalizers = finalizers
      else delete current.metadata.finalizers
      return current
    })
  }

  async #failed(key: Key, error: unknown): Promise<void> {
    const view = await this.#readableView(key)
    this.#deps.log.error(
      { err: error, ...(view && { space: view.id }), workspace: key.name, parent: key.space },
      'a space could not be brought to its wanted state; it is tried again',
    )
    const work = view && workFor(view)
    if (work) await this.#report(view, work, error)
  }

  async #healed(key: Key): Promise<void> {
    // none is left of a space that went
    const view = await this.#readableView(key)
    this.#deps.log.info(
      { ...(view && { space: view.id }), workspace: key.name, parent: key.space },
      'a space is as wanted again',
    )
  }

  /** `undefined` also where its text is the fault. */
  async #readableView(key: Key): Promise<WorkspaceView | undefined> {
    try {
      const stored = await this.#deps.store.get(key)
      return stored && viewOf(stored)
    } catch {
      return undefined
    }
  }

  /** The owner looks at the Workspace; in a space that nobody can reach there is none. */
  async #report(view: WorkspaceView, work: SpaceWork, error: unknown): Promise<void> {
    if (!this.#deps.tree.get(view.parent)) return
    try {
      await this.#updateWorkspace(view, 'status', current => {
        current.status = failing(isRecord(current.status) ? current.status : {}, work, error, this.#now())
        return current
      })
    } catch (refusal) {
      this.#deps.log.warn(
        { err: refusal, space: view.id, workspace: view.name },
        'the status of a Workspace could not be written',
      )
    }
  }

  async #updateWorkspace(
    view: WorkspaceView,
    subresource: string,
    change: (object: KubeObject) => KubeObject,
  ): Promise<void> {
    const type = this.#deps.types.builtinIn(view.parent, WORKSPACES)
    await this.#deps.registry.update(systemContext(view.parent, COMPONENT), type, '', view.name, change, {
      subresource,
      preconditions: { uid: view.object.metadata.uid ?? '' },
    })
  }

  #now(): string {
    return timestamp(new Date(this.#deps.clock.now()))
  }
}

/** As the server writes it. No string has quotes in a text, and a label or an annotation holds no object. */
export const READY = '"status":{"phase":"Ready"'

/** Other writes, the manager's own conditions among them, need no work and must not cut a backoff short. */
function asksForWork({ type, stored, previous }: StoreEvent): boolean {
  if (type === 'delete') return false
  // as nearly all that there are at a start: not even parsed
  if (mentions(stored, READY) && !mentions(stored, '"deletionTimestamp"')) return false
  const view = viewOf(stored)
  const work = workFor(view)
  if (work === undefined) return false
  const before = previous && viewOf(previous)
  return before?.id !== view.id || workFor(before) !== work
}

function idOf({ space, name }: Key): string {
  return `${space}/${name}`
}
