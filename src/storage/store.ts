/**
 * The contract of the store: one ordered log of whole-object writes, one revision counter, watchable ranges.
 *
 * The store knows keys, bytes and revisions, never kinds. Every write has a revision of its own; revisions rise, and nobody
 * may count with them: an engine may leave some out. A write is acknowledged, readable and watchable only after it is on disk.
 */
import type { Discreet } from '../apimachinery/messageOf.ts'
import type { Soon } from '../apimachinery/soon.ts'

/** Position in the log, above 0. Below 2^53, so a `number` holds it exactly. It is the API's `resourceVersion`. */
export type Revision = number

/** Names one object. Ordering everywhere: space, group, resource, namespace, name, each by code unit. No part holds NUL. */
export interface Key {
  readonly space: string
  /** `''` for the core group. */
  readonly group: string
  readonly resource: string
  /** `''` for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/**
 * A set of keys. Absent parts match everything. `namespace: ''` is the cluster scope. Served by index lookups:
 * `{}`; `{space}`; `{group, resource}` (all spaces); `{space, group, resource}`, then also `namespace`, then also `name`.
 */
export type Range = Partial<Key>

/**
 * One version of one object. Immutable; `bytes` is shared by all readers and must never be changed. Where many objects share their content
 * it may be joined on demand: sharedStored.ts gives its length alone, or its mentions.
 */
export interface Stored {
  readonly key: Key
  /** The write that made this version. */
  readonly revision: Revision
  /** The object's canonical JSON, its resourceVersion in place. */
  readonly bytes: Buffer
  /** Where in `bytes` the digits of the revision begin: the length of the text's head, in bytes. */
  readonly headBytes: number
  /** Note of its writer beside the text: kept with the version, and in no answer. Absent: none. */
  readonly note?: string | undefined
}

/**
 * An object's JSON text around the decimal digits of its revision: the stored text is `head + revision + tail`. The engine
 * puts the digits in, because it alone knows the revision, and it knows it only at commit.
 */
export interface Encoded {
  readonly head: string
  readonly tail: string
  /** The version's {@link Stored.note}. */
  readonly note?: string | undefined
  /**
   * Given where objects of the same name in other spaces have the same content but for these gaps. An engine may then keep it in memory
   * once. In order, by bytes of `head + tail`.
   */
  readonly gaps?: readonly Gap[] | undefined
}

/**
 * Where in a text stands a value of its object's own: all of a plain JSON string, without its quotes. A uid is the
 * object's, and the space is that of its key.
 */
export interface Gap {
  readonly at: number
  readonly length: number
  readonly kind: 'uid' | 'space' | 'time'
}

/**
 * `put` makes or replaces the object; with `leads: 'out'` it is a step of the object's removal, which is accepted without room for anything
 * else. `delete` removes it; its text is the object's last state, sent to watchers. Without a text that is the deleted version, under the
 * revision of the deletion.
 */
export type Mutation =
  | { readonly type: 'put'; readonly text: Encoded; readonly leads?: 'out' }
  | { readonly type: 'delete'; readonly text?: Encoded }

export interface Write {
  readonly key: Key
  readonly mutation: Mutation
  /** Compare-and-write: 0 demands that the object is absent, a revision demands exactly that version. */
  readonly expect: Revision
}

/** Why the store did not take a write: there is no room for it. Deletions are taken unless the disk is full to the last byte. */
export interface Refusal {
  /** Somebody's share is used up, or the server's own memory or disk. */
  readonly reason: 'Budget' | 'Shortage'
  /** Exhausted resource and the remedy, for the user. */
  readonly message: string
  /** Key of the refused write. */
  readonly key: Key
  /** Resources that run short, and how little is left. */
  readonly causes: readonly { readonly reason: string; readonly field: string; readonly message: string }[]
}

/** The outcome of one compare-and-write. Unless `ok`, nothing was written. */
export type WriteResult =
  | { readonly ok: true; readonly stored: Stored }
  /** `current` is what stood in the way, or, with `refused`, what stays as it is. */
  | { readonly ok: false; readonly current: Stored | undefined; readonly refused?: Refusal }

/** The outcome of a change; `stored` is the new version, the last state of a deletion, or what was left as it is. */
export type UpdateResult =
  | { readonly ok: true; readonly stored: Stored | undefined }
  | { readonly ok: false; readonly refused: Refusal }

export interface StoreEvent {
  readonly type: 'put' | 'delete'
  readonly key: Key
  readonly revision: Revision
  /** New version, or for `delete` the last state with the revision of the deletion. */
  readonly stored: Stored
  /** Version that it replaced; `undefined` means that the object was created. */
  readonly previous: Stored | undefined
}

export interface ListOptions {
  /** Read as of this revision. Default: now. */
  at?: Revision
  /** At most this many items. Default: all. */
  limit?: number
  /** Start behind this key (it need not exist). */
  after?: Key
  /** Leaves out `remaining`: a count costs a look at every part of the range, on each page. */
  uncounted?: boolean
}

export interface Page {
  /** In key order. */
  items: Stored[]
  /** The revision that the page shows; pass it as `at` to go on. */
  revision: Revision
  /** Whether items of the range are behind this page. */
  more: boolean
  /** How many they are; `undefined` when the list was not to count them. */
  remaining: number | undefined
}

export interface WatchOptions {
  /** Events with a greater revision. */
  after: Revision
  /** Ends the watch at once. */
  signal: AbortSignal
  /** Ends it behind all that was committed in the turn in which this aborts, or before. */
  closing?: AbortSignal | undefined
  /**
   * Called once, when kept history has been handed over: from then on events arrive in the turn in which they are committed. `isWaiting`
   * answers whether the reader waits for more: then all events up to the store's revision, as read before the question, were handed over
   * before.
   */
  onLive?: (isWaiting: () => boolean) => void
}

/**
 * A structure in step with a range, synchronously. It must not write, cannot fail, and keeps no {@link Stored}. Bytes of one lie in memory
 * that the store shares out, and would hold all of that.
 */
export interface Projection {
  /** Begins anew, with all that is in the range now, in key order; `items` is to be read before this returns, or not at all. */
  reset(items: Iterable<Stored>, revision: Revision): void
  /** Each event behind the last reset, once, in the order of revisions. */
  apply(event: StoreEvent): void
}

export interface Store {
  /** Newest committed revision; 0 when nothing was ever written. */
  readonly revision: Revision
  /** Reads and watches from before this revision are answered with `Compacted`. */
  readonly compactedRevision: Revision

