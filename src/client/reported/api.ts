/**
 * The interface of the package's `reportedInformer`. The package has this text as its declarations, so it imports nothing.
 */

/** An object that a cluster reports, in its own kind. */
export interface ReportedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** A name is unique in one location of one space. */
export interface ReportedName {
  /** Id of the space; needed where all spaces are read. */
  readonly space?: string
  /** Location of the cluster, such as `imw1.florin`. */
  readonly location: string
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string
  readonly name: string
}

export interface Reported<T extends ReportedObject> {
  /** Id of the space. */
  readonly space: string
  readonly location: string
  /** RFC 3339: the last word of a cluster that is silent now; its objects stay as they were. Absent: it is not silent. */
  readonly silentSince?: string
  /** Shared with every reader: copy before changing. */
  readonly object: T
}

export interface ReportedChange<T extends ReportedObject> extends Reported<T> {
  readonly type: 'added' | 'updated' | 'deleted'
  /** As it was before an update. */
  readonly previous?: T
}

/** Text fields of a log line, and its sentence. */
type Log = (fields: object, message: string) => void

export interface ReportedInformerOptions {
  /** Path of a kubeconfig file of the center. */
  readonly kubeconfig: string
  /** Default: the current context of the file. */
  readonly context?: string
  /** Path or id of a space; `*` is all spaces in which the account may list and watch the kind. Default: the space of the context. */
  readonly space?: string
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** In the plural, such as `policyreports`. */
  readonly resource: string
  /** Default: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Gets failures, which are tried again; a pino logger fits. Default: nobody does. */
  readonly logger?: { readonly debug: Log; readonly info: Log; readonly warn: Log; readonly error: Log }
}

/** A copy of what all clusters report of one kind, which follows the center. */
export interface ReportedInformer<T extends ReportedObject> {
  /** Resolves with the first complete list. */
  readonly synced: Promise<void>
  /** Follows the center until the signal aborts. Failures are tried again, and a failed list deletes nothing. */
  run(signal: AbortSignal): Promise<void>
  get(name: ReportedName): T | undefined
  /** Reports of all locations, in no particular order. */
  list(): readonly Reported<T>[]
  /** Calls back at each change from now on, in the order of the center. The answer ends that. */
  subscribe(listener: (change: ReportedChange<T>) => void): () => void
}

/** Rejects with an Error where the kubeconfig cannot be used. */
export type ReportedInformerOf = <T extends ReportedObject = ReportedObject>(
  options: ReportedInformerOptions,
) => Promise<ReportedInformer<T>>
