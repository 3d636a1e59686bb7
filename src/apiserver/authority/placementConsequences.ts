/**
 * An edit of an EdgePlacement may lead nowhere, or take copies from clusters, without a word: whoever writes it is warned. It is taken
 * all the same, and nobody is warned of what is not known.
 */
import type { PlacementConsequence } from '../../placement/desks/placementPreview.ts'
import { EDGE_PLACEMENTS } from '../../placement/words/placement.ts'
import type { Admission } from '../registry/admission.ts'
import { changes, specOf, writesOf } from '../registry/admissionFrame.ts'
import type { PreviewInbox } from './previewInbox.ts'

export function placementConsequences(previews: Pick<PreviewInbox, 'consequence'>): Admission {
  return {
    stage: 'validate',
    handles: writesOf(EDGE_PLACEMENTS),
    concerns: changes(specOf),
    async admit({ object, context }) {
      if (object.metadata.deletionTimestamp !== undefined) return
      const found = await previews.consequence({ space: context.space, object })
      if (found) for (const warning of warningsOf(found)) context.warn(warning)
    },
  }
}

function* warningsOf({ nowhere, deletes, clusters, isPartial, isHeld }: PlacementConsequence): Generator<string> {
  if (nowhere !== undefined) yield `this EdgePlacement leads nowhere: ${nowhere}`
  if (deletes === 0) return
  const copies = `${isPartial ? 'at least ' : ''}${counted(deletes, 'copy', 'copies')}`
  const leave = `${copies} ${deletes === 1 && !isPartial ? 'leaves' : 'leave'} ${counted(clusters, 'cluster', 'clusters')}`
  yield isHeld ? `${leave}${HELD}` : leave
}

const HELD = '; the brake holds them until that is confirmed: the condition DeletionHeld has the command'

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
