/**
 * Reads: get, list with consistent pages, watch. Objects come out as stored bytes; only selectors make them parse.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import { compareKeys } from '../../storage/keys.ts'
import {
  isStorageError,
  type Key,
  type ListOptions,
  type Page,
  type Range,
  type Revision,
  type Store,
  type Stored,
  type StoreEvent,
  type WatchOptions,
} from '../../storage/store.ts'
import type { ParsedCache } from './codec.ts'
import { decodeContinue, ExpiredContinueError, encodeContinue } from './continueToken.ts'
import { storageGroup } from './convert.ts'
import type { DerivedParts } from './derivedParts.ts'
import { EventSelector, type SelectedEvent, shownAs } from './eventSelector.ts'
import { inNamespace, justBefore, keyOf, rangeOf } from './keys.ts'
import { scanLabels } from './labelScanner.ts'
import { knownRevision, revisionOfList, tooLarge, watchError } from './readVersions.ts'
import { EVERYTHING, type Selection } from './selection.ts'
import { type LayerFollower, mergeShared, type SharedLayer, type SharedObjects } from './sharedObjects.ts'
import { prepareViews, viewBytes } from './views.ts'

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
  /** Work whose slices the selection takes; absent: the space's. */
  work?: Work | undefined
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
  /** Spaces whose events count, in a read of all. Others' are skipped. */
  among?: ((space: string) => boolean) | undefined
  namespace?: string | undefined
  selection?: Selection
  /** Events behind this revision. */
  after: number
  signal: AbortSignal
  /** As the store's. Kinds that are answered and not stored never close. */
  closing?: AbortSignal | undefined
  /** As the store's: whoever waits has handled all events up to {@link Reader.revision}. */
  onLive?: NonNullable<WatchOptions['onLive']>
  /** Completes objects with derived parts. Absent: as they are stored. */
  derived?: DerivedParts | undefined
}

interface Place {
  at: Revision | undefined
  after: Key | undefined
}

interface PageOptions extends Place {
  limit?: number | undefined
  uncounted?: boolean
}

interface PagesOptions extends Place {
  wanted: number
  selects: boolean
  /** Shared objects are merged into them. */
  merges: boolean
  work: Work
}

/** Selected events of each batch; batches without any are skipped. `failed` throws. */
function selectedFrom(
  batches: AsyncIterator<readonly StoreEvent[]>,
  selector: EventSelector,
  failed: (error: unknown) => never,
): AsyncIterator<readonly SelectedEvent[]> {
  const select = (read: IteratorResult<readonly StoreEvent[]>): Soon<IteratorResult<readonly SelectedEvent[]>> => {
    if (read.done) return { done: true, value: undefined }
    try {
      const value = selector.all(read.value)
      return value.length > 0 ? { done: false, value } : next()
    } catch (error) {
      return failed(error)
    }
  }
  const next = (): Promise<IteratorResult<readonly SelectedEvent[]>> => batches.next().then(select, failed)
  return {
    next,
    async return() {
      await batches.return?.()
      return { done: true, value: undefined }
    },
  }
}

/** Objects looked at before the clock is. */
const LOOKED_AT = 16
/** Objects that are taken in a row where none is looked at: a page of what clients usually ask for has fewer. */
const TAKEN = 512
const NONE: readonly Stored[] = []

export class Reader {
  readonly #store: Store
  readonly #parsed: ParsedCache
  readonly #shared: SharedObjects | undefined

  readonly #turns: WorkTurns

  constructor(deps: { store: Store; parsed: ParsedCache; shared?: SharedObjects; turns: WorkTurns }) {
    this.#turns = deps.turns
    this.#store = deps.store
    this.#shared = deps.shared
    this.#parsed = deps.parsed
  }

  get revision(): number {
    return this.#store.revision
  }

