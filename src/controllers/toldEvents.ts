/**
 * Events about what somebody has to act on, on the object that they would look at. The same again counts on in the same Event, at
 * most once in some minutes. A space gets so many in that time and no more: conditions say all. What is told already is not
 * counted, so that one cluster that comes and goes takes nothing of what is told of others.
 */
import { createHash } from 'node:crypto'
import { BoundedCache } from '../apimachinery/boundedCache.ts'
import type { KubeObject } from '../apimachinery/object.ts'
import { shortened } from '../apimachinery/shortened.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import type { Client, SpaceClient } from '../client/client.ts'
import type { Clock } from '../client/clock.ts'
import { createEvent, EVENTS, inTime } from './createEvent.ts'

export interface ToldEvent {
  /** Default: Warning. */
  readonly type?: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** What tells it from others of that reason about the object. Default: there are none. */
  readonly place?: string
  /** Its message is made this one also before it counts on. */
  readonly isNewest?: boolean
}

export interface ToldEventsDeps {
  client: Client
  clock: Clock
  /** Who says so. */
  component: string
}

/** The same is told again after this. */
export const REPEATED_AFTER_MS = 300_000
/** Events that are written for one space in that time. */
export const MAX_OF_SPACE = 40
const MAX_MESSAGE = 1000
/** Events of which it is remembered when they were told; of others the Event itself says it. */
const MAX_REMEMBERED = 10_000

interface Spent {
  /** When the time began in which they are counted. */
  sinceMs: number
  count: number
}

/** What came of sending one; `same`: it says that already. */
type Sent = 'written' | 'same' | 'refused'

export class ToldEvents {
  readonly #deps: ToldEventsDeps
  /** By space. */
  readonly #spent = new Map<string, Spent>()
  /** By the name of the Event. */
  readonly #toldAtMs = new BoundedCache<string, number>(MAX_REMEMBERED)

  constructor(deps: ToldEventsDeps) {
    this.#deps = deps
  }

  /** @returns whether it stands there now; `false`: there was no room for it, or the space refused it */
  async tell(space: string, about: KubeObject, told: ToldEvent): Promise<boolean> {
    const nowMs = this.#deps.clock.now()
    const { isNewest = false } = told
    const event = this.#eventOf(about, told)
    const { name = '' } = event.metadata
    const lastMs = this.#toldAtMs.peek(name)
    if (!isNewest && lastMs !== undefined && nowMs - lastMs < REPEATED_AFTER_MS) return true
    const spent = this.#spentBy(space)
    if (spent.count >= MAX_OF_SPACE) return false
    // counted before it is sent, as others are told meanwhile
    spent.count++
    let sent: Sent | undefined
    try {
      sent = await this.#send(this.#deps.client.in(space), event, isNewest)
    } finally {
      if (sent === undefined || sent === 'same') spent.count--
    }
    if (sent === 'refused') return false
    this.#toldAtMs.set(name, nowMs)
    return true
  }

  #eventOf(about: KubeObject, { type = 'Warning', reason, message, place = '' }: ToldEvent): KubeObject {
    const { clock, component } = this.#deps
    const { name = '', namespace, uid = '', resourceVersion = '' } = about.metadata
    const hash = createHash('sha256').update(`${uid} ${reason} ${place}`).digest('hex').slice(0, 16)
    const at = timestamp(new Date(clock.now()))
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

  async #send(api: SpaceClient, event: KubeObject, isNewest: boolean): Promise<Sent> {
    const { clock, component } = this.#deps
    const sent = await createEvent(api, event, { fieldManager: component, clock })
    return sent === 'known' ? await inTime(clock, () => this.#again(api, event, isNewest)) : sent
  }

  async #again(
    api: SpaceClient,
    { metadata: { namespace = '', name = '' }, message }: KubeObject,
    isNewest: boolean,
  ): Promise<Sent> {
    const { clock, component } = this.#deps
    const ref = { namespace, name }
    const nowMs = clock.now()
    const known = await api.get(EVENTS, ref)
    const { count, lastTimestamp } = known
    const last = Date.parse(typeof lastTimestamp === 'string' ? lastTimestamp : '')
    const isSoon = nowMs - last < REPEATED_AFTER_MS
    if (isSoon && (!isNewest || known.message === message)) return 'same'
    const seen = typeof count === 'number' ? count : 1
    const body = { message, ...(!isSoon && { count: seen + 1, lastTimestamp: timestamp(new Date(nowMs)) }) }
    await api.patch(EVENTS, ref, 'merge', body, { fieldManager: component })
    return 'written'
  }

  #spentBy(space: string): Spent {
    const nowMs = this.#deps.clock.now()
    const known = this.#spent.get(space)
    if (known && nowMs - known.sinceMs < REPEATED_AFTER_MS) return known
    // spaces of which nothing was written lately are forgotten with the first that is
    for (const [one, { sinceMs }] of this.#spent) if (nowMs - sinceMs >= REPEATED_AFTER_MS) this.#spent.delete(one)
    const spent = { sinceMs: nowMs, count: 0 }
    this.#spent.set(space, spent)
    return spent
  }
}
