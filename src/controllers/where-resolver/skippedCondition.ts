/**
 * The condition `KindsSkipped` of an EdgePlacement: True while wide tests leave out kinds that their author may not read. A placement that
 * never skipped any has no such condition. Pure.
 */
import { type Condition, conditionOf } from '../../apimachinery/conditions.ts'
import { objects } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { kindLimitsOf, limitOf, skippedText } from '../../placement/select/selectedKinds.ts'

export const KINDS_SKIPPED = 'KindsSkipped'
/** Tests that a condition names. */
const MAX_TESTS = 5

export function skippedConditions(placement: KubeObject): Condition[] {
  const skipping = skippingTests(placement)
  const type = KINDS_SKIPPED
  if (skipping.length > 0)
    return [{ type, status: 'True', reason: 'NotReadable', message: skipping.slice(0, MAX_TESTS).join('; ') }]
  if (!conditionOf(placement, type)) return []
  return [{ type, status: 'False', reason: 'NothingSkipped', message: '' }]
}

function skippingTests(placement: KubeObject): string[] {
  const limits = kindLimitsOf(placement)
  if (limits.size === 0) return []
  const { name = '' } = placement.metadata
  return objects(placement, 'spec', 'downsync').flatMap((test, i) => {
    const limit = limitOf(limits, test)
    return limit && limit.skipped.length > 0 ? [skippedText(`spec.downsync[${i}]`, limit, name)] : []
  })
}
