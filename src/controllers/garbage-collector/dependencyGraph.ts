/**
 * Dependencies between objects, over all spaces, from one ordered stream. Only objects with ownerReferences are held, and owners that wait
 * for their dependents; everything else passes by unparsed. The graph decides nothing: it says whom to look at.
 */
import type { GroupVersionResource, KubeObject, OwnerReference } from '../../apimachinery/object.ts'
import { TextMap } from '../../apimachinery/textMap.ts'
import type { StreamEvent } from '../../client/client.ts'
import type { StreamedRef, StreamHandler } from '../../client/streamSource.ts'

export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

/** An object that names owners. */
interface Dependent {
  readonly ref: StreamedRef
  readonly uid: string
  /** It is itself being deleted and waits for its own dependents. */
  readonly deletesDependents: boolean
}

export interface GraphListener {
  /** Something that matters for this object may have changed. */
  wake(ref: StreamedRef): void
  /** The same for many, in steps; they come in the order of those of one owner. */
  wakeAll(refs: Iterable<StreamedRef>, owner: string): void
  /** The kinds that this space serves may have changed. */
  kindsChanged(space: string): void
}

/** Little is retained for each owner: an object may name a thousand. */
interface Node extends Dependent {
  /** Their uids. */
  readonly owners: readonly string[]
  /** Whether it blocks the deletion of an owner, by their places in `owners`. */
  readonly blocks: readonly boolean[]
  /** Its other fields, for comparison. */
  readonly declared: string
  deletesDependents: boolean
  generation: number
}

/** Dependents of one owner: mostly a single one, which needs no set. */
class Dependents {
  #one: Node | undefined
  #several: Set<Node> | undefined
  /** References of others that hold up its deletion. */
  blocking = 0

  get nodes(): Iterable<Node> {
    return this.#several ?? (this.#one === undefined ? [] : [this.#one])
  }

  get isEmpty(): boolean {
    return this.#one === undefined && (this.#several === undefined || this.#several.size === 0)
  }

