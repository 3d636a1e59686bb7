/** Conditions in the status of an object: how they are read, and how a writer merges its own into those of others. Pure. */
import { type Fields, objects } from './fields.ts'

/** A condition as its writer states it. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
  /** RFC 3339. Default: when the status turned. */
  readonly lastTransitionTime?: string
}

/** The conditions of another project's kinds may have fewer fields, or a severity. */
export type StatedCondition = Pick<Condition, 'type' | 'status'> & Partial<Condition> & { readonly severity?: string }

export function conditionsOf(object: object): Fields[] {
  return objects(object, 'status', 'conditions')
}

export function conditionOf(object: object, type: string): Fields | undefined {
  return conditionsOf(object).find(condition => condition.type === type)
}

/**
 * Conditions `news` among those that are there: in the places of earlier ones of their types, else at the end. The time of a transition
 * stays while the status does.
 * @param now RFC 3339
 */
export function mergeConditions(
  before: readonly Fields[],
  news: readonly StatedCondition[],
  now: string,
): { readonly conditions: Fields[]; readonly isChanged: boolean } {
  const conditions = [...before]
  let isChanged = false
  for (const condition of news) {
    const index = conditions.findIndex(({ type }) => type === condition.type)
    const old = conditions[index]
    if (old && Object.entries(condition).every(([field, value]) => old[field] === value)) continue
    const since = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now
    conditions[old ? index : conditions.length] = { lastTransitionTime: since, ...condition }
    isChanged = true
  }
  return { conditions, isChanged }
}
