/**
 * Disclosure about an object that the caller may not get: its destinations, and never its content. A Customizer of the question would
 * disclose that too, guess by guess. A replacement by the present value changes nothing, and one in a missing field is invalid. So with one
 * all effects look the same.
 */

import type { PreviewAction } from '../../../placement/desks/placementPreview.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Finding } from './previewGroups.ts'

/** @param isGuessed whether a Customizer of the question customizes it */
export function unseen(findings: Finding, isGuessed: boolean): Finding {
  const add: Finding['add'] = (action, way, why) => {
    if (isGuessed && BY_CONTENT.has(action)) findings.add('Update', way, MAY_CHANGE)
    else findings.add(action, way, action === 'Invalid' ? INVALID : why)
  }
  return {
    add,
    // biome-ignore lint/correctness/useYield: there is nothing to be shown
    show: function* (action, way, _content, why) {
      add(action, way, why)
    },
    groups: () => findings.groups(),
  }
}

const BY_CONTENT: ReadonlySet<PreviewAction> = new Set(['Create', 'Update', 'Unchanged', 'Invalid'])
const MAY_CHANGE: Reason = {
  reason: 'NotShown',
  message: 'you may not get this object: whether anything would change, and what, is not shown',
}
const INVALID: Reason = {
  reason: 'NotShown',
  message: 'you may not get this object: what is invalid is not shown',
}
