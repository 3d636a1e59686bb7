/**
 * Finds spaces that hold feedback of ours (counts, errors, conflicts, status) when the translator starts. Where placements still are, they are
 * followed anyway; where the last one went while or before the server died, nobody else would ever look.
 */

import { StreamSource, type StreamSourceOptions } from '../../../client/streamSource.ts'
import { NOTES } from '../../../placement/words/marks.ts'
import { FIELD_MANAGER } from '../../../placement/words/names.ts'

/** Notes, and the managed fields of a status that was returned. */
const FEEDBACK = [...NOTES, `"${FIELD_MANAGER}"`]

export interface LeftoversOptions
  extends Pick<StreamSourceOptions, 'client' | 'logger' | 'turns' | 'clock' | 'random'> {
  /** Spaces that are not looked into. */
  isLeftOut: (space: string) => boolean
}

/**
 * Ids of the spaces; one look at everything that exists but for what is left out, without parsing it. Empty when the signal aborts
 * before the end.
 */
export async function spacesWithFeedback(
  { isLeftOut, ...common }: LeftoversOptions,
  signal: AbortSignal,
): Promise<Set<string>> {
  const spaces = new Set<string>()
  const done = new AbortController()
  // what is in one space comes together
  let last = { space: '', isLeftOut: false }
  const source = new StreamSource({
    ...common,
    space: '*',
    handler: {
      begin: () => spaces.clear(),
      change: event => {
        if (event.space !== last.space) last = { space: event.space, isLeftOut: isLeftOut(event.space) }
        if (last.isLeftOut) return
        if (FEEDBACK.some(text => event.mentions(text))) spaces.add(event.space)
      },
      synced: () => done.abort(),
    },
  })
  await source.run(AbortSignal.any([signal, done.signal]))
  return done.signal.aborted ? spaces : new Set()
}
