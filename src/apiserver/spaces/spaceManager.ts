/**
 * Gives Workspace objects their spaces: makes a new space's first content, marks it Ready, and empties the space again when
 * its Workspace is deleted. Works from the log, so a restart goes on where a crash left off. What fails is tried again with
 * backoff, told in the log once for each cause, and told the owner in the Workspace's conditions.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Random } from '../../client/backoff.ts'
import { type Clock, systemClock } from '../../client/clock.ts'
import { WorkQueue } from '../../client/workqueue.ts'
import { isStorageError, type Key, type Stored, type StoreEvent } from '../../storage/store.ts'
import { FailureNotes } from '../following/failureNotes.ts'
import { LogFollower } from '../following/logFollower.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import { timestamp } from '../registry/systemMetadata.ts'
import type { Logger } from '../request/logger.ts'
import { COMPONENT, SpaceContent, type SpaceContentDeps } from './spaceContent.ts'
import { ROOT } from './tree.ts'
import {
  ownerName,
  type SpaceWork,
  viewOf,
  WORKSPACE_FINALIZER,
  WORKSPACES,
  type WorkspaceView,
  workFor,
} from './workspace.ts'
import { failing, healed } from './workspaceConditions.ts'

export interface SpaceManagerDeps extends SpaceContentDeps {
  registry: Pick<Registry, 'create' | 'update'>
  /** Told after a space is gone. */
  onRemoved(space: string): void
  log: Logger
  clock?: Clock
  random?: Random
}

const RANGE = { group: WORKSPACES.group, resource: WORKSPACES.resource }
/** Spaces that are worked on at the same time, beside those that take long: many, because they share the syncs of the disk. */
const CONCURRENCY = 1000

export class SpaceManager {
  readonly #deps: SpaceManagerDeps
  readonly #clock: Clock
  readonly #content: SpaceContent
  readonly #follower: LogFollower
  /** Keys of Workspaces. A key is worked on by one at a time, and each work reads the state anew. */
  readonly #queue: WorkQueue<Key>
  readonly #failures = new FailureNotes()
  readonly #stopping = new AbortController()
  readonly #deleting = new Set<string>()
  #running: Promise<unknown> = Promise.resolve()

