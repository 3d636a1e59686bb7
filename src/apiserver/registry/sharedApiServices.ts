/**
 * The APIServices of what a space serves itself: one for each group and version, made from its kinds, never stored.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1/
 */
import { createHash } from 'node:crypto'
import { DEFAULT_GROUP_PRIORITY, GROUP_FACTS } from '../../../openapi/resourceFacts.ts'
import { statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'
import type { Admission } from './generic.ts'
import { type SharedObjects, sharedAs } from './sharedObjects.ts'

export const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' } as const

const FIRST_VERSION_PRIORITY = 100

/** `since`: when the server began to serve; shown as their age. */
export function sharedApiServices(types: TypeRegistry, since: Date): SharedObjects {
  const made = new WeakMap<TypeSet, Map<string, KubeObject>>()
  const objectsIn = (space: string): Map<string, KubeObject> => {
    const set = types.in(space)
    const known = made.get(set) ?? apiServices(set.types, `${since.toISOString().slice(0, 19)}Z`)
    made.set(set, known)
    return known
  }
  const concerns = ({ group, resource }: { group: string; resource: string }): boolean =>
    resource === API_SERVICES.resource && group === API_SERVICES.group
  return {
    async get(space, type, name) {
      const object = concerns(type) ? objectsIn(space).get(name) : undefined
      return object && sharedAs(space, type, object)
    },
    async list(space, type) {
      if (space === '*' || !concerns(type)) return []
      return Array.from(objectsIn(space).values(), object => sharedAs(space, type, object))
    },
  }
}

/** Nobody may redefine what is served already. */
export function apiServiceAdmission(shared: SharedObjects): Admission {
  return {
    handles: (type, operation) =>
      operation === 'CREATE' && type.resource === API_SERVICES.resource && type.group === API_SERVICES.group,
    async admit({ context, type, object }) {
      const name = object.metadata.name ?? ''
      if (await shared.get(context.space, type, name)) throw statusError.alreadyExists(type, name)
    },
  }
}

/** By name, sorted. */
function apiServices(types: readonly ResourceType[], since: string): Map<string, KubeObject> {
  const versions = new Map<string, Map<string, ResourceType>>()
  for (const type of types) {
    const group = versions.get(type.group)
    if (group === undefined) versions.set(type.group, new Map([[type.version, type]]))
    else if (!group.has(type.version)) group.set(type.version, type)
  }
  const objects = [...versions].flatMap(([group, found]) =>
    [...found].map(([version, type], i) => apiService(group, version, since, { type, place: i })),
  )
  objects.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  return new Map(objects.map(object => [object.metadata.name!, object]))
}

function apiService(
  group: string,
  version: string,
  since: string,
  { type, place }: { type: ResourceType; place: number },
): KubeObject {
  const name = `${version}.${group}`
  const builtin = type.origin === 'builtin'
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
      uid: uidOf(name),
      creationTimestamp: since,
      // Who made it: those of custom resources come and go.
      labels: { 'kube-aggregator.kubernetes.io/automanaged': builtin ? 'onstart' : 'true' },
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

/** A UUID of version 8 (custom) made from the name, so that it is the same on every server. */
function uidOf(name: string): string {
  const hex = createHash('sha256').update(`orrery apiservice ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
