/**
 * The APIServices of what a space serves itself: one for each group and version, made from its kinds, never stored.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1/
 */
import { DEFAULT_GROUP_PRIORITY, GROUP_FACTS } from '../../../openapi/resourceFacts.ts'
import { fixedUid } from '../../apimachinery/fixedUid.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Store } from '../../storage/store.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'
import { definedAt, followApiServices, type GroupVersionName, nameOf } from './apiServiceChanges.ts'
import { byName, type SharedLayer, type SharedLayers, sharedAs } from './sharedObjects.ts'

export const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' } as const

const FIRST_VERSION_PRIORITY = 100

/** `since`: RFC 3339, the age of those that came with the server. `store` is the log of definitions that change them. */
export function sharedApiServices(types: TypeRegistry, since: string, store: Pick<Store, 'list'>): SharedLayers {
  const { builtin } = types
  const made = new WeakMap<TypeSet, Map<string, KubeObject>>()
  const objectsIn = (space: string): Map<string, KubeObject> => {
    const set = types.in(space)
    return getOrInsert(made, set, () => apiServices(set.types, since))
  }
  const ofBuiltin = apiServices(builtin.types, since)
  const isBuiltin = ({ group, version }: GroupVersionName): boolean => builtin.hasGroupVersion(group, version)
  /** Also one that is no longer there. */
  const objectOf = (space: string, name: GroupVersionName): KubeObject =>
    objectsIn(space).get(nameOf(name)) ?? apiService(name.group, name.version, since, { isBuiltin: false, place: 0 })
  const layer: SharedLayer = {
    changeable: false,
    has: (space, name) => objectsIn(space).has(name),
    async get(space, type, name) {
      const object = objectsIn(space).get(name)
      return object && sharedAs(space, type, object)
    },
    async names(space, _type, at) {
      const defined = await definedAt({ store, isBuiltin }, space, at)
      if (defined === undefined) return [...objectsIn(space).keys()]
      return [...new Set([...ofBuiltin.keys(), ...defined.map(nameOf)])].sort()
    },
    list: async (space, type, { names }) => names.map(name => sharedAs(space, type, objectOf(space, partsOf(name)))),
    follow: (space, type, after) =>
      followApiServices(
        { store, isBuiltin, object: (name, revision) => sharedAs(space, type, objectOf(space, name), revision) },
        space,
        after,
      ),
  }
  return new Map([[groupResourceName(API_SERVICES), layer]])
}

/** The reverse of {@link nameOf}: versions have no dot. */
function partsOf(name: string): GroupVersionName {
  const [version = ''] = name.split('.')
  return { version, group: name.slice(version.length + 1) }
}

/** By name, sorted. */
function apiServices(types: readonly ResourceType[], since: string): Map<string, KubeObject> {
  const versions = new Map<string, Map<string, ResourceType>>()
  for (const type of types) {
    const group = getOrInsert(versions, type.group, () => new Map())
    const first = group.get(type.version)
    // of custom kinds it came with the oldest definition
    if (first === undefined || createdOf(type) < createdOf(first)) group.set(type.version, type)
  }
  const objects = [...versions].flatMap(([group, found]) =>
    [...found].map(([version, type], i) =>
      apiService(group, version, createdOf(type) || since, { isBuiltin: type.form !== 'custom', place: i }),
    ),
  )
  return byName(objects)
}

/** RFC 3339; empty for kinds that came with the server. */
function createdOf({ custom }: ResourceType): string {
  return custom?.created ?? ''
}

function apiService(
  group: string,
  version: string,
  since: string,
  { isBuiltin, place }: { isBuiltin: boolean; place: number },
): KubeObject {
  const name = `${version}.${group}`
  const priority = GROUP_FACTS.find(fact => fact.group === group)?.priority ?? DEFAULT_GROUP_PRIORITY
  const condition = {
    type: 'Available',
    status: 'True',
    lastTransitionTime: since,
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
  return {
    apiVersion: `${API_SERVICES.group}/v1`,
    kind: 'APIService',
    metadata: {
      name,
      uid: fixedUid(`apiservice ${name}`),
      creationTimestamp: since,
      // Origin: those of custom resources come and go.
      labels: { 'kube-aggregator.kubernetes.io/automanaged': isBuiltin ? 'onstart' : 'true' },
    },
    spec: {
      ...(group && { group }),
      version,
      groupPriorityMinimum: priority,
      versionPriority: Math.max(1, FIRST_VERSION_PRIORITY - place),
    },
    status: { conditions: [condition] },
  }
}
