/**
 * Changes of a space's APIServices: worked out from the log of its CustomResourceDefinitions, so that a watch of them is resumed like any
 * other. Only who watches them pays for it.
 */
import { Counts } from '../../apimachinery/counts.ts'
import { isRecord, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import type { Key, Revision, Store, Stored, StoreEvent } from '../../storage/store.ts'
import { decodeObject } from './codec.ts'
import type { LayerChange, LayerFollower } from './sharedObjects.ts'

const DEFINITIONS = { group: CRDS.group, resource: CRDS.resource }

export interface GroupVersionName {
  group: string
  version: string
}

interface DefinitionsDeps {
  store: Pick<Store, 'list'>
  /** Built-in kinds have theirs whatever CRDs say. */
  isBuiltin(name: GroupVersionName): boolean
}

interface ApiServiceChangesDeps extends DefinitionsDeps {
  /** The APIService of a group version, at a revision. */
  object(name: GroupVersionName, revision: number): Stored
}

/** Begins behind `after`. @throws StorageError `Compacted` when that is too old */
export async function followApiServices(
  deps: ApiServiceChangesDeps,
  space: string,
  after: number,
): Promise<LayerFollower> {
  const bySource = new Map<string, readonly GroupVersionName[]>()
  /** How many definitions serve each; a change of none to some or back is news. */
  const sources = new Counts()
  const isServed = (name: string): boolean => sources.of(name) > 0
  const replace = (source: string, now: readonly GroupVersionName[]): GroupVersionName[] => {
    const before = bySource.get(source) ?? []
    const touched = new Map([...before, ...now].map(each => [nameOf(each), each]))
    const was = new Map([...touched.keys()].map(name => [name, isServed(name)]))
    for (const each of before) sources.add(nameOf(each), -1)
    for (const each of now) sources.add(nameOf(each), 1)
    if (now.length > 0) bySource.set(source, now)
    else bySource.delete(source)
    return [...touched].filter(([name]) => was.get(name) !== isServed(name)).map(([, each]) => each)
  }
  const { items } = await deps.store.list({ space, ...DEFINITIONS }, { at: after })
  for (const stored of items) replace(stored.key.name, servedBy(deps, decodeObject(stored)))
  return {
    concerns: (key: Key) => isSameResource(key, DEFINITIONS),
    changes({ type, key, stored, revision }: StoreEvent): LayerChange[] {
      const now = type === 'delete' ? [] : servedBy(deps, decodeObject(stored))
      return replace(key.name, now).map(each => ({
        type: isServed(nameOf(each)) ? 'ADDED' : 'DELETED',
        stored: deps.object(each, revision),
      }))
    },
  }
}

/**
 * The group versions that CRDs added at a revision; `undefined`: the same as now, for that costs no reading of them.
 * @throws StorageError `Compacted`
 */
export async function definedAt(
  deps: DefinitionsDeps,
  space: string,
  at: Revision,
): Promise<GroupVersionName[] | undefined> {
  const range = { space, ...DEFINITIONS }
  const [then, now] = await Promise.all([deps.store.list(range, { at }), deps.store.list(range)])
  const same = (stored: Stored, i: number): boolean => stored.revision === now.items[i]?.revision
  if (then.items.length === now.items.length && then.items.every(same)) return undefined
  return then.items.flatMap(stored => servedBy(deps, decodeObject(stored)))
}

/** Name of the APIService. */
export function nameOf({ group, version }: GroupVersionName): string {
  return `${version}.${group}`
}

function servedBy(deps: DefinitionsDeps, { spec, status }: KubeObject): GroupVersionName[] {
  if (!isRecord(spec) || !isRecord(status) || !Array.isArray(status.conditions)) return []
  const established = status.conditions.some(each => each.type === 'Established' && each.status === 'True')
  if (!established || !Array.isArray(spec.versions)) return []
  return spec.versions
    .filter(version => version.served === true)
    .map(version => ({ group: String(spec.group), version: String(version.name) }))
    .filter(name => !deps.isBuiltin(name))
}
