/** Remarks on copies that stay as they were because of their content. They end once the copy is right. */
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Remarks } from '../mailboxes/remarks.ts'

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

const SET_ASIDE: Reason = {
  reason: 'SetAside',
  message:
    'the server ended while it placed this. The copy stays as it is for now, and is tried again later. Mend the object or its Customizer, or delete it',
}

/** Remarks on a copy that ended the process while it was placed. */
export function remarkSetAside(
  { join, remarks }: { join: PlacementJoin; remarks: Remarks },
  mailbox: string,
  key: string,
  isHeld: boolean,
): void {
  if (!isHeld) remarks.endAll(mailbox, key, SET_ASIDE.reason)
  else for (const { space } of join.sourcesOf(mailbox, key)) remarks.set(mailbox, space, key, SET_ASIDE)
}
