/**
 * NoticeSinks and the Events that wait for each, in the order of their writes. Events are known by name and read when their turn comes, so
 * that a notice says what its Event says then. A sink begins with the Events behind its creation, and after a restart with those behind
 * its recorded position.
 */

import { num, str } from '../../apimachinery/fields.ts'
import { MapOfMaps } from '../../apimachinery/nestedMaps.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { StreamEvent } from '../../client/client.ts'
import type { StreamHandler } from '../../client/streamSource.ts'
import { type NoticeFacts, type SinkSpec, sinkSpec, wants } from '../../placement/notices/sinkSpec.ts'
import { CARRIERS, NOTICE_SINKS } from '../../placement/words/placement.ts'

export const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
/** Events that wait for one sink: with more the oldest is dropped. */
export const MAX_WAITING = 100

export interface SinkKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly name: string
}

/** An Event in line. */
interface WaitingEvent {
  readonly namespace: string
  readonly name: string
  readonly revision: number
}

/** Sums over all sinks, since the start. */
interface NoticeCounts {
  delivered: number
  failed: number
  dropped: number
}

export class Sink {
  readonly key: SinkKey
  readonly uid: string
  readonly #counts: NoticeCounts
  readonly #ended = new AbortController()
  /** By namespace and name, the earliest write first. */
  readonly #waiting = new Map<string, WaitingEvent>()
  spec: SinkSpec
  generation: number
  /** For which it was greeted last. */
  greeted: number
  delivered: number
  dropped: number
  /** In a row. */
  failures = 0
  /** By a clock that only rises. */
  notBeforeMs = 0
  /** All Events up to there are done with. */
  #doneTo: number

  constructor({ space, name, revision, object }: StreamEvent, counts: NoticeCounts) {
    this.key = { space, name }
    this.uid = object.metadata.uid ?? ''
    this.#counts = counts
    this.spec = sinkSpec(object.spec)
    this.generation = object.metadata.generation ?? 0
    this.greeted = num(object.status, 'observedGeneration')
    this.delivered = num(object.status, 'delivered')
    this.dropped = num(object.status, 'dropped')
    const recorded = Number(str(object.status, 'lastResourceVersion'))
    // a record is older than the write that made it, unless another server wrote it
    this.#doneTo = recorded > 0 && recorded < revision ? recorded : revision
  }

  /** Aborts when the sink is gone. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** The next Event; it stays in line until {@link done}. */
  get first(): WaitingEvent | undefined {
    return this.#waiting.values().next().value
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.greeted === this.generation
  }

