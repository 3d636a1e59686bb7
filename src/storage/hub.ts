/**
 * The watch hub: carries committed events to the watchers of the ranges that hold them. Watchers sit in a tree of ranges. An event meets
 * only watchers that want it, and all watchers of one range share one array per commit. Knows no engine.
 */
import { sizeOf } from './sharedStored.ts'
import { type Range, StorageError, type StoreEvent } from './store.ts'
import { Subscription, type SubscriptionOptions } from './subscription.ts'

interface HubOptions {
  /** Unread events that one watcher may leave behind before it is ended with `SlowWatcher`. */
  backlogEvents: number
  /** The same in bytes of events' texts. */
  backlogBytes: number
}

/** Signals that end a subscription. */
export type SubscriptionEnds = Pick<SubscriptionOptions, 'signal' | 'closing'>

/** A range with the watchers on exactly that range; children narrow it by one part. */
interface Node {
  readonly parent: Node | undefined
  readonly part: string
  readonly watchers: Set<Subscription>
  readonly children: Map<string, Node>
  /** This commit's events in the range. */
  matched: StoreEvent[]
}

export class WatchHub {
  readonly #options: HubOptions
  readonly #all = newNode(undefined, '')
  /** space */
  readonly #spaces = newNode(undefined, '')
  /** resource, group, then as far as the range goes: space, namespace, name */
  readonly #resources = newNode(undefined, '')
  #watchers = 0
  /** By what closes them: a signal compares each of its listeners with a new one. */
  readonly #closing = new WeakMap<AbortSignal, Set<Subscription>>()
  #closed: StorageError | undefined

  constructor(options: HubOptions) {
    this.#options = options
  }

  get watcherCount(): number {
    return this.#watchers
  }

  /**
   * Joins live: sees every event that is published from now on. `missed` are the events of the range before that, which the caller
   * collected in the same turn of the event loop. They do not count against the backlog.
   */
  subscribe(range: Range, missed: readonly StoreEvent[], ends: SubscriptionEnds): Subscription {
    if (this.#closed !== undefined) throw this.#closed
    const node = this.#nodeOf(range)
    const closing = ends.closing && this.#closedBy(ends.closing)
    const subscription: Subscription = new Subscription({
      ...this.#options,
      ...ends,
      missed,
      onEnd: () => {
        if (!node.watchers.delete(subscription)) return
        closing?.delete(subscription)
        this.#watchers--
        prune(node)
      },
    })
    // A signal that has already fired ended the subscription before it could be added.
    if (subscription.ended) prune(node)
    else {
      node.watchers.add(subscription)
      closing?.add(subscription)
      this.#watchers++
    }
    return subscription
  }

  #closedBy(signal: AbortSignal): Set<Subscription> {
    let all = this.#closing.get(signal)
    if (all === undefined) {
      const closed = new Set<Subscription>()
      signal.addEventListener('abort', () => {
        for (const subscription of closed) subscription.close()
      })
      this.#closing.set(signal, closed)
      all = closed
    }
    return all
  }

  /** Hands one commit to the watchers. Events come in revision order, each once. */
  publish(events: readonly StoreEvent[]): void {
    if (this.#watchers === 0) return
    const touched: Node[] = []
    for (const event of events) {
      collect(this.#all, event, touched)
      const { space, group, resource, namespace, name } = event.key
      collect(this.#spaces.children.get(space), event, touched)
      const ofResource = this.#resources.children.get(resource)?.children.get(group)
      if (ofResource === undefined) continue
      collect(ofResource, event, touched)
      const ofSpace = ofResource.children.get(space)
      if (ofSpace === undefined) continue
      collect(ofSpace, event, touched)
      const ofNamespace = ofSpace.children.get(namespace)
      if (ofNamespace === undefined) continue
      collect(ofNamespace, event, touched)
      collect(ofNamespace.children.get(name), event, touched)
    }
    for (const node of touched) {
      const batch = node.matched
      node.matched = []
      let bytes = 0
      for (const event of batch) bytes += sizeOf(event.stored)
      const commit = { batch, bytes }
      for (const watcher of node.watchers) watcher.push(commit)
    }
  }

  /** Ends all watchers, now and later, with `Closed`, after what they have not read yet. */
  close(): void {
    this.#closed = new StorageError('Closed', 'the store is closed')
    const end = (node: Node): void => {
      for (const watcher of [...node.watchers]) watcher.close(this.#closed!)
      for (const child of [...node.children.values()]) end(child)
    }
    for (const root of [this.#all, this.#spaces, this.#resources]) end(root)
  }

  #nodeOf(range: Range): Node {
    const { space, group, resource, namespace, name } = range
    let node: Node
    let path: (string | undefined)[]
    if (resource !== undefined) {
      node = this.#resources
      path = [resource, group, space, namespace, name]
    } else if (space !== undefined) {
      node = this.#spaces
      path = [space]
    } else return this.#all
    for (const part of path) {
      if (part === undefined) break
      let child = node.children.get(part)
      if (child === undefined) {
        child = newNode(node, part)
        node.children.set(part, child)
      }
      node = child
    }
    return node
  }
}

function newNode(parent: Node | undefined, part: string): Node {
  return { parent, part, watchers: new Set(), children: new Map(), matched: [] }
}

function collect(node: Node | undefined, event: StoreEvent, touched: Node[]): void {
  if (node === undefined || node.watchers.size === 0) return
  if (node.matched.length === 0) touched.push(node)
  node.matched.push(event)
}

/** Removes a node that nobody needs any more, and then its parents likewise. */
function prune(node: Node): void {
  let current = node
  while (current.parent !== undefined && current.watchers.size === 0 && current.children.size === 0) {
    current.parent.children.delete(current.part)
    current = current.parent
  }
}