  /** A GET may ask for a state at least as new as a revision. @throws StatusError BadRequest, Timeout (it lies in the future) */
  requireRevision(resourceVersion: string): void {
    knownRevision(resourceVersion, this.#store.revision)
  }

  /** @throws StatusError NotFound, also by the promise */
  get(space: string, type: ResourceType, namespace: string, name: string): Soon<Stored> {
    return whenKnown(this.#store.get(keyOf(space, type, namespace, name)), own =>
      whenKnown(own ?? this.#shared?.of(type, namespace)?.get(space, type, name), stored => {
        if (stored === undefined) throw statusError.notFound(type, name)
        const prepared = prepareViews([stored], type)
        return prepared === undefined ? stored : prepared.then(() => stored)
      }),
    )
  }

  async list(type: ResourceType, query: ListQuery): Promise<ListResult> {
    const selection = query.selection ?? EVERYTHING
    const work = query.work ?? this.#turns.begin({ owner: query.space })
    const range = rangeOf(type, query)
    const start = this.#startOf(query)
    const wanted = query.limit && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
    // The store cannot narrow a range of all spaces to one namespace: that selects, too.
    const { sight } = selection
    const selects =
      !selection.everything || sight !== undefined || (query.space === '*' && query.namespace !== undefined)
    let items: Stored[] = []
    const layer = query.space === '*' ? undefined : this.#shared?.of(type, query.namespace)
    let shared: readonly string[] | undefined = layer === undefined ? [] : undefined
    for await (const page of this.#pages(range, { ...start, wanted, selects, merges: layer !== undefined, work })) {
      const at = page.revision
      shared ??= await this.#sharedNames(layer!, type, { space: query.space, selection, after: start.after, at })
      const { entries, rest } = mergeShared(page.items, shared, {
        keyOf: name => keyOf(query.space, type, layer!.namespace ?? '', name),
        isLastPage: !page.more,
      })
      shared = rest
      const room = wanted - items.length
      const chosen = entries.length > room && !selects ? entries.slice(0, room) : entries
      const found = layer ? await this.#made(chosen, layer, type, { space: query.space, at }) : page.items
      const views = prepareViews(found, type)
      if (views) await views
      // objects that a selector excludes are included: that is rare, and nothing has to be parsed twice
      if (sight) await sight.learn(found, work)
      // Without a selection a short page is what the store gave: nobody looks at any of it.
      const isWhole = !selects && layer === undefined && items.length === 0 && found.length <= TAKEN
      if (isWhole) items = page.items
      const inARow = selects ? LOOKED_AT : TAKEN
      let taken = isWhole ? found.length : 0
      for (const stored of isWhole ? NONE : found) {
        taken++
        const wants = inNamespace(stored.key, query) && (!sight || sight.sees(stored))
        if (wants && (selection.everything || this.#matches(stored, type, selection))) items.push(stored)
        if (items.length >= wanted) break
        if (taken % inARow === 0 && work.due) await work.rest()
      }
      const left = entries.length - taken
      const last = found[taken - 1]?.key
      if (left === 0 && (!page.more || last === undefined)) return { items, revision: at }
      if (items.length < wanted) continue
      const result: ListResult = { items, revision: at, continue: encodeContinue({ at, after: last! }) }
      if (!selects && page.remaining !== undefined) {
        const own = { ...range, ...(layer?.namespace !== undefined && { namespace: layer.namespace }) }
        const hidden = await this.#hidden(rest, own, at)
        result.remaining = left + page.remaining + rest.length - hidden
      }
      return result
    }
    throw new Error('the store ended a list without a last page')
  }

  /**
   * Pages of a list, of one revision. With a selection the total is unknown, and only a list without one gives the number of the rest.
   * Where shared objects are merged into a page, the size of the store's part of it is unknown.
   */
  async *#pages(
    range: Range,
    { at, after, wanted, selects, merges, work }: PagesOptions,
  ): AsyncGenerator<Page, void, void> {
    const isShort = wanted <= TAKEN || (merges && Number.isFinite(wanted))
    if (isShort && !selects) {
      yield await this.#page(range, { at, after, limit: wanted })
      return
    }
    // Many lists that come together would each take theirs in the same turn.
    if (work.due) await work.rest()
    const limit = selects ? undefined : wanted
    const slices = this.#store.slices(range, optionsOf({ at, after, limit, uncounted: selects }))
    try {
      for await (const slice of slices) {
        yield slice
        if (work.due) await work.rest()
      }
    } catch (error) {
      throw this.#readError(error, at)
    }
  }

  /** Labels are read without parsing, where they are all that counts. */
  #matches(stored: Stored, type: ResourceType, selection: Selection): boolean {
    const { matchesLabels } = selection
    if (matchesLabels && (!type.custom || viewBytes(stored, type) === stored.bytes)) {
      const known = this.#parsed.known(stored)
      if (known) return matchesLabels(known.metadata.labels)
      const labels = scanLabels(stored.bytes)
      if (labels !== 'unread') return matchesLabels(labels)
    }
    return selection.matches(shownAs(stored, type, version => this.#parsed.scan(version)))
  }

  /**
   * Selected events in order. Ends quietly when the signal aborts.
   * @throws StatusError Expired when `after` is older than the kept history or the reader is too slow
   */
  watch(type: ResourceType, query: WatchQuery): AsyncIterable<readonly SelectedEvent[]> {
    const layer = query.space === '*' ? undefined : this.#shared?.of(type, query.namespace)
    const isPlain =
      query.space !== '*' && layer === undefined && !type.custom?.convert && !query.derived?.concerns(type)
    return isPlain ? this.#watchPlain(type, query) : this.#watchWith(layer, type, query)
  }

  /** As the store tells it, and no generator in between: most watches are that, and it would take turns for each of their events. */
  #watchPlain(type: ResourceType, query: WatchQuery): AsyncIterable<readonly SelectedEvent[]> {
    const selector = new EventSelector(this.#parsed, type, query.selection ?? EVERYTHING)
    const batches = this.#store.watch(rangeOf(type, query), query)
    const failed = (error: unknown): never => {
      throw watchError(error, query.after, this.#store.compactedRevision)
    }
    return { [Symbol.asyncIterator]: () => selectedFrom(batches[Symbol.asyncIterator](), selector, failed) }
  }

  async *#watchWith(
    layer: SharedLayer | undefined,
    type: ResourceType,
    query: WatchQuery,
  ): AsyncGenerator<readonly SelectedEvent[]> {
    try {
      if (layer?.follow) {
        yield* this.#watchLayered(type, query, await layer.follow(query.space, type, query.after))
        return
      }
      const selector = new EventSelector(this.#parsed, type, query.selection ?? EVERYTHING)
      if (query.derived?.concerns(type) && query.space !== '*') {
        yield* this.#watchDerived(type, query, query.derived, selector)
        return
      }
      for await (const batch of this.#store.watch(rangeOf(type, query), query)) {
        const { among } = query
        const counts = ({ key }: StoreEvent): boolean => inNamespace(key, query) && (!among || among(key.space))
        const here = query.space === '*' ? batch.filter(counts) : batch
        const events = layer ? await this.#overShared(here, layer, type) : here
        const selected = type.custom?.convert ? await selector.converted(events) : selector.all(events)
        if (selected.length > 0) yield selected
      }
    } catch (error) {
      throw watchError(error, query.after, this.#store.compactedRevision)
    }
  }

  /** Other content of the space changes them, too. */
  async *#watchDerived(
    type: ResourceType,
    query: WatchQuery,
    derived: DerivedParts,
    selector: EventSelector,
  ): AsyncGenerator<readonly SelectedEvent[]> {
    const isOwn = ({ key }: StoreEvent): boolean => key.group === storageGroup(type) && key.resource === type.resource
    for await (const batch of this.#store.watch({ space: query.space }, query)) {
      const selected = selector.all((await derived.events(batch)).filter(isOwn))
      if (selected.length > 0) yield selected
    }
  }

  /** A space's first copy of a shared object stands for it from then on: to who watches it was changed, and nothing came. */
  async #overShared(
    events: readonly StoreEvent[],
    layer: SharedLayer,
    type: ResourceType,
  ): Promise<readonly StoreEvent[]> {
    const isCopy = ({ type: kind, previous, key }: StoreEvent): boolean =>
      kind === 'put' &&
      previous === undefined &&
      key.namespace === (layer.namespace ?? '') &&
      layer.has(key.space, key.name)
    if (!events.some(isCopy)) return events
    const shown = events.map(async event => {
      const previous = isCopy(event) ? await layer.get(event.key.space, type, event.key.name) : undefined
      // One that came back after a deletion is another one.
      const isSame = previous && this.#uidOf(previous) === this.#uidOf(event.stored)
      return isSame ? { ...event, previous } : event
    })
    return await Promise.all(shown)
  }

  #uidOf(stored: Stored): string | undefined {
    return this.#parsed.get(stored).metadata.uid
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

  /** Names of a layer that a list may show, behind its beginning. */
  async #sharedNames(
    layer: SharedLayer,
    type: ResourceType,
    { space, selection, after, at }: { space: string; selection: Selection; after: Key | undefined; at: Revision },
  ): Promise<readonly string[]> {
    const names = await this.#reading(at, () => layer.names(space, type, at))
    return names.filter(
      name =>
        (selection.name === undefined || selection.name === name) &&
        (after === undefined || compareKeys(keyOf(space, type, layer.namespace ?? '', name), after) > 0),
    )
  }

  /** Names are those of shared objects. */
  async #made(
    entries: readonly (Stored | string)[],
    layer: SharedLayer,
    type: ResourceType,
    { space, at }: { space: string; at: Revision },
  ): Promise<readonly Stored[]> {
    const names = entries.filter(entry => typeof entry === 'string')
    if (names.length === 0) return entries as readonly Stored[]
    const made = await this.#reading(at, () => layer.list(space, type, { at, names }))
    const byName = new Map(made.map(stored => [stored.key.name, stored]))
    return entries.map(entry => (typeof entry === 'string' ? byName.get(entry)! : entry))
  }

