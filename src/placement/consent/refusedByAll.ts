/** Why no combination of grants lets an object be placed. Pure. */
import type { GroupResource } from '../../apimachinery/object.ts'
import type { Allowance, Told } from './allowance.ts'

/** Of the first of them, where all refuse. */
export function refusedByAll(
  allowances: Iterable<Allowance>,
  object: GroupResource & { namespace: string; name: string },
): Told | undefined {
  let first: Told | undefined
  for (const allowance of allowances) {
    const told = allowance.refusal(object)
    if (!told) return undefined
    first ??= told
  }
  return first
}
