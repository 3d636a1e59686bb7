/** What the brake holds of a workload space, as its EdgePlacements are told. Pure. */
import { isRecord } from '../../../apimachinery/object.ts'
import { planHash, type Removal } from './brakeLedger.ts'

/** What is held, as an EdgePlacement is told. */
export interface Hold {
  readonly since: string
  readonly hash: string
  readonly copies: number
  readonly clusters: number
  readonly examples: readonly { readonly mailbox: string; readonly key: string }[]
}

export const DELETION_HELD = 'DeletionHeld'
const EXAMPLES = 3
/** `held`: at least one. */
export function holdOf(held: readonly Removal[], since: string): Hold {
  const clusters = new Set(held.map(({ mailbox }) => mailbox)).size
  return { since, hash: planHash(held, since), copies: held.length, clusters, examples: firstOf(held) }
}

/** Of thousands: the first by name. */
function firstOf(removals: readonly Removal[]): Removal[] {
  const precedes = (a: Removal, b: Removal) => a.key < b.key || (a.key === b.key && a.mailbox < b.mailbox)
  const first: Removal[] = []
  for (const removal of removals) {
    const at = first.findIndex(other => precedes(removal, other))
    first.splice(at < 0 ? first.length : at, 0, removal)
    first.length = Math.min(first.length, EXAMPLES)
  }
  return first
}

/** Since when an EdgePlacement says that there is a hold. */
export function heldSince(status: unknown): string | undefined {
  const conditions: unknown[] = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []
  const held = conditions.filter(isRecord).find(({ type }) => type === DELETION_HELD)
  return held?.status === 'True' && typeof held.lastTransitionTime === 'string' ? held.lastTransitionTime : undefined
}
