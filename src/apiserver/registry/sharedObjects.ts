/**
 * Objects that every space shows and none stores: what Kubernetes itself brings along. A space that changes one gets a copy of
 * its own, which is shown from then on; none can be deleted for good.
 */

import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { compareKeys } from '../../storage/keys.ts'
import type { Key, Revision, Stored, StoreEvent } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { aggregatedRules, hasAggregationRule } from '../auth/aggregation.ts'
import { RBAC_GROUP } from '../auth/rbacRules.ts'
import { encodeObject } from './codec.ts'

/** The shared objects of one resource. */
export interface SharedLayer {
  /** Whether a space may change them for itself; otherwise they say what the server does, and nobody writes them. */
  readonly changeable: boolean
  /** The one namespace that its objects are in. Absent: the kind is cluster-scoped. */
  readonly namespace?: string
  /** They can be deleted, and this makes them anew: it is called after that, before whoever deleted one is answered. */
  comeBack?(key: Key): Promise<void>
  has(space: string, name: string): boolean
  get(space: string, type: GroupResource, name: string): Promise<Stored | undefined>
  /**
   * Content at a revision, in order of names; also the names that the space has changed, so that its own stand for it.
   * @throws StorageError `Compacted` when the revision is too old
   */
  names(space: string, type: GroupResource, at: Revision): Promise<readonly string[]>
  /** Those of them, in the same order. */
  list(space: string, type: GroupResource, wanted: SharedWanted): Promise<readonly Stored[]>
  /** Absent: they never change. @throws StorageError `Compacted` when `after` is too old */
  follow?(space: string, type: GroupResource, after: number): Promise<LayerFollower>
}

interface SharedWanted {
  /** The revision whose state is shown. */
  at: Revision
  names: readonly string[]
}

/** Followers of a space's log, event by event and in order. */
export interface LayerFollower {
  concerns(key: Key): boolean
  changes(event: StoreEvent): LayerChange[]
}

export interface LayerChange {
  type: 'ADDED' | 'DELETED'
  /** At the revision of the event. */
  stored: Stored
}

/** By `<resource>.<group>`. */
export type SharedLayers = ReadonlyMap<string, SharedLayer>

export class SharedObjects {
  readonly #layers: SharedLayers

  constructor(...layers: readonly SharedLayers[]) {
    this.#layers = new Map(layers.flatMap(each => [...each]))
  }

  /** `namespace`: that of the requested objects. Absent: any. */
  of(type: GroupResource, namespace?: string): SharedLayer | undefined {
    const layer = this.#layers.get(groupResourceName(type))
    return namespace === undefined || namespace === (layer?.namespace ?? '') ? layer : undefined
  }

  /** To be called after a deletion. Resolves when what comes back is there again. */
  async deleted(key: Key): Promise<void> {
    const layer = this.of(key, key.namespace)
    if (layer?.has(key.space, key.name)) await layer.comeBack?.(key)
  }
}

/**
 * The names of shared objects in their places among a page of a space's own ones, which stand for shared ones of their name.
 * Behind the page come none but at the end of the list: they are the `rest`. All in the order of keys.
 */
export function mergeShared(
  own: readonly Stored[],
  names: readonly string[],
  { keyOf, isLastPage }: { keyOf(name: string): Key; isLastPage: boolean },
): { entries: readonly (Stored | string)[]; rest: readonly string[] } {
  if (names.length === 0) return { entries: own, rest: [] }
  const entries: (Stored | string)[] = []
  let next = 0
  for (const stored of own) {
    let order = -1
    while (next < names.length) {
      order = compareKeys(keyOf(names[next]!), stored.key)
      if (order >= 0) break
      entries.push(names[next++]!)
    }
    if (order === 0) next++
    entries.push(stored)
  }
  const rest = names.slice(next)
  return isLastPage ? { entries: [...entries, ...rest], rest: [] } : { entries, rest }
}