  add(node: Node): void {
    if (this.#several !== undefined) this.#several.add(node)
    else if (this.#one === undefined) this.#one = node
    else if (this.#one !== node) {
      this.#several = new Set([this.#one, node])
      this.#one = undefined
    }
  }

  delete(node: Node): void {
    if (this.#one === node) this.#one = undefined
    this.#several?.delete(node)
  }
}

/** An owner under foreground or orphan deletion. */
interface Waiting {
  readonly ref: StreamedRef
  /** Its blocking dependents have been queued. */
  hasQueued: boolean
}

/** The owners that objects of one space name, and those there that wait for their dependents; each by its uid. */
class Owners {
  readonly dependents = new TextMap<Dependents>()
  /** Most spaces have none of these: what is not there takes nothing. */
  #waiting: Map<string, Waiting> | undefined
  #live: Set<string> | undefined
  #gone: Set<string> | undefined

  get isEmpty(): boolean {
    return this.dependents.size === 0 && (this.#waiting?.size ?? 0) === 0
  }

  /** Owners under foreground or orphan deletion, as far as the stream has come. */
  get waiting(): ReadonlyMap<string, Waiting> | undefined {
    return this.#waiting
  }

  nodesOf(uid: string): Iterable<Node> {
    return this.dependents.get(uid)?.nodes ?? []
  }

  isHeldUp(uid: string): boolean {
    return (this.dependents.get(uid)?.blocking ?? 0) > 0
  }

  /** A live read has found it, and the stream is sure to tell of its deletion. */
  isLive(uid: string): boolean {
    return this.#live?.has(uid) ?? false
  }

  add(node: Node): void {
    for (const [i, uid] of node.owners.entries()) {
      let dependents = this.dependents.get(uid)
      if (dependents === undefined) {
        dependents = new Dependents()
        this.dependents.set(uid, dependents)
      }
      dependents.add(node)
      if (node.blocks[i]) dependents.blocking++
    }
  }

  remove(node: Node): void {
    for (const [i, uid] of node.owners.entries()) {
      const dependents = this.dependents.get(uid)
      if (dependents === undefined) continue
      if (node.blocks[i]) dependents.blocking--
      dependents.delete(node)
      if (!dependents.isEmpty) continue
      this.dependents.delete(uid)
      this.#live?.delete(uid)
      this.#gone?.delete(uid)
    }
  }

  waits(uid: string, ref: StreamedRef): void {
    this.#waiting ??= new Map()
    if (!this.#waiting.has(uid)) this.#waiting.set(uid, { ref, hasQueued: false })
    this.#live?.delete(uid)
  }

  /** Whether it did. */
  waitsNoMore(uid: string): boolean {
    return this.#waiting?.delete(uid) ?? false
  }

  noteLive(uid: string): void {
    if (!this.dependents.has(uid) || this.#gone?.has(uid) || this.#waiting?.has(uid)) return
    this.#live ??= new Set()
    this.#live.add(uid)
  }

  /** The stream has deleted it, while it still has dependents. */
  noteGone(uid: string): void {
    this.#live?.delete(uid)
    this.#gone ??= new Set()
    this.#gone.add(uid)
  }

  /** Earlier content of the stream counts no more. */
  forget(): void {
    this.#live = undefined
    this.#gone = undefined
    this.#waiting = undefined
  }
}

/** Whether it may name owners, or wait for dependents: called for every event. */
function mayMatter(event: StreamEvent): boolean {
  return event.mentions('"deletionTimestamp"') || event.mentions('"ownerReferences"')
}

export class DependencyGraph implements StreamHandler {
  readonly #listener: GraphListener
  /** By {@link refId}. */
  readonly #nodes = new Map<string, Node>()
  /** By space. Where there are none, nobody asks for uids. */
  readonly #owners = new Map<string, Owners>()
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
    return [...(this.#owners.get(space)?.nodesOf(uid) ?? [])]
  }

  hasDependents(space: string, uid: string): boolean {
    return this.#owners.get(space)?.dependents.has(uid) ?? false
  }

  /** Whether one of its dependents waits for its own. */
  hasWaitingDependent(space: string, uid: string): boolean {
    const nodes = this.#owners.get(space)?.nodesOf(uid) ?? []
    for (const { deletesDependents } of nodes) if (deletesDependents) return true
    return false
  }

  /** Whether dependents hold up the foreground deletion of this owner. */
  isHeldUp(space: string, uid: string): boolean {
    return this.#owners.get(space)?.isHeldUp(uid) ?? false
  }

  /**
   * Has those that hold up a waiting owner looked at. Once: each then says itself what becomes of it, and who comes later is looked at
   * by itself. To ask all of them again whenever one has gone would take as much as all of them squared.
   */
  askBlocking(space: string, uid: string): void {
    const owners = this.#owners.get(space)
    const waiting = owners?.waiting?.get(uid)
    if (!waiting || waiting.hasQueued) return
    waiting.hasQueued = true
    this.#listener.wakeAll(
      refsOf(owners!.nodesOf(uid), node => blocks(node, uid)),
      ownerId(space, uid),
    )
  }

  /** Whether every dependent that existed when this owner's deletion began is known. */
  knowsDependentsOf(space: string, uid: string): boolean {
    return this.#synced && (this.#owners.get(space)?.waiting?.has(uid) ?? false)
  }

  /** Names the present stretch of gapless knowledge; `undefined` while a snapshot is under way. */
  get epoch(): number | undefined {
    return this.#synced ? this.#generation : undefined
  }

  isLive(space: string, uid: string): boolean {
    return this.#owners.get(space)?.isLive(uid) ?? false
  }

  /** A live read begun in `epoch` has found this owner, not under deletion. */
  noteLive(space: string, uid: string, epoch: number | undefined): void {
    if (epoch !== undefined && epoch === this.epoch) this.#owners.get(space)?.noteLive(uid)
  }

  begin(): void {
    this.#generation++
    this.#synced = false
    for (const [space, owners] of this.#owners) {
      owners.forget()
      this.#letGo(space, owners)
    }
  }

  change(event: StreamEvent): void {
    const { group, resource } = event.resource
    if (resource === 'events' && (group === '' || group === 'events.k8s.io')) return
    if (resource === 'customresourcedefinitions' || resource === 'apibindings') this.#listener.kindsChanged(event.space)
    const { type, space } = event
    // elsewhere nobody's name is even put together
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
    const deletesDependents = waiting === FOREGROUND
    const before = known?.uid === uid ? known : undefined
    const owners = metadata.ownerReferences ?? []
    if (before && hasSameOwners(before, owners)) {
      before.generation = this.#generation
      before.deletesDependents = deletesDependents
      return
    }
    if (before) this.#remove(before)
    if (owners.length > 0)
      this.#add({
        ref,
        uid,
        owners: owners.map(owner => owner.uid),
        blocks: owners.map(owner => owner.blockOwnerDeletion === true && owner.uid !== uid),
        declared: declaredText(owners),
        deletesDependents,
        generation: this.#generation,
      })
    if (before) this.#wakeOwners(before)
  }

  synced(): void {
    for (const node of [...this.#nodes.values()]) if (node.generation !== this.#generation) this.#remove(node)
    this.#synced = true
    // owners may have gone while nobody listened, so everything is looked at once
    this.#listener.wakeAll(refsOf(this.#nodes.values()), '')
    this.#listener.wakeAll(
      this.#owners.values().flatMap(({ waiting }) => Iterator.from(waiting?.values() ?? []).map(({ ref }) => ref)),
      '',
    )
  }

  #deleted(event: StreamEvent): void {
    const node = this.#nodes.get(refId(event))
    const uid = metadataOf(event).uid ?? ''
    const { space } = event
    if (node) {
      this.#remove(node)
      this.#wakeOwners(node)
    }
    this.#ownerGone(space, uid)
  }

  /** An object of another uid has taken the name: the one that was known is gone. */
  #gonePast(node: Node): void {
    this.#remove(node)
    this.#wakeOwners(node)
    this.#ownerGone(node.ref.space, node.uid)
  }

  #ownerGone(space: string, uid: string): void {
    this.#waitsNoMore(space, uid)
    const owners = this.#owners.get(space)
    if (!owners?.dependents.has(uid)) return
    owners.noteGone(uid)
    // who leaves meanwhile needs no look, who comes is looked at by itself
    if (this.#synced) this.#listener.wakeAll(refsOf(owners.nodesOf(uid)), ownerId(space, uid))
  }

  /** Remembers an owner that waits for its dependents, and wakes it; the finalizer that it waits with. */
  #noteWaiting(ref: StreamedRef, metadata: KubeObject['metadata']): typeof FOREGROUND | typeof ORPHAN | undefined {
    const { deletionTimestamp, finalizers = [], uid = '' } = metadata
    const waits = finalizers.includes(ORPHAN) ? ORPHAN : finalizers.includes(FOREGROUND) ? FOREGROUND : undefined
    if (deletionTimestamp === undefined || !waits) {
      this.#waitsNoMore(ref.space, uid)
      return undefined
    }
    this.#ownersIn(ref.space).waits(uid, ref)
    if (this.#synced) this.#listener.wake(ref)
    return waits
  }

  #waitsNoMore(space: string, uid: string): void {
    const owners = this.#owners.get(space)
    if (owners?.waitsNoMore(uid)) this.#letGo(space, owners)
  }

  #ownersIn(space: string): Owners {
    let owners = this.#owners.get(space)
    if (owners === undefined) {
      owners = new Owners()
      this.#owners.set(space, owners)
    }
    return owners
  }

  #letGo(space: string, owners: Owners): void {
    if (owners.isEmpty) this.#owners.delete(space)
  }

