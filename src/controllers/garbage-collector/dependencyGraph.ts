/**
 * Who depends on whom, over all spaces, kept from one ordered stream. Only objects with ownerReferences are held, and owners
 * that wait for their dependents; everything else passes by unparsed. The graph decides nothing: it says whom to look at.
 */
import type { GroupVersionResource, KubeObject, OwnerReference } from '../../apimachinery/object.ts'
import type { StreamEvent } from '../../client/client.ts'
import type { StreamedRef, StreamHandler } from '../../client/streamSource.ts'

export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

/** An object that names owners. */
export interface Dependent {
  readonly ref: StreamedRef
  readonly uid: string
  readonly owners: readonly OwnerReference[]
  /** It is itself being deleted and waits for its own dependents. */
  readonly deletesDependents: boolean
}

export interface GraphListener {
  /** Something that matters for this object may have changed. */
  wake(ref: StreamedRef): void
  /** The same of many, that may be asked for by and by; they are told in the order of those of one owner. */
  wakeAll(refs: Iterable<StreamedRef>, owner: string): void
  /** The kinds that this space serves may have changed. */
  kindsChanged(space: string): void
}

interface Node extends Dependent {
  deletesDependents: boolean
  generation: number
}

/** Of one owner. */
class Dependents {
  readonly nodes = new Set<Node>()
  /** References of others that hold up its deletion. */
  blocking = 0
}

/** An owner under foreground or orphan deletion. */
interface Waiting {
  readonly ref: StreamedRef
  /** Its dependents that hold it up have been asked to look at themselves. */
  hasAsked: boolean
}

/** Whether it may name owners, or wait for dependents: asked of every event there is. */
function mayMatter(event: StreamEvent): boolean {
  return event.mentions('"deletionTimestamp"') || event.mentions('"ownerReferences"')
}

export class DependencyGraph implements StreamHandler {
  readonly #listener: GraphListener
  /** By {@link refId}. */
  readonly #nodes = new Map<string, Node>()
  /** By the owner's space and uid. */
  readonly #dependents = new Map<string, Dependents>()
  /** Owners under foreground or orphan deletion, by space and uid, as far as the stream has told. */
  readonly #waiting = new Map<string, Waiting>()
  /** Owners that a live read has found, and whose deletion the stream is sure to tell. */
  readonly #live = new Set<string>()
  /** Owners that the stream has told to be deleted, while they still have dependents. */
  readonly #gone = new Set<string>()
  /** By space: how many owners are in `#dependents`, and how many in `#waiting`. Where there are none, nobody asks for uids. */
  readonly #owners = new Map<string, number>()
  readonly #resources = new Map<string, GroupVersionResource>()
  #generation = 0
  #synced = false

  constructor(listener: GraphListener) {
    this.#listener = listener
  }

  /** Dependents that are held. */
  get size(): number {
    return this.#nodes.size
  }

