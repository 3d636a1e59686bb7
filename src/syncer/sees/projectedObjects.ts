/**
 * Projected objects of the mailbox, as the content of downsync: each such object, and their Namespaces. Follows the mirror, so that one
 * object more costs one object.
 */
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { EDGE_GROUP, isProjected } from '../../placement/words/placement.ts'
import { keyOf, type MailboxMirror, type SyncKey } from '../mailbox/mirror.ts'

interface ProjectedChange {
  /** There are objects of a kind, or a version, of which there were none, or none any more. */
  readonly kinds: boolean
  /** There are objects in a Namespace that had none, or none any more. */
  readonly namespace: SyncKey | undefined
}

const NOTHING: ProjectedChange = { kinds: false, namespace: undefined }

export class ProjectedObjects {
  readonly #mirror: MailboxMirror
  /** How many there are, by resource and version. */
  readonly #kinds = new Map<string, { resource: GroupVersionResource; count: number }>()
  /** How many there are in each Namespace. */
  readonly #namespaces = new Map<string, number>()

  constructor(mirror: MailboxMirror) {
    this.#mirror = mirror
  }

  has({ group, resource }: GroupResource, namespace: string, name: string): boolean {
    const isNamespace = groupResourceName({ group, resource }) === groupResourceName(NAMESPACES)
    if (isNamespace && this.#namespaces.has(name)) return true
    const mirrored = this.#mirror.get({ group, resource, namespace, name })
    return mirrored !== undefined && isCarried(mirrored.resource, mirrored.object)
  }

  /** Each in one version. */
  resources(): GroupVersionResource[] {
    const found = new Map<string, GroupVersionResource>()
    if (this.#namespaces.size > 0) found.set(groupResourceName(NAMESPACES), NAMESPACES)
    for (const { resource } of this.#kinds.values()) found.set(groupResourceName(resource), resource)
    return [...found.values()]
  }

  /** Counts all of the mirror again: it was not followed since the beginning. */
  recount(): void {
    this.#kinds.clear()
    this.#namespaces.clear()
    for (const { resource, object } of this.#mirror.values())
      if (isCarried(resource, object)) this.#count(keyOf(resource, object), object, 1)
  }

  changed(
    key: SyncKey,
    object: Readonly<KubeObject> | undefined,
    previous: Readonly<KubeObject> | undefined,
  ): ProjectedChange {
    const now = object && isCarried(key, object) ? object : undefined
    const before = previous && isCarried(key, previous) ? previous : undefined
    if (now?.apiVersion === before?.apiVersion) return NOTHING
    const came = now ? this.#count(key, now, 1) : NOTHING
    const left = before ? this.#count(key, before, -1) : NOTHING
    return {
      kinds: came.kinds || left.kinds,
      namespace: now && before ? undefined : (came.namespace ?? left.namespace),
    }
  }

  #count(key: SyncKey, { apiVersion }: Readonly<KubeObject>, by: 1 | -1): ProjectedChange {
    const { group, resource, namespace } = key
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
    const id = `${groupResourceName(key)} ${version}`
    const kind = this.#kinds.get(id) ?? { resource: { group, version, resource }, count: 0 }
    kind.count += by
    if (kind.count > 0) this.#kinds.set(id, kind)
    else this.#kinds.delete(id)
    const kinds = kind.count === (by === 1 ? 1 : 0)
    if (namespace === '') return { kinds, namespace: undefined }
    const inside = (this.#namespaces.get(namespace) ?? 0) + by
    if (inside > 0) this.#namespaces.set(namespace, inside)
    else this.#namespaces.delete(namespace)
    const isOther = inside === (by === 1 ? 1 : 0)
    const { group: ofNamespaces, resource: namespaces } = NAMESPACES
    const at = { group: ofNamespaces, resource: namespaces, namespace: '', name: namespace }
    return { kinds, namespace: isOther ? at : undefined }
  }
}

function isCarried({ group }: GroupResource, object: Readonly<KubeObject>): boolean {
  return group !== EDGE_GROUP && isProjected(object)
}