  /** Revision up to which nothing is to be sent again. */
  get position(): number {
    const { first } = this
    return first ? Math.min(this.#doneTo, first.revision - 1) : this.#doneTo
  }

  end(): void {
    this.#ended.abort(new Error('the sink is gone'))
  }

  /** Whether it is to be tried at once, as somebody changed it. */
  changed({ metadata: { generation = 0 }, spec }: KubeObject): boolean {
    if (generation === this.generation) return false
    this.generation = generation
    this.spec = sinkSpec(spec)
    this.failures = 0
    this.notBeforeMs = 0
    return true
  }

  /** Whether it wants the Event, which then waits behind all others. */
  take(event: WaitingEvent, facts: NoticeFacts): boolean {
    if (event.revision <= this.#doneTo || !wants(this.spec, facts)) return false
    const id = idOf(event)
    this.#waiting.delete(id)
    this.#waiting.set(id, event)
    if (this.#waiting.size <= MAX_WAITING) return true
    // the first may be on its way
    const [, oldest] = this.#waiting.values()
    if (oldest) this.lost(oldest)
    return true
  }

  /** The Event is gone, or has no place. */
  lost(event: Pick<WaitingEvent, 'namespace' | 'name'>): void {
    if (this.#waiting.delete(idOf(event))) this.drop()
  }

  greet(generation: number): void {
    this.greeted = generation
  }

  drop(): void {
    this.dropped++
    this.#counts.dropped++
  }

  /** The Event as it was at `revision` needs no more: a later write of it waits on. */
  done(event: WaitingEvent, revision: number): void {
    const id = idOf(event)
    const waiting = this.#waiting.get(id)
    if (waiting && waiting.revision <= revision) this.#waiting.delete(id)
    this.#doneTo = Math.max(this.#doneTo, event.revision)
  }
}

/** Subject of an Event that the center's controllers wrote; `undefined` for all others. */
export function factsOf(event: KubeObject): NoticeFacts | undefined {
  if (!CARRIERS.includes(str(event, 'source', 'component'))) return undefined
  return { kind: str(event, 'involvedObject', 'kind'), reason: str(event, 'reason') }
}

interface Found {
  readonly event: WaitingEvent
  readonly facts: NoticeFacts
}

export class NoticeSinks implements StreamHandler {
  readonly counts: NoticeCounts = { delivered: 0, failed: 0, dropped: 0 }
  readonly #wake: (key: SinkKey) => void
  /** By space and name. */
  readonly #sinks = new MapOfMaps<Sink>()
  /** A snapshot has no order: its Events by space, and the sinks in it. */
  #snapshot: { readonly events: Map<string, Found[]>; readonly sinks: Set<Sink> } | undefined

  constructor(wake: (key: SinkKey) => void) {
    this.#wake = wake
  }

  get({ space, name }: SinkKey): Sink | undefined {
    return this.#sinks.get(space, name)
  }

  wakeUnlessIdle(sink: Sink): void {
    if (!sink.isIdle) this.#wake(sink.key)
  }

  begin(): void {
    this.#snapshot = { events: new Map(), sinks: new Set() }
  }

  change(event: StreamEvent): void {
    if (event.resource.resource === NOTICE_SINKS.resource) this.#sinkChanged(event)
    else this.#eventChanged(event)
  }

  synced(): void {
    const snapshot = this.#snapshot
    this.#snapshot = undefined
    if (!snapshot) return
    for (const [space, sinks] of this.#sinks) {
      const found = snapshot.events.get(space)?.sort((a, b) => a.event.revision - b.event.revision) ?? []
      for (const sink of [...sinks.values()]) {
        if (!snapshot.sinks.has(sink)) this.#remove(sink)
        for (const { event, facts } of found) sink.take(event, facts)
        this.wakeUnlessIdle(sink)
      }
    }
  }

  #sinkChanged(event: StreamEvent): void {
    const { type, space, name, object } = event
    const known = this.get(event)
    if (known && (type === 'DELETED' || known.uid !== object.metadata.uid)) this.#remove(known)
    if (type === 'DELETED') return
    let sink = this.get(event)
    const isNews = sink === undefined || sink.changed(object)
    sink ??= new Sink(event, this.counts)
    this.#sinks.set(space, name, sink)
    this.#snapshot?.sinks.add(sink)
    if (isNews) this.#wake(sink.key)
  }

  #eventChanged(event: StreamEvent): void {
    const { type, space, namespace, name, revision } = event
    const sinks = this.#sinks.of(space)
    if (type === 'DELETED') for (const sink of sinks.values()) sink.lost(event)
    // most spaces have no sink, and most Events are others'
    if (type === 'DELETED' || !(sinks.size > 0 || this.#snapshot) || !CARRIERS.some(one => event.mentions(one))) return
    const facts = factsOf(event.object)
    if (!facts) return
    const waiting = { namespace, name, revision }
    if (this.#snapshot) {
      const found = this.#snapshot.events.get(space) ?? []
      this.#snapshot.events.set(space, found)
      found.push({ event: waiting, facts })
      return
    }
    for (const sink of sinks.values()) if (sink.take(waiting, facts)) this.#wake(sink.key)
  }

  #remove(sink: Sink): void {
    sink.end()
    this.#sinks.delete(sink.key.space, sink.key.name)
  }
}

function idOf({ namespace, name }: Pick<WaitingEvent, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}
