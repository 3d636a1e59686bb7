/** Objects that every space shows and none stores: what Kubernetes itself brings along. Read-only. */
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { Stored } from '../../storage/store.ts'
import { aggregatedRules, hasAggregationRule } from '../auth/aggregation.ts'
import { CLUSTER_ANNOTATION, encodeObject } from './codec.ts'

export interface SharedObjects {
  get(space: string, type: GroupResourceRef, name: string): Promise<Stored | undefined>
  /** In order of names. */
  list(space: string, type: GroupResourceRef): Promise<readonly Stored[]>
}

interface GroupResourceRef {
  group: string
  resource: string
}

/** Several layers as one; they hold different resources. */
export function sharedLayers(...layers: readonly SharedObjects[]): SharedObjects {
  return {
    async get(space, type, name) {
      for (const layer of layers) {
        const found = await layer.get(space, type, name)
        if (found !== undefined) return found
      }
      return undefined
    },
    async list(space, type) {
      for (const layer of layers) {
        const found = await layer.list(space, type)
        if (found.length > 0) return found
      }
      return []
    },
  }
}

export interface SharedRbacOptions {
  /** The roles and bindings of the root space and of all others. */
  root: readonly KubeObject[]
  other: readonly KubeObject[]
  /** The ClusterRoles that a space has of its own: what they add to an aggregated role is shown there. */
  ownRoles(space: string): Promise<readonly KubeObject[]>
}

/** The roles and bindings that Kubernetes starts with. */
export function sharedRbac(options: SharedRbacOptions): SharedObjects {
  const root = byResource(options.root)
  const other = byResource(options.other)
  const objectsOf = (space: string, type: GroupResourceRef): ReadonlyMap<string, KubeObject> | undefined =>
    (space === 'root' ? root : other).get(groupResourceName(type))
  const gathered = async (
    space: string,
    objects: readonly KubeObject[],
    all: Iterable<KubeObject>,
  ): Promise<Iterable<KubeObject>> => {
    if (!objects.some(hasAggregationRule)) return objects
    const own = await options.ownRoles(space)
    if (own.length === 0) return objects
    const roles = [...all, ...own]
    return objects.map(role => (hasAggregationRule(role) ? { ...role, rules: aggregatedRules(role, roles) } : role))
  }
  return {
    async get(space, type, name) {
      const objects = objectsOf(space, type)
      const object = objects?.get(name)
      if (objects === undefined || object === undefined) return undefined
      const [shown] = await gathered(space, [object], objects.values())
      return shown && sharedAs(space, type, shown)
    },
    async list(space, type) {
      const objects = space === '*' ? undefined : objectsOf(space, type)
      if (objects === undefined) return []
      const shown = await gathered(space, [...objects.values()], objects.values())
      return Array.from(shown, object => sharedAs(space, type, object))
    },
  }
}

function byResource(objects: readonly KubeObject[]): Map<string, Map<string, KubeObject>> {
  const result = new Map<string, Map<string, KubeObject>>()
  for (const object of objects) {
    const resource = `${object.kind.toLowerCase()}s.rbac.authorization.k8s.io`
    const named = result.get(resource) ?? new Map<string, KubeObject>()
    named.set(object.metadata.name ?? '', object)
    result.set(resource, named)
  }
  return result
}

/** A shared object as a space shows it. Revision 1: older than anything that a watch can start from. */
export function sharedAs(space: string, type: GroupResourceRef, object: KubeObject): Stored {
  const annotations = { ...object.metadata.annotations, [CLUSTER_ANNOTATION]: space }
  const { head, tail } = encodeObject({ ...object, metadata: { ...object.metadata, annotations } })
  const key = { space, group: type.group, resource: type.resource, namespace: '', name: object.metadata.name ?? '' }
  return { key, revision: 1, bytes: Buffer.from(`${head}1${tail}`) }
}
