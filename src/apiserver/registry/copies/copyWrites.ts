/** The writes that copies.ts does, their results, and the steps that they have in common. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import { copyIn } from '../../../storage/copyText.ts'
import type { SharedStored } from '../../../storage/sharedStored.ts'
import type { Store, Stored, Write } from '../../../storage/store.ts'
import type { WriteContext } from '../context.ts'
import { keyOf } from '../keys.ts'

/** The writer of a copy, its kind and its namespace. */
export interface CopyPlace {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly namespace: string
}

export interface CopyCreation extends CopyPlace {
  /** One object for all copies; never changed. */
  readonly object: Readonly<KubeObject>
}

/** A copy in its known version. Its dependents go after it. */
export interface CopyDeletion extends CopyPlace {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

export interface CopyUpdate extends CopyDeletion {
  /** One object for all copies that change alike; never changed. */
  readonly content: Readonly<KubeObject>
  /** The object that replaces the copy, by `content` and the copy alone; `undefined` where the copy is right. Changes nothing. */
  readonly replace: (copy: KubeObject) => KubeObject | undefined
}

/** A copy that was written. */
export interface Copied {
  readonly stored: Stored
  readonly uid: string
  /** A copy with the same body; other values may stand in its gaps. Never changed. */
  readonly like: Readonly<KubeObject>
}

/** The stored copy, where it has the known version and its text is a body. */
export function copyAt(
  store: Pick<Store, 'get'>,
  { context, type, namespace, name, uid, resourceVersion }: CopyDeletion,
): SharedStored | undefined {
  const current = store.get(keyOf(context.space, type, namespace, name))
  const copy = current && !(current instanceof Promise) ? copyIn(current) : undefined
  return copy?.uid === uid && String(copy.revision) === resourceVersion ? copy : undefined
}

/** The answer for a place, found once for copies of one place that follow each other. */
export function perPlace<P extends CopyPlace, T>(find: (place: P) => T): (place: P) => T {
  let last: { readonly place: P; readonly found: T } | undefined
  return place => {
    const { context, type, namespace } = place
    const isSame = last?.place.context === context && last.place.type === type && last.place.namespace === namespace
    if (!isSame) last = { place, found: find(place) }
    return last!.found
  }
}

/** The version of each write that was stored. Another writer may have been quicker, or the store refuses the write. */
export async function storedAt(
  store: Pick<Store, 'writeMany'>,
  writes: readonly (Write | undefined)[],
): Promise<readonly (Stored | undefined)[]> {
  const results = (await store.writeMany(writes.filter(write => write !== undefined))).values()
  return writes.map(write => {
    const result = write && results.next().value
    return result?.ok ? result.stored : undefined
  })
}

/** Copies of one content that go ahead at most: where each has a body of its own, the others wait for none. */
const MOST_AHEAD = 3

/**
 * Writes the first copies of contents with an unknown body in the ordinary way. They go one after the other for each content until the body
 * is known. `known`: whether an index has nothing more to learn.
 */
export async function goAhead<T>(
  contents: readonly object[],
  known: (i: number) => boolean,
  first: (i: number) => Promise<T | undefined>,
): Promise<(T | undefined)[]> {
  const done: (T | undefined)[] = contents.map(() => undefined)
  const unknown = contents.keys().filter(i => !known(i))
  const groups = Map.groupBy(unknown, i => contents[i]!).values()
  const lead = async (group: readonly number[]): Promise<void> => {
    let ahead = 0
    for (const i of group) {
      if (known(i)) continue
      if (ahead++ === MOST_AHEAD) return
      done[i] = await first(i)
    }
  }
  await Promise.all(groups.map(lead))
  return done
}
