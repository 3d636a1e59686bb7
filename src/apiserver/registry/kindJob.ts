/** Work of a thread for `LongChecks` about a large object of a built-in kind. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { strategyFor } from '../../kinds/strategyFor.ts'
import { firstErrors, MAX_ERRORS } from './firstErrors.ts'
import type { KindJob, KindVerdict } from './longChecks.ts'

export function kindJob({ group, resource, subresource, object: text, old: oldText }: KindJob): KindVerdict {
  const strategy = strategyFor({ group, resource })
  const change = strategy?.subresources?.[subresource] ?? strategy
  const object = JSON.parse(text) as KubeObject
  const old = oldText === undefined ? undefined : (JSON.parse(oldText) as KubeObject)
  const errors = strategy?.validate?.(object, old) ?? []
  const changeErrors = (old && change?.validateUpdate?.(object, old)) ?? []
  // of what is refused nothing is warned
  const warns = errors.length + changeErrors.length === 0
  return {
    errors: firstErrors(errors),
    changeErrors: firstErrors(changeErrors),
    warnings: (warns && strategy?.warnings?.(object, old)?.slice(0, MAX_ERRORS)) || [],
  }
}
