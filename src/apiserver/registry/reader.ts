/**
 * Reads: get, list with consistent pages, watch. Objects come out as stored bytes; only selectors make them parse.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { isStorageError, type Key, type Page, type Range, type Store, type Stored } from '../../storage/store.ts'
import type { ParsedCache } from './codec.ts'
import { decodeContinue, ExpiredContinueError, encodeContinue } from './continueToken.ts'
import { storageGroup } from './convert.ts'
import { EventSelector, type SelectedEvent, shownAs } from './eventSelector.ts'
import { inNamespace, keyOf, rangeOf } from './keys.ts'
import { parseResourceVersion, revisionOfList, tooLarge, watchError } from './readVersions.ts'
import { EVERYTHING, type Selection } from './selection.ts'
import type { LayerFollower, SharedLayer, SharedObjects } from './sharedObjects.ts'
import { prepareViews } from './views.ts'

export interface ListQuery {
  /** Logical-cluster id, or `*`. */
  space: string
  /** `undefined` means all namespaces. */
  namespace?: string | undefined
  selection?: Selection
  limit?: number | undefined
  continue?: string | undefined
  resourceVersion?: string | undefined
  resourceVersionMatch?: string | undefined
}

export interface ListResult {
  items: Stored[]
  revision: number
  continue?: string
  /** Only without selectors, as upstream: with one, nobody knows. */
  remaining?: number
}

export interface WatchQuery {
  space: string
  namespace?: string | undefined
  selection?: Selection
  /** Events behind this revision. */
  after: number
  signal: AbortSignal
  /** Called once, when history is over: from then on every committed event is at hand at once. */
  onLive?: () => void
}

/** Objects looked at in one turn for a page that selects. */
const SCAN_PAGE = 500

export class Reader {
  readonly #store: Store
  readonly #parsed: ParsedCache
  readonly #shared: SharedObjects | undefined

  constructor(deps: { store: Store; parsed: ParsedCache; shared?: SharedObjects }) {
    this.#store = deps.store
    this.#shared = deps.shared
    this.#parsed = deps.parsed
  }

  get revision(): number {
    return this.#store.revision
  }

