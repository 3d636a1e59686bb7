/**
 * The Kubernetes object model as plain JSON values.
 * @see https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
 */
export type Json = null | boolean | number | string | Json[] | { [field: string]: Json }

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** One manager's claim on fields. `fieldsV1` is the trie of KEP-555 (`f:`, `k:`, `v:`, `i:` and `.` keys). */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  /** RFC 3339, whole seconds. */
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: FieldsV1
  subresource?: string
}
export interface FieldsV1 {
  [path: string]: FieldsV1
}

export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  /** Opaque outside `src/storage`; decimal digits of the store's revision. */
  resourceVersion?: string
  generation?: number
  /** RFC 3339, whole seconds, UTC. */
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
  selfLink?: string
}

/** Any API object. Fields outside metadata are `unknown` until a schema or a guard narrows them. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  [field: string]: unknown
}

export interface GroupResource {
  /** `''` is the core group. */
  group: string
  /** Lower-case plural. */
  resource: string
}
export interface GroupVersionResource extends GroupResource {
  version: string
}
export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(gv: { group: string; version: string }): string {
  return gv.group === '' ? gv.version : `${gv.group}/${gv.version}`
}

/** The reverse of {@link apiVersionOf}; `undefined` when there is more than one slash or an empty version. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/')
  if (parts.length === 1 && parts[0]) return { group: '', version: parts[0] }
  if (parts.length === 2 && parts[1]) return { group: parts[0]!, version: parts[1] }
  return undefined
}

/** `deployments.apps`, or `pods` in the core group: how Kubernetes messages name a resource. */
export function groupResourceName(gr: GroupResource): string {
  return gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`
}

export function isSameResource(a: GroupResource, b: GroupResource): boolean {
  return a.resource === b.resource && a.group === b.group
}

/** A JSON object: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