  constructor(deps: SpaceManagerDeps) {
    const { store, log, clock, random } = deps
    this.#deps = deps
    this.#clock = clock ?? systemClock
    this.#content = new SpaceContent(deps)
    this.#queue = new WorkQueue<Key>({
      id: idOf,
      // a large space that is emptied takes nobody's place
      party: idOf,
      ...(clock && { clock }),
      ...(random && { random }),
    })
    this.#follower = new LogFollower({
      store,
      range: RANGE,
      what: 'workspaces',
      log,
      clock,
      random,
      handler: {
        reset: items => this.#reset(items),
        change: event => this.#react(event),
        missed: ({ key }, error) => {
          this.#note(key, error)
          this.#queue.add(key)
        },
      },
    })
  }

  /** Loads the tree, makes the root space, and starts to follow the log. Unfinished work of an earlier run is taken up. */
  async start(): Promise<void> {
    const { items, revision } = await this.#deps.store.list(RANGE)
    const known = items.map(viewOf)
    this.#admitAll(known)
    await this.#content.fill(ROOT, undefined)
    const { signal } = this.#stopping
    this.#running = Promise.all([
      this.#follower.run(revision, signal),
      this.#queue.run(key => this.#reconcile(key), { concurrency: CONCURRENCY, signal }),
    ])
    for (const view of known) this.#want(view)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** True while the content of a space is being removed: nothing may be written there. */
  isDeleting(id: string): boolean {
    return this.#deleting.has(id)
  }

  /** Parents first, whatever the order; those whose parent is missing stay outside. */
  #admitAll(views: readonly WorkspaceView[]): void {
    let pending = views.filter(view => view.id !== '')
    while (pending.length > 0) {
      const ready = pending.filter(view => this.#deps.tree.get(view.parent))
      if (ready.length === 0) return
      for (const view of ready) this.#admit(view)
      pending = pending.filter(view => !this.#deps.tree.get(view.id))
    }
  }

  /** Puts a space into the tree. @throws when its parent is not there */
  #admit(view: WorkspaceView): void {
    const { tree } = this.#deps
    if (!tree.get(view.id)) tree.add(view)
  }

  #react(event: StoreEvent): void {
    const view = viewOf(event.stored)
    if (view.id === '') return
    if (event.type === 'delete') {
      this.#forget(view.id)
      return
    }
    this.#admit(view)
    // what else is written, our own complaints among it, asks for nothing and must not cut a backoff short
    const before = event.previous && viewOf(event.previous)
    if (before?.id !== view.id || workFor(before) !== workFor(view)) this.#want(view)
  }

  /** Events were lost: the tree becomes what the Workspaces say now. */
  #reset(items: readonly Stored[]): void {
    const { tree } = this.#deps
    const views: WorkspaceView[] = []
    const present = new Set([ROOT])
    for (const stored of items) {
      try {
        const view = viewOf(stored)
        views.push(view)
        present.add(view.id)
      } catch (error) {
        const { key } = stored
        this.#note(key, error)
        // there it is, whatever it says now
        for (const { id, name } of tree.children(key.space)) if (name === key.name) present.add(id)
      }
    }
    for (const { id } of [...tree.spaces()]) if (!present.has(id)) this.#forget(id)
    this.#admitAll(views)
    for (const view of views) this.#want(view)
  }

  #want(view: WorkspaceView): void {
    const work = workFor(view)
    if (work === undefined) return
    if (work === 'empty') this.#deleting.add(view.id)
    this.#queue.add(keyOf(view))
  }

  /** Last of all out of the tree, which thus tells what is to be done again when something throws. */
  #forget(id: string): void {
    const { tree, types, onRemoved } = this.#deps
    types.forgetSpace(id)
    onRemoved(id)
    this.#deleting.delete(id)
    tree.remove(id)
  }

  async #reconcile(key: Key): Promise<void> {
    let view: WorkspaceView | undefined
    let work: SpaceWork | undefined
    try {
      await this.#follower.retake(key, present => this.#takeIn(key, present))
      const stored = await this.#deps.store.get(key)
      view = stored && viewOf(stored)
      work = view && workFor(view)
      if (view !== undefined && work !== undefined) await this.#bring(view, work)
    } catch (error) {
      if (this.#stopping.signal.aborted || isStorageError(error, 'Closed')) return
      if (this.#note(key, error, view) && view && work) await this.#tell(view, work, error)
      throw error
    }
    if (this.#follower.isMissed(key)) return // it is queued again
    if (this.#failures.settle(idOf(key)) && view !== undefined)
      this.#deps.log.info({ space: view.id, workspace: key.name, parent: key.space }, 'a space is as wanted again')
  }

  /** What an event would have brought about that could not be handled. */
  #takeIn(key: Key, present: Stored | undefined): void {
    const { tree } = this.#deps
    const view = present && viewOf(present)
    for (const space of [...tree.spaces()])
      if (space.parent === key.space && space.name === key.name && space.id !== view?.id) this.#forget(space.id)
    if (view === undefined || view.id === '') return
    this.#admit(view)
    if (view.deleting) this.#deleting.add(view.id)
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
    const { tree } = this.#deps
    const below = (id: string): string[] => [...tree.children(id).flatMap(child => below(child.id)), id]
    for (const id of below(view.id)) {
      this.#deleting.add(id)
      await this.#content.purge(id, this.#stopping.signal)
    }
    await this.#updateWorkspace(view, '', current => {
      const finalizers = (current.metadata.finalizers ?? []).filter(f => f !== WORKSPACE_FINALIZER)
      if (finalizers.length > 0) current.metadata.finalizers = finalizers
      else delete current.metadata.finalizers
      return current
    })
  }

  /** Takes a failure down; whether it was news. */
  #note(key: Key, error: unknown, view?: WorkspaceView): boolean {
    const isNews = this.#failures.isNews(idOf(key), error)
    if (isNews) {
      const space = view && { space: view.id }
      this.#deps.log.error(
        { err: error, ...space, workspace: key.name, parent: key.space },
        'a space could not be brought to its wanted state; it is tried again',
      )
    }
    return isNews
  }

  /** The owner looks at the Workspace; in a space that nobody can reach there is none. */
  async #tell(view: WorkspaceView, work: SpaceWork, error: unknown): Promise<void> {
    if (!this.#deps.tree.get(view.parent)) return
    try {
      await this.#updateWorkspace(view, 'status', current => {
        current.status = failing(isRecord(current.status) ? current.status : {}, work, error, this.#now())
        return current
      })
    } catch (refusal) {
      this.#deps.log.warn({ err: refusal, space: view.id, workspace: view.name }, 'a Workspace could not be told why')
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

  #now(): string {
    return timestamp(new Date(this.#clock.now()))
  }
}

function keyOf({ parent, name }: WorkspaceView): Key {
  return { space: parent, ...RANGE, namespace: '', name }
}

function idOf({ space, name }: Key): string {
  return `${space}/${name}`
}
