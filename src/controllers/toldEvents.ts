/**
 * Events about what somebody has to act on, on the object that they would look at. The same again counts on in the same Event, at
 * most once in some minutes. A space gets so many in that time and no more: conditions say all.
 */
import { createHash } from 'node:crypto'
import { isStatusError } from '../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../apimachinery/object.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import type { Client, SpaceClient } from '../client/client.ts'
import type { Clock } from '../client/clock.ts'
import { shortened } from './toldFaults.ts'

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

const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
/** The same is told again after this. */
export const REPEATED_AFTER_MS = 300_000
/** Events that are written for one space in that time. */
export const MAX_OF_SPACE = 40
const MAX_MESSAGE = 1000

interface Written {
  /** When the time began in which they are counted. */
  sinceMs: number
  count: number
}

export class ToldEvents {
  readonly #deps: ToldEventsDeps
  readonly #written = new Map<string, Written>()

  constructor(deps: ToldEventsDeps) {
    this.#deps = deps
  }

  async tell(space: string, about: KubeObject, told: ToldEvent): Promise<void> {
    if (!this.#mayWrite(space)) return
    const { client, clock, component } = this.#deps
    const { type = 'Warning', reason, place = '', isNewest = false } = told
    const { name = '', namespace, uid = '', resourceVersion = '' } = about.metadata
    const hash = createHash('sha256').update(`${uid} ${reason} ${place}`).digest('hex').slice(0, 16)
    const api = client.in(space)
    const nowMs = clock.now()
    const at = timestamp(new Date(nowMs))
    const event: KubeObject = {
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
      message: shortened(told.message, MAX_MESSAGE),
      source: { component },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    }
    try {
      await api.create(EVENTS, event, { fieldManager: component })
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) await this.#again(api, event, isNewest)
      // a quota, or a Namespace that is going, has no room for it: the conditions say the same
      else if (!isStatusError(error, 'Forbidden', 'NotFound', 'InsufficientStorage')) throw error
    }
  }

  async #again(
    api: SpaceClient,
    { metadata: { namespace = '', name = '' }, message }: KubeObject,
    isNewest: boolean,
  ): Promise<void> {
    const { clock, component } = this.#deps
    const ref = { namespace, name }
    const nowMs = clock.now()
    try {
      const { count, lastTimestamp } = await api.get(EVENTS, ref)
      const last = Date.parse(typeof lastTimestamp === 'string' ? lastTimestamp : '')
      const isSoon = nowMs - last < REPEATED_AFTER_MS
      if (isSoon && !isNewest) return
      const seen = typeof count === 'number' ? count : 1
      const body = { message, ...(!isSoon && { count: seen + 1, lastTimestamp: timestamp(new Date(nowMs)) }) }
      await api.patch(EVENTS, ref, 'merge', body, { fieldManager: component })
    } catch (error) {
      // it has lived its time meanwhile
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }

  #mayWrite(space: string): boolean {
    const nowMs = this.#deps.clock.now()
    const known = this.#written.get(space)
    if (!known || nowMs - known.sinceMs >= REPEATED_AFTER_MS) {
      // spaces of which nothing was written lately are forgotten with the first that is
      for (const [one, { sinceMs }] of this.#written)
        if (nowMs - sinceMs >= REPEATED_AFTER_MS) this.#written.delete(one)
      this.#written.set(space, { sinceMs: nowMs, count: 1 })
      return true
    }
    return ++known.count <= MAX_OF_SPACE
  }
}
