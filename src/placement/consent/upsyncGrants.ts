/**
 * Upsync sets of a placement, cut to what the inventory's grants allow to be carried up. An object matches the rest exactly when the set
 * and one rule of a grant match it. Pure.
 *
 * Secrets go up by name only. As a configuration cannot say "all but", the core group's `*` is written out without them; no
 * CustomResourceDefinition adds to that group.
 */

import type { UpsyncSet } from '../select/placementSpec.ts'
import { type Grant, namesSecrets, type UpsyncRule } from './grant.ts'

export interface CutSet {
  readonly set: UpsyncSet
  /** The set as JSON: what makes two equal, and how large it is. */
  readonly text: string
}

export interface UpsyncCut {
  /** In the order of the sets that they come from, each once. */
  readonly sets: readonly CutSet[]
  /** Fields with the names that no grant allows, in their order; at most {@link MAX_DENIED}. */
  readonly denied: readonly string[]
}

/** Lists' items that are looked at for one placement; 10,000 sets against ten rules are within it. */
export const MAX_STEPS = 1_000_000
const MAX_DENIED = 20
const SECRETS = 'secrets'
const ALL = '*'

/** Core kinds other than Secrets, as every Kubernetes has them. */
const CORE_RESOURCES: readonly string[] = [
  'configmaps',
  'endpoints',
  'events',
  'limitranges',
  'namespaces',
  'nodes',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'replicationcontrollers',
  'resourcequotas',
  'serviceaccounts',
  'services',
]

export function cutUpsync(sets: readonly UpsyncSet[], grants: readonly Grant[]): UpsyncCut {
  const rules = grants.flatMap(grant => grant.upsync)
  const cut = new Map<string, CutSet>()
  const denied: string[] = []
  let steps = 0
  for (const [i, set] of sets.entries()) {
    const parts: UpsyncSet[] = []
    for (const rule of rules) {
      steps += 1 + itemsOf(set) + itemsOf(rule)
      if (steps > MAX_STEPS) break
      if (rule.apiGroup === ALL || rule.apiGroup === set.apiGroup) parts.push(...meetings(set, rule))
    }
    if (steps > MAX_STEPS) {
      denied.push(`spec.upsync[${i}] and those behind it (too many for so many rules; use fewer or smaller sets)`)
      break
    }
    for (const part of parts) {
      const text = JSON.stringify([part.apiGroup, part.resources, part.namespaces, part.names])
      if (!cut.has(text)) cut.set(text, { set: part, text })
    }
    if (denied.length < MAX_DENIED) denied.push(...lacking(set, parts, `spec.upsync[${i}]`).slice(0, MAX_DENIED))
  }
  return { sets: [...cut.values()], denied: denied.slice(0, MAX_DENIED) }
}

/** Objects that both a set and a rule match: one set for Secrets, one for all else. */
function meetings(set: UpsyncSet, rule: UpsyncRule): UpsyncSet[] {
  const namespaces = meet(set.namespaces, rule.namespaces)
  const found: UpsyncSet[] = []
  const isCore = set.apiGroup === ''
  const shared = meet(set.resources, rule.resources)
  const resources = isCore
    ? shared.flatMap(resource => (resource === ALL ? CORE_RESOURCES : resource === SECRETS ? [] : [resource]))
    : shared
  const names = meet(set.names, rule.names)
  if (resources.length > 0 && names.length > 0) {
    found.push({ apiGroup: set.apiGroup, resources: [...new Set(resources)], namespaces, names })
  }
  if (isCore && namesSecrets(rule) && (set.resources.includes(SECRETS) || set.resources.includes(ALL))) {
    const named = meet(
      set.names,
      (rule.names ?? []).filter(name => name !== ALL),
    ).filter(name => name !== ALL)
    if (named.length > 0) found.push({ apiGroup: '', resources: [SECRETS], namespaces, names: named })
  }
  return found
}

/** The common elements of two lists; a list that is absent or has `*` holds everything. */
function meet(requested: readonly string[], allowed: readonly string[] | undefined): string[] {
  const any = allowed === undefined || allowed.includes(ALL)
  if (requested.includes(ALL)) return any ? [ALL] : [...new Set(allowed)]
  if (any) return [...requested]
  const set = new Set(allowed)
  return requested.filter(item => set.has(item))
}

/** Items of a set that stand in none of its parts. */
function lacking(set: UpsyncSet, parts: readonly UpsyncSet[], field: string): string[] {
  if (parts.length === 0) return [field]
  return LISTS.flatMap(list => {
    if (set[list].includes(ALL)) return []
    const kept = new Set(parts.flatMap(part => part[list]))
    return kept.has(ALL) ? [] : set[list].filter(item => !kept.has(item)).map(item => `${field}.${list}: ${item}`)
  })
}

const LISTS = ['resources', 'namespaces', 'names'] as const

function itemsOf({ resources, namespaces = [], names = [] }: UpsyncSet | UpsyncRule): number {
  return resources.length + namespaces.length + names.length
}
