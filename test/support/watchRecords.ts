/** Records for `watchHistory.ts` from every source of changes: a store, watches, space streams, informers. */
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { canonicalJson } from '../../src/apimachinery/values.ts'
import type { StreamBatch } from '../../src/client/client.ts'
import type { Informer } from '../../src/client/informer.ts'
import { rangeHolds } from '../../src/storage/keys.ts'
import type { Key, Range, Store, Stored, StoreEvent } from '../../src/storage/store.ts'
import { readWatch } from '../storage/support.ts'
import type { WatchEvent } from './api.ts'
import type { Change, FollowerRecord, Seen, Selects, Snapshot } from './watchHistory.ts'

type Item = Snapshot['items'][number]

export function keyText({ space, group, resource, namespace, name }: Key): string {
  return [space, group, resource, namespace, name].join('/')
}

/** Members of lists need no kind. @throws Error when the object's revision is not that of its event */
function itemOf(key: string, revision: number, { apiVersion: _, kind: _kind, ...object }: KubeObject): Item {
  const { resourceVersion, ...metadata } = object.metadata
  if (Number(resourceVersion) !== revision)
    throw new Error(`${key} at ${revision} says that it is of ${resourceVersion}`)
  return { key, revision, content: canonicalJson({ ...object, metadata }) }
}

export function storedItem({ key, revision, bytes }: Stored): Item {
  return itemOf(keyText(key), revision, JSON.parse(bytes.toString()) as KubeObject)
}

/** A change that a store acknowledges, or has in its log. */
export function changeOf(type: 'put' | 'delete', stored: Stored): Change {
  return { type, ...storedItem(stored) }
}

export function seenInStore({ type, stored, previous }: StoreEvent): Seen {
  return { type: type === 'delete' ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED', ...storedItem(stored) }
}

/** The log of a range as it is kept, from what was forgotten on. */
export async function logOf(store: Store, range: Range = {}): Promise<Change[]> {
  const events = await readWatch(store, {}, store.compactedRevision, store.revision)
  return events.filter(({ key }) => rangeHolds(range, key)).map(({ type, stored }) => changeOf(type, stored))
}

/** Names the objects of one resource in one space, of which answers tell only namespace and name. */
export type Naming = (object: KubeObject) => string

export function namingOf(of: Pick<Key, 'space' | 'group' | 'resource'>): Naming {
  return ({ metadata: { namespace = '', name = '' } }) => keyText({ ...of, namespace, name })
}

export function namedItem(naming: Naming, object: KubeObject): Item {
  return itemOf(naming(object), Number(object.metadata.resourceVersion), object)
}

/** A line of a watch over HTTP. */
export function seenInLine(naming: Naming, { type, object }: WatchEvent): Seen {
  if (type === 'BOOKMARK') return { type, revision: Number(object.metadata.resourceVersion) }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED')
    throw new Error(`${type}: ${JSON.stringify(object)}`)
  return { type, ...namedItem(naming, object) }
}

/** The first events are the present content; the rest begins behind it, as its bookmark has it. */
export function splitInitial(name: string, seen: readonly Seen[], selects?: Selects) {
  const items: Item[] = []
  for (const [i, event] of seen.entries()) {
    if (event.type === 'ADDED') items.push(event)
    else if (event.type !== 'BOOKMARK') break
    else {
      const { revision } = event
      const snapshot: Snapshot = { name, revision, items, ...(selects && { selects }) }
      return { snapshot, after: revision, seen: seen.slice(i) }
    }
  }
  throw new Error(`${name} does not begin with what is there and a bookmark`)
}

/**
 * Follows a space stream up to an event that ends it; `seen` grows. Behind each batch it may be resumed, as behind a bookmark;
 * what has begun, and has seen no bookmark yet, begins anew.
 */
export async function followStream(
  stream: (after: number | undefined, signal: AbortSignal) => AsyncIterable<StreamBatch>,
  seen: Seen[],
  isEnd: (event: Seen) => boolean,
): Promise<void> {
  const after = seen.findLast(({ type }) => type === 'BOOKMARK')?.revision
  if (after === undefined) seen.length = 0
  const end = new AbortController()
  // pages of a snapshot are no places to resume from
  let isLive = after !== undefined
  for await (const { events, revision, synced } of stream(after, end.signal)) {
    for (const { type, space, resource, namespace, name, revision, object } of events) {
      const { group, resource: plural } = resource
      seen.push({ type, ...itemOf(keyText({ space, group, resource: plural, namespace, name }), revision, object) })
    }
    isLive ||= synced
    if (isLive) seen.push({ type: 'BOOKMARK', revision })
    if (isLive && seen.some(isEnd)) break
  }
  end.abort()
}

/** Records what an informer tells from now on; `end` adds what it holds then. */
export function followerOf(name: string, naming: Naming, informer: Informer): { end(): FollowerRecord } {
  const changes: FollowerRecord['changes'][number][] = []
  const stop = informer.subscribe(change => {
    const { type, object } = change
    const previous = type === 'apply' && change.previous ? Number(change.previous.metadata.resourceVersion) : undefined
    changes.push({ type, ...namedItem(naming, object), previous })
  })
  return {
    end() {
      stop()
      return { name, changes, holds: informer.list().map(object => namedItem(naming, object)) }
    },
  }
}
