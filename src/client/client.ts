/**
 * Contract of an API server for controllers and syncers: one, over HTTP (`http/`) or in process (`src/apiserver` objects called directly by
 * `inProcess.ts`). Every method throws `StatusError`; transport failures over HTTP throw `StatusError` with reason ServiceUnavailable and
 * the cause attached.
 */
import type { GroupResource, GroupVersionResource, KubeObject } from '../apimachinery/object.ts'
import type { ProtocolRange } from '../placement/desks/syncProtocol.ts'

export interface ObjectRef {
  /** Absent for cluster-scoped objects. */
  namespace?: string
  name: string
}

export interface ListOptions {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  continue?: string
}

export interface ObjectList {
  items: KubeObject[]
  resourceVersion: string
  continue?: string
  /** How long the answer was, where there was one. */
  bytes?: number
}

export interface WatchOptions {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Start after this version (from a list or a bookmark). */
  resourceVersion: string
  /** Whether the server sends bookmarks now and then; a connection may need them to be known alive. Default: yes. */
  bookmarks?: boolean
  signal: AbortSignal
}

export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject }
  | { type: 'BOOKMARK'; resourceVersion: string }

export interface WriteOptions {
  /** `status` or another sub-resource. */
  subresource?: string
  fieldManager?: string
  /** Server-side apply: take fields over from other managers. */
  force?: boolean
  /** Everything but the write itself. */
  dryRun?: boolean
  /** For a creation or an update: objects of other spaces have the same content. A server in the same process keeps their body once. */
  shared?: boolean
  /**
   * For an update: the status becomes that of the object, too, also where only its sub-resource changes it; other managers lose their
   * fields in it. Only a server in the same process does that.
   */
  withStatus?: boolean
  because?: Because
  /** For a creation: ends the wait for the answer of a server of another process. */
  signal?: AbortSignal
}

/** Annotations for the audit event of a write. Only a server that records the write of its own controller asks for them. */
export type Because = () => Readonly<Record<string, string>>

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

export interface DeleteOptions {
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  preconditions?: { uid?: string; resourceVersion?: string }
  because?: Because
}

/** A resource that a server serves, from discovery; one entry per resource, at the group's preferred version. */
export interface DiscoveredResource extends GroupVersionResource {
  kind: string
  /** Other names by which people call it; absent where the server tells none. */
  singular?: string
  shortNames?: readonly string[]
  namespaced: boolean
  verbs: readonly string[]
  /** Names such as `status`. */
  subresources: readonly string[]
  /** Every served version of it, the group's preferred one first; absent where the client cannot tell. */
  versions?: readonly string[]
}

/** The API of one space (or of one plain cluster). */
export interface SpaceClient {
  get(resource: GroupVersionResource, ref: ObjectRef): Promise<KubeObject>
  list(resource: GroupVersionResource, options?: ListOptions): Promise<ObjectList>
  /**
   * Ends quietly when the signal aborts or the server closes; the caller resumes.
   * @throws StatusError `Expired` when the history is gone: list again
   */
  watch(resource: GroupVersionResource, options: WatchOptions): AsyncIterable<readonly WatchEvent[]>
  create(resource: GroupVersionResource, object: KubeObject, options?: WriteOptions): Promise<KubeObject>
  update(resource: GroupVersionResource, object: KubeObject, options?: WriteOptions): Promise<KubeObject>
  patch(
    resource: GroupVersionResource,
    ref: ObjectRef,
    type: PatchType,
    body: unknown,
    options?: WriteOptions,
  ): Promise<KubeObject>
  delete(resource: GroupVersionResource, ref: ObjectRef, options?: DeleteOptions): Promise<void>
  discover(): Promise<DiscoveredResource[]>
}

/** One change in a space stream. `resource` is the storage version's. */
export interface StreamEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** Logical-cluster id of the space. */
  readonly space: string
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly name: string
  /** Cursor: the change's place in the one order of the server. */
  readonly revision: number
  /** It is unchanged since the cursor of the request; then there is no `object`. Absent: it does not. */
  readonly isKnown?: boolean
  /** Parsed on first use and shared by all readers of the event: never change it. */
  readonly object: KubeObject
  /** Those of `object`, perhaps without managedFields, where they are there for less. Absent: they are not. */
  readonly metadata?: Readonly<KubeObject['metadata']> | undefined
  /** Whether the object's JSON text holds `text`: a cheap test before `object` is parsed. */
  mentions(text: string): boolean
  /** Without parsing it; `undefined` where nobody can tell. Absent: nobody can tell of any. */
  likeness?(): Likeness | undefined
}

