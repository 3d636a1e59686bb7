/**
 * The upsync sets of one mailbox, with a bound for each space: all stand in one SyncerConfig, and one tenant's sets must not fill it. Pure.
 */

import { hash } from 'node:crypto'
import type { GroupResource } from '../../apimachinery/object.ts'
import { compareFirsts } from '../../apimachinery/values.ts'
import type { CutSet } from '../consent/upsyncGrants.ts'
import { compileUpsync, type Matchable, type UpsyncSet, upsyncs, upsyncsKind } from './placementSpec.ts'

/** Bound for one space in one mailbox, as JSON. */
export const MAX_SPACE_UPSYNC = 100_000

/** Sets of one space, by name of the placement. */
export type SpaceSets = Map<string, readonly CutSet[]>

export interface UpsyncShare {
  readonly sets: readonly UpsyncSet[]
  /** Placements some of whose sets found no room, and how many. */
  readonly crowded: readonly { space: string; name: string; left: number }[]
  /** Ids of the spaces with a matching set, sorted. */
  requestedBy(object: Omit<Matchable, 'labels'>): string[]
  /** Ids of the spaces with a set for any objects of a kind. */
  requestedForKind(kind: GroupResource): string[]
  /** The same for shares that say the same. */
  readonly digest: string
}

/** Placements in the order of their names; what finds no room is left out, with all behind it. */
export function shareUpsync(bySpace: ReadonlyMap<string, SpaceSets>): UpsyncShare {
  const sets: UpsyncSet[] = []
  const crowded: { space: string; name: string; left: number }[] = []
  const tests = new Map<string, ReturnType<typeof compileUpsync>>()
  const texts: unknown[] = []
  for (const [space, byName] of [...bySpace].sort(compareFirsts)) {
    const taken = new Map<string, UpsyncSet>()
    let size = 0
    let full = false
    for (const [name, cut] of [...byName].sort(compareFirsts)) {
      let left = 0
      for (const { set, text } of cut) {
        if (taken.has(text)) continue
        full ||= size + text.length > MAX_SPACE_UPSYNC
        if (full) left++
        else {
          size += text.length
          taken.set(text, set)
        }
      }
      if (left > 0) crowded.push({ space, name, left })
    }
    sets.push(...taken.values())
    texts.push([space, ...taken.keys()])
    if (taken.size > 0) tests.set(space, compileUpsync([...taken.values()]))
  }
  return {
    sets,
    crowded,
    digest: hash('sha256', JSON.stringify(texts), 'base64'),
    requestedForKind: kind => [...tests].filter(([, compiled]) => upsyncsKind(compiled, kind)).map(([space]) => space),
    requestedBy: object => [...tests].filter(([, compiled]) => upsyncs(compiled, object)).map(([space]) => space),
  }
}
