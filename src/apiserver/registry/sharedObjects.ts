/** Objects that every space shows and none stores: the roles and bindings that Kubernetes starts with. Read-only. */
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { Stored } from '../../storage/store.ts'
import { CLUSTER_ANNOTATION, encodeObject } from './codec.ts'

export interface SharedObjects {
  get(space: string, type: { group: string; resource: string }, name: string): Stored | undefined
  /** In order of names. */
  list(space: string, type: { group: string; resource: string }): readonly Stored[]
}

export function sharedRbac(layers: { root: readonly KubeObject[]; other: readonly KubeObject[] }): SharedObjects {
  const root = byResource(layers.root)
  const other = byResource(layers.other)
  const objectsOf = (
    space: string,
    type: { group: string; resource: string },
  ): ReadonlyMap<string, KubeObject> | undefined => (space === 'root' ? root : other).get(groupResourceName(type))
  return {
    get(space, type, name) {
      const object = objectsOf(space, type)?.get(name)
      return object && storedAs(space, type, object)
    },
    list(space, type) {
      const objects = objectsOf(space, type)
      return objects === undefined || space === '*'
        ? []
        : [...objects.values()].map(object => storedAs(space, type, object))
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

/** Revision 1: older than anything that a watch can start from. */
function storedAs(space: string, type: { group: string; resource: string }, object: KubeObject): Stored {
  const annotations = { ...object.metadata.annotations, [CLUSTER_ANNOTATION]: space }
  const { head, tail } = encodeObject({ ...object, metadata: { ...object.metadata, annotations } })
  const key = { space, group: type.group, resource: type.resource, namespace: '', name: object.metadata.name ?? '' }
  return { key, revision: 1, bytes: Buffer.from(`${head}1${tail}`) }
}
