/**
 * EventRecorder alone writes Events of placement and of syncers' liveness, on the object that somebody has to act on. The same Event counts
 * on, at most once in some minutes. A space gets a limited number of Events in that time, and as many about holds, refused claims and
 * rollouts each. An Event that stands there already takes no room, so that one cluster that comes and goes takes none from others.
 *
 * Events are a courtesy: statuses, conditions and annotations say the same. So no Event that a space refuses, for whatever reason, and none
 * that a webhook of the space delays keeps anything else waiting.
 */

import { createHash } from 'node:crypto'
import { BoundedCache } from '../apimachinery/boundedCache.ts'
import { isStatusError } from '../apimachinery/errors.ts'
import { str } from '../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../apimachinery/object.ts'
import { shortened } from '../apimachinery/shortened.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import type { Client, SpaceClient } from '../client/client.ts'
import { type Clock, pause } from '../client/clock.ts'
import { unlessThere } from '../client/unlessGone.ts'
import { FIELD_MANAGER } from '../placement/words/names.ts'

export interface RecordedEvent {
  /** The controller that records it. Default: the translator. */
  readonly component?: string
  /** Default: Warning. */
  readonly type?: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Distinguishes it from others of that reason about the object. Default: there are none. */
  readonly place?: string
  /** Its message replaces an earlier one also before it counts on. */
  readonly isNewest?: boolean
  /** Room of its own, which no trouble in clusters uses up. */
  readonly room?: 'holds' | 'claims' | 'rollouts'
}

export interface EventRecorderDeps {
  client: Client
  clock: Clock
}

const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
/** The same Event counts on after this. */
export const REPEATED_AFTER_MS = 300_000
/** Events that are written for one space in that time, and as many for each room of its own. */
export const MAX_OF_SPACE = 40
/** A write that takes longer goes on, and nobody waits for it. */
export const EVENT_PATIENCE_MS = 1000
const MAX_MESSAGE = 1000
/** Events whose last time is remembered; for others it is read from the Event. */
const MAX_REMEMBERED = 10_000

interface Spent {
  /** When the time began in which they are counted. */
  sinceMs: number
  count: number
}

/** `same`: the Event says that already. `refused` also covers an answer that is late. */
type Sent = 'written' | 'same' | 'refused'

type SourcedEvent = KubeObject & { readonly source: { readonly component: string } }

/** All controllers of a server share one, as they share the budget of each space. */
export class EventRecorder {
  readonly #deps: EventRecorderDeps
  /** By space and room. */
  readonly #spent = new Map<string, Spent>()
  /** By the name of the Event. */
  readonly #recordedAtMs = new BoundedCache<string, number>(MAX_REMEMBERED)

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps
  }

  /** @returns whether it stands there now; `false`: there was no room for it, or the space refused it */
  async record(space: string, about: KubeObject, recorded: RecordedEvent): Promise<boolean> {
    const nowMs = this.#deps.clock.now()
    const { isNewest = false, room } = recorded
    const event = this.#eventOf(about, recorded)
    const { name = '' } = event.metadata
    const lastMs = this.#recordedAtMs.peek(name)
    if (!isNewest && lastMs !== undefined && nowMs - lastMs < REPEATED_AFTER_MS) return true
    const spent = this.#spentBy(room === undefined ? space : `${space} ${room}`)
    if (spent.count >= MAX_OF_SPACE) return false
    // counted before it is sent, as others are recorded meanwhile
    spent.count++
    let sent: Sent | undefined
    try {
      sent = await this.#write(this.#deps.client.in(space), event, isNewest)
    } finally {
      if (sent === undefined || sent === 'same') spent.count--
    }
    if (sent === 'refused') return false
    this.#recordedAtMs.set(name, nowMs)
    return true
  }

  #eventOf(
    about: KubeObject,
    { component = FIELD_MANAGER, type = 'Warning', reason, message, place = '' }: RecordedEvent,
  ): SourcedEvent {
    const { name = '', namespace, uid = '', resourceVersion = '' } = about.metadata
    const hash = createHash('sha256').update(`${uid} ${reason} ${place}`).digest('hex').slice(0, 16)
    const at = timestamp(new Date(this.#deps.clock.now()))
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: namespace ?? 'default', name: `${reason.toLowerCase()}.${hash}` },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        name,
        ...(namespace !== undefined && { namespace }),
        uid,
        resourceVersion,
      },
      type,
      reason,
      message: shortened(message, MAX_MESSAGE),
      source: { component },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    }
  }

  /** @throws what is no answer of the server */
  async #write(api: SpaceClient, event: SourcedEvent, isNewest: boolean): Promise<Sent> {
    const sent = await this.#inTime(() =>
      unlessThere(api.create(EVENTS, event, { fieldManager: event.source.component })),
    )
    if (sent === undefined) return await this.#inTime(() => this.#again(api, event, isNewest))
    return sent === 'refused' ? sent : 'written'
  }

  /** The result, or `refused` after a refusal or {@link EVENT_PATIENCE_MS}. */
  async #inTime<T>(write: () => Promise<T>): Promise<T | 'refused'> {
    const done = new AbortController()
    const written = write().catch((error: unknown) => {
      if (isStatusError(error)) return 'refused' as const
      throw error
    })
    const late = pause(this.#deps.clock, EVENT_PATIENCE_MS, done.signal).then(() => 'refused' as const)
    return await Promise.race([written, late]).finally(() => done.abort())
  }

  async #again(
    api: SpaceClient,
    { metadata: { namespace = '', name = '' }, message, source: { component } }: SourcedEvent,
    isNewest: boolean,
  ): Promise<Sent> {
    const ref = { namespace, name }
    const nowMs = this.#deps.clock.now()
    const known = await api.get(EVENTS, ref)
    const { count } = known
    const last = Date.parse(str(known, 'lastTimestamp'))
    const isSoon = nowMs - last < REPEATED_AFTER_MS
    if (isSoon && (!isNewest || known.message === message)) return 'same'
    const seen = typeof count === 'number' ? count : 1
    const body = { message, ...(!isSoon && { count: seen + 1, lastTimestamp: timestamp(new Date(nowMs)) }) }
    await api.patch(EVENTS, ref, 'merge', body, { fieldManager: component })
    return 'written'
  }

  #spentBy(id: string): Spent {
    const nowMs = this.#deps.clock.now()
    const known = this.#spent.get(id)
    if (known && nowMs - known.sinceMs < REPEATED_AFTER_MS) return known
    // a new entry drops those whose time is over
    for (const [one, { sinceMs }] of this.#spent) if (nowMs - sinceMs >= REPEATED_AFTER_MS) this.#spent.delete(one)
    const spent = { sinceMs: nowMs, count: 0 }
    this.#spent.set(id, spent)
    return spent
  }
}
