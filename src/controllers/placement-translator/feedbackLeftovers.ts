/**
 * Finds spaces that hold feedback of ours (counts, errors, conflicts, status) when the translator starts. Where placements still are, they are
 * followed anyway; where the last one went while or before the server died, nobody else would ever look.
 */
import { NOTES } from '../../apimachinery/notes.ts'
import { PROJECTED_LABEL } from '../../apimachinery/placement.ts'
import { StreamSource, type StreamSourceOptions } from '../../client/streamSource.ts'
import { FIELD_MANAGER } from './names.ts'

/** Notes, and the managed fields of a status that was returned. */
const FEEDBACK = [...NOTES, `"${FIELD_MANAGER}"`]

/** Ids of the spaces; one look at everything that exists, without parsing it. Empty when the signal aborts before the end. */
export async function spacesWithFeedback(
  common: Pick<StreamSourceOptions, 'client' | 'logger' | 'turns'>,
  signal: AbortSignal,
): Promise<Set<string>> {
  const spaces = new Set<string>()
  const done = new AbortController()
  const source = new StreamSource({
    ...common,
    space: '*',
    handler: {
      begin: () => spaces.clear(),
      change: event => {
        const told = FEEDBACK.some(text => event.mentions(text))
        // copies of earlier releases carry the count along
        if (told && !event.mentions(PROJECTED_LABEL)) spaces.add(event.space)
      },
      synced: () => done.abort(),
    },
  })
  await source.run(AbortSignal.any([signal, done.signal]))
  return done.signal.aborted ? spaces : new Set()
}
