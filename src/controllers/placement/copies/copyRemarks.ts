/** Remarks on copies that stay as they were because of their content. They end once the copy is right. */
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Reason } from '../../../placement/words/reason.ts'

export const CUSTOMIZATION_FAILED = 'CustomizationFailed'
/** The mailbox refuses the copy. */
export const NOT_TAKEN = 'NotTaken'
const MESSAGE_LIMIT = 500

export function cannotCustomize(faults: readonly string[]): Reason {
  const message = `its newest version is not sent: ${faults.join('; ')}`
  return { reason: CUSTOMIZATION_FAILED, message: shortened(message, MESSAGE_LIMIT) }
}

/** `remedy`: the way to end that. It stays whole, and `why` is shortened for it. */
export function notTaken(why: string, remedy?: string): Reason {
  const rest = remedy === undefined ? '' : `; ${remedy}`
  return { reason: NOT_TAKEN, message: shortened(why, MESSAGE_LIMIT - rest.length) + rest }
}
