/** Exit codes of commands that compare, as those of `kubectl diff`. */
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { CommandError } from '../../shell/commandError.ts'
import type { PreviewAnswer } from './preview/preview.ts'

export const NO_CHANGE = 0
export const CHANGE = 1
export const TROUBLE = 2

/** Of a preview: what a cluster would refuse, or all that is not known, is nothing to go on with. */
export function previewExit({
  changes,
  unknown,
  counts,
}: Pick<PreviewAnswer, 'changes' | 'unknown' | 'counts'>): number {
  if ((counts.Invalid ?? 0) > 0) return TROUBLE
  if (changes) return CHANGE
  return unknown || (counts.Unknown ?? 0) > 0 ? TROUBLE : NO_CHANGE
}

/** Whatever goes wrong ends with more than 1, which says that something differs. */
export async function comparing<R>(run: () => Promise<R>): Promise<R> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof CommandError && error.exitCode > CHANGE) throw error
    throw new CommandError(messageOf(error), TROUBLE, { cause: error })
  }
}