/** Objects that are the same in all spaces. */
export function sharedConstants(
  type: GroupResource,
  objects: readonly KubeObject[],
  { changeable }: { changeable: boolean },
): SharedLayers {
  const named = byName(objects)
  const layer: SharedLayer = {
    changeable,
    has: (_space, name) => named.has(name),
    async get(space, type, name) {
      const object = named.get(name)
      return object && sharedAs(space, type, object)
    },
    names: async () => [...named.keys()],
    async list(space, type, { names }) {
      return pick(named, names).map(object => sharedAs(space, type, object))
    },
  }
  return new Map([[groupResourceName(type), layer]])
}

interface SharedRbacOptions {
  /** The roles and bindings of the root space and of all others. */
  root: readonly KubeObject[]
  other: readonly KubeObject[]
  /** The ClusterRoles that a space has (default: now) of its own: what they add to an aggregated role is shown there. */
  ownRoles(space: string, at?: Revision): Promise<readonly KubeObject[]>
  /** Where the rules of a space's roles are gathered in slices. */
  turns: WorkTurns
}

/** The roles and bindings that Kubernetes starts with. */
export function sharedRbac(options: SharedRbacOptions): SharedLayers {
  const ofKind = (objects: readonly KubeObject[], kind: string) => byName(objects.filter(each => each.kind === kind))
  const layer = (kind: string): SharedLayer => {
    const root = ofKind(options.root, kind)
    const other = ofKind(options.other, kind)
    const objectsIn = (space: string): ReadonlyMap<string, KubeObject> => (space === 'root' ? root : other)
    const gathered = async (
      space: string,
      objects: readonly KubeObject[],
      at?: Revision,
    ): Promise<readonly KubeObject[]> => {
      if (!objects.some(hasAggregationRule)) return objects
      const own = await options.ownRoles(space, at)
      if (own.length === 0) return objects
      const roles = [...new Map([...objectsIn(space), ...byName(own)]).values()]
      const work = options.turns.begin({ owner: space })
      const shown: KubeObject[] = []
      for (const role of objects) {
        if (!hasAggregationRule(role)) shown.push(role)
        else shown.push({ ...role, rules: await inSlices(aggregatedRules(role, roles), work) })
      }
      return shown
    }
    return {
      changeable: true,
      has: (space, name) => objectsIn(space).has(name),
      async get(space, type, name) {
        const object = objectsIn(space).get(name)
        const [shown] = object === undefined ? [] : await gathered(space, [object])
        return shown && sharedAs(space, type, shown)
      },
      names: async space => [...objectsIn(space).keys()],
      async list(space, type, { at, names }) {
        const shown = await gathered(space, pick(objectsIn(space), names), at)
        return shown.map(object => sharedAs(space, type, object))
      },
    }
  }
  return new Map(
    ['ClusterRole', 'ClusterRoleBinding'].map(kind => [`${kind.toLowerCase()}s.${RBAC_GROUP}`, layer(kind)] as const),
  )
}

/** In order of names, as the store orders them. */
export function byName(objects: readonly KubeObject[]): Map<string, KubeObject> {
  const named = objects.map(object => [object.metadata.name ?? '', object] as const)
  return new Map(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function pick(objects: ReadonlyMap<string, KubeObject>, names: readonly string[]): KubeObject[] {
  return names.flatMap(name => objects.get(name) ?? [])
}

/** A shared object as a space shows it. Revision 1 is older than anything that a watch can start from. */
export function sharedAs(space: string, type: GroupResource, object: KubeObject, revision = 1): Stored {
  const annotations = { ...object.metadata.annotations, [CLUSTER_ANNOTATION]: space }
  const text = encodeObject({ ...object, metadata: { ...object.metadata, annotations } })
  const { name = '', namespace = '' } = object.metadata
  return versionOf({ space, group: type.group, resource: type.resource, namespace, name }, revision, text)
}
