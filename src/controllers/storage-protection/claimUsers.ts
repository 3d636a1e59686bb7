/**
 * Which claims the Pods of a namespace mount. A namespace is read once, when the first claim in it waits for its end, and follows the
 * stream until none waits. Many claims that go at once cost one list, and a namespace without claims under deletion costs nothing.
 */
import { objects } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient, StreamEvent } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'

/** Names a claim. */
interface ClaimKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly namespace: string
  readonly name: string
}

interface KnownNamespace {
  /** Claims that wait here. */
  readonly waiting: Set<string>
  /** Claims by the name of each Pod that mounts some and has not ended. */
  readonly pods: Map<string, readonly string[]>
  /** How many of those Pods mount a claim. */
  readonly users: Map<string, number>
  /** The list that `pods` began with; 0 until it is there. */
  listedAt: number
  /** Events that came before the list. */
  early: StreamEvent[]
  readonly loading: Promise<void>
}

const PODS = { group: '', version: 'v1', resource: 'pods' }
const PAGE = 500

export class ClaimUsers {
  /** By `space/namespace`. */
  readonly #known = new Map<string, KnownNamespace>()
  /** Position of the stream; 0 during a snapshot: then no namespace can be followed. */
  #received = 0
  #live = false

  /** Whether claims wait in the namespace of the event. */
  follows(at: { space: string; namespace: string }): boolean {
    return this.#known.has(namespaceOf(at))
  }

  /** The stream starts over and will not tell what was deleted meanwhile: nothing of before counts. */
  begin(): void {
    this.#live = false
    this.#received = 0
    this.#known.clear()
  }

  /** From here on the stream tells every change. */
  synced(): void {
    this.#known.clear()
    this.#live = true
  }

  /** Each event of the stream, in order; only those of Pods change anything. */
  change(event: StreamEvent): void {
    if (!this.#live) return
    this.#received = event.revision
    if (this.#known.size === 0 || event.resource.resource !== PODS.resource) return
    const known = this.#known.get(namespaceOf(event))
    if (known === undefined) return
    if (known.listedAt === 0) known.early.push(event)
    else follow(known, event)
  }

  /**
   * Whether a Pod that has not ended mounts the claim, as of `revision` or later. The claim waits from now on, until
   * {@link release}.
   * @throws StatusError when the Pods cannot be read
   */
  async has(client: SpaceClient, claim: ClaimKey, revision: number): Promise<boolean> {
    const id = namespaceOf(claim)
    let known = this.#live ? this.#known.get(id) : undefined
    known ??= this.#load(client, id, claim.namespace)
    for (;;) {
      known.waiting.add(claim.name)
      await known.loading
      const followed = this.#known.get(id) === known
      if (known.listedAt >= revision || (followed && this.#received >= revision)) return known.users.has(claim.name)
      // a list shows events that the stream has yet to deliver
      known = this.#load(client, id, claim.namespace, known.waiting)
    }
  }

  /** The claim waits no more. */
  release(claim: ClaimKey): void {
    const id = namespaceOf(claim)
    const known = this.#known.get(id)
    if (known?.waiting.delete(claim.name) && known.waiting.size === 0) this.#known.delete(id)
  }

  #load(client: SpaceClient, id: string, namespace: string, waiting = new Set<string>()): KnownNamespace {
    const read = async (): Promise<void> => {
      try {
        const { items, resourceVersion } = await listAll(client, PODS, { namespace, limit: PAGE })
        for (const pod of items) set(known, pod.metadata.name ?? '', mountedBy(pod))
        known.listedAt = Number(resourceVersion)
        for (const event of known.early) follow(known, event)
        known.early = []
      } catch (error) {
        if (this.#known.get(id) === known) this.#known.delete(id)
        throw error
      }
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const known: KnownNamespace = {
      waiting,
      pods: new Map(),
      users: new Map(),
      listedAt: 0,
      early: [],
      loading: promise,
    }
    this.#known.set(id, known)
    read().then(resolve, reject)
    return known
  }
}

/** Names of the claims that a Pod mounts; an ephemeral volume's claim is named after the Pod. */
export function claimsOf({ metadata, spec }: KubeObject): string[] {
  return objects(spec, 'volumes').flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (isRecord(persistentVolumeClaim)) return [String(persistentVolumeClaim.claimName)]
    return isRecord(ephemeral) ? [`${metadata.name}-${name}`] : []
  })
}

export function hasEnded({ status }: KubeObject): boolean {
  return isRecord(status) && ['Succeeded', 'Failed'].includes(String(status.phase))
}

function mountedBy(pod: KubeObject): string[] {
  return hasEnded(pod) ? [] : [...new Set(claimsOf(pod))]
}

function follow(known: KnownNamespace, event: StreamEvent): void {
  if (event.revision <= known.listedAt) return
  set(known, event.name, event.type === 'DELETED' ? [] : mountedBy(event.object))
}

function set({ pods, users }: KnownNamespace, pod: string, claims: readonly string[]): void {
  for (const claim of pods.get(pod) ?? []) {
    const left = users.get(claim)! - 1
    if (left > 0) users.set(claim, left)
    else users.delete(claim)
  }
  for (const claim of claims) users.set(claim, (users.get(claim) ?? 0) + 1)
  if (claims.length > 0) pods.set(pod, claims)
  else pods.delete(pod)
}

function namespaceOf({ space, namespace }: { space: string; namespace: string }): string {
  return `${space}/${namespace}`
}
