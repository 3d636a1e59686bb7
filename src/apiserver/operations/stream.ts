/**
 * Every change of a space, or of all, in one order with one cursor. A snapshot in pages of one revision comes first, then the store's log
 * from there. Endpoints make lines of it, the embedded client events.
 */
import type { GroupResource } from '../../apimachinery/object.ts'
import type {
  Key,
  ListOptions,
  Page,
  Range,
  Revision,
  Store,
  Stored,
  StoreEvent,
  WatchOptions,
} from '../../storage/store.ts'
import type { DerivedParts } from '../registry/derivedParts.ts'
import { watchError } from '../registry/readVersions.ts'
import type { StreamForms } from '../registry/streamForms.ts'

export interface StreamPlan {
  /** Logical-cluster id or `*`. */
  space: string
  /** Absent: all. */
  resources?: readonly GroupResource[] | undefined
  /** Whether objects with derived parts are sent as they are stored. */
  brief?: boolean
  /** Up to which revision who reads has what there was: of that a snapshot tells the names. */
  known?: Revision | undefined
  /** The revision behind which it goes on. Absent: it begins with a snapshot. */
  after?: Revision | undefined
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface StreamedBatch<T> {
  /** In order; perhaps none that matches. */
  events: T[]
  /** The stream is complete up to here. */
  revision: Revision
  /** The end of the snapshot. */
  synced: boolean
}

interface StreamOptions<T> {
  signal: AbortSignal
  /** As the store's: while it waits, all events up to the store's revision were delivered and handled. */
  onLive?: NonNullable<WatchOptions['onLive']>
  /**
   * The reader is in this process and goes on by itself: the snapshot is read in slices, and writes meanwhile cost only their retention.
   * For a client, who may be slow, each page is read for itself, as long as the history goes back that far.
   */
  isAtHand?: boolean
  /** Event of a change. The object's form is ready. */
  eventOf: (type: ChangeType, stored: Stored) => T
}

interface StreamDeps {
  store: Pick<Store, 'list' | 'slices' | 'watch' | 'compactedRevision'>
  forms: StreamForms
  derived?: DerivedParts | undefined
}

/** Few enough to be sent while the next ones are read. */
const SNAPSHOT_PAGE = 500

/**
 * Ends quietly when the signal aborts.
 * @throws StatusError `Expired` when `after` is older than the kept history or the reader is too slow
 */
export async function* stream<T>(
  { store, forms, derived: parts }: StreamDeps,
  { space, resources, after: from, brief }: StreamPlan,
  { signal, onLive, isAtHand, eventOf }: StreamOptions<T>,
): AsyncGenerator<StreamedBatch<T>, void, void> {
  // readers of all spaces get stored content only
  const derived = brief || space === '*' ? undefined : parts
  const one = resources?.length === 1 ? resources[0] : undefined
  const only = one && !derived?.concerns(one) ? one : undefined
  const range = {
    ...(space !== '*' && { space }),
    // One resource: the store has an index for it, and writes of others wake nobody here.
    ...(only && { group: only.group, resource: only.resource }),
  }
  const requested = resources && new Set(resources.map(({ group, resource }) => `${group}/${resource}`))
  const wants = (key: Key): boolean => requested === undefined || requested.has(`${key.group}/${key.resource}`)
  const wantedOf = <E extends { readonly key: Key }>(all: readonly E[]): readonly E[] =>
    requested === undefined ? all : all.filter(({ key }) => wants(key))
  let after = from
  try {
    if (after === undefined) {
      const ranges = rangesOf(space, resources)
      for await (const batch of snapshot(
        { store, forms, derived },
        { space, ranges, wants },
        { signal, eventOf, ...(isAtHand && { isAtHand }) },
      )) {
        after = batch.revision
        yield batch
        // held here for as long as the stream waits for changes, with all objects that were parsed for its events
        batch.events = []
      }
      if (after === undefined || signal.aborted) return
    }
    for await (const batch of store.watch(range, { after, signal, ...(onLive && { onLive }) })) {
      const all = derived ? await derived.events(batch) : batch
      const wanted = wantedOf(all)
      const preparing = forms.prepare(space, wanted)
      if (preparing) await preparing
      const events = wanted.map(event => eventOf(typeOf(event), event.stored))
      yield { events, revision: batch.at(-1)!.revision, synced: false }
    }
  } catch (error) {
    throw watchError(error, after ?? 0, store.compactedRevision)
  }
}

/**
 * Ranges of a snapshot: a few kinds by the store's index of each, and not the whole content. In the order of keys, but for all spaces each
 * kind comes by itself.
 */
function rangesOf(space: string, resources: readonly GroupResource[] | undefined): Range[] {
  const within = space === '*' ? {} : { space }
  if (!resources || resources.length === 0) return [within]
  const kinds = new Map(resources.map(({ group, resource }) => [`${group}\0${resource}`, { group, resource }]))
  return [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => ({ ...within, ...kind }))
}

/** In pages of one revision. */
async function* snapshot<T>(
  { store, forms, derived }: StreamDeps,
  { space, ranges, wants }: { space: string; ranges: readonly Range[]; wants: (key: Key) => boolean },
  { signal, eventOf, isAtHand }: StreamOptions<T>,
): AsyncGenerator<StreamedBatch<T>, void, void> {
  let at: Revision | undefined
  for (const [i, range] of ranges.entries()) {
    const options = { uncounted: true, ...(at !== undefined && { at }) }
    const pages = isAtHand ? store.slices(range, options) : pagesOf(store, range, options)
    for await (const page of pages) {
      if (signal.aborted) return
      at = page.revision
      const items = page.items.filter(({ key }) => wants(key))
      for (const [j, stored] of items.entries())
        if (derived?.concerns(stored.key)) items[j] = await derived.whole(stored, { at })
      await forms.prepare(
        space,
        items.map(stored => ({ stored })),
      )
      const synced = !page.more && i === ranges.length - 1
      if (items.length > 0 || synced)
        yield { events: items.map(stored => eventOf('ADDED', stored)), revision: at, synced }
    }
  }
}

/** All of one revision, with nothing kept from one page to the next. */
async function* pagesOf(
  store: Pick<Store, 'list'>,
  range: Range,
  { at, ...options }: ListOptions,
): AsyncGenerator<Page, void, void> {
  let revision = at
  let after: Key | undefined
  for (let more = true; more; ) {
    const page = await store.list(range, {
      ...options,
      limit: SNAPSHOT_PAGE,
      ...(revision !== undefined && { at: revision }),
      ...(after && { after }),
    })
    revision = page.revision
    after = page.items.at(-1)?.key
    more = page.more && after !== undefined
    yield { ...page, more }
  }
}

function typeOf({ type, previous }: StoreEvent): ChangeType {
  return type === 'delete' ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED'
}
