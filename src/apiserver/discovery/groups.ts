/**
 * The order in which discovery names groups and versions: as upstream, by priority of the group, the preferred version first.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
 */
import { DEFAULT_GROUP_PRIORITY, GROUP_FACTS } from '../../../openapi/resourceFacts.ts'
import { compareVersions } from '../../apimachinery/crd/versionOrder.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'

export { compareVersions }

export interface ServedGroup {
  group: string
  /** The preferred one first. */
  versions: ServedVersion[]
}

export interface ServedVersion {
  version: string
  /** In the order in which they were given. */
  types: ResourceType[]
}

/** All groups that `types` make up, the core group included, in the order of discovery. */
export function servedGroups(types: readonly ResourceType[]): ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceType[]>>()
  for (const type of types) {
    const versions = getOrInsert(groups, type.group, () => new Map())
    getOrInsert(versions, type.version, () => []).push(type)
  }
  const priorities = new Map(GROUP_FACTS.map(fact => [fact.group, fact.priority]))
  const priority = (group: string): number => priorities.get(group) ?? DEFAULT_GROUP_PRIORITY
  return [...groups]
    .map(([group, versions]) => ({
      group,
      versions: orderVersions(group, [...versions.keys()]).map(version => ({ version, types: versions.get(version)! })),
    }))
    .sort((a, b) => priority(b.group) - priority(a.group) || (a.group < b.group ? -1 : 1))
}

function orderVersions(group: string, versions: string[]): string[] {
  const known = Object.keys(GROUP_FACTS.find(fact => fact.group === group)?.versions ?? {})
  const rank = (version: string): number => (known.includes(version) ? known.indexOf(version) : known.length)
  return versions.sort((a, b) => rank(a) - rank(b) || compareVersions(a, b))
}
