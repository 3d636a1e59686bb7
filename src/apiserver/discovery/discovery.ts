/**
 * Discovery: what a space serves, as `/api`, `/apis` and the documents below them tell it. Pure functions of the resource
 * types of the space, cheap enough to run at each change of them; callers keep the result.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
 */
import { createHash } from 'node:crypto'
import { STORAGE_GROUPS, subresourceFact } from '../../../openapi/resourceFacts.ts'
import { apiVersionOf, groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type ServedGroup, servedGroups } from './groups.ts'

interface GroupVersionForDiscovery {
  groupVersion: string
  version: string
}
interface ApiGroup {
  name: string
  versions: GroupVersionForDiscovery[]
  preferredVersion: GroupVersionForDiscovery
}
interface ApiResource {
  name: string
  singularName: string
  namespaced: boolean
  /** Present where they differ from those of the list. */
  group?: string
  version?: string
  kind: string
  verbs: string[]
  shortNames?: string[]
  categories?: string[]
  storageVersionHash?: string
}
interface ApiVersions {
  kind: 'APIVersions'
  versions: string[]
  serverAddressByClientCIDRs: { clientCIDR: string; serverAddress: string }[]
}
interface ApiGroupList {
  kind: 'APIGroupList'
  apiVersion: 'v1'
  groups: ApiGroup[]
}
interface ApiResourceList {
  kind: 'APIResourceList'
  apiVersion: 'v1'
  groupVersion: string
  resources: ApiResource[]
}

/** `/api`. `serverAddress` is `host:port` of this server as clients reach it. */
export function apiVersions(types: readonly ResourceType[], serverAddress: string): ApiVersions {
  const core = servedGroups(types).find(({ group }) => group === '')
  return {
    kind: 'APIVersions',
    versions: core?.versions.map(({ version }) => version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `/apis`: every group but the core group. */
export function apiGroupList(types: readonly ResourceType[]): ApiGroupList {
  const groups = servedGroups(types).filter(({ group }) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(apiGroupOf) }
}

/** `/apis/<group>`; `undefined` when the space does not serve it. */
export function apiGroup(
  types: readonly ResourceType[],
  group: string,
): ({ kind: 'APIGroup'; apiVersion: 'v1' } & ApiGroup) | undefined {
  const served = servedGroups(types.filter(type => type.group === group))[0]
  return served && { kind: 'APIGroup', apiVersion: 'v1', ...apiGroupOf(served) }
}

/** `/api/v1` and `/apis/<group>/<version>`, sub-resources included; `undefined` when the space does not serve it. */
export function apiResourceList(
  types: readonly ResourceType[],
  group: string,
  version: string,
): ApiResourceList | undefined {
  const served = types.filter(type => type.group === group && type.version === version)
  if (served.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: served.flatMap(type => [apiResource(type), ...type.subresources.map(name => subresource(type, name))]),
  }
}

/** Kinds of a sub-resource's bodies, and its verbs. */
export function describeSubresource(
  type: ResourceType,
  name: string,
): { group: string; version: string; kind: string; verbs: readonly string[] } {
  const own = { group: type.group, version: type.version, kind: type.kind, verbs: ['get', 'patch', 'update'] }
  return subresourceFact(type.resource, name) ?? own
}

/** Whether the store holds objects of this type: reviews and bindings are answered and forgotten. */
function isStored(type: ResourceType): boolean {
  return type.verbs.includes('create') && type.verbs.includes('list')
}

function apiGroupOf({ group, versions }: ServedGroup): ApiGroup {
  const entries = versions.map(({ version }) => ({ groupVersion: apiVersionOf({ group, version }), version }))
  return { name: group, versions: entries, preferredVersion: entries[0]! }
}

function apiResource(type: ResourceType): ApiResource {
  return {
    name: type.resource,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: [...type.verbs],
    ...(type.shortNames.length > 0 && { shortNames: [...type.shortNames] }),
    ...(type.categories.length > 0 && { categories: [...type.categories] }),
    ...(isStored(type) && { storageVersionHash: storageVersionHash(type) }),
  }
}

function subresource(type: ResourceType, name: string): ApiResource {
  const { group, version, kind, verbs } = describeSubresource(type, name)
  const elsewhere = group !== type.group || version !== type.version
  return {
    name: `${type.resource}/${name}`,
    singularName: '',
    namespaced: type.namespaced,
    ...(elsewhere && { group, version }),
    kind,
    verbs: [...verbs],
  }
}

/** Changes when the version that the store holds does: the first eight bytes of SHA-256 over its group, version and kind. */
function storageVersionHash(type: ResourceType): string {
  const group = STORAGE_GROUPS[groupResourceName(type)] ?? type.group
  const text = `${group}/${type.storageVersion}/${type.kind}`
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64')
}
