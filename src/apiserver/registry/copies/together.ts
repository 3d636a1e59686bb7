/** The steps that creations, updates and deletions of copies have in common. */
import { alikeOf } from '../../../storage/alikeText.ts'
import type { SharedStored } from '../../../storage/sharedStored.ts'
import type { Store, Stored, Write } from '../../../storage/store.ts'
import { keyOf } from '../keys.ts'
import type { CopyDeletion, CopyPlace } from './copyWrites.ts'

/** The stored copy, where it has the known version and its text is a body. */
export function copyAt(
  store: Pick<Store, 'get'>,
  { context, type, namespace, name, uid, resourceVersion }: CopyDeletion,
): SharedStored | undefined {
  const current = store.get(keyOf(context.space, type, namespace, name))
  const copy = current && !(current instanceof Promise) ? alikeOf(current) : undefined
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
 * Writes the first copies of contents with an unknown body in the ordinary way, one after the other for each content until the body is
 * known. `known`: whether nothing more is to learn for an index.
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
