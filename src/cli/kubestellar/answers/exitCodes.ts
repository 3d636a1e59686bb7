/** Exit codes of commands that compare, as those of `kubectl diff`. */
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { CommandError } from '../../shell/commandError.ts'
import type { PreviewAnswer } from './preview/preview.ts'

export const NO_CHANGE = 0
export const CHANGE = 1
export const TROUBLE = 2
/** A rollout has neither come to its end nor failed. */
export const UNFINISHED = 3
/** A preview would delete more than its flag allows. */
export const TOO_MANY_DELETES = 3

/** Exit code of a preview: a refusal, or an unknown part, is a failure. */
export function previewExit(
  { changes, unknown, counts, objects }: Pick<PreviewAnswer, 'changes' | 'unknown' | 'counts' | 'objects'>,
  maxDeletes = Number.POSITIVE_INFINITY,
): number {
  if ((counts.Delete ?? 0) > maxDeletes) return TOO_MANY_DELETES
  if ((counts.Invalid ?? 0) > 0) return TROUBLE
  // each unknown may be one deletion more
  const isPartial = unknown || (counts.Unknown ?? 0) > 0 || objects.some(({ moves }) => moves?.isPartial)
  if (Number.isFinite(maxDeletes) && isPartial) return TROUBLE
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
