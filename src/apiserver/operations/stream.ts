/**
 * Every change of a space, or of all, in one order with one cursor: a snapshot in pages of one revision, then the store's log
 * from there. Endpoints make lines of it, the embedded client events.
 */
import type { GroupResource } from '../../apimachinery/object.ts'
import type { Key, Range, Revision, Store, Stored } from '../../storage/store.ts'
import { watchError } from '../registry/readVersions.ts'
import type { StreamForms } from '../registry/streamForms.ts'

export interface StreamPlan {
  /** Logical-cluster id or `*`. */
  space: string
  /** Absent: all. */
  resources?: readonly GroupResource[] | undefined
  /** The revision behind which it goes on. Absent: it begins with a snapshot. */
  after?: Revision | undefined
}

export interface StreamedChange {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** Its form is ready. */
  stored: Stored
}

export interface StreamedBatch {
  /** In order; perhaps none that was asked for. */
  changes: StreamedChange[]
  /** What the stream has told up to here. */
  revision: Revision
  /** The end of the snapshot. */
  synced: boolean
}

export interface StreamDeps {
  store: Pick<Store, 'list' | 'watch' | 'compactedRevision'>
  forms: StreamForms
}

const SNAPSHOT_PAGE = 500

/**
 * Ends quietly when the signal aborts. `onLive` is called once, when history is over.
 * @throws StatusError `Expired` when `after` is older than the kept history or the reader is too slow
 */
export async function* stream(
  { store, forms }: StreamDeps,
  { space, resources, after: from }: StreamPlan,
  { signal, onLive }: { signal: AbortSignal; onLive?: () => void },
): AsyncGenerator<StreamedBatch, void, void> {
  const only = resources?.length === 1 ? resources[0] : undefined
  const range = {
    ...(space !== '*' && { space }),
    // One resource: the store has an index for it, and writes of others wake nobody here.
    ...(only && { group: only.group, resource: only.resource }),
  }
  const wanted = resources && new Set(resources.map(({ group, resource }) => `${group}/${resource}`))
  const wants = (key: Key): boolean => wanted === undefined || wanted.has(`${key.group}/${key.resource}`)
  let after = from
  try {
    if (after === undefined) {
      for await (const batch of snapshot({ store, forms }, { space, range, wants }, signal)) {
        after = batch.revision
        yield batch
      }
      if (after === undefined || signal.aborted) return
    }
    for await (const batch of store.watch(range, { after, signal, ...(onLive && { onLive }) })) {
      const events = batch.filter(({ key }) => wants(key))
      await forms.prepare(
        space,
        events.map(({ stored }) => stored),
      )
      const changes = events.map(({ type, previous, stored }) => ({
        type:
          type === 'delete'
            ? ('DELETED' as const)
            : previous === undefined
              ? ('ADDED' as const)
              : ('MODIFIED' as const),
        stored,
      }))
      yield { changes, revision: batch.at(-1)!.revision, synced: false }
    }
  } catch (error) {
    throw watchError(error, after ?? 0, store.compactedRevision)
  }
}

/** In pages of one revision. */
async function* snapshot(
  { store, forms }: StreamDeps,
  { space, range, wants }: { space: string; range: Range; wants: (key: Key) => boolean },
  signal: AbortSignal,
): AsyncGenerator<StreamedBatch, void, void> {
  let at: Revision | undefined
  let last: Key | undefined
  for (let more = true; more; ) {
    const page = await store.list(range, {
      limit: SNAPSHOT_PAGE,
      uncounted: true,
      ...(at !== undefined && { at }),
      ...(last && { after: last }),
    })
    if (signal.aborted) return
    at = page.revision
    last = page.items.at(-1)?.key
    more = page.more && last !== undefined
    const items = page.items.filter(({ key }) => wants(key))
    await forms.prepare(space, items)
    const changes = items.map(stored => ({ type: 'ADDED' as const, stored }))
    if (changes.length > 0 || !more) yield { changes, revision: at, synced: !more }
  }
}
