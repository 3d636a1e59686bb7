/**
 * Common parts of the storage tests: short keys, small texts, readers of watches, and a model that is a plain list of events.
 */
import { compareKeys, rangeHolds } from '../../src/storage/keys.ts'
import type { Key, Mutation, Range, Revision, Store, Stored, StoreEvent } from '../../src/storage/store.ts'

export interface OpenOptions {
  historyAgeMs?: number
  maxHistoryEventsInMemory?: number
  watcherBacklog?: number
  clock?: () => number
}

/** An engine under test. A store of `open` is fresh; `reopen` closes it and opens its data again. */
export interface Engine {
  open(options?: OpenOptions): Promise<{ store: Store; reopen?: (options?: OpenOptions) => Promise<Store> }>
}

export function key(name: string, parts: Partial<Key> = {}): Key {
  return { space: 's1', group: 'apps', resource: 'deployments', namespace: 'default', name, ...parts }
}

export function put(data: string): Mutation {
  return { type: 'put', text: { head: '{"metadata":{"resourceVersion":"', tail: `"},"data":${JSON.stringify(data)}}` } }
}

/** The same of an object whose body others may have. */
export function putShared(data: string, uid = '11111111-2222-4333-8444-555555555555'): Mutation {
  const head = `{"metadata":{"uid":"${uid}","resourceVersion":"`
  const gaps = [{ at: head.indexOf(uid), length: uid.length, kind: 'uid' as const }]
  return { type: 'put', text: { head, tail: `"},"data":${JSON.stringify(data)}}`, gaps } }
}

export function del(data = 'last'): Mutation {
  return { ...put(data), type: 'delete' }
}

/** Result of an update; fails when it was refused. */
export async function updated(
  store: Store,
  k: Key,
  change: (current: Stored | undefined) => Mutation | undefined,
): Promise<Stored | undefined> {
  const result = await store.update(k, change)
  if (!result.ok) throw new Error(result.refused.message)
  return result.stored
}

/** `revision:data` of a stored text, read from the text itself. */
export function textOf(stored: Stored | undefined): string | undefined {
  if (stored === undefined) return undefined
  const object = JSON.parse(stored.bytes.toString()) as { metadata: { resourceVersion: string }; data: string }
  return `${object.metadata.resourceVersion}:${object.data}`
}

/** Creates the objects, in order; returns the revision after them. */
export async function create(store: Store, ...keys: Key[]): Promise<Revision> {
  await store.writeMany(keys.map(k => ({ key: k, mutation: put(k.name), expect: 0 })))
  return store.revision
}

/** Everything about an event that a user can see, in a form that compares. */
export interface Seen {
  type: 'put' | 'delete'
  key: Key
  revision: Revision
  text: string | undefined
  previous: string | undefined
}

export function seen(event: StoreEvent): Seen {
  const { space, group, resource, namespace, name } = event.key
  return {
    type: event.type,
    key: { space, group, resource, namespace, name },
    revision: event.revision,
    text: textOf(event.stored),
    previous: textOf(event.previous),
  }
}

/** Reads a watch until it has met an event at or behind `until`. */
export async function readWatch(store: Store, range: Range, after: Revision, until: Revision): Promise<StoreEvent[]> {
  const events: StoreEvent[] = []
  if (until <= after) return events
  const end = new AbortController()
  for await (const batch of store.watch(range, { after, signal: end.signal })) {
    events.push(...batch)
    if (batch.at(-1)!.revision >= until) end.abort()
  }
  return events
}

/** The naive store: the list of all events. */
export class Model {
  readonly log: Seen[] = []

  get revision(): Revision {
    return this.log.length
  }

  apply(type: 'put' | 'delete', k: Key, data: string): void {
    const revision = this.log.length + 1
    const previous = this.current(k)?.text
    this.log.push({ type, key: k, revision, text: `${revision}:${data}`, previous })
  }

  current(k: Key): Seen | undefined {
    return this.stateAt(this.revision, k)[0]
  }

  /** Objects of a range as of a revision, in key order. */
  stateAt(revision: Revision, range: Range): Seen[] {
    const state = new Map<string, Seen>()
    for (const event of this.log.slice(0, revision)) {
      if (!rangeHolds(range, event.key)) continue
      if (event.type === 'put') state.set(JSON.stringify(event.key), event)
      else state.delete(JSON.stringify(event.key))
    }
    return [...state.values()].sort((a, b) => compareKeys(a.key, b.key))
  }

  eventsAfter(revision: Revision, range: Range): Seen[] {
    return this.log.slice(revision).filter(event => rangeHolds(range, event.key))
  }
}

/** One range of every shape that the contract serves, around a key. */
export function rangesAround(k: Key): Range[] {
  const { space, group, resource, namespace, name } = k
  return [
    {},
    { space },
    { group, resource },
    { space, group, resource },
    { space, group, resource, namespace },
    { space, group, resource, namespace, name },
  ]
}
