/** Which other roles an aggregated ClusterRole takes its rules from. */
import { BoundedCache } from './boundedCache.ts'
import { isStatusError } from './errors.ts'
import { objects } from './fields.ts'
import type { KubeObject } from './object.ts'
import { type LabelSelector, labelSelectorFromObject } from './selectors.ts'

/** Compiled ones by their text: each change of a role of a space needs those of all again. */
const kept = new BoundedCache<string, LabelSelector>({
  entries: 10_000,
  weight: { limit: 1024 * 1024, of: (_selector, text) => text.length },
})

/** Without compiling any. */
export function hasRoleSelectors(role: KubeObject | undefined): boolean {
  return objects(role, 'aggregationRule', 'clusterRoleSelectors').length > 0
}

/** A malformed selector selects nothing: one bad role must not take the space's other roles down with it. */
export function roleSelectors(role: KubeObject | undefined): LabelSelector[] {
  return objects(role, 'aggregationRule', 'clusterRoleSelectors').map(selector => {
    const text = JSON.stringify(selector)
    const known = kept.get(text)
    if (known !== undefined) return known
    const compiled = compile(selector)
    kept.set(text, compiled)
    return compiled
  })
}

function compile(selector: Record<string, unknown>): LabelSelector {
  try {
    return labelSelectorFromObject(selector)
  } catch (error) {
    if (isStatusError(error)) return labelSelectorFromObject(undefined)
    throw error
  }
}
