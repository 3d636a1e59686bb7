/** Which other roles an aggregated ClusterRole takes its rules from. */
import { isStatusError } from './errors.ts'
import { objects } from './fields.ts'
import type { KubeObject } from './object.ts'
import { type LabelSelector, labelSelectorFromObject } from './selectors.ts'

/** A malformed selector selects nothing: one bad role must not take the space's other roles down with it. */
export function roleSelectors(role: KubeObject | undefined): LabelSelector[] {
  return objects(role, 'aggregationRule', 'clusterRoleSelectors').map(selector => {
    try {
      return labelSelectorFromObject(selector)
    } catch (error) {
      if (isStatusError(error)) return labelSelectorFromObject(undefined)
      throw error
    }
  })
}
