/**
 * Events in a workload space about what an author has to act on: what a cluster refuses, what is another space's there, what
 * will not get well by waiting. On the EdgePlacement, and on the object that it is about.
 *
 * Trouble is told when it begins. The same one again, after it ended or after the server did, counts on in the same Event, at
 * most once in some minutes. A space gets so many in that time and no more: its conditions and work statuses say all.
 */
import { createHash } from 'node:crypto'
import { isStatusError } from '../../apimachinery/errors.ts'
import { type GroupVersionResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { Client, SpaceClient } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { shortened } from '../toldFaults.ts'
import { FIELD_MANAGER, objectKey } from './names.ts'
import { type NamedPlace, placeName } from './placeNames.ts'

/** One object's, in one cluster, as the status of the EdgePlacement lists it. */
export interface Trouble extends NamedPlace {
  readonly group: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
  /** In lower case, as syncers say them; `degraded` of what is applied. */
  readonly state: string
  readonly reason: string
  readonly message: string
}

export interface TroubleEventsDeps {
  client: Client
  /** An object of a space, by key; `undefined`: it is gone. */
  read: (space: string, key: string) => Promise<KubeObject | undefined>
  clock: Clock
}

const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
/** The same is told again after this. */
export const REPEATED_AFTER_MS = 300_000
/** Events that are written for one space in that time. */
export const MAX_OF_SPACE = 40
const MAX_MESSAGE = 1000
/** By the state in which a trouble is listed. */
const REASONS: Readonly<Record<string, string>> = {
  refused: 'RefusedByCluster',
  conflict: 'ObjectConflict',
  degraded: 'Degraded',
}

interface Written {
  /** When the time began in which they are counted. */
  sinceMs: number
  count: number
}

export class TroubleEvents {
  readonly #deps: TroubleEventsDeps
  /** What is being told of each placement: as much as its status lists. */
  readonly #told = new Map<string, ReadonlySet<string>>()
  readonly #written = new Map<string, Written>()

  constructor(deps: TroubleEventsDeps) {
    this.#deps = deps
  }

  forget(space: string, placement: string): void {
    this.#told.delete(`${space} ${placement}`)
  }

  /** All that is listed now of a placement. `ambiguous`: as {@link placeName} wants it. */
  async tell(
    space: string,
    placement: KubeObject,
    troubles: readonly Trouble[],
    ambiguous: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const id = `${space} ${placement.metadata.name ?? ''}`
    const before = this.#told.get(id)
    const serious = troubles.filter(({ state }) => Object.hasOwn(REASONS, state))
    const now = new Map(serious.map(trouble => [idOf(trouble), trouble]))
    // remembered first: what cannot be written is not tried at every turn
    if (now.size > 0) this.#told.set(id, new Set(now.keys()))
    else this.#told.delete(id)
    for (const [one, trouble] of now)
      if (!before?.has(one)) await this.#tellOne(space, placement, trouble, placeName(trouble, ambiguous))
  }

  async #tellOne(space: string, placement: KubeObject, trouble: Trouble, where: string): Promise<void> {
    const { name, namespace = '', message, state } = trouble
    const reason = REASONS[state]!
    const place = placeOf(trouble)
    const object = `${groupResourceName(trouble)} "${namespace ? `${namespace}/` : ''}${name}"`
    await this.#write(space, placement, { reason, place, message: `at ${where}, ${object}: ${message}` })
    // who owns what is told on the object by who finds it
    if (state === 'conflict') return
    const source = await this.#deps.read(space, objectKey(trouble, namespace, name))
    if (source) await this.#write(space, source, { reason, place, message: `at ${where}: ${message}` })
  }

  async #write(
    space: string,
    about: KubeObject,
    { reason, place, message }: { reason: string; place: string; message: string },
  ): Promise<void> {
    if (!this.#mayWrite(space)) return
    const { name = '', namespace, uid = '', resourceVersion = '' } = about.metadata
    const hash = createHash('sha256').update(`${uid} ${reason} ${place}`).digest('hex').slice(0, 16)
    const ref = { namespace: namespace ?? 'default', name: `${reason.toLowerCase()}.${hash}` }
    const api = this.#deps.client.in(space)
    const nowMs = this.#deps.clock.now()
    const at = timestamp(new Date(nowMs))
    const event: KubeObject = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: ref,
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        name,
        ...(namespace !== undefined && { namespace }),
        uid,
        resourceVersion,
      },
      type: 'Warning',
      reason,
      message: shortened(message, MAX_MESSAGE),
      source: { component: FIELD_MANAGER },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    }
    try {
      await api.create(EVENTS, event, { fieldManager: FIELD_MANAGER })
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) await this.#again(api, event, nowMs)
      // a quota, or a Namespace that is going, has no room for it: the conditions say the same
      else if (!isStatusError(error, 'Forbidden', 'NotFound', 'InsufficientStorage')) throw error
    }
  }

  async #again(
    api: SpaceClient,
    { metadata: { namespace = '', name = '' }, message }: KubeObject,
    nowMs: number,
  ): Promise<void> {
    const ref = { namespace, name }
    try {
      const { count, lastTimestamp } = await api.get(EVENTS, ref)
      const last = Date.parse(typeof lastTimestamp === 'string' ? lastTimestamp : '')
      if (nowMs - last < REPEATED_AFTER_MS) return
      const seen = typeof count === 'number' ? count : 1
      const body = { message, count: seen + 1, lastTimestamp: timestamp(new Date(nowMs)) }
      await api.patch(EVENTS, ref, 'merge', body, { fieldManager: FIELD_MANAGER })
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

function idOf(trouble: Trouble): string {
  const { group, resource, namespace = '', name, state } = trouble
  return `${state} ${placeOf(trouble)} ${objectKey({ group, resource }, namespace, name)}`
}

function placeOf({ cluster, location }: Trouble): string {
  return cluster === undefined ? location : `${cluster}/${location}`
}