  /** How many of these shared objects the space has of its own: each is looked for, as what is behind may be much more. */
  async #hidden(names: readonly string[], range: Range, at: Revision): Promise<number> {
    let count = 0
    const { space = '', group = '', resource = '', namespace = '' } = range
    for (const name of names) {
      const after = { space, group, resource, namespace, name: justBefore(name) }
      const { items } = await this.#page(range, { at, after, limit: 1, uncounted: true })
      if (items[0]?.key.name === name) count++
    }
    return count
  }

  #startOf(query: ListQuery): Place {
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

  #page(range: Range, options: PageOptions): Promise<Page> {
    return this.#reading(options.at, () => this.#store.list(range, optionsOf(options)))
  }

  /** `at`: the revision that is read; absent: the newest. @throws StatusError Expired, Timeout (it lies in the future) */
  async #reading<T>(at: Revision | undefined, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      throw this.#readError(error, at)
    }
  }

  #readError(error: unknown, at: Revision | undefined): unknown {
    if (isStorageError(error, 'Compacted')) {
      return new StatusError('Expired', `The resourceVersion for the provided list is too old.`, undefined, {
        cause: error,
      })
    }
    return isStorageError(error, 'Future') ? tooLarge(at ?? 0, this.#store.revision) : error
  }
}

function optionsOf({ at, after, limit, uncounted }: PageOptions): ListOptions {
  return {
    ...(at !== undefined && { at }),
    ...(after && { after }),
    ...(limit !== undefined && Number.isFinite(limit) && { limit }),
    ...(uncounted && { uncounted }),
  }
}
