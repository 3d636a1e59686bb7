/**
 * Content of a stand-in cluster over time, by a watch of our own and by reads: spans of each object's content. "When" is a count of what
 * the test did and saw, not a time.
 */
import { at, num, str } from '../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { systemClock } from '../../src/client/clock.ts'
import { Informer } from '../../src/client/informer.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { DEPLOYMENTS, MAPS } from '../syncer/support/kinds.ts'

export const SHOP = 'shop'
export const KINDS: readonly GroupVersionResource[] = [MAPS, DEPLOYMENTS]

interface Span {
  readonly from: number
  /** Absent while it lasts. */
  until?: number
  readonly object: KubeObject
}

/** Counts what happens. */
export class Moments {
  #now = 0

  get now(): number {
    return this.#now
  }

  next(): number {
    return ++this.#now
  }
}

/** `configmaps/page`. */
export const keyOf = (resource: string, name: string): string => `${resource}/${name}`

/** Text of our sources: one without an earlier use. Objects that nobody made for this say none. */
export function contentOf(object: Readonly<KubeObject>): string {
  const map = at(object, 'data', 'v')
  if (typeof map === 'string') return map
  return str(object, 'spec', 'template', 'spec', 'containers', 0, 'image')
}

/** Whether a Deployment runs what its spec says, as its cluster tells. */
export function runs(object: Readonly<KubeObject>): boolean {
  const { status, metadata } = object
  const wanted = num(object, 'spec', 'replicas')
  const observed = num(status, 'observedGeneration') >= (metadata.generation ?? 0)
  return observed && num(status, 'availableReplicas') === wanted && num(status, 'updatedReplicas') === wanted
}

export class Truth {
  readonly #moments: Moments
  readonly #spans = new Map<string, Span[]>()
  readonly #listeners = new Set<() => void>()
  #stop = new AbortController()
  #watching: readonly Promise<void>[] = []
  #informers: readonly Informer[] = []
  #markers = 0

  constructor(moments: Moments) {
    this.#moments = moments
  }

  /** Follows the cluster, which runs, until {@link lost}. Resolves once all that it holds is known. */
  async follow(client: SpaceClient): Promise<void> {
    this.#stop = new AbortController()
    this.#informers = KINDS.map(resource => {
      const informer = new Informer({ client, resource, clock: systemClock, random: () => 0.5 })
      informer.subscribe(({ type, object }) => {
        const { namespace, name = '' } = object.metadata
        if (namespace === SHOP) this.#saw(keyOf(resource.resource, name), type === 'delete' ? undefined : object)
        for (const listener of [...this.#listeners]) listener()
      })
      return informer
    })
    this.#watching = this.#informers.map(informer => informer.run(this.#stop.signal))
    await Promise.all(this.#informers.map(({ synced }) => synced))
  }

  /** The cluster does not run any more: it holds nothing. */
  async lost(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#watching)
    for (const key of this.#spans.keys()) this.#saw(key, undefined)
  }

  /** Its present content, as far as the watch has come. */
  now(key: string): KubeObject | undefined {
    const last = this.#spans.get(key)?.at(-1)
    return last?.until === undefined ? last?.object : undefined
  }

  *held(): Generator<readonly [key: string, object: KubeObject]> {
    for (const key of this.#spans.keys()) {
      const object = this.now(key)
      if (object) yield [key, object]
    }
  }

  /** Whether it held such an object at any moment from `since` on. */
  heldSince(key: string, since: number, such: (object: KubeObject) => boolean): boolean {
    const spans = this.#spans.get(key) ?? []
    return spans.some(span => (span.until ?? Number.POSITIVE_INFINITY) > since && such(span.object))
  }

  /** Resolves when all that happened in the cluster before the call was seen. */
  async caughtUp(client: SpaceClient): Promise<void> {
    const marker = String(++this.#markers)
    const metadata = { name: 'marker', namespace: 'default', annotations: { marker } }
    const isSeen = (): boolean =>
      this.#informers.every(
        informer => informer.get({ namespace: 'default', name: 'marker' })?.metadata.annotations?.marker === marker,
      )
    const seen = Promise.withResolvers<void>()
    const look = (): void => {
      if (isSeen()) seen.resolve()
    }
    const timer = setTimeout(() => seen.reject(new Error('the watches of the cluster are silent')), PATIENCE_MS)
    this.#listeners.add(look)
    try {
      await client.patch(MAPS, metadata, 'apply', { apiVersion: 'v1', kind: 'ConfigMap', metadata }, MARKING)
      await client.patch(
        DEPLOYMENTS,
        metadata,
        'apply',
        { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: MARKER },
        MARKING,
      )
      look()
      await seen.promise
    } finally {
      clearTimeout(timer)
      this.#listeners.delete(look)
    }
  }

  /** Called for every change. The answer ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #saw(key: string, object: KubeObject | undefined): void {
    const spans = this.#spans.get(key) ?? []
    if (spans.length === 0) this.#spans.set(key, spans)
    const last = spans.at(-1)
    const from = this.#moments.next()
    if (last && last.until === undefined) last.until = from
    if (object) spans.push({ from, object })
  }
}

const MARKING = { fieldManager: 'marking', force: true }
const MARKER = {
  replicas: 0,
  selector: { matchLabels: { app: 'marker' } },
  template: { metadata: { labels: { app: 'marker' } }, spec: { containers: [{ name: 'c', image: 'marker' }] } },
}
