/**
 * Reads: get, list with consistent pages, watch. Objects come out as stored bytes; only selectors make them parse.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import {
  isStorageError,
  type Key,
  type Page,
  type Range,
  type Store,
  type Stored,
  type StoreEvent,
} from '../../storage/store.ts'
import { decodeObject, encodeObject, type ParsedCache } from './codec.ts'
import { storageGroup } from './convert.ts'
import { EVERYTHING, type Selection } from './selection.ts'
import type { LayerFollower, SharedLayer, SharedObjects } from './sharedObjects.ts'
import { objectFor, prepareViews, viewBytes } from './views.ts'

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

/** One change as a watcher with a selection sees it: leaving the selection is a deletion, entering it a creation. */
export interface SelectedEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  stored: Stored
  event: StoreEvent
}

const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
  'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with ' +
  'the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the ' +
  'first chunk was returned and now may show up in the list.'

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
      (await this.#shared?.of(type)?.get(space, type, name))
    if (stored === undefined) throw statusError.notFound(type, name)
    await prepareViews([stored], type)
    return stored
  }

  async list(type: ResourceType, query: ListQuery): Promise<ListResult> {
    const selection = query.selection ?? EVERYTHING
    const range = rangeOf(type, query)
    const start = await this.#startOf(query)
    let { after } = start
    const wanted = query.limit && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
    const items: Stored[] = []
    // They are not in the store's order or count: the first page brings them all.
    const layer = query.continue ? undefined : this.#shared?.of(type)
    const shared = layer ? await this.#sharedOf(layer, query.space, type) : []
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
        if (inNamespace(stored.key, query) && (selection.everything || selection.matches(this.#shown(stored, type))))
          items.push(stored)
        if (scans && items.length >= wanted) break
      }
      after = page.items[taken - 1]?.key
      const done = taken === page.items.length && (page.remaining === 0 || after === undefined)
      if (done) return { items, revision: page.revision }
      start.at = page.revision
      if (items.length >= wanted) {
        const result: ListResult = { items, revision: page.revision, continue: encodeContinue(page.revision, after!) }
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
    const selection = query.selection ?? EVERYTHING
    try {
      const layer = query.space === '*' ? undefined : this.#shared?.of(type)
      if (layer?.follow) {
        yield* this.#watchLayered(type, query, await layer.follow(query.space, type, query.after))
        return
      }
      for await (const batch of this.#store.watch(rangeOf(type, query), query)) {
        const events = query.space === '*' ? batch.filter(event => inNamespace(event.key, query)) : batch
        if (type.custom?.convert) await prepareViews(versionsIn(events, selection), type)
        const selected: SelectedEvent[] = []
        for (const event of events) {
          const one = this.#select(event, type, selection)
          if (one) selected.push(one)
        }
        if (selected.length === 0) continue
        // the last selected state of what left the selection is one that nobody has seen
        if (type.custom?.convert) {
          await prepareViews(
            selected.map(({ stored }) => stored),
            type,
          )
        }
        yield selected
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
    const isOwn = ({ group, resource }: Key): boolean => group === storageGroup(type) && resource === type.resource
    for await (const batch of this.#store.watch({ space: query.space }, query)) {
      const selected = batch.flatMap((event): SelectedEvent[] => {
        if (isOwn(event.key)) {
          const one = this.#select(event, type, selection)
          return one ? [one] : []
        }
        if (!follower.concerns(event.key)) return []
        const changes = follower.changes(event).map(change => ({ ...change, event }))
        return changes.filter(({ stored }) => selection.everything || selection.matches(this.#parsed.get(stored)))
      })
      if (selected.length > 0) yield selected
    }
  }

  /** Without those that the space has changed: its own are in the store. */
  async #sharedOf(layer: SharedLayer, space: string, type: ResourceType): Promise<readonly Stored[]> {
    const shared = await layer.list(space, type)
    if (!layer.changeable) return shared
    const own = await Promise.all(shared.map(({ key }) => this.#store.get(key)))
    return shared.filter((_, i) => own[i] === undefined)
  }

  #select(event: StoreEvent, type: ResourceType, selection: Selection): SelectedEvent | undefined {
    const created = event.previous === undefined
    if (selection.everything) {
      return { type: event.type === 'delete' ? 'DELETED' : created ? 'ADDED' : 'MODIFIED', stored: event.stored, event }
    }
    const before = event.previous !== undefined && selection.matches(this.#shown(event.previous, type))
    if (event.type === 'delete') return before ? { type: 'DELETED', stored: event.stored, event } : undefined
    const now = selection.matches(this.#shown(event.stored, type))
    if (now) return { type: before ? 'MODIFIED' : 'ADDED', stored: event.stored, event }
    // It left the selection: its last selected state, at the revision of the change.
    return before ? { type: 'DELETED', stored: atRevision(event.previous!, event.revision), event } : undefined
  }

  /** The object as the version of the request has it; read-only. */
  #shown(stored: Stored, type: ResourceType): Readonly<KubeObject> {
    if (!type.custom || viewBytes(stored, type) === stored.bytes) return this.#parsed.get(stored)
    return objectFor(stored, type)
  }

  async #startOf(query: ListQuery): Promise<{ at: number | undefined; after: Key | undefined }> {
    const { resourceVersion: rv = '', resourceVersionMatch: match = '' } = query
    if (query.continue) {
      if (rv !== '' && rv !== '0') {
        throw new StatusError('BadRequest', 'specifying resource version is not allowed when using continue')
      }
      const token = decodeContinue(query.continue)
      if (token.at !== undefined && token.at < this.#store.compactedRevision) {
        throw new ExpiredContinueError(encodeContinue(undefined, token.after))
      }
      return token
    }
    if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
      throw matchInvalid(fieldError.notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match !== '' && rv === '') {
      throw matchInvalid(
        fieldError.forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      )
    }
    if (match === 'Exact' && rv === '0') {
      throw matchInvalid(
        fieldError.forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      )
    }
    const revision = parseResourceVersion(rv)
    if (revision > this.#store.revision) throw tooLarge(revision, this.#store.revision)
    const exact = match === 'Exact' || (match === '' && (query.limit ?? 0) > 0 && revision > 0)
    return { at: exact ? revision : undefined, after: undefined }
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

const MATCH = 'resourceVersionMatch'

function matchInvalid(error: FieldError): StatusError {
  return statusError.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [error])
}

/** 410 of a page whose snapshot is gone; carries the token that goes on without consistency. */
export class ExpiredContinueError extends StatusError {
  readonly continueToken: string
  constructor(continueToken: string) {
    super('Expired', CONTINUE_TOO_OLD)
    this.continueToken = continueToken
  }
  override toStatus() {
    return { ...super.toStatus(), metadata: { continue: this.continueToken } }
  }
}

export function keyOf(space: string, type: { group: string; resource: string }, namespace: string, name: string): Key {
  return { space, group: storageGroup(type), resource: type.resource, namespace, name }
}

/** @throws StatusError BadRequest */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0
  if (!/^\d{1,15}$/.test(text)) {
    throw new StatusError(
      'BadRequest',
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  return Number(text)
}

export function tooLarge(asked: number, current: number): StatusError {
  return new StatusError('Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

/** Store errors of a watch from `after` as the API words them; `oldest` is where watches can begin. */
export function watchError(error: unknown, after: number, oldest: number): unknown {
  if (isStorageError(error, 'Compacted'))
    return new StatusError('Expired', `too old resource version: ${after} (${oldest})`, undefined, { cause: error })
  if (isStorageError(error, 'SlowWatcher')) {
    return new StatusError(
      'Expired',
      'the watcher was too slow to keep up and was dropped; watch again from the last resourceVersion',
      undefined,
      { cause: error },
    )
  }
  return error
}

function rangeOf(
  type: ResourceType,
  query: { space: string; namespace?: string | undefined; selection?: Selection },
): Range {
  const namespace = query.namespace ?? (type.namespaced ? query.selection?.namespace : '')
  const range: { -readonly [K in keyof Key]?: Key[K] } = { group: storageGroup(type), resource: type.resource }
  if (query.space === '*') return range
  range.space = query.space
  if (namespace === undefined) return range
  range.namespace = namespace
  if (query.selection?.name !== undefined) range.name = query.selection.name
  return range
}

/** Across all spaces the store cannot narrow a range to one namespace, so its name is compared here. */
function inNamespace(key: Key, query: { space: string; namespace?: string | undefined }): boolean {
  return query.space !== '*' || query.namespace === undefined || key.namespace === query.namespace
}

/** The same object under another resourceVersion. */
function atRevision(stored: Stored, revision: number): Stored {
  const { head, tail } = encodeObject(decodeObject(stored))
  return { key: stored.key, revision, bytes: Buffer.from(head + revision + tail) }
}

/** All versions of objects that selecting looks at. */
function versionsIn(events: readonly StoreEvent[], selection: Selection): Stored[] {
  return events.flatMap(({ stored, previous }) =>
    selection.everything || previous === undefined ? [stored] : [stored, previous],
  )
}

function encodeContinue(at: number | undefined, after: Key): string {
  return Buffer.from(
    JSON.stringify({
      v: 1,
      rv: at ?? -1,
      s: after.space,
      ns: after.namespace,
      n: after.name,
      g: after.group,
      r: after.resource,
    }),
  ).toString('base64url')
}

function decodeContinue(token: string): { at: number | undefined; after: Key } {
  try {
    const t = JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>
    if (t.v !== 1 || typeof t.rv !== 'number')
      throw new Error(`server does not recognize this encoded version ${JSON.stringify(String(t.v ?? ''))}`)
    const after: Key = {
      space: String(t.s),
      group: String(t.g),
      resource: String(t.r),
      namespace: String(t.ns),
      name: String(t.n),
    }
    return { at: t.rv < 0 ? undefined : t.rv, after }
  } catch (cause) {
    throw new StatusError(
      'BadRequest',
      `invalid continue token: continue key is not valid: ${cause instanceof Error ? cause.message : cause}`,
      undefined,
      { cause },
    )
  }
}