/** The content of an object without identity, times, managed fields and status. */
export interface Likeness {
  /** Equal for equal contents alone. */
  readonly content: string
  /** The length of a text with that content. */
  readonly bytes: number
  readonly uid: string
  readonly hasStatus: boolean
}

export interface StreamOptions {
  /** One space's id or path, or `*` for all. */
  space: string
  /** Only these; default: every resource. */
  resources?: readonly GroupResource[]
  /** Whether what a server makes for readers alone is left out: objects as they are stored. */
  brief?: boolean
  /** Resume behind this cursor. Absent: start with a consistent snapshot (`ADDED` events). */
  after?: number
  /** Without `after`: the snapshot may tell what stands since this cursor by its name alone (see {@link StreamEvent.isKnown}). */
  known?: number | undefined
  /** Epoch of the center's store that sent it. */
  epoch?: string | undefined
  /** Protocols that a syncer supports. */
  protocols?: ProtocolRange | undefined
  /** Session of a syncer: as its reports name it. */
  session?: string | undefined
  signal: AbortSignal
}

/**
 * A batch of a stream. After the snapshot comes one batch with `synced: true`; later bookmarks are batches without events.
 * From the batch with `synced: true` on, `revision` is the cursor to resume from once the batch is handled.
 */
export interface StreamBatch {
  readonly events: readonly StreamEvent[]
  readonly revision: number
  readonly synced: boolean
  /** In bookmarks, from centers that tell it: the life of the store that the cursor belongs to. */
  readonly epoch?: string
  /** In bookmarks, to a syncer with a range of protocols: the chosen one. */
  readonly protocol?: number
  /** In bookmarks: the center was restored from an archive, and clusters keep what it does not know. */
  readonly restored?: true
  /** Question of the center, in a batch of its own that has no place in the order. For syncers alone. */
  readonly question?: unknown
}

/** One of many objects that are created at a time and say the same in many spaces. */
export interface CopyCreation {
  readonly space: string
  readonly resource: GroupVersionResource
  /** One object for all that say the same; never changed. */
  readonly object: KubeObject
  /** Default: that of the client. */
  readonly fieldManager?: string
}

/** Result of one of them. */
export interface CopyMade {
  readonly uid: string
  readonly resourceVersion: string
  /** One that says the same, but for its own values, uid and times: shared by those that do, and never to be changed. */
  readonly like: Readonly<KubeObject>
}

/** One of many objects that are deleted at a time, in the version that is known; what depends on it goes after it. */
export interface CopyDeletion {
  readonly space: string
  readonly resource: GroupVersionResource
  /** `''` for a cluster-scoped one. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/** One of many objects that are updated at a time, in the known version. */
export interface CopyUpdate extends CopyDeletion {
  /** One object for all that change alike; never changed. */
  readonly content: Readonly<KubeObject>
  /** The object that replaces the current one, by `content` and that one alone; `undefined` where nothing is to change. */
  readonly replace: (current: KubeObject) => KubeObject | undefined
  /** Default: that of the client. */
  readonly fieldManager?: string
}

/** An API server with many spaces. */
export interface Client {
  /** `space` is an id or a path; `*` lists and watches across all spaces. */
  in(space: string): SpaceClient
  /**
   * Every change of a space in one order (`/services/stream`). Ends quietly when the signal aborts or the server closes.
   * @throws StatusError `Expired` when the cursor is too old: start again without `after`
   */
  stream(options: StreamOptions): AsyncIterable<StreamBatch>
  /**
   * Results, at their index. The rest has to be created one by one, which gives the reason of a refusal. No party in one of the spaces can
   * delay it. Absent: there is no such way.
   */
  createCopies?(creations: readonly CopyCreation[]): Promise<readonly (CopyMade | undefined)[]>
  /** The same of what is there. */
  updateCopies?(updates: readonly CopyUpdate[]): Promise<readonly (CopyMade | undefined)[]>
  /** Whether each is gone; the rest has to be deleted one by one, which gives the reason of a refusal. Absent: there is no such way. */
  deleteCopies?(deletions: readonly CopyDeletion[]): Promise<readonly boolean[]>
}