  get(key: Key): Soon<Stored | undefined>

  /** @throws StorageError `Compacted`, or `Future` when `at` is greater than the newest revision */
  list(range: Range, options?: ListOptions): Promise<Page>

  /**
   * The same, some hundred objects at a time: all of one revision, whatever is written while it is read, and however long that takes.
   * The last page tells what a list does; those before it have `more`, and count nothing.
   */
  slices(range: Range, options?: ListOptions): AsyncIterable<Page>

  /** Count of objects in a range, without reading them. */
  count(range: Range): Promise<number>

  write(write: Write): Promise<WriteResult>

  /** Independent writes, in order, in as few synced batches as possible; one result for each, at its index. */
  writeMany(writes: readonly Write[]): Promise<WriteResult[]>

  /**
   * Changes one object from its newest state. `change` sees writes that are queued but not yet on disk, so chained updates never conflict.
   * It must be synchronous and free of side effects, because an engine may run it again. An error of it rejects the call and writes
   * nothing; `undefined` writes nothing and answers (after the version seen is on disk) with it. Writes of one key keep the order of their
   * calls; whose turn is first of those with different keys is for the engine to say.
   */
  update(key: Key, change: (current: Stored | undefined) => Mutation | undefined): Promise<UpdateResult>

  /**
   * Events of `range` after a revision: ordered, gapless, each once, in batches that never split a revision.
   * A batch may be empty of matching events: then it is absent, never `[]`. Ends quietly when `signal` aborts.
   * @throws StorageError `Compacted` when `after` is older than the kept history, `Future` when it is newer than the newest revision.
   *   `SlowWatcher` when the reader falls behind its bound, `Closed` when the store closes.
   */
  watch(range: Range, options: WatchOptions): AsyncIterable<readonly StoreEvent[]>

  /**
   * Keeps a projection of `range`. It is reset at once, and then gets each event inside its commit, before any reader, any watcher or the
   * writer. An error of it is a fault of the program: it is logged, and the projection is reset to the present content, without further
   * effect. Ends with the answer, or when the store closes.
   * @throws what the first `reset` throws, and StorageError `Closed`
   */
  project(range: Range, projection: Projection): () => void

  /** Forgets history at or before `revision` (default: what is older than the configured age). Current objects stay. */
  compact(revision?: Revision): Promise<void>

  /** Waits for queued writes, ends watches with `Closed`, lets go of the data dir. */
  close(): Promise<void>
}

export type StorageErrorCode =
  | 'Compacted'
  | 'Future'
  | 'SlowWatcher'
  | 'Closed'
  /** Another process holds the data dir. */
  | 'Locked'
  /** The data was written by a newer format; the message names both versions. */
  | 'Format'
  /** The stored content is not the acknowledged one; the message names the damage and the remedy. */
  | 'Damaged'
  /** The disk refused a write; the store takes no more writes until it is opened again. */
  | 'Failed'
  /** The disk has no room. A journal takes writes again once it was opened anew. */
  | 'Full'

/** Message for users of the server instead of its own, which is for its operator: it names files. */
const PUBLIC_MESSAGES: Partial<Record<StorageErrorCode, string>> = {
  Closed: 'the server is stopping',
  Locked: 'the server cannot open its store; its log says why',
  Format: 'the server cannot open its store; its log says why',
  Damaged: 'the server cannot read what it has stored; its log says why',
  Full: 'the disk of the server is full; its log says why',
  Failed: 'the server cannot write to its disk, and takes no more writes until it is started again; its log says why',
}

export class StorageError extends Error implements Discreet {
  readonly code: StorageErrorCode
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StorageError'
    this.code = code
  }

  get publicMessage(): string {
    return PUBLIC_MESSAGES[this.code] ?? this.message
  }
}

export function isStorageError(error: unknown, ...codes: StorageErrorCode[]): error is StorageError {
  return error instanceof StorageError && (codes.length === 0 || codes.includes(error.code))
}
