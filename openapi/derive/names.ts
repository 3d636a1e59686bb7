/**
 * Gives the model classes the names of upstream's OpenAPI definitions: `V1ContainerPort` is
 * `io.k8s.api.core.v1.ContainerPort`. A model does not say its group; its name's prefix, or the kinds that reach it, do.
 */
import { definitionPackage, META_PACKAGE, VERSION_DEFINITION } from '../definitionNames.ts'
import type { Model } from './models.ts'

export interface RootModel {
  model: string
  group: string
}

const META_KINDS: ReadonlySet<string> = new Set(
  `APIGroup APIGroupList APIResource APIResourceList APIVersions Condition DeleteOptions FieldSelectorRequirement
   GroupVersionForDiscovery LabelSelector LabelSelectorRequirement ListMeta ManagedFieldsEntry ObjectMeta OwnerReference
   Preconditions ServerAddressByClientCIDR ShardInfo Status StatusCause StatusDetails WatchEvent`.split(/\s+/),
)
/** Core types that only kinds of other groups use. */
const CORE_KINDS: ReadonlySet<string> = new Set(['TopologySelectorTerm', 'TopologySelectorLabelRequirement'])
/** The one model of no group. */
export const VERSION_MODEL = 'VersionInfo'
const MODEL = /^([A-Z][a-z]+)?(V\d+(?:(?:alpha|beta)\d+)?)([A-Z]\w*)$/

/** `V1ContainerPort` is `{ version: 'v1', kind: 'ContainerPort' }`; `RbacV1Subject` has the prefix `rbac` too. */
export function splitModelName(model: string): { prefix: string; version: string; kind: string } {
  const match = MODEL.exec(model)
  if (match === null) throw new Error(`cannot read the model name ${model}`)
  return { prefix: (match[1] ?? '').toLowerCase(), version: match[2]!.toLowerCase(), kind: match[3]! }
}

/**
 * Names every model that `roots` reach. A model that several groups reach belongs to the core group if one of its kinds
 * does; otherwise two groups must not claim it.
 * @throws Error naming the model that two groups claim
 */
export function nameDefinitions(
  roots: readonly RootModel[],
  referencesOf: (model: string) => readonly string[],
): Map<string, string> {
  const claims = new Map<string, Set<string>>()
  const rootGroups = new Map(roots.map(root => [root.model, root.group]))
  for (const root of roots) claim(root.model, root.group)
  const names = new Map<string, string>()
  for (const [model, groups] of claims) names.set(model, definitionName(model, groups))
  return names

  function claim(model: string, group: string): void {
    const groups = claims.get(model) ?? new Set<string>()
    if (groups.has(group)) return
    claims.set(model, groups.add(group))
    for (const reference of referencesOf(model)) claim(reference, rootGroups.get(reference) ?? group)
  }
}

function definitionName(model: string, groups: ReadonlySet<string>): string {
  if (model === VERSION_MODEL) return VERSION_DEFINITION
  const { prefix, version, kind } = splitModelName(model)
  if (META_KINDS.has(kind)) return `${META_PACKAGE}.${kind}`
  if (CORE_KINDS.has(kind) || prefix === 'core') return `${definitionPackage('')}.${version}.${kind}`
  const owners = [...groups].filter(group => prefix === '' || group.startsWith(prefix))
  if (prefix === '' && groups.has('')) return `${definitionPackage('')}.${version}.${kind}`
  if (owners.length !== 1) throw new Error(`model ${model} is claimed by ${[...groups].join(', ')}`)
  return `${definitionPackage(owners[0]!)}.${version}.${kind}`
}

/** Model names in an attribute type such as `Array<V1Container>`. */
export function modelsIn(model: Model, isModel: (name: string) => boolean): string[] {
  return model.attributes.flatMap(attribute => attribute.type.match(/[A-Za-z]\w*/g) ?? []).filter(isModel)
}