  #add(node: Node): void {
    const { space } = node.ref
    this.#nodes.set(refId(node.ref), node)
    const owners = this.#ownersIn(space)
    owners.add(node)
    if (this.#synced && node.owners.some(uid => !owners.isLive(uid))) this.#listener.wake(node.ref)
  }

  #remove(node: Node): void {
    const { space } = node.ref
    this.#nodes.delete(refId(node.ref))
    const owners = this.#owners.get(space)
    if (owners === undefined) return
    owners.remove(node)
    this.#letGo(space, owners)
  }

  /** Owners that wait for this dependent may be able to go on. */
  #wakeOwners(node: Node): void {
    const waiting = this.#owners.get(node.ref.space)?.waiting
    if (!this.#synced || waiting === undefined || waiting.size === 0) return
    for (const uid of node.owners) {
      const owner = waiting.get(uid)
      if (owner) this.#listener.wake(owner.ref)
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

function blocks({ owners, blocks }: Node, ownerUid: string): boolean {
  return owners.some((uid, i) => uid === ownerUid && blocks[i])
}

/** One text per object of all spaces. */
export function refId(ref: StreamedRef): string {
  return `${ref.space}|${ref.resource.group}|${ref.resource.resource}|${ref.namespace}|${ref.name}`
}

const ownerId = (space: string, uid: string) => `${space}/${uid}`

function hasSameOwners({ owners, declared }: Node, now: readonly OwnerReference[]): boolean {
  return owners.length === now.length && now.every(({ uid }, i) => uid === owners[i]) && declared === declaredText(now)
}

function declaredText(owners: readonly OwnerReference[]): string {
  return JSON.stringify(owners.map(({ kind, name, blockOwnerDeletion }) => [kind, name, blockOwnerDeletion]))
}