  dependentsOf(space: string, uid: string): readonly Dependent[] {
    return [...(this.#dependents.get(ownerId(space, uid))?.nodes ?? [])]
  }

  hasDependents(space: string, uid: string): boolean {
    return this.#dependents.has(ownerId(space, uid))
  }

  /** Whether one of its dependents waits for its own. */
  hasWaitingDependent(space: string, uid: string): boolean {
    const dependents = this.#dependents.get(ownerId(space, uid))
    if (dependents) for (const { deletesDependents } of dependents.nodes) if (deletesDependents) return true
    return false
  }

  /** Whether dependents hold up the foreground deletion of this owner. */
  isHeldUp(space: string, uid: string): boolean {
    return (this.#dependents.get(ownerId(space, uid))?.blocking ?? 0) > 0
  }

  /**
   * Has those that hold up a waiting owner looked at. Once: each then says itself what becomes of it, and who comes later is looked at
   * by itself. To ask all of them again whenever one has gone would take as much as all of them squared.
   */
  askBlocking(space: string, uid: string): void {
    const id = ownerId(space, uid)
    const waiting = this.#waiting.get(id)
    if (!waiting || waiting.hasAsked) return
    waiting.hasAsked = true
    this.#listener.wakeAll(refsOf(this.#dependents.get(id)?.nodes ?? [], blocks(uid)), id)
  }

  /** Whether every dependent that existed when this owner's deletion began is known. */
  knowsDependentsOf(space: string, uid: string): boolean {
    return this.#synced && this.#waiting.has(ownerId(space, uid))
  }

  /** Names the present stretch of gapless knowledge; `undefined` while a snapshot is under way. */
  get epoch(): number | undefined {
    return this.#synced ? this.#generation : undefined
  }

  isLive(space: string, uid: string): boolean {
    return this.#live.has(ownerId(space, uid))
  }

  /** A live read begun in `epoch` has found this owner, not under deletion. */
  noteLive(space: string, uid: string, epoch: number | undefined): void {
    const id = ownerId(space, uid)
    const current = epoch !== undefined && epoch === this.epoch
    if (current && this.#dependents.has(id) && !this.#gone.has(id) && !this.#waiting.has(id)) this.#live.add(id)
  }

  begin(): void {
    this.#generation++
    this.#synced = false
    this.#live.clear()
    this.#gone.clear()
    for (const { ref } of this.#waiting.values()) this.#countOwners(ref.space, -1)
    this.#waiting.clear()
  }

  change(event: StreamEvent): void {
    const { group, resource } = event.resource
    if (resource === 'events' && (group === '' || group === 'events.k8s.io')) return
    if (resource === 'customresourcedefinitions' || resource === 'apibindings') this.#listener.kindsChanged(event.space)
    const { type, space } = event
    // who has an owner is counted there: elsewhere nobody's name is even put together
    const hasOwners = this.#owners.has(space)
    if (type !== 'DELETED') {
      if (hasOwners || mayMatter(event)) this.#present(event)
    } else if (hasOwners) this.#deleted(event)
  }

  #present(event: StreamEvent): void {
    const known = this.#nodes.get(refId(event))
    if (!known && !mayMatter(event)) return
    const metadata = metadataOf(event)
    const ref = known?.ref ?? this.#refOf(event)
    const uid = metadata.uid ?? ''
    if (known && known.uid !== uid) this.#gonePast(known)
    const waiting = this.#noteWaiting(ref, metadata)
    const before = known?.uid === uid ? known : undefined
    const owners = metadata.ownerReferences ?? []
    if (before && sameOwners(before.owners, owners)) {
      before.generation = this.#generation
      before.deletesDependents = waiting === FOREGROUND
      return
    }
    if (before) this.#remove(before)
    if (owners.length > 0) {
      this.#add({ ref, uid, owners, deletesDependents: waiting === FOREGROUND, generation: this.#generation })
    }
    if (before) this.#wakeOwners(before)
  }

  synced(): void {
    for (const node of [...this.#nodes.values()]) if (node.generation !== this.#generation) this.#remove(node)
    this.#synced = true
    // owners may have gone while nobody listened, so everything is looked at once
    this.#listener.wakeAll(refsOf(this.#nodes.values()), '')
    this.#listener.wakeAll(
      this.#waiting.values().map(({ ref }) => ref),
      '',
    )
  }

  #deleted(event: StreamEvent): void {
    const node = this.#nodes.get(refId(event))
    const uid = metadataOf(event).uid ?? ''
    const own = ownerId(event.space, uid)
    this.#live.delete(own)
    this.#waitsNoMore(event.space, own)
    if (node) {
      this.#remove(node)
      this.#wakeOwners(node)
    }
    this.#ownerGone(own)
  }

  /** An object of another uid has taken the name: the one that was known is gone. */
  #gonePast(node: Node): void {
    this.#remove(node)
    this.#wakeOwners(node)
    const own = ownerId(node.ref.space, node.uid)
    this.#live.delete(own)
    this.#waitsNoMore(node.ref.space, own)
    this.#ownerGone(own)
  }

  #ownerGone(own: string): void {
    const dependents = this.#dependents.get(own)
    if (!dependents) return
    this.#gone.add(own)
    // who leaves meanwhile needs no look, who comes is looked at by itself
    if (this.#synced) this.#listener.wakeAll(refsOf(dependents.nodes), own)
  }

  /** Remembers an owner that waits for its dependents, and wakes it; the finalizer that it waits with. */
  #noteWaiting(ref: StreamedRef, metadata: KubeObject['metadata']): typeof FOREGROUND | typeof ORPHAN | undefined {
    const { deletionTimestamp, finalizers = [], uid = '' } = metadata
    const id = ownerId(ref.space, uid)
    const waits = finalizers.includes(ORPHAN) ? ORPHAN : finalizers.includes(FOREGROUND) ? FOREGROUND : undefined
    if (deletionTimestamp === undefined || !waits) {
      this.#waitsNoMore(ref.space, id)
      return undefined
    }
    if (!this.#waiting.has(id)) {
      this.#countOwners(ref.space, 1)
      this.#waiting.set(id, { ref, hasAsked: false })
    }
    this.#live.delete(id)
    if (this.#synced) this.#listener.wake(ref)
    return waits
  }

  #waitsNoMore(space: string, id: string): void {
    if (this.#waiting.delete(id)) this.#countOwners(space, -1)
  }

  #countOwners(space: string, more: 1 | -1): void {
    const count = (this.#owners.get(space) ?? 0) + more
    if (count === 0) this.#owners.delete(space)
    else this.#owners.set(space, count)
  }

  #add(node: Node): void {
    const { space } = node.ref
    this.#nodes.set(refId(node.ref), node)
    for (const owner of node.owners) {
      const id = ownerId(space, owner.uid)
      let dependents = this.#dependents.get(id)
      if (!dependents) {
        dependents = new Dependents()
        this.#dependents.set(id, dependents)
        this.#countOwners(space, 1)
      }
      dependents.nodes.add(node)
      if (isBlocking(node, owner)) dependents.blocking++
    }
    const doubtful = node.owners.some(owner => !this.#live.has(ownerId(space, owner.uid)))
    if (this.#synced && doubtful) this.#listener.wake(node.ref)
  }

  #remove(node: Node): void {
    this.#nodes.delete(refId(node.ref))
    for (const owner of node.owners) {
      const id = ownerId(node.ref.space, owner.uid)
      const dependents = this.#dependents.get(id)
      if (!dependents) continue
      if (isBlocking(node, owner)) dependents.blocking--
      dependents.nodes.delete(node)
      if (dependents.nodes.size > 0) continue
      this.#dependents.delete(id)
      this.#countOwners(node.ref.space, -1)
      this.#live.delete(id)
      this.#gone.delete(id)
    }
  }

  /** Owners that wait for this dependent may be able to go on. */
  #wakeOwners(node: Node): void {
    if (!this.#synced) return
    for (const owner of node.owners) {
      const waiting = this.#waiting.get(ownerId(node.ref.space, owner.uid))
      if (waiting) this.#listener.wake(waiting.ref)
    }
  }

  /** A ref that does not hold on to the event, with one shared resource for all objects of a kind. */
  #refOf(event: StreamEvent): StreamedRef {
    const { group, version, resource } = event.resource
    const id = `${group}/${version}/${resource}`
    let shared = this.#resources.get(id)
    if (!shared) {
      shared = { group, version, resource }
      this.#resources.set(id, shared)
    }
    return { space: event.space, resource: shared, namespace: event.namespace, name: event.name }
  }
}

/** Nothing else of an object is looked at, and some have a megabyte beside it. */
function metadataOf(event: StreamEvent): KubeObject['metadata'] {
  return event.metadata ?? event.object.metadata
}

function* refsOf(nodes: Iterable<Node>, wants: (node: Node) => boolean = () => true): Generator<StreamedRef> {
  for (const node of nodes) if (wants(node)) yield node.ref
}

function blocks(ownerUid: string): (node: Node) => boolean {
  return node => node.owners.some(owner => owner.uid === ownerUid && isBlocking(node, owner))
}

/** Nobody holds itself up. */
function isBlocking({ uid }: Node, owner: OwnerReference): boolean {
  return owner.blockOwnerDeletion === true && owner.uid !== uid
}

/** One text per object of all spaces. */
export function refId(ref: StreamedRef): string {
  return `${ref.space}|${ref.resource.group}|${ref.resource.resource}|${ref.namespace}|${ref.name}`
}

const ownerId = (space: string, uid: string) => `${space}/${uid}`

function sameOwners(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return a.length === b.length && a.every((owner, index) => sameOwner(owner, b[index]!))
}

function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.blockOwnerDeletion === b.blockOwnerDeletion
}