  /** A GET may ask for a state at least as new as a revision. @throws StatusError BadRequest, Timeout (it lies in the future) */
  requireRevision(resourceVersion: string): void {
    const revision = parseResourceVersion(resourceVersion)
    if (revision > this.#store.revision) throw tooLarge(revision, this.#store.revision)
  }

  /** @throws StatusError NotFound */
  async get(space: string, type: ResourceType, namespace: string, name: string): Promise<Stored> {
    const stored =
      (await this.#store.get(keyOf(space, type, namespace, name))) ??
      (await this.#shared?.of(type, namespace)?.get(space, type, name))
    if (stored === undefined) throw statusError.notFound(type, name)
    await prepareViews([stored], type)
    return stored
  }

  async list(type: ResourceType, query: ListQuery): Promise<ListResult> {
    const selection = query.selection ?? EVERYTHING
    const range = rangeOf(type, query)
    const start = this.#startOf(query)
    let { after } = start
    const wanted = query.limit && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
    const items: Stored[] = []
    // They are not in the store's order or count: the first page brings them all.
    const layer = query.continue ? undefined : this.#shared?.of(type, query.namespace)
    const shared = layer ? await this.#sharedOf(layer, type, query.space, start.at) : []
    for (const stored of shared)
      if (selection.everything || selection.matches(this.#parsed.get(stored))) items.push(stored)
    for (;;) {
      // With a selection nobody knows how many must be looked at for a page: many at a time, whatever is still wanted.
      const scans = !selection.everything && Number.isFinite(wanted)
      const limit = scans ? SCAN_PAGE : Math.max(1, wanted - items.length)
      const page = await this.#page(range, { at: start.at, after, limit })
      const views = prepareViews(page.items, type)
      if (views) await views
      let taken = 0
      for (const stored of page.items) {
        taken++
        if (
          inNamespace(stored.key, query) &&
          (selection.everything || selection.matches(shownAs(stored, type, this.#parsed)))
        )
          items.push(stored)
        if (scans && items.length >= wanted) break
      }
      after = page.items[taken - 1]?.key
      const done = taken === page.items.length && (page.remaining === 0 || after === undefined)
      if (done) return { items, revision: page.revision }
      start.at = page.revision
      if (items.length >= wanted) {
        const result: ListResult = {
          items,
          revision: page.revision,
          continue: encodeContinue({ at: page.revision, after: after! }),
        }
        if (selection.everything) result.remaining = page.remaining
        return result
      }
    }
  }

  /**
   * Selected events in order. Ends quietly when the signal aborts.
   * @throws StatusError Expired when `after` is older than the kept history or the reader is too slow
   */
  async *watch(type: ResourceType, query: WatchQuery): AsyncGenerator<readonly SelectedEvent[]> {
    try {
      const layer = query.space === '*' ? undefined : this.#shared?.of(type, query.namespace)
      if (layer?.follow) {
        yield* this.#watchLayered(type, query, await layer.follow(query.space, type, query.after))
        return
      }
      const selector = new EventSelector(this.#parsed, type, query.selection ?? EVERYTHING)
      for await (const batch of this.#store.watch(rangeOf(type, query), query)) {
        const events = query.space === '*' ? batch.filter(event => inNamespace(event.key, query)) : batch
        const selected = type.custom?.convert ? await selector.converted(events) : selector.all(events)
        if (selected.length > 0) yield selected
      }
    } catch (error) {
      throw watchError(error, query.after, this.#store.compactedRevision)
    }
  }

  /** Stored objects and shared ones, in the one order of the space's log. Such kinds are few and built in. */
  async *#watchLayered(
    type: ResourceType,
    query: WatchQuery,
    follower: LayerFollower,
  ): AsyncGenerator<readonly SelectedEvent[]> {
    const selection = query.selection ?? EVERYTHING
    const selector = new EventSelector(this.#parsed, type, selection)
    const isOwn = ({ group, resource }: Key): boolean => group === storageGroup(type) && resource === type.resource
    for await (const batch of this.#store.watch({ space: query.space }, query)) {
      const selected = batch.flatMap((event): SelectedEvent[] => {
        if (isOwn(event.key)) return selector.all([event])
        if (!follower.concerns(event.key)) return []
        const changes = follower.changes(event).map(change => ({ ...change, event }))
        return changes.filter(({ stored }) => selection.everything || selection.matches(this.#parsed.get(stored)))
      })
      if (selected.length > 0) yield selected
    }
  }

  /** Without those that the space had changed at a revision (default: now): its own are in the store. */
  async #sharedOf(
    layer: SharedLayer,
    type: ResourceType,
    space: string,
    at: number | undefined,
  ): Promise<readonly Stored[]> {
    const shared = await layer.list(space, type)
    if (!layer.changeable) return shared
    if (at === undefined) {
      const own = await Promise.all(shared.map(({ key }) => this.#store.get(key)))
      return shared.filter((_, i) => own[i] === undefined)
    }
    const past = await this.#page(rangeOf(type, { space, namespace: layer.namespace }), {
      at,
      after: undefined,
      limit: Number.POSITIVE_INFINITY,
    })
    const own = new Set(past.items.map(({ key }) => key.name)) // all of one namespace, as the layer's
    return shared.filter(({ key }) => !own.has(key.name))
  }

  #startOf(query: ListQuery): { at: number | undefined; after: Key | undefined } {
    if (!query.continue) return { at: revisionOfList(query, this.#store.revision), after: undefined }
    const { resourceVersion: rv = '' } = query
    if (rv !== '' && rv !== '0') {
      throw new StatusError('BadRequest', 'specifying resource version is not allowed when using continue')
    }
    const token = decodeContinue(query.continue)
    if (token.at !== undefined && token.at < this.#store.compactedRevision) {
      throw new ExpiredContinueError(encodeContinue({ at: undefined, after: token.after }))
    }
    return token
  }

  async #page(range: Range, options: { at: number | undefined; after: Key | undefined; limit: number }): Promise<Page> {
    try {
      return await this.#store.list(range, {
        ...(options.at !== undefined && { at: options.at }),
        ...(options.after && { after: options.after }),
        ...(Number.isFinite(options.limit) && { limit: options.limit }),
      })
    } catch (error) {
      if (isStorageError(error, 'Compacted')) {
        throw new StatusError('Expired', `The resourceVersion for the provided list is too old.`, undefined, {
          cause: error,
        })
      }
      if (isStorageError(error, 'Future')) throw tooLarge(options.at ?? 0, this.#store.revision)
      throw error
    }
  }
}
