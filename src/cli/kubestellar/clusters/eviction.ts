/** How far a SyncTarget says that its cluster is emptied. Pure. */
import { at, num, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'

/** Copies that are left, by the report of the eviction that goes on; `undefined` where none does, or it has no report yet. */
export function remainingIn({ spec, status }: KubeObject): number | undefined {
  const eviction = at(status, 'outcome', 'eviction')
  const after = str(eviction, 'after')
  return after !== '' && after === str(spec, 'evictAfter') ? num(eviction, 'remaining') : undefined
}
