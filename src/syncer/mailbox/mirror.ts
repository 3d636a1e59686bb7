/** The mailbox space as the syncer last saw it, and what changed in it since it was last written down. */
import { has } from '../../apimachinery/fields.ts'
import type { LogFields } from '../../apimachinery/logFields.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { StreamEvent } from '../../client/client.ts'
import { isOfThisSpec } from '../objects/reportedStatus.ts'

export interface Mirrored {
  readonly resource: GroupVersionResource
  readonly object: Readonly<KubeObject>
  /** Its status is, or may be, about an earlier spec. */
  readonly isStatusOld?: true
}
/** Names an object on both sides. */
export interface SyncKey extends GroupResource {
  namespace: string
  name: string
}
export interface MirrorState {
  /** Name of the mailbox's Workspace. */
  mailbox: string
  /** Logical-cluster id of the mailbox; a mailbox that was made anew has another one. */
  space: string
  cursor: number
  /** Epoch of the center's store that the cursor belongs to; absent until the center sends it. */
  epoch?: string | undefined
  /** Keys that are retained in the cluster although the mailbox does not hold them. */
  held?: readonly SyncKey[]
}

export function keyText(key: SyncKey): string {
  return `${groupResourceName(key)}|${key.namespace}|${key.name}`
}

/** For the log: the object that a line is about. */
export function fieldsOf({ group, resource, namespace, name }: SyncKey, uid?: string): LogFields {
  return { group, resource, ...(namespace && { namespace }), name, ...(uid !== undefined && { uid }) }
}

export function keyOf(resource: GroupResource, object: Readonly<KubeObject>): SyncKey {
  const { namespace = '', name = '' } = object.metadata
  return { group: resource.group, resource: resource.resource, namespace, name }
}

export class MailboxMirror {
  #objects = new Map<string, Mirrored>()
  readonly #changed = new Set<string>()

  get(key: SyncKey): Mirrored | undefined {
    return this.#objects.get(keyText(key))
  }

  /** By {@link keyText}. */
  at(text: string): Mirrored | undefined {
    return this.#objects.get(text)
  }

  values(): Iterable<Mirrored> {
    return this.#objects.values()
  }

  get size(): number {
    return this.#objects.size
  }

  apply(key: SyncKey, event: StreamEvent): void {
    if (event.type === 'DELETED') {
      this.remove(key)
      return
    }
    const text = keyText(key)
    const before = this.#objects.get(text)
    const isStatusOld = has(event.object.status) && !isOfThisSpec(event.object)
    const now: Mirrored = {
      resource: event.resource,
      object: slim(event.object),
      ...(isStatusOld && { isStatusOld }),
    }
    this.#objects.set(text, now)
    if (!isSame(before, now)) this.#changed.add(text)
  }

  /** Whether it holds what stands at the center since that revision. */
  stands(key: SyncKey, { resource, revision }: Pick<StreamEvent, 'resource' | 'revision'>): boolean {
    const held = this.get(key)
    return held?.resource.version === resource.version && held.object.metadata.resourceVersion === String(revision)
  }

  remove(key: SyncKey): void {
    const text = keyText(key)
    if (this.#objects.delete(text)) this.#changed.add(text)
  }

  /** State of an earlier run. */
  restore(objects: Iterable<Mirrored>): void {
    this.#objects = new Map()
    for (const entry of objects) this.#objects.set(keyText(keyOf(entry.resource, entry.object)), entry)
    this.#changed.clear()
  }

  /** By {@link keyText}: what came, changed or went since the last call. */
  takeChanged(): string[] {
    const changed = [...this.#changed]
    this.#changed.clear()
    return changed
  }
}

/** A snapshot tells again what is known. Revisions of two lives of a store may be the same. */
function isSame(before: Mirrored | undefined, now: Mirrored): boolean {
  return (
    before !== undefined &&
    before.isStatusOld === now.isStatusOld &&
    before.resource.version === now.resource.version &&
    equalJson(before.object, now.object)
  )
}

/** The server's notes about who wrote what are of no use here and often the larger half. */
function slim(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  return managedFields === undefined ? object : { ...object, metadata }
}

export function isMirrored(entry: unknown): entry is Mirrored {
  if (!isRecord(entry) || !isRecord(entry.resource) || !isRecord(entry.object)) return false
  const { group, version, resource } = entry.resource
  const named = isRecord(entry.object.metadata) && typeof entry.object.metadata.name === 'string'
  return [group, version, resource].every(part => typeof part === 'string') && named
}

/** `configmaps app/a`. */
export function nameOf(key: SyncKey): string {
  return `${groupResourceName(key)} ${key.namespace === '' ? key.name : `${key.namespace}/${key.name}`}`
}
